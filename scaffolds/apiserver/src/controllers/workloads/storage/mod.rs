//! Claims and volumes: claims are bound to volumes that exist or that are made up for them, grow, and lose their volume.

mod claim;
mod run;
mod volume;

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::{Value, json};

use super::{
    fields::text,
    write::{CLAIMS, VOLUMES, Write},
};
use crate::{meta, store::Key};

pub(super) use run::waits;
#[cfg(feature = "testing")]
pub use volume::provisioned;

/// The storage class that a server with workloads begins with.
pub(super) fn class() -> Write {
    Write::Create(json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
        "metadata": {"name": "standard", "annotations": {DEFAULT: "true"}},
        "provisioner": "kubewright.dev/none", "allowVolumeExpansion": true,
    }))
}

const DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";

/// Pairs of claims and volumes, by their specs.
#[derive(Default)]
pub(super) struct Storage {
    /// The claims without a volume.
    pending: HashSet<Key>,
    /// The names of volumes for no claim.
    free: BTreeSet<String>,
    /// The volumes that claims name.
    volumes: HashMap<Key, String>,
    /// The volumes that are for a claim.
    reserved: HashMap<Key, String>,
    /// The claims that volumes are for.
    claims: HashMap<String, Key>,
}

impl Storage {
    /// Indexes the state of a claim, a volume or a class, or that it is gone; returns the claims and volumes that this
    /// concerns, apart from the object.
    pub fn look(&mut self, key: &Key, object: Option<&Value>) -> Vec<Key> {
        match &*key.resource {
            CLAIMS => self.look_at_claim(key, object),
            VOLUMES => self.look_at_volume(&key.name, object),
            _ => self.pending.iter().cloned().collect(),
        }
    }

    fn look_at_claim(&mut self, key: &Key, claim: Option<&Value>) -> Vec<Key> {
        let name = claim.map_or("", |claim| text(claim, "/spec/volumeName"));
        match claim.is_some() && name.is_empty() {
            true => self.pending.insert(key.clone()),
            false => self.pending.remove(key),
        };
        let before = self.volumes.remove(key);
        if !name.is_empty() {
            self.volumes.insert(key.clone(), name.to_owned());
        }
        let reserved = self.reserved.get(key).cloned();
        let names = before.into_iter().chain(reserved).chain([name.to_owned()]);
        let names: BTreeSet<String> = names.filter(|name| !name.is_empty()).collect();
        names.iter().map(|name| Key::new(VOLUMES, "", name)).collect()
    }

    fn look_at_volume(&mut self, name: &str, volume: Option<&Value>) -> Vec<Key> {
        let mut concerned: Vec<Key> = self.claims.remove(name).into_iter().collect();
        for key in &concerned {
            self.reserved.remove(key);
        }
        self.free.remove(name);
        let Some(volume) = volume else { return concerned };
        let claim = &volume["spec"]["claimRef"];
        if claim.is_object() {
            let key = Key::new(CLAIMS, text(claim, "/namespace"), text(claim, "/name"));
            self.claims.insert(name.to_owned(), key.clone());
            self.reserved.insert(key.clone(), name.to_owned());
            concerned.push(key);
        } else {
            self.free.insert(name.to_owned());
            concerned.extend(self.pending.iter().cloned());
        }
        concerned
    }
}

/// The name of the class of a claim or of a volume.
fn class_of(object: &Value) -> &str {
    let annotation = super::fields::annotation(object, "volume.beta.kubernetes.io/storage-class");
    annotation.unwrap_or_else(|| text(object, "/spec/storageClassName"))
}

/// Whether a volume is for this claim.
fn is_for(volume: &Value, claim: &Value) -> bool {
    let reference = &volume["spec"]["claimRef"];
    let is_named = ["namespace", "name"]
        .iter()
        .all(|field| text(reference, &format!("/{field}")) == meta::text(claim, field));
    is_named && ["", meta::text(claim, "uid")].contains(&text(reference, "/uid"))
}
