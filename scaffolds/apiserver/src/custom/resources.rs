//! The resources of a CustomResourceDefinition: one for each served version.

use super::{
    conditions::holds,
    kind::{Custom, Family, Served},
};
use crate::{
    converters, digest,
    resource::{Names, Resource, Subresource},
    state::Core,
};
use kubewright_machinery::base64::{self, Encoding};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::watch;

/// The verbs, in the order in which discovery lists them for custom resources.
const VERBS: &[&str] = &[
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];
const SUBRESOURCE_VERBS: &[&str] = &["get", "patch", "update"];

/// The resources of `crd`: none until its names are accepted. `revision` is the definition's; `ends` closes when the
/// resources are no longer served.
pub(super) fn of(core: &Core, crd: &Value, revision: u64, ends: &watch::Receiver<()>) -> Vec<Resource> {
    if !holds(crd, "Established") {
        return Vec::new();
    }
    let how = Served {
        since: revision,
        ends: Some(ends.clone()),
        conversion: converters::of(crd, &core.store, &core.webhooks),
    };
    let family = Family::of(crd, how);
    let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
    let served = versions.filter(|version| version["served"] == true);
    served.map(|version| resource(crd, version, &family)).collect()
}

/// The resource in its storage version, which need not be served.
pub(super) fn stored(core: &Core, crd: &Value) -> Option<Resource> {
    let version = crd["spec"]["versions"]
        .as_array()?
        .iter()
        .find(|version| version["storage"] == true)?;
    let how = Served {
        since: u64::MAX,
        ends: None,
        conversion: converters::of(crd, &core.store, &core.webhooks),
    };
    Some(resource(crd, version, &Family::of(crd, how)))
}

fn resource(crd: &Value, version: &Value, family: &Arc<Family>) -> Resource {
    let versions = crd["spec"]["versions"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let text = |pointer: &str| {
        crd.pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let group = text("/spec/group");
    let storage = versions.iter().find(|it| it["storage"] == true).unwrap_or(version);
    let storage = storage["name"].as_str().unwrap_or_default().to_owned();
    let kind = text("/spec/names/kind");
    // The hash is shown only if the storage version is served.
    let shown = versions.iter().any(|it| it["storage"] == true && it["served"] == true);
    Resource {
        version: version["name"].as_str().unwrap_or_default().to_owned(),
        names: names(&crd["status"]["acceptedNames"]),
        namespaced: crd["spec"]["scope"] == "Namespaced",
        verbs: VERBS,
        subresources: subresources(&group, version, &text("/status/acceptedNames/kind")),
        storage_version_hash: if shown {
            storage_version_hash(&group, &storage, &kind)
        } else {
            String::new()
        },
        storage_version: storage,
        strategy: Arc::new(Custom::new(family, version, crd)),
        group,
    }
}

fn names(names: &Value) -> Names {
    let text = |key: &str| names[key].as_str().unwrap_or_default().to_owned();
    let texts = |key: &str| {
        let list = names[key].as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    Names {
        plural: text("plural"),
        singular: text("singular"),
        kind: text("kind"),
        list_kind: text("listKind"),
        short_names: texts("shortNames"),
        categories: texts("categories"),
    }
}

fn subresources(group: &str, version: &Value, kind: &str) -> Vec<Subresource> {
    let name = version["name"].as_str().unwrap_or_default();
    let status = ("status", group, name, kind);
    let scale = ("scale", "autoscaling", "v1", "Scale");
    let there = [status, scale]
        .into_iter()
        .filter(|(name, ..)| version["subresources"][*name].is_object());
    there
        .map(|(name, group, version, kind)| Subresource {
            name: name.to_owned(),
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            verbs: SUBRESOURCE_VERBS,
        })
        .collect()
}

/// The first eight bytes of the SHA-256 of `group/version/Kind`, in base64.
pub(crate) fn storage_version_hash(group: &str, version: &str, kind: &str) -> String {
    let hash = digest::sha256_start(&format!("{group}/{version}/{kind}"));
    base64::encode(&hash, Encoding::Standard)
}
