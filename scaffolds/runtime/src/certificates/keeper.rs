//! The task that keeps the certificates: on each replica it serves what the Secret has, and does the step that is due,
//! unless another replica is faster.

use std::{collections::BTreeSet, future::Future, sync::Arc};

use futures::future::join_all;
use k8s_openapi::api::core::v1::Secret;
use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};
use tracing::{info, warn};

use super::{
    CertificateStatus, RenewalTiming, Settings, clock::shared_time, configurations::Configuration,
    definitions::Converter, hint, now, plan::State, secret,
};
use crate::{
    informer::{Informer, InformerConfig, Scope},
    key::ObjectKey,
    metrics::Metrics,
    server::Held,
};

/// Keeps the certificates of one process.
pub struct Keeper {
    settings: Settings,
    secret: Informer<Secret>,
    key: ObjectKey,
    configurations: Vec<Configuration>,
    /// The names in the certificate; the first one is the Service's.
    names: Vec<String>,
    field_manager: String,
    held: Held,
    standing: CertificateStatus,
    changed: Arc<Notify>,
    /// The state whose certificate is served.
    served: Option<State>,
    /// The revision that all configurations show, and since when.
    shown: Option<(u64, Instant)>,
    /// The last logged message.
    said: Option<String>,
}

impl Keeper {
    /// Nothing is watched or served until it [runs](Self::keep).
    pub fn new(settings: Settings, held: Held, metrics: &Metrics) -> Self {
        let (client, affixes, namespace) = (&settings.client, &settings.affixes, &settings.namespace);
        let name = affixes.apply(settings.identity.secret);
        let config = InformerConfig {
            scope: Scope::Namespaces(BTreeSet::from([namespace.clone()])),
            field_selector: Some(format!("metadata.name={name}")),
            resync: None,
            ..InformerConfig::default()
        };
        let configured = settings.configured.iter();
        let field_manager = format!("{}/certificates", settings.operator);
        let configured =
            configured.map(|it| Configuration::new(client, *it, &settings.configuration_affixes, &field_manager));
        let service = affixes.apply(settings.identity.service);
        let converters = settings.converting.iter().cloned();
        let converters = converters.map(|it| Converter::new(it, &settings.reach, [&service, namespace]));
        let definitions = converters.map(|it| Configuration::of_definition(client, it));
        let authorities = settings.identity.authorities.map(|it| {
            let key = ObjectKey::new(Some(namespace), &affixes.apply(it));
            Configuration::of_config_map(client, key, settings.identity.component)
        });
        let configurations = configured.chain(definitions).chain(authorities).collect();
        let mut names = vec![format!("{service}.{namespace}.svc")];
        if settings.identity.authorities.is_some() {
            // The ServiceMonitor has no longer name: kustomize can replace a whole field by the Service's name.
            names.push(service);
        }
        names.extend(settings.hosts.iter().cloned());
        let standing = CertificateStatus::new();
        standing.register(metrics, settings.identity);
        Self {
            secret: Informer::new(client.clone(), config),
            key: ObjectKey::new(Some(namespace), &name),
            configurations,
            names,
            field_manager,
            held,
            standing,
            changed: Arc::default(),
            served: None,
            shown: None,
            said: None,
            settings,
        }
    }

    /// The status of the certificate that is served.
    pub fn standing(&self) -> CertificateStatus {
        self.standing.clone()
    }

    /// Works until `stop` resolves.
    pub async fn keep<F: Future<Output = ()> + Send>(mut self, stop: impl Fn() -> F) {
        let changed = self.changed.clone();
        self.secret.subscribe(move |_| changed.notify_one());
        for configuration in &self.configurations {
            let changed = self.changed.clone();
            configuration.informer.subscribe(move |_| changed.notify_one());
        }
        let secret = self.secret.clone().run(stop());
        let configurations = self.configurations.iter().map(|it| it.informer.clone().run(stop()));
        let configurations = join_all(configurations.collect::<Vec<_>>());
        let watches = async { tokio::join!(secret, configurations) };
        tokio::select! {
            _ = watches => {}
            () = self.work() => {}
        }
    }

    async fn work(&mut self) {
        loop {
            let outcome = self.step().await;
            self.say(outcome.err());
            self.judge();
            let RenewalTiming { look, settle, .. } = self.settings.pace;
            let mut is_early = false;
            for configuration in &self.configurations {
                is_early |= configuration.note_converter(settle);
            }
            tokio::select! {
                () = self.changed.notified() => {}
                () = sleep(if is_early { look.min(settle) } else { look }) => {}
            }
        }
    }

