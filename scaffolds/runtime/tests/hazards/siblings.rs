//! Two controllers of one kind: each has a condition of its own, and neither wakes the other endlessly.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use kubewright_runtime::{Action, Conditions, Context, Controller, Error, Manager, Reconciler, Result};
use serde_json::{Value, json};

use crate::support::{
    World,
    kinds::{FOOBARS, FooBar, Running, at, foobar, seconds, world},
};

type End = fn() -> Result<Action>;

/// Writes this status of this condition, if there is one, and returns this result.
struct Sibling {
    writes: Option<(&'static str, bool)>,
    ends: End,
    runs: Arc<AtomicUsize>,
}

impl Sibling {
    fn new(writes: Option<(&'static str, bool)>, ends: End) -> Self {
        let runs = Arc::default();
        Self { writes, ends, runs }
    }
}

impl Reconciler<FooBar> for Sibling {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        // Without it, a paused clock would not advance while both controllers keep running.
        tokio::time::sleep(Duration::from_millis(10)).await;
        if let Some((type_, verdict)) = self.writes {
            let condition = cx.condition(type_, verdict, "Sibling", "");
            cx.patch_status(|status| status.conditions.set(condition)).await?;
        }
        (self.ends)()
    }
}

fn done() -> Result<Action> {
    Ok(Action::Done)
}

fn terminal() -> Result<Action> {
    Err(Error::terminal("BadTarget", "no such target"))
}

fn controller(name: &str) -> Controller<FooBar> {
    Controller::new(name)
}

fn start(world: &World, controllers: Vec<(Controller<FooBar>, Sibling)>) -> Running {
    let manager = Manager::builder(world.client()).name("test").build();
    for (controller, sibling) in controllers {
        controller.register(&manager, sibling).unwrap();
    }
    Running::start(manager)
}

fn patches(world: &World) -> usize {
    world.requests(&format!("PATCH {FOOBARS}")).len()
}

/// Type, status and reason of each condition.
fn conditions(world: &World, name: &str) -> Vec<[Value; 3]> {
    let object = world.object(&at(name)).unwrap();
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let fields = |condition: &Value| ["type", "status", "reason"].map(|field| condition[field].clone());
    conditions.iter().map(fields).collect()
}

#[tokio::test(start_paused = true)]
async fn a_failing_controller_and_its_sibling_do_not_fight_over_the_status() {
    let world = world();
    world.put(&at("a"), foobar("x"));
    let running = start(
        &world,
        vec![
            (controller("backup"), Sibling::new(None, terminal)),
            (controller("foobar"), Sibling::new(Some(("Ready", true)), done)),
        ],
    );
    seconds(60).await;
    let patches = patches(&world);
    assert!(patches <= 4, "{patches} patches in a minute");
    let mut conditions = conditions(&world, "a");
    conditions.sort_by_key(|condition| condition[0].to_string());
    assert_eq!(
        conditions,
        [
            [json!("BackupReady"), json!("False"), json!("BadTarget")],
            [json!("Ready"), json!("True"), json!("Sibling")]
        ]
    );
    running.stop().await.unwrap();
}

/// Both reconcilers write the same condition, which the runtime cannot prevent; but it limits how often they do.
#[tokio::test(start_paused = true)]
async fn a_status_change_alone_does_not_wake_a_failing_controller_before_its_backoff_ends() {
    type Case = (&'static str, End);
    let cases: [Case; 3] = [
        ("terminal", terminal),
        ("retry", || Err(Error::retry("not yet"))),
        ("retry after", || {
            Err(Error::retry_after("not yet", Duration::from_secs(20)))
        }),
    ];
    for (case, ends) in cases {
        let world = world();
        world.put(&at("a"), foobar("x"));
        let failing = Sibling::new(Some(("Ready", false)), ends);
        let runs = failing.runs.clone();
        let running = start(
            &world,
            vec![
                (controller("foobar"), Sibling::new(Some(("Ready", true)), done)),
                (controller("backup"), failing),
            ],
        );
        seconds(60).await;
        let patches = patches(&world);
        assert!(patches <= 60, "{case}: {patches} patches in a minute");

        let before = runs.load(Ordering::SeqCst);
        world.edit(&at("a"), |object| object["spec"]["target"] = json!("y"));
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(
            runs.load(Ordering::SeqCst) > before,
            "{case}: a new generation wakes at once"
        );
        running.stop().await.unwrap();
    }
}
