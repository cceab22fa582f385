//! A reconciler that misbehaves takes no more than its share from other controllers, and from other objects of its own.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use kubewright_runtime::{Action, Context, Controller, Error, Manager, ObjectKey, Reconciler, Result};
use proptest::{collection::vec, prelude::*};
use tokio::task::yield_now;

use crate::{
    script::{Script, controller, run},
    support::{
        World,
        kinds::{FooBar, Running, at, foobar, seconds, world},
    },
};

/// The number of reconciles of each object.
type Runs = Arc<Mutex<BTreeMap<String, usize>>>;

#[derive(Clone, Copy, Debug)]
enum Fault {
    /// Asks for another run without a delay.
    Zero,
    /// Fails, and asks for another run without a delay.
    FailsAtOnce,
    Fails,
    Panics,
    /// Never ends.
    Hangs,
}

/// Ends each reconcile with a fault, or wakes its own object each time.
struct Misbehaves {
    fault: Option<Fault>,
    runs: Runs,
}

impl Reconciler<FooBar> for Misbehaves {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        *self.runs.lock().unwrap().entry(cx.key().to_string()).or_default() += 1;
        match self.fault {
            None => cx.wake(cx.key().clone()),
            Some(Fault::Zero) => return Ok(Action::RequeueAfter(Duration::ZERO)),
            Some(Fault::FailsAtOnce) => return Err(Error::retry_after("not yet", Duration::ZERO)),
            Some(Fault::Fails) => return Err(Error::retry("not yet")),
            Some(Fault::Panics) => panic!("as asked"),
            Some(Fault::Hangs) => std::future::pending().await,
        }
        Ok(Action::Done)
    }
}

/// A controller of this fault and this number of workers, added to a manager; and its runs.
fn add(manager: &Manager, fault: Option<Fault>, workers: usize) -> Runs {
    let runs = Runs::default();
    let name = format!("{fault:?}-{:p}", Arc::as_ptr(&runs)).to_lowercase();
    let controller = Controller::<FooBar>::new(name.replace(['(', ')'], "")).concurrency(workers);
    let controller = controller.reconcile_timeout(Duration::from_secs(5));
    controller
        .register(
            manager,
            Misbehaves {
                fault,
                runs: runs.clone(),
            },
        )
        .unwrap();
    runs
}

fn put(world: &World, objects: usize) {
    for n in 0..objects {
        world.put(&at(&format!("a{n}")), foobar("x"));
    }
}