    /// Logs what has gone wrong, once.
    fn say(&mut self, wrong: Option<String>) {
        if wrong != self.said {
            if let Some(wrong) = &wrong {
                // A log message is one line.
                let parts = wrong.split_once("\n\nhint: ");
                let (text, hint) = parts.map_or((wrong.as_str(), None), |(text, hint)| (text, Some(hint)));
                warn!(hint, "{}'s certificates: {text}", self.settings.identity.name);
            }
            self.said = wrong;
        }
    }

    /// Serves what the Secret has, publishes its authorities, and does the step that is due.
    async fn step(&mut self) -> Result<(), String> {
        if !self.secret.has_synced() {
            return self.secret.last_error().map_or(Ok(()), Err);
        }
        let Some(secret) = self.secret.store().get(&self.key) else {
            let text = format!("the Secret `{}` does not exist", self.key);
            let hint = hint(self.settings.identity.component);
            return Err(format!("{text}\n\nhint: {hint}"));
        };
        let Some(state) = secret::read(&secret) else {
            let mut unread = self.configurations.iter().filter_map(Configuration::unread);
            if let Some(why) = unread.next() {
                return why.map_or(Ok(()), Err);
            }
            // Later than all that a configuration may name from before.
            let (revision, lives) = (self.latest().saturating_add(1), self.settings.pace.lives);
            info!("making {}'s first certificate", self.settings.identity.name);
            let now = shared_time(&self.settings.client).await?;
            let state = State::new(self.names.clone(), revision, now, lives)?;
            return self.write(&secret, &state).await;
        };
        self.serve(&state)?;
        // Somebody may have written such a number. If it is that of a later state, the Secret has changed, and this write is a conflict.
        let latest = self.latest();
        if latest > state.revision {
            return self.write(&secret, &state.with_revision(latest)).await;
        }
        // A failed publication must not end the renewal: a converter with a certificate that has ended does not answer, and
        // its definition cannot name it until it does.
        let published = self.publish(&state).await;
        let trusted = *published.as_ref().unwrap_or(&false);
        if state.due(&self.names, now(), trusted).is_some() {
            let now = shared_time(&self.settings.client).await?;
            if let Some(step) = state.due(&self.names, now, trusted) {
                info!(?step, "renewing {}'s certificates", self.settings.identity.name);
                let next = state.after(step, &self.names, now, self.settings.pace.lives)?;
                self.write(&secret, &next).await?;
            }
        }
        published?;
        let absent = self.configurations.iter().find_map(Configuration::absence);
        absent.map_or(Ok(()), Err)
    }

    /// The latest revision that a configuration names.
    fn latest(&self) -> u64 {
        let revisions = self.configurations.iter().map(Configuration::revision);
        revisions.max().unwrap_or_default()
    }

    async fn write(&self, secret: &Secret, state: &State) -> Result<(), String> {
        let written = secret::write(&self.settings.client, secret, state, &self.field_manager).await;
        written.map_err(|error| format!("the Secret `{}`: {error}", self.key))
    }

    fn serve(&mut self, state: &State) -> Result<(), String> {
        let is_served = self.served.as_ref().is_some_and(|served| served.leaf == state.leaf);
        if !is_served {
            self.held.set(&state.leaf.certificate.0, &state.leaf.key.0)?;
        }
        self.served = Some(state.clone());
        Ok(())
    }

    /// Makes all configurations name the state's authorities. Returns whether API servers have had the time to see them.
    async fn publish(&mut self, state: &State) -> Result<bool, String> {
        let mut shown = true;
        let mut failed = None;
        for configuration in &self.configurations {
            if let Some(why) = configuration.unread() {
                shown = false;
                failed = failed.or(why);
                continue;
            }
            let (client, pause) = (&self.settings.client, self.settings.pace.look);
            let published = configuration.publish(client, state, self.publisher(), pause);
            // One that cannot be written keeps no other from being written.
            shown &= published.await.unwrap_or_else(|why| {
                failed.get_or_insert(why);
                false
            });
        }
        if let Some(why) = failed {
            self.shown = None;
            return Err(why);
        }
        if !shown {
            self.shown = None;
            return Ok(false);
        }
        let since = match self.shown {
            Some((revision, since)) if revision == state.revision => since,
            _ => Instant::now(),
        };
        self.shown = Some((state.revision, since));
        Ok(since.elapsed() >= self.settings.pace.settle)
    }

    /// The publisher: its field manager, and its name.
    fn publisher(&self) -> [&str; 2] {
        [&self.field_manager, &self.names[0]]
    }

    /// Notes whether API servers accept what is served.
    fn judge(&self) {
        let Some(state) = &self.served else { return };
        let accepted = self
            .configurations
            .iter()
            .try_for_each(|configuration| configuration.accepts(state, &self.names[0], now()));
        self.standing.set(accepted, state.leaf.until);
    }
}
