//! Objects that are maintained one by one from their present state: the conditions of FlowSchemas, the status of policies, the
//! ServiceAccount and ConfigMap that every namespace has, and Secrets with tokens. After a refused write it looks at the object
//! again, with a growing delay.

use std::sync::Arc;

use super::{
    ControllerSettings, flow, isolated, namespaces, policy_types, retries::Retries, root_ca, service_accounts,
};
use crate::{effects::Cluster, flow::SCHEMAS, state::Core, store::Key};

/// The settings, and the objects about which a write was refused.
pub(super) struct Upkeep {
    settings: ControllerSettings,
    pub retries: Retries<Key>,
}

impl Upkeep {
    pub fn new(settings: ControllerSettings) -> Self {
        Self {
            settings,
            retries: Retries::default(),
        }
    }

    /// Looks at the objects that an object concerns, after a change of it.
    pub async fn follow(&mut self, cluster: &Arc<Cluster>, key: &Key, is_gone: bool) {
        for key in self.concerned(&cluster.core, key, is_gone) {
            self.look(cluster, &key).await;
        }
    }

    /// Looks at the objects that are due.
    pub async fn work(&mut self, cluster: &Arc<Cluster>) {
        for key in self.retries.due(cluster.core.now()) {
            self.look(cluster, &key).await;
        }
    }

    fn concerned(&self, core: &Core, key: &Key, is_gone: bool) -> Vec<Key> {
        let controllers = &self.settings.controllers;
        match &*key.resource {
            policy_types::RESOURCE if controllers.policy_types && !is_gone => vec![key.clone()],
            namespaces::RESOURCE if controllers.service_accounts && !is_gone => {
                vec![service_accounts::key(&key.name), root_ca::key(&key.name)]
            }
            service_accounts::RESOURCE | root_ca::RESOURCE if controllers.service_accounts => {
                let kept = [service_accounts::key(&key.namespace), root_ca::key(&key.namespace)];
                let mut concerned: Vec<Key> = kept.into_iter().filter(|kept| kept == key).collect();
                if is_gone && &*key.resource == service_accounts::RESOURCE {
                    concerned.extend(service_accounts::secrets(core, &key.namespace));
                }
                concerned
            }
            service_accounts::SECRETS if controllers.service_accounts && !is_gone => vec![key.clone()],
            _ => flow::concerned(core, key),
        }
    }

    async fn look(&mut self, cluster: &Arc<Cluster>, key: &Key) {
        let done = isolated(async {
            match &*key.resource {
                SCHEMAS => flow::settle(cluster, key).await,
                policy_types::RESOURCE => policy_types::check(cluster, key).await,
                service_accounts::RESOURCE => service_accounts::provide(cluster, key).await,
                service_accounts::SECRETS => service_accounts::fill(cluster, key, &self.settings).await,
                _ => root_ca::provide(cluster, key, &self.settings.authority).await,
            }
        });
        match done.await {
            Err(_) => self.retries.failed(key, cluster.core.now()),
            Ok(()) => self.retries.forget(key),
        }
    }
}