fn on_a_paused_clock<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build();
    runtime.expect("a runtime").block_on(test)
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_requeued_without_a_delay_gets_a_growing_one_and_stops_nothing_else() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.put(&at("zero-a"), foobar("x"));
    world.put(&at("soon-b"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(60).await;
    for name in ["zero-a", "soon-b"] {
        let runs = script.runs(name);
        assert!(
            (10..=20).contains(&runs.len()),
            "{name}: {} runs in a minute",
            runs.len()
        );
        assert!(runs[1] - runs[0] >= Duration::from_millis(5), "{name}");
    }
    world.put(&at("works-c"), foobar("x"));
    seconds(1).await;
    assert_eq!(script.runs("works-c").len(), 1);
    running.stop().await.unwrap();
}

fn fault() -> impl Strategy<Value = Fault> {
    use Fault::*;
    prop_oneof![Just(Zero), Just(FailsAtOnce), Just(Fails), Just(Panics), Just(Hangs)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    /// Whatever the other controllers of the kind do.
    #[test]
    fn faulty_controllers_run_rarely_and_delay_no_other(faults in vec((fault(), 1_usize..4), 1..5), objects in 1_usize..6) {
        let (most, calm) = on_a_paused_clock(async {
            let world = world();
            put(&world, objects);
            let script = Arc::<Script>::default();
            let manager = Manager::builder(world.client()).name("test").build();
            let runs: Vec<_> = faults.iter().map(|(fault, workers)| add(&manager, Some(*fault), *workers)).collect();
            Controller::new("foobar").register(&manager, crate::script::ByName(script.clone())).unwrap();
            let running = Running::start(manager);
            seconds(60).await;
            world.put(&at("works-b"), foobar("x"));
            tokio::time::sleep(Duration::from_millis(10)).await;
            let calm = script.runs("works-b").len();
            running.done.abort();
            let most = runs.iter().map(|runs| runs.lock().unwrap().values().copied().max().unwrap_or(0)).max();
            (most.unwrap_or(0), calm)
        });
        // 5 ms, doubled each time, reach a minute after 14 runs; changes of the status by others wake an object too.
        prop_assert!(most <= 40, "{most} runs of one object in a minute");
        prop_assert_eq!(calm, 1, "a new object of the other controller is reconciled at once");
    }

    /// None of these reconcilers ever waits, so there is always something to do, and no time passes.
    #[test]
    fn controllers_that_never_wait_share_the_thread_by_their_workers(workers in vec(1_usize..4, 2..5), objects in 4_usize..8) {
        let each = on_a_paused_clock(async {
            let world = world();
            let manager = Manager::builder(world.client()).name("test").build();
            let runs: Vec<_> = workers.iter().map(|workers| add(&manager, None, *workers)).collect();
            let running = Running::start(manager);
            let all = || runs.iter().map(|runs| runs.lock().unwrap().clone()).collect::<Vec<_>>();
            seconds(1).await;
            put(&world, objects);
            for _ in 0..200 {
                yield_now().await;
            }
            let before = all();
            for _ in 0..400 {
                yield_now().await;
            }
            let after = all();
            // The watch is served too.
            world.put(&at("new"), foobar("x"));
            let new = ObjectKey::new(Some("default"), "new").to_string();
            for _ in 0..200 {
                yield_now().await;
            }
            let seen = all().iter().all(|runs| runs.contains_key(&new));
            running.done.abort();
            let more = |(before, after): (&BTreeMap<_, usize>, &BTreeMap<String, usize>)| -> Vec<usize> {
                after.iter().map(|(key, runs)| runs - before.get(key).unwrap_or(&0)).collect()
            };
            (before.iter().zip(&after).map(more).collect::<Vec<_>>(), seen)
        });
        let (each, seen) = each;
        prop_assert!(seen, "a new object is reconciled by each of them");
        for (runs, workers) in each.iter().zip(&workers) {
            let all: usize = runs.iter().sum();
            prop_assert!((200 * workers..=800 * workers).contains(&all), "{workers} workers: {all} runs, of {each:?}");
            let (least, most) = (runs.iter().min().unwrap_or(&0), runs.iter().max().unwrap_or(&0));
            prop_assert!(most - least <= 2, "objects of one controller take turns: {runs:?}");
        }
    }

    /// Whoever blocks the thread for its time limit in each run is cut off by no clock: others wait for some of its runs, however
    /// many objects it has.
    #[test]
    fn a_new_object_waits_for_few_runs_of_controllers_that_block(workers in vec(1_usize..4, 1..4), objects in 4_usize..40) {
        let (before, waited) = on_a_paused_clock(async {
            let world = world();
            let script = Arc::<Script>::default();
            let manager = Manager::builder(world.client()).name("test").build();
            let runs: Vec<_> = workers.iter().map(|workers| add(&manager, None, *workers)).collect();
            Controller::new("foobar").register(&manager, crate::script::ByName(script.clone())).unwrap();
            let running = Running::start(manager);
            let all = || runs.iter().map(|runs| runs.lock().unwrap().values().sum()).collect::<Vec<usize>>();
            seconds(1).await;
            put(&world, objects);
            for _ in 0..200 {
                yield_now().await;
            }
            world.put(&at("works-b"), foobar("x"));
            let before = all();
            while script.runs("works-b").is_empty() {
                yield_now().await;
            }
            let after = all();
            running.done.abort();
            let waited: Vec<usize> = before.iter().zip(after).map(|(before, after)| after - before).collect();
            (before, waited)
        });
        for (runs, workers) in waited.iter().zip(&workers) {
            prop_assert!(*runs <= 25 * workers, "{workers} workers: {waited:?} after {before:?}");
        }
    }
}
