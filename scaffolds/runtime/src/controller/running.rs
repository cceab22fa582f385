//! Controllers that are started and stopped while the manager runs.

use std::sync::Arc;

use super::Controller;
use crate::{
    error::{Error, Result},
    manager::{AddedController, Joining, Manager, WeakManager, stopping},
    object::AnyObject,
    reconciler::{AnyReconciler, Reconciler},
};

/// Starts controllers while the manager runs: for kinds, or for other clusters of objects, that are only known then. Cheap
/// to clone; keep one in a reconciler or a task. From [`Manager::controllers`].
///
/// # Guarantees
///
/// - A controller that was started works as a registered one: it shares their caches, reconciles every existing object
///   once its caches are filled, and has metrics, field manager and condition of its own name.
/// - It works only while this process leads. All of them stop with the manager, whose shutdown waits for their reconciles
///   too, and at once if the lease is lost.
/// - If its start fails, nothing of it is left, and no other controller is affected.
/// - The process ends if one of its workers or caches ends unexpectedly, as for registered controllers.
///
/// # Caveats
///
/// Permissions: `make manifests` cannot know a controller that is started later. Declare it with
/// [`Manager::may_start`], or grant its permissions with [`Manager::grant`]. After a restart of the process controllers
/// have to be started again.
#[derive(Clone)]
pub struct Controllers {
    manager: WeakManager,
}

/// A controller that was started while the manager runs. Dropping it has no effect: [`stop`](Self::stop) it. Clones are
/// the same controller.
#[derive(Clone)]
pub struct RunningController {
    added: Arc<AddedController>,
}

impl Manager {
    /// Starts controllers while the manager runs. May be called before.
    pub fn controllers(&self) -> Controllers {
        Controllers {
            manager: self.downgrade(),
        }
    }

    /// Grants the permissions of a controller that may be [started](Controllers::start) while the manager runs:
    /// `make manifests` writes them into `config/rbac/role.yaml`. Has no other effect, and may be called for several
    /// controllers of one name, such as one for each kind.
    ///
    /// The permissions of a role are granted whether the controller runs or not. Of a kind that is known only in the
    /// cluster, no declaration can name the permissions: [`grant`](Self::grant) them.
    pub fn may_start<K: AnyObject>(&self, controller: &Controller<K>, reconciler: &impl Reconciler<K>) {
        self.expect(controller.registration(reconciler.finalizer().is_some()));
    }
}

impl Controllers {
    /// Starts a controller, and returns once its caches are filled and, if this process leads, its workers have started.
    /// On a standby they start when it leads. If the returned future is dropped before, the controller is stopped.
    ///
    /// # Caches
    ///
    /// A kind that another controller uses has one cache for both. If that cache contains only this operator's
    /// [children](Controller::owns), and this controller needs every object, all objects of the kind are listed once, and
    /// the cache contains all of them until nobody uses it any more.
    ///
    /// # Errors
    ///
    /// - [`Error::Setup`] as from [`Controller::register`]: a controller of this name runs or is being stopped, another
    ///   one writes the same condition, an index exists. Or if the manager does not run yet: then register it.
    /// - [`Error::Retry`] if one of its caches makes no progress for `--cache-sync-timeout`, such as without the
    ///   permission to list the kind, with the failing watch named; if its children cannot be searched; or, at
    ///   once, if the manager is stopping or has stopped.
    pub async fn start<K: AnyObject, R: Reconciler<K>>(
        &self,
        controller: Controller<K>,
        reconciler: R,
    ) -> Result<RunningController> {
        let (manager, added) = self.add(controller, Box::new(reconciler))?;
        Box::pin(manager.open(added.clone())).await?;
        Ok(RunningController { added })
    }

    /// The controller of this name that was started here and has not stopped.
    pub fn get(&self, name: &str) -> Option<RunningController> {
        let added = self.manager.upgrade()?.added(name)?;
        Some(RunningController { added })
    }

