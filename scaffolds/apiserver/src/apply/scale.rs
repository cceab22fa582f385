//! The managedFields of the scale subresource: those entries of the object that own its replicas.

use kubewright_schema::typed::{Element, Path};
use serde_json::Value;

use super::{
    managed::{self, Managed, Owned},
    set::Set,
};

/// The version of a Scale's entries, and the path of its replicas.
const SCALE: &str = "autoscaling/v1";
const SPEC_REPLICAS: &[&str] = &["spec", "replicas"];

/// The path of the replicas in a version of the kind, with dots (`spec.replicas`); empty for a version without a scale
/// subresource, `None` for a version that the kind does not have.
pub type Replicas<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Gives the Scale of `object` the entries of the managers that own the object's replicas. The caller then calls
/// [`update`](super::update) or [`apply`](super::apply) on the Scale, as on any object, with the subresource `scale`.
pub fn scale_entries(object: &Value, scale: &mut Value, replicas: &Replicas<'_>) {
    let managed = decoded(object);
    let mut out = Managed::default();
    for (manager, owned) in managed.owners {
        let Some(path) = replicas(&owned.api_version).filter(|it| !it.is_empty()) else {
            continue;
        };
        if owned.set.has(&fields(&path)) {
            if let Some(time) = managed.times.get(&manager) {
                out.times.insert(manager.clone(), time.clone());
            }
            out.owners.insert(
                manager,
                Owned {
                    set: Set::of([SPEC_REPLICAS]),
                    api_version: SCALE.to_owned(),
                },
            );
        }
    }
    managed::write(scale, &out);
}

/// Transfers the entries of a written Scale to the object, which is in `api_version`: a manager that lost the replicas
/// of the Scale loses those of the object.
pub fn scaled_entries(object: &mut Value, scale: &Value, api_version: &str, replicas: &Replicas<'_>) {
    let parent = decoded(object);
    let mut scale = decoded(scale).owners;
    let mut out = Managed::default();
    for (manager, mut owned) in parent.owners {
        let Some(path) = replicas(&owned.api_version) else {
            continue;
        };
        let path = fields(&path);
        if owned.set.has(&path) && scale.remove(&manager).is_none() {
            let mut lost = Set::default();
            lost.insert(&path);
            owned.set = owned.set.difference(&lost);
        }
        if !owned.set.is_empty() {
            if let Some(time) = parent.times.get(&manager) {
                out.times.insert(manager.clone(), time.clone());
            }
            out.owners.insert(manager, owned);
        }
    }
    let mut set = Set::default();
    set.insert(&fields(&replicas(api_version).unwrap_or_default()));
    let replicas = SPEC_REPLICAS.iter().map(|it| Element::field(it)).collect::<Path>();
    for (manager, _) in scale.into_iter().filter(|(_, owned)| owned.set.has(&replicas)) {
        // Like the real server, which reads the time from the object's own entries and so finds none for new entries.
        if let Some(time) = parent.times.get(&manager) {
            out.times.insert(manager.clone(), time.clone());
        }
        out.owners.insert(
            manager,
            Owned {
                set: set.clone(),
                api_version: api_version.to_owned(),
            },
        );
    }
    managed::write(object, &out);
}

fn decoded(object: &Value) -> Managed {
    managed::entries(object)
        .and_then(|it| managed::decode(it).ok())
        .unwrap_or_default()
}

fn fields(path: &str) -> Path {
    path.split('.')
        .filter(|it| !it.is_empty())
        .map(Element::field)
        .collect()
}
