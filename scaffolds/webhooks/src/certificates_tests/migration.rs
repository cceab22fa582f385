//! A migration of stored objects which the operator converts, ended in the middle.

use std::collections::BTreeMap;

use kube::client::Body;
use kubewright_runtime::{Migrated, StorageMigration};
use serde_json::json;
use tower::service_fn;

use super::{foobars::FooBars, *};
use crate::conversion::tests::kinds::definition;

const NAME: &str = "foobars.test.example.com";
/// More than a migration writes between two looks at them.
const OBJECTS: usize = 120;

/// Moves the stored objects from v1 to v2, in two attempts, and then removes v1.
pub(super) async fn migrated(foobars: &FooBars<'_>) {
    assert_eq!(foobars.delete("v1", "a").await.0, 200);
    for number in 0..OBJECTS {
        let spec = json!({"target": format!("h:{number}"), "colour": "red"});
        let object = FooBars::object("v1", &format!("m{number}"), &spec);
        let (code, answer) = foobars.post("v1", "", &object).await;
        assert_eq!(code, 201, "{answer}");
    }
    let before = Objects::read(foobars, "v1").await;
    store_as_v2(foobars).await;
    let half = ended_in_the_middle(foobars, &before).await;

    let migration = StorageMigration::new(foobars.client.clone()).settle(Duration::ZERO);
    let done = migration.run(NAME, "v2").await.unwrap();
    assert!(
        matches!(&done, Migrated::Done { objects, .. } if *objects == OBJECTS as u64),
        "{done}"
    );
    assert_eq!(stored_versions(foobars).await, json!(["v2"]));
    let after = Objects::read(foobars, "v1").await;
    assert_eq!(after.specs, before.specs, "nothing is lost on the way to v2 and back");
    assert_eq!(after.written_since(&before), OBJECTS);
    let again = half.revisions.iter().filter(|(name, revision)| {
        let is_stored = before.revisions[*name] != **revision;
        is_stored && after.revisions[*name] != **revision
    });
    assert_eq!(again.count(), 0, "written a second time");
    without_v1(foobars).await;
}

/// The FooBars of a list, by their names.
struct Objects {
    specs: BTreeMap<String, Value>,
    revisions: BTreeMap<String, Value>,
}

impl Objects {
    async fn read(foobars: &FooBars<'_>, version: &str) -> Self {
        let mut items = Vec::new();
        // While a definition changes, kube-apiserver may not list its objects.
        until("a list", async || match foobars.list(version).await {
            Some(list) => {
                items = list;
                true
            }
            None => false,
        })
        .await;
        let by_name = |of: &dyn Fn(&Value) -> Value| {
            let named = items
                .iter()
                .map(|it| (it["metadata"]["name"].as_str().unwrap().to_owned(), of(it)));
            named.collect()
        };
        Self {
            specs: by_name(&|it| it["spec"].clone()),
            revisions: by_name(&|it| it["metadata"]["resourceVersion"].clone()),
        }
    }

    /// The number of objects that were written.
    fn written_since(&self, before: &Self) -> usize {
        let all = self.revisions.iter();
        all.filter(|(name, revision)| before.revisions[*name] != **revision)
            .count()
    }
}

async fn store_as_v2(foobars: &FooBars<'_>) {
    let mut definition = definition();
    let versions = &mut definition["spec"]["versions"];
    (versions[0]["storage"], versions[1]["storage"]) = (json!(false), json!(true));
    let (code, answer) = apply(foobars.client, DEFINITIONS, &definition).await;
    assert_eq!(code, 200, "{answer}");
    assert_eq!(answer["spec"]["conversion"]["strategy"], "Webhook");
    assert_eq!(stored_versions(foobars).await, json!(["v1", "v2"]));
}

/// Ends a migration, whose requests take some time, when it has stored some objects. Returns the objects after that.
async fn ended_in_the_middle(foobars: &FooBars<'_>, before: &Objects) -> Objects {
    let client = foobars.client.clone();
    let slowly = service_fn(move |request: http::Request<Body>| {
        let client = client.clone();
        async move {
            sleep(Duration::from_millis(300)).await;
            client.send(request).await
        }
    });
    let migration = StorageMigration::new(Client::new(slowly, foobars.namespace)).settle(Duration::from_secs(1));
    let some = until("some objects that are stored anew", async || {
        Objects::read(foobars, "v1").await.written_since(before) >= OBJECTS / 10
    });
    tokio::select! {
        outcome = migration.run(NAME, "v2") => panic!("it was not ended: {outcome:?}"),
        () = some => {}
    }
    let half = Objects::read(foobars, "v1").await;
    assert!((1..OBJECTS).contains(&half.written_since(before)));
    assert_eq!(half.specs, before.specs);
    assert_eq!(stored_versions(foobars).await, json!(["v1", "v2"]));
    half
}

/// No object is stored as v1 any more, so the definition can do without it.
async fn without_v1(foobars: &FooBars<'_>) {
    let mut definition = definition();
    let versions = definition["spec"]["versions"].as_array_mut().unwrap();
    versions.remove(0);
    versions[0]["storage"] = json!(true);
    let (code, answer) = apply(foobars.client, DEFINITIONS, &definition).await;
    assert_eq!(code, 200, "{answer}");
    let all = Objects::read(foobars, "v2").await;
    assert_eq!(all.specs.len(), OBJECTS);
    assert_eq!(all.specs["m7"], json!({"host": "h", "port": 7}));
}

async fn stored_versions(foobars: &FooBars<'_>) -> Value {
    let request = http::Request::get(format!("{DEFINITIONS}/{NAME}"));
    let (_, definition) = send(foobars.client, request, &Value::Null).await;
    definition["status"]["storedVersions"].clone()
}
