//! The controller of ResourceQuotas: it copies `spec.hard` to the status, and keeps there what the objects of the namespace use.
//!
//! It counts the objects of a namespace once for each quota, then adds and subtracts what changes. Namespaces without quotas cost it
//! nothing. It writes the usage only when no charged write is pending, so that admission never admits more than the limit.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::{Value, json};

use super::{act, isolated, retries::Retries};
use crate::{
    catalogue::Snapshot,
    effects::Cluster,
    quota::{self, Amounts, Measure, Quota},
    state::Core,
    status::Status,
    store::{Change, ChangeKind, Key, Record},
};

/// The quotas of all namespaces.
#[derive(Default)]
pub(super) struct Quotas {
    /// By namespace, then by name.
    counted: BTreeMap<String, BTreeMap<String, CountedQuota>>,
    /// The namespaces whose quotas may show a usage that differs from their objects.
    stale: BTreeSet<String>,
    /// The namespaces with a quota whose status was refused.
    pub retries: Retries<String>,
    /// The last change that was added.
    revision: u64,
}

/// A quota, and the usage of the objects.
struct CountedQuota {
    quota: Quota,
    usage: Amounts,
    /// The revision of the objects that were counted first; later changes are added.
    since: u64,
}

impl Quotas {
    /// Counts the objects of existing quotas.
    pub fn begin(&mut self, core: &Core, records: &[Arc<Record>]) {
        for record in records.iter().filter(|record| is_quota(record)) {
            self.seen(core, record);
        }
    }

    /// Adds a change of any object.
    pub fn follow(&mut self, core: &Core, change: &Change) {
        self.revision = change.revision;
        let (record, is_gone) = (&change.record, change.kind == ChangeKind::Deleted);
        let namespace = &record.key.namespace;
        if let Some(quotas) = self.counted.get_mut(namespace.as_str()) {
            let mut is_changed = false;
            for counted in quotas.values_mut().filter(|counted| counted.since < change.revision) {
                is_changed = counted.follow(change, is_gone) || is_changed;
            }
            if is_changed {
                self.stale.insert(namespace.clone());
            }
        }
        if is_quota(record) {
            match is_gone {
                true => self.forget(record),
                false => self.seen(core, record),
            }
        }
    }

    /// Takes note of writes that were charged and failed.
    pub fn failed(&mut self, core: &Core) {
        let failed = core.charged.take_failed().into_iter();
        let counted = &self.counted;
        self.stale
            .extend(failed.filter(|namespace| counted.contains_key(namespace)));
    }

    /// Looks at the served resources again: a quota can limit a custom kind once it is served.
    pub fn look_again(&mut self) {
        self.stale.extend(self.counted.keys().cloned());
    }

    /// Whether the controller has no write to send.
    pub fn is_idle(&self, core: &Core) -> bool {
        self.stale.iter().all(|namespace| core.charged.has(namespace))
    }

    /// Writes the status of the quotas that may be out of date.
    pub async fn work(&mut self, cluster: &Arc<Cluster>) {
        let due = self.retries.due(cluster.core.now()).into_iter();
        self.stale
            .extend(due.filter(|namespace| self.counted.contains_key(namespace)));
        let ready: Vec<String> = self.stale.iter().cloned().collect();
        for namespace in ready {
            match isolated(self.settle(cluster, &namespace)).await {
                Ok(false) => continue,
                Ok(true) => self.retries.forget(&namespace),
                Err(_) => self.retries.failed(&namespace, cluster.core.now()),
            }
            self.stale.remove(&namespace);
        }
    }

    /// Adds a quota, or takes note of its change.
    fn seen(&mut self, core: &Core, record: &Record) {
        let Ok(object) = record.read::<Value>() else {
            return;
        };
        let quota = Quota::of(&object);
        let key = &record.key;
        let quotas = self.counted.entry(key.namespace.clone()).or_default();
        let present = quotas
            .get(&key.name)
            .filter(|present| present.quota.counts_like(&quota));
        if present.is_none() {
            quotas.insert(key.name.clone(), CountedQuota::count(core, quota, &key.namespace));
        }
        self.stale.insert(key.namespace.clone());
    }

    fn forget(&mut self, record: &Record) {
        let key = &record.key;
        if let Some(quotas) = self.counted.get_mut(&key.namespace) {
            quotas.remove(&key.name);
            if quotas.is_empty() {
                self.counted.remove(&key.namespace);
                self.stale.remove(&key.namespace);
                self.retries.forget(&key.namespace);
            }
        }
    }

