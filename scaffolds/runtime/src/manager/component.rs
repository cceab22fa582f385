//! The parts of an operator besides its controllers, such as webhooks and policies. The manager and the operator know them only
//! by [`Component`].

use std::{
    any::Any,
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use serde_json::Value;

use super::{Manager, lock};
use crate::{error::Result, options::Options, rbac::Rule};

/// A part of an operator, with what its author registers of it.
pub trait Component: Any + Send + Sync {
    /// The manifests and the permissions that it needs in an operator of this name.
    fn declare(&self, operator: &str) -> ComponentManifests;

    /// Whether [`check`](Self::check) uses the definitions of the operator's kinds, which take time to make.
    fn uses_definitions(&self) -> bool {
        false
    }

    /// Checks what is registered, by the CustomResourceDefinitions of the operator's kinds, and returns notes about it. An operator that
    /// runs does not check it.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`](crate::Error::Setup) with the first mistake, and its remedy.
    fn check(&self, _definitions: &[Value]) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Whether API servers call the operator for it.
    fn is_called(&self) -> bool {
        false
    }

    /// Starts it, on every replica, before the caches are filled. If it serves anything, returns its end.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`](crate::Error::Setup) if it cannot run with these flags or on this machine.
    fn run(&self, _process: &Process<'_>) -> Result<Option<Drain>> {
        Ok(None)
    }
}

/// The manifests of a component, and its permissions.
pub struct ComponentManifests {
    /// The permissions, which an operator of named namespaces does not get.
    pub rules: Vec<Rule>,
    /// The folder of the files.
    pub folder: ManifestFolder,
    /// The documents of each file.
    pub files: BTreeMap<String, Vec<Value>>,
}

/// A folder of manifests below `config`.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
pub enum ManifestFolder {
    /// `config/webhook`.
    Webhook,
    /// `config/policy`.
    Policy,
}

/// Begins the end of a server: it finishes what has begun, and clients go elsewhere. The server ends when this is dropped.
pub type Drain = Box<dyn Fn() + Send + Sync>;

/// The process in which a component runs.
pub struct Process<'a> {
    /// The manager of the operator.
    pub manager: &'a Manager,
    /// The flags of the operator.
    pub options: &'a Options,
    /// Whether the operator works in named namespaces only.
    pub namespaced: bool,
    /// Whether it runs in a Pod of the cluster that it works for.
    pub in_cluster: bool,
}

/// The components of a manager, in the order in which they were first used.
#[derive(Default)]
pub(super) struct Components(Mutex<Vec<Arc<dyn Component>>>);

impl Manager {
    /// The component of this type, which is added when it is first asked for.
    pub fn component<C: Component + Default>(&self) -> Arc<C> {
        let mut components = lock(&self.core.components.0);
        let known = components.iter().find_map(|it| {
            let it: Arc<dyn Any + Send + Sync> = it.clone();
            it.downcast().ok()
        });
        known.unwrap_or_else(|| {
            let added = Arc::<C>::default();
            components.push(added.clone());
            added
        })
    }

    /// All components.
    pub(crate) fn components(&self) -> Vec<Arc<dyn Component>> {
        lock(&self.core.components.0).clone()
    }
}

#[cfg(test)]
mod tests {
    use kube::{Client, Config};

    use super::*;

    #[derive(Default)]
    struct Greeting(Mutex<String>);

    #[derive(Default)]
    struct Farewell;

    fn nothing() -> ComponentManifests {
        ComponentManifests {
            rules: Vec::new(),
            folder: ManifestFolder::Webhook,
            files: BTreeMap::new(),
        }
    }

    impl Component for Greeting {
        fn declare(&self, operator: &str) -> ComponentManifests {
            *lock(&self.0) = format!("hello, {operator}");
            nothing()
        }
    }

    impl Component for Farewell {
        fn declare(&self, _operator: &str) -> ComponentManifests {
            nothing()
        }
    }

    #[tokio::test]
    async fn a_manager_has_one_component_of_a_type() {
        let client = Client::try_from(Config::new(http::Uri::from_static("http://nowhere.invalid"))).unwrap();
        let manager = Manager::builder(client).build();
        assert!(manager.components().is_empty());
        let greeting = manager.component::<Greeting>();
        manager.component::<Farewell>();
        for component in manager.components() {
            component.declare("op");
        }
        assert_eq!(manager.components().len(), 2);
        assert_eq!(*lock(&greeting.0), "hello, op");
        assert!(Arc::ptr_eq(&greeting, &manager.component()));
    }
}