    fn add<K: AnyObject>(
        &self,
        controller: Controller<K>,
        reconciler: Box<dyn AnyReconciler<K>>,
    ) -> Result<(Manager, Arc<AddedController>)> {
        let manager = self.manager.upgrade().filter(|manager| !manager.is_stopping());
        let manager = manager.ok_or_else(stopping)?;
        if !manager.has_begun() {
            let text = format!("`{}` cannot be started: the manager does not run yet", controller.name);
            let hint = "register it with `Controller::register`";
            return Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
        }
        let joining = Joining::new(&manager);
        let (worker, workers) = match controller.join(&joining, reconciler) {
            Ok(joined) => joined,
            Err(error) => {
                joining.release();
                return Err(error);
            }
        };
        let uses = joining.into_uses();
        let added = manager.admit(Arc::new(worker), workers, uses);
        Ok((manager, added))
    }
}

impl RunningController {
    /// The controller's name.
    pub fn name(&self) -> &str {
        self.added.name()
    }

    /// Stops the controller, and returns when it has stopped: its workers have finished their current keys, the keys that
    /// are queued are dropped, its watches are released, and its metrics are gone. A cache that nobody else uses ends, and
    /// its memory is freed. Then a controller of this name can be started again; it reconciles every object.
    ///
    /// Nothing is deleted: neither objects, nor children, nor finalizers. An object with this controller's finalizer that
    /// is deleted meanwhile waits until the controller runs again.
    ///
    /// If the returned future is dropped, the controller stops nevertheless.
    ///
    /// # Caveats
    ///
    /// A reconcile that waits here for its own controller waits for itself, until its time limit: it should call
    /// [`request_stop`](Self::request_stop).
    pub async fn stop(&self) {
        self.request_stop();
        self.stopped().await;
    }

    /// As [`stop`](Self::stop), without waiting.
    pub fn request_stop(&self) {
        self.added.request_stop();
    }

    /// Waits until the controller has stopped, for whichever reason: asked to, or with the manager.
    pub async fn stopped(&self) {
        self.added.stopped().await;
    }

    /// Whether the controller has stopped.
    pub fn has_stopped(&self) -> bool {
        self.added.has_stopped()
    }
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, future::ready};

    use http::{Request, Response};
    use k8s_openapi::api::{
        batch::v1::Job,
        core::v1::{ConfigMap, Secret},
    };
    use kube::{Client, client::Body};
    use tower::service_fn;

    use super::*;
    use crate::{context::Context, reconciler::Action};

    struct Finalizes;

    impl Reconciler<ConfigMap> for Finalizes {
        fn finalizer(&self) -> Option<&str> {
            Some("example.com/cleanup")
        }

        async fn reconcile(&self, _: &Context<ConfigMap>, _: Arc<ConfigMap>) -> Result<Action> {
            Ok(Action::Done)
        }
    }

    fn declared() -> Controller<ConfigMap> {
        Controller::<ConfigMap>::new("backup")
            .owns::<Job>()
            .rule(&[""], &["pods/log"], &["get"])
    }

    #[tokio::test]
    async fn a_controller_that_may_start_has_the_permissions_of_a_registered_one() {
        let manager = || {
            let service = service_fn(|_: Request<Body>| ready(Ok::<_, Infallible>(Response::new(Body::empty()))));
            Manager::builder(Client::new(service, "default")).build()
        };
        let (registered, expected) = (manager(), manager());
        declared().register(&registered, Finalizes).unwrap();
        expected.may_start(&declared(), &Finalizes);
        let roles = expected.roles(false).unwrap();
        assert_eq!(roles, registered.roles(false).unwrap());
        assert!(roles[0].to_string().contains("\"jobs\""), "{roles:?}");
        expected.may_start(&declared().watches::<Secret>(|_| Vec::new()), &Finalizes);
        assert!(expected.roles(false).unwrap()[0].to_string().contains("\"secrets\""));
        assert!(expected.controllers().get("backup").is_none(), "nothing is started");
    }
}
