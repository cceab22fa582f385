//! Kinds whose objects this operator converts. API servers show them unconverted until the definition names the converter, and then not at
//! all until they reach it.

use std::{collections::BTreeMap, sync::Mutex};

use tokio::sync::watch::Receiver;

use super::{Manager, any_informer::AnyInformer, lock};

/// For each of these definitions, whether it names the converter.
#[derive(Default)]
pub(super) struct Converted(Mutex<BTreeMap<String, Receiver<bool>>>);

impl Converted {
    /// Whether the operator converts the objects of this cache.
    pub(super) fn has(&self, cache: &dyn AnyInformer) -> bool {
        lock(&self.0).contains_key(&cache.definition())
    }

    /// Holds a cache, which does not run yet, until the definition of its kind names the converter.
    pub(super) fn hold(&self, cache: &dyn AnyInformer) {
        if let Some(named) = lock(&self.0).get(&cache.definition()) {
            cache.hold(named.clone());
        }
    }
}

impl Manager {
    /// The operator converts the objects of a definition, such as `foobars.test.example.com`, which names the converter once `named` is true
    /// or its sender is gone. Caches of the kind are filled then, and the controllers that use them start then. Neither the lease nor
    /// readiness waits for them, unless they may not be listed: API servers reach a converter behind a Service only if the process is
    /// ready. Call it before the manager runs.
    pub fn converts(&self, definition: &str, named: Receiver<bool>) {
        lock(&self.core.converted.0).insert(definition.to_owned(), named);
        for cache in lock(&self.core.caches).values() {
            self.core.converted.hold(&*cache.running);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        future::{pending, ready},
        sync::Arc,
        sync::atomic::{AtomicBool, Ordering},
        time::Duration,
    };

    use http::{Request, Response};
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::{
        Client,
        api::{ApiResource, DynamicObject, GroupVersionKind},
        client::Body,
    };
    use tokio::{sync::watch, time::sleep};
    use tower::service_fn;

    use super::*;
    use crate::{
        kind::Kind,
        manager::Uses,
        worker::{self, Runnable},
    };

    /// A controller that records whether it has started.
    #[derive(Default)]
    struct Starts(AtomicBool);

    impl Runnable for Starts {
        fn name(&self) -> &'static str {
            "foobar"
        }

        fn start(&self) -> worker::Pending<'_> {
            self.0.store(true, Ordering::Relaxed);
            Box::pin(ready(()))
        }

        fn queue_namespace<'a>(&'a self, _: &'a str) -> worker::Pending<'a> {
            Box::pin(ready(()))
        }

        fn work(self: Arc<Self>) -> worker::Pending<'static> {
            Box::pin(pending())
        }

        fn shut_down(&self) {}

        fn is_shut_down(&self) -> bool {
            false
        }

        fn under_way(&self) -> usize {
            0
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_converted_kind_is_listed_after_its_converter_is_named_and_nothing_else_waits_for_it() {
        let listed = Arc::new(Mutex::new(Vec::new()));
        let (seen, allowed) = (listed.clone(), Arc::new(AtomicBool::new(false)));
        let grants = allowed.clone();
        let service = service_fn(move |request: Request<Body>| {
            let (path, watches) = (
                request.uri().path().to_owned(),
                request.uri().query().unwrap_or_default().contains("watch"),
            );
            if !watches {
                lock(&seen).push(path.clone());
            }
            let refused = path.ends_with("/foobars") && !allowed.load(Ordering::Relaxed);
            async move {
                if watches {
                    pending::<()>().await;
                }
                if refused {
                    let status = r#"{"kind": "Status", "status": "Failure", "message": "no", "reason": "Forbidden", "code": 403}"#;
                    let body = Body::from(status.as_bytes().to_vec());
                    return Ok(Response::builder().status(403).body(body).unwrap());
                }
                let list = r#"{"metadata": {"resourceVersion": "5"}, "items": []}"#;
                Ok::<_, Infallible>(Response::new(Body::from(list.as_bytes().to_vec())))
            }
        });
        let manager = Manager::builder(Client::new(service, "default")).build();
        let kind = GroupVersionKind::gvk("test.example.com", "v2", "FooBar");
        let kind = Kind::<DynamicObject>::namespaced(ApiResource::from_gvk(&kind));
        let (foobars, _maps) = (manager.informer_of(&kind), manager.informer::<ConfigMap>());
        let started = [kind.id(), Kind::<ConfigMap>::of().id()].map(|kind| {
            let (controller, mut uses) = (Arc::new(Starts::default()), Uses::default());
            uses.kinds.insert(kind.clone());
            manager.add(controller.clone(), 1, uses);
            controller
        });
        let started = || {
            started
                .each_ref()
                .map(|controller| controller.0.load(Ordering::Relaxed))
        };
        let (named, is_named) = watch::channel(false);
        manager.converts("foobars.test.example.com", is_named);
        let process = manager.share();
        let running = tokio::spawn(async move { process.run(pending(), None).await });
        // Longer than the time in which a list has to make progress.
        sleep(Duration::from_secs(600)).await;
        assert!(manager.core.filled.load(Ordering::Relaxed) && !foobars.has_synced());
        assert_eq!(*lock(&listed), ["/api/v1/configmaps"]);
        assert_eq!(started(), [false, true]);
        named.send_replace(true);
        sleep(Duration::from_secs(1)).await;
        assert!(!manager.core.filled.load(Ordering::Relaxed) && !running.is_finished());
        grants.store(true, Ordering::Relaxed);
        sleep(Duration::from_secs(60)).await;
        assert!(manager.core.filled.load(Ordering::Relaxed));
        assert!(foobars.has_synced() && !running.is_finished());
        assert_eq!(started(), [true, true]);
        assert_eq!(lock(&listed).last().unwrap(), "/apis/test.example.com/v2/foobars");
        running.abort();
    }
}
