//! Controllers and watches that are added while the manager stops: the reconciles and tasks that wait for them get an error,
//! and the shutdown does not wait for them.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use crate::support::{
    kinds::{FooBar, Running, at, foobar, seconds, world},
    notes::{Notes, Seen, manager},
};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kubewright_runtime::{
    Action, AddedWatches, Context, Controller, Controllers, Error, Kind, Reconciler, Result, Task,
};
use tokio::{sync::Notify, time::Instant};

/// Starts controllers once the test releases it, and keeps their errors.
#[derive(Clone)]
struct Late {
    controllers: Controllers,
    release: Arc<Notify>,
    errors: Arc<Mutex<Vec<Error>>>,
}

impl Late {
    async fn start(&self, controller: Controller<FooBar>) {
        let started = self.controllers.start(controller, Notes(Seen::default())).await;
        self.errors.lock().unwrap().extend(started.err());
    }
}

impl Reconciler<FooBar> for Late {
    async fn reconcile(&self, _: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        self.release.notified().await;
        // Its caches are filled.
        self.start(Controller::new("shares")).await;
        // Nobody would run its new cache.
        self.start(Controller::new("waits").watches::<ConfigMap>(|_| Vec::new()))
            .await;
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn a_reconcile_that_starts_a_controller_during_the_shutdown_gets_an_error_at_once() {
    let world = world();
    world.put(&at("a"), foobar("x"));
    let manager = manager(&world);
    let late = Late {
        controllers: manager.controllers(),
        release: Arc::default(),
        errors: Arc::default(),
    };
    Controller::new("foobar").register(&manager, late.clone()).unwrap();
    let running = Running::start(manager);
    seconds(5).await;
    let stopped = Instant::now();
    let (ended, ()) = tokio::join!(running.stop(), async {
        seconds(1).await;
        late.release.notify_one();
    });
    ended.expect("nothing was cut off");
    assert!(stopped.elapsed().as_secs() < 5, "{:?}", stopped.elapsed());
    let errors = late.errors.lock().unwrap();
    assert_eq!(errors.len(), 2, "{errors:?}");
    for error in errors.iter() {
        assert!(matches!(error, Error::Retry(_)), "{error}");
    }
    assert!(late.controllers.get("shares").is_none() && late.controllers.get("waits").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_start_and_a_watch_that_are_waited_for_end_with_the_manager() {
    let world = world();
    let manager = manager(&world);
    let (controllers, watches) = (manager.controllers(), AddedWatches::new());
    Controller::<FooBar>::new("foobar")
        .adds_watches(&watches)
        .register(&manager, Notes(Seen::default()))
        .unwrap();
    world.hang("/api/v1/");
    let errors = Arc::new(AtomicUsize::new(0));
    let (started, watched) = (errors.clone(), errors.clone());
    let starts = Task::new("starts", move |_| async move {
        let controller = Controller::<FooBar>::new("waits").watches::<ConfigMap>(|_| Vec::new());
        let error = controllers.start(controller, Notes(Seen::default())).await.err();
        assert!(matches!(error, Some(Error::Retry(_))), "{error:?}");
        started.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    let waits = Task::new("watches", move |_| async move {
        let error = watches.watch(&Kind::<Secret>::of(), |_| Vec::new()).await.err();
        assert!(matches!(error, Some(Error::Retry(_))), "{error:?}");
        watched.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    manager.task(starts.leaderless());
    manager.task(waits.leaderless());
    let running = Running::start(manager);
    seconds(5).await;
    assert_eq!(errors.load(Ordering::SeqCst), 0);
    let stopped = Instant::now();
    running.stop().await.unwrap();
    assert_eq!(errors.load(Ordering::SeqCst), 2);
    assert!(stopped.elapsed().as_secs() < 5, "{:?}", stopped.elapsed());
}