    /// Writes the status of each quota of a namespace that differs. Returns whether there is nothing left to do.
    ///
    /// # Errors
    /// The Status of a refused write.
    async fn settle(&self, cluster: &Arc<Cluster>, namespace: &str) -> Result<bool, Status> {
        let core = &cluster.core;
        let mut is_settled = true;
        let mut refusal = None;
        for (name, counted) in self.counted.get(namespace).into_iter().flatten() {
            let key = Key::new(quota::RESOURCE, namespace, name);
            // Read the quota first: whatever is charged from here on changes it, so that the write below conflicts.
            let Some(record) = core.store.get(&key) else { continue };
            if core.charged.has(namespace) || core.store.revision() > self.revision.max(counted.since) {
                is_settled = false;
                continue;
            }
            let Some(object) = counted.next(&record, &core.catalogue.snapshot()) else {
                continue;
            };
            match act::put(cluster, &key, "status", &object).await {
                Err(_) if act::has_changed(core, &record) => is_settled = false,
                Err(status) => refusal = Some(status),
                Ok(_) => {}
            }
        }
        match refusal {
            Some(status) if is_settled => Err(status),
            _ => Ok(is_settled),
        }
    }
}

impl CountedQuota {
    /// Counts the present objects.
    fn count(core: &Core, quota: Quota, namespace: &str) -> Self {
        let (since, records) = core.store.contents(namespace);
        let mut usage = Amounts::default();
        for record in &records {
            if let Some(its) = usage_of(&quota, record) {
                usage.add(&its);
            }
        }
        Self { quota, usage, since }
    }

    /// Adds a change. Returns whether the usage may be another one.
    fn follow(&mut self, change: &Change, is_gone: bool) -> bool {
        let before = change
            .previous
            .as_ref()
            .and_then(|record| usage_of(&self.quota, record));
        let after = match is_gone {
            true => None,
            false => usage_of(&self.quota, &change.record),
        };
        let is_changed = before.is_some() || after.is_some();
        self.usage.add(&after.unwrap_or_default());
        self.usage.subtract(&before.unwrap_or_default());
        is_changed
    }

    /// The quota with its next status, unless that is the present one.
    fn next(&self, record: &Record, snapshot: &Snapshot) -> Option<Value> {
        let mut object: Value = record.read().ok()?;
        let present = Quota::of(&object);
        let mut used = Amounts::default();
        used.add(&present.used);
        for name in present.wanted.names().filter(|name| is_countable(name, snapshot)) {
            let usage = self.usage.get(name).cloned();
            used.set(
                name,
                usage.unwrap_or_else(|| kubewright_machinery::quantity::Quantity::of(0)),
            );
        }
        let used = used.only(|name| present.wanted.get(name).is_some());
        let is_present = present.hard.is_equal(&present.wanted) && present.used.is_equal(&used);
        if is_present && object["status"].get("used").is_some() {
            return None;
        }
        object["status"] = json!({"hard": present.wanted.json(), "used": used.json()});
        Some(object)
    }
}

fn is_quota(record: &Record) -> bool {
    &*record.key.resource == quota::RESOURCE
}

/// The usage of an object under a quota; `None` if the quota does not limit the object.
fn usage_of(quota: &Quota, record: &Record) -> Option<Amounts> {
    let measure = Measure::of_stored(&record.key.resource)?;
    if !quota.wanted.names().any(|name| measure.concerns(name)) {
        return None;
    }
    let object = match measure {
        Measure::Objects { .. } if quota.has_scopes() => return None,
        Measure::Objects { .. } => Value::Null,
        _ => record.read().ok()?,
    };
    quota.is_about(measure, &object).then(|| {
        let usage = measure.usage(&object);
        usage.only(|name| quota.wanted.get(name).is_some())
    })
}

/// Whether objects are counted under this name: only objects of a served kind are.
fn is_countable(name: &str, snapshot: &Snapshot) -> bool {
    let Some(counted) = name.strip_prefix("count/") else {
        let measures = [
            "/pods",
            "/services",
            "/persistentvolumeclaims",
            "resource.k8s.io/resourceclaims",
        ];
        let aliased = ["/configmaps", "/resourcequotas", "/replicationcontrollers", "/secrets"];
        let mut measures = measures.into_iter().chain(aliased).filter_map(Measure::of_stored);
        return measures.any(|measure| measure.concerns(name));
    };
    let (plural, group) = counted.split_once('.').unwrap_or((counted, ""));
    let served = snapshot.versions(group).into_iter();
    let mut served = served.filter_map(|version| snapshot.resource(group, version, plural));
    Measure::of(group, plural).is_some() && served.any(|resource| resource.namespaced)
}
