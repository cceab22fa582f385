//! Every log line of a reconcile names its controller and object. In a program of its own: what a log gets depends on which
//! other threads had none when a line was first reached.

mod support;

use std::sync::Arc;

use kubewright_runtime::{Action, Context, Controller, Error, Manager, Reconciler, Result};
use serde_json::Value;
use support::{
    kinds::{FooBar, Running, at, foobar, seconds, world},
    page::Page,
};
use tracing_subscriber::fmt::format::FmtSpan;

struct Talks;

impl Reconciler<FooBar> for Talks {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        tracing::info!(id = cx.reconcile_id(), "looking at {}", foobar.spec.target);
        match foobar.spec.target.as_str() {
            "bad" => Err(Error::terminal("BadTarget", "no such target")),
            _ => Ok(Action::Done),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn log_lines_and_spans_of_a_reconcile_have_controller_object_number_and_result() {
    let page = Page::default();
    let writer = page.clone();
    let log = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_span_list(false)
        .with_span_events(FmtSpan::CLOSE)
        .with_writer(move || writer.clone())
        .finish();
    // All tasks of this test run on this thread.
    let guard = tracing::subscriber::set_default(log);
    let world = world();
    world.put(&at("a"), foobar("good"));
    world.put(&at("b"), foobar("bad"));
    let manager = Manager::builder(world.client()).build();
    Controller::<FooBar>::new("foobar").register(&manager, Talks).unwrap();
    let running = Running::start(manager);
    seconds(5).await;
    running.stop().await.unwrap();
    drop(guard);

    let text = page.text();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("one object per line"))
        .collect();
    for (name, target, result) in [("default/a", "good", "success"), ("default/b", "bad", "error")] {
        let expected = format!("looking at {target}");
        let line = lines
            .iter()
            .find(|line| line["message"] == expected.as_str())
            .unwrap_or_else(|| panic!("{text}"));
        let span = &line["span"];
        assert_eq!(
            (&span["name"], &span["controller"], &span["object"]),
            (&"reconcile".into(), &"foobar".into(), &name.into())
        );
        assert_eq!(span["reconcile_id"], line["id"]);
        let closed = lines
            .iter()
            .find(|line| line["message"] == "close" && line["span"]["object"] == name);
        assert_eq!(closed.expect("the span has an end")["span"]["result"], result, "{text}");
    }
}

#[test]
fn no_crate_of_opentelemetry_is_built_without_the_feature() {
    let manifest = include_str!("../Cargo.toml");
    let (dependencies, _) = manifest.split_once("[dev-dependencies]").expect("a section");
    let theirs: Vec<_> = dependencies
        .lines()
        .filter(|line| line.contains("opentelemetry") && line.contains("version ="))
        .collect();
    assert!(theirs.len() >= 5, "{theirs:?}");
    assert!(
        theirs.iter().all(|line| line.ends_with("optional = true }")),
        "{theirs:?}"
    );
    assert!(!manifest.contains("default = ["), "no feature is enabled by default");
}
