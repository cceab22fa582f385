//! A tenant gives objects the label of those that could not be converted, so that the operator does not see them.

use serde_json::json;

use crate::{
    memory::{controller, start},
    support::{
        kinds::{at, config_map, foobar, seconds, world},
        notes::manager,
    },
};

#[tokio::test(start_paused = true)]
async fn the_label_of_an_unconverted_object_hides_neither_an_object_nor_its_child() {
    for version in ["v1", "v1alpha1"] {
        let world = world();
        let mark = json!({format!("test.example.com/{version}-only"): "not-convertible.0123456789abcdef"});
        let mut object = foobar("x");
        object["metadata"]["labels"] = mark.clone();
        world.put(&at("a"), object);
        let running = start(manager(&world), controller());
        seconds(1).await;
        let child = config_map("a-x");
        assert!(world.object(&child).is_some(), "{version}: the object is reconciled");
        world.edit(&child, |map| {
            for (name, value) in mark.as_object().unwrap() {
                map["metadata"]["labels"][name] = value.clone();
            }
            map["data"]["target"] = json!("theirs");
        });
        seconds(1).await;
        assert_eq!(
            world.object(&child).unwrap()["data"]["target"],
            "x",
            "{version}: the child is repaired"
        );
        running.stop().await.unwrap();
    }
}
