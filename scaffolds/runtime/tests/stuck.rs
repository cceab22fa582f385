//! A reconcile that blocks its thread is named in the log, and if no thread is left, the process counts as stuck. So it does
//! if the thread is that of the manager itself.

mod support;

use std::{
    sync::{Arc, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use kubewright_runtime::{Action, Context, Controller, Predicate, Reconciler, Result};
use support::{
    kinds::{FooBar, Running, at, foobar, world},
    notes::{Notes, Seen, manager, taken},
    page::Page,
};
use tokio::sync::oneshot;

/// Blocks its thread until it gets a message.
struct Blocks(Mutex<mpsc::Receiver<()>>);

impl Reconciler<FooBar> for Blocks {
    async fn reconcile(&self, _: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        self.0.lock().unwrap().recv().unwrap();
        Ok(Action::Done)
    }
}

/// Longer than it takes on any machine.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(120), "not {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_reconcile_that_blocks_the_only_thread_is_named_and_the_process_is_stuck_until_it_returns() {
    let page = Page::default();
    let writer = page.clone();
    let log = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone());
    tracing::subscriber::set_global_default(log.finish()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let (release, blocked) = mpsc::channel();
    let (heartbeat, running) = runtime.block_on(async {
        let world = world();
        world.put(&at("a"), foobar("x"));
        let manager = manager(&world);
        let heartbeat = manager.heartbeat().clone();
        heartbeat.start_every(Duration::from_millis(10)).unwrap();
        Controller::<FooBar>::new("blocking")
            .register(&manager, Blocks(Mutex::new(blocked)))
            .unwrap();
        (heartbeat, Running::start(manager))
    });
    wait_until("stuck", || heartbeat.stalled().is_some());
    let text = page.text();
    let named = text.lines().find(|line| line.contains("has blocked its thread for 5s"));
    let named = named.expect("it is named before the process counts as stuck");
    assert!(named.contains("blocking") && named.contains("default/a"), "{named}");
    wait_until("reported", || {
        page.text().contains("made no progress for 20s: /healthz fails")
    });

    release.send(()).unwrap();
    wait_until("in progress again", || heartbeat.stalled().is_none());
    runtime.block_on(running.stop()).unwrap();
}

#[test]
fn a_predicate_that_blocks_the_managers_thread_makes_the_process_stuck_although_other_threads_work() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let ((release, blocked), (stop, stopped)) = (mpsc::channel::<()>(), oneshot::channel::<()>());
    let (blocked, seen) = (Mutex::new(blocked), Seen::default());
    let manager = runtime.block_on(async {
        let world = world();
        world.put(&at("a"), foobar("x"));
        manager(&world)
    });
    let heartbeat = manager.heartbeat().clone();
    Controller::<FooBar>::new("foobar")
        .predicate(Predicate::new(move |_| blocked.lock().unwrap().recv().is_ok()))
        .register(&manager, Notes(seen.clone()))
        .unwrap();
    let process = thread::spawn(move || {
        runtime.block_on(async {
            manager.heartbeat().start_every(Duration::from_millis(10)).unwrap();
            manager.run(async { _ = stopped.await }, None).await
        })
    });
    wait_until("stuck", || heartbeat.stalled().is_some());

    release.send(()).unwrap();
    wait_until("in progress again", || heartbeat.stalled().is_none());
    wait_until("working", || !taken(&seen).is_empty());
    stop.send(()).unwrap();
    process.join().unwrap().unwrap();
}
