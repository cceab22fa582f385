//! Certificates that a process keeps, as a task of its manager.

use super::{Affixes, Keeper, RenewalTiming, ServerIdentity, Settings, WebhookAddress};
use crate::{
    error::Result,
    manager::{Manager, Process, Stop, Task},
};

impl Settings {
    /// The settings of certificates that no configuration names.
    ///
    /// # Errors
    ///
    /// [`Error::Kube`](crate::Error::Kube) if the credentials cannot be used.
    pub fn of(process: &Process<'_>, identity: ServerIdentity, pace: RenewalTiming) -> Result<Self> {
        let (manager, options) = (process.manager, process.options);
        let own = Affixes::of_this_pod().filter(|_| process.in_cluster);
        let own = own.unwrap_or_else(|| Affixes::prefix(format!("{}-", manager.name())));
        let affixes = own
            .with_prefix(options.webhook_name_prefix.as_deref())
            .with_suffix(options.webhook_name_suffix.as_deref());
        Ok(Self {
            identity,
            client: manager.admission_client()?,
            operator: manager.name().to_owned(),
            namespace: manager.namespace().to_owned(),
            configuration_affixes: affixes.with_prefix(options.webhook_configuration_prefix.as_deref()),
            affixes,
            hosts: Vec::new(),
            configured: Vec::new(),
            converting: Vec::new(),
            reach: WebhookAddress::default(),
            pace,
        })
    }
}

/// Keeps certificates as a task of this name.
pub fn keep(manager: &Manager, task: &'static str, keeper: Keeper) {
    let keep = |stop: Stop| async move {
        keeper
            .keep(|| {
                let stop = stop.clone();
                async move { stop.requested().await }
            })
            .await;
        Ok(())
    };
    manager.task(Task::new(task, keep).before_caches());
}
