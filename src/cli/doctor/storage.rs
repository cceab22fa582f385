//! In which versions objects are stored: what PROJECT remembers, and what the CRDs of a cluster say. Which objects are stored
//! in which version is known to etcd alone, so none are counted here.

use super::{Finding, Verdict};
use crate::cli::cluster::Cluster;
use crate::project::{Kind, Project};
use serde_json::Value;

/// A kind of the project, from PROJECT.
#[derive(Debug)]
struct Known {
    /// The name of its CRD.
    crd: String,
    /// Its versions.
    versions: Vec<String>,
    /// The storage version.
    storage: String,
    /// The former storage versions.
    former: Vec<String>,
}

/// A finding for each kind whose objects may be stored in another version than the present one, and for each kind whose objects
/// were stored in another version that the cluster no longer has. Without a cluster the findings are from PROJECT alone.
pub(super) fn findings(project: &Project, cluster: Option<&Cluster>) -> Vec<Finding> {
    let own = project.kinds.iter().filter(|kind| kind.origin.is_project());
    let known: Vec<_> = own.filter_map(|kind| Known::of(project, kind)).collect();
    let names: Vec<_> = known.iter().map(|kind| kind.crd.clone()).collect();
    let Some(cluster) = cluster else {
        return known.iter().filter_map(Known::unasked).collect();
    };
    match cluster.definitions(&names) {
        Ok(found) => {
            let pairs = known.iter().zip(&found);
            pairs.filter_map(|(kind, crd)| kind.asked(crd.as_ref())).collect()
        }
        Err(reason) => {
            let unread = Finding::new("storage", Verdict::Warning, reason);
            let unasked = known.iter().filter_map(Known::unasked);
            [unread.hint("use an account that may get customresourcedefinitions")]
                .into_iter()
                .chain(unasked)
                .collect()
        }
    }
}

impl Known {
    /// `None` for a kind whose types do not determine its storage version; `make manifests` refuses such types.
    fn of(project: &Project, kind: &Kind) -> Option<Self> {
        let storage = kind.stored()?;
        let former = kind
            .versions
            .iter()
            .filter(|it| it.former_storage && it.name != storage.name);
        Some(Self {
            crd: format!("{}.{}", kind.plural, project.group_of(kind)),
            versions: kind.versions.iter().map(|it| it.name.to_string()).collect(),
            storage: storage.name.to_string(),
            former: former.map(|it| it.name.to_string()).collect(),
        })
    }

    /// The finding from PROJECT alone.
    fn unasked(&self) -> Option<Finding> {
        let Self {
            crd, storage, former, ..
        } = self;
        if former.is_empty() {
            return None;
        }
        let text = format!(
            "objects of `{crd}` are stored as {storage}, and were stored as {}: a cluster may still have objects of that version",
            former.join(" and ")
        );
        let hint = "run `make migrate-storage` on every cluster; then `kubewright delete api` may remove that version";
        Some(Finding::new("storage", Verdict::Warning, text).hint(hint))
    }

    /// The finding from the cluster's CRD, if any.
    fn asked(&self, crd: Option<&Value>) -> Option<Finding> {
        let Some(crd) = crd else {
            // The objects of other clusters are as they are.
            return self.unasked();
        };
        let name = &self.crd;
        let (installed, others) = (installed(crd), others(crd));
        let warning = |text: String, hint: &str| Some(Finding::new("storage", Verdict::Warning, text).hint(hint));
        if let Some(gone) = others.iter().find(|it| !self.versions.contains(it)) {
            let text =
                format!("`{name}` of the cluster may have objects stored as {gone}, which the project no longer has");
            let hint = format!("restore {gone} from an earlier commit, install that, and run `make migrate-storage`");
            return warning(text, &hint);
        }
        if installed != self.storage {
            let text = format!(
                "`{name}` of the cluster stores objects as {installed}, and that of the project as {}",
                self.storage
            );
            return warning(text, "run `make install` or `make deploy`, then `make migrate-storage`");
        }
        if !others.is_empty() {
            let text = format!(
                "`{name}` of the cluster stores {installed}, and may have objects stored as {}",
                others.join(" and ")
            );
            return warning(
                text,
                "run `make migrate-storage`; with CHECK=1 it only counts the objects",
            );
        }
        if self.former.is_empty() {
            return None;
        }
        let former = self.former.join(" and ");
        let text = format!("`{name}` of the cluster has all objects stored as {installed}, none as {former}");
        Some(Finding::new("storage", Verdict::Ok, text))
    }
}

/// The storage version of a CRD. API servers accept no CRD without a storage version.
fn installed(crd: &Value) -> &str {
    let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
    let mut storage = versions.filter(|version| version["storage"] == true);
    storage
        .next()
        .and_then(|version| version["name"].as_str())
        .unwrap_or_default()
}

/// The other versions that `status.storedVersions` names.
fn others(crd: &Value) -> Vec<String> {
    let stored = crd["status"]["storedVersions"].as_array().into_iter().flatten();
    let stored = stored.filter_map(Value::as_str);
    stored.filter(|it| *it != installed(crd)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn known(storage: &str, former: &[&str]) -> Known {
        Known {
            crd: "foobars.test.example.com".to_owned(),
            versions: ["v1", "v2"].map(str::to_owned).to_vec(),
            storage: storage.to_owned(),
            former: former.iter().map(|&it| it.to_owned()).collect(),
        }
    }

    fn crd(storage: &str, stored: &[&str]) -> Value {
        let versions = ["v1", "v2", "v3"].map(|it| json!({"name": it, "storage": it == storage}));
        json!({"spec": {"versions": versions}, "status": {"storedVersions": stored}})
    }

    fn said(kind: &Known, crd: &Value) -> Option<(Verdict, String)> {
        kind.asked(Some(crd)).map(|it| (it.verdict, it.detail))
    }

    #[test]
    fn a_kind_that_was_always_stored_in_one_version_is_not_mentioned() {
        assert!(known("v1", &[]).unasked().is_none());
        assert!(known("v1", &[]).asked(None).is_none());
        assert_eq!(said(&known("v1", &[]), &crd("v1", &["v1"])), None);
    }

    #[test]
    fn versions_that_the_cluster_may_still_store_are_named() {
        let (verdict, text) = said(&known("v2", &["v1"]), &crd("v2", &["v1", "v2"])).unwrap();
        assert_eq!(verdict, Verdict::Warning);
        assert!(text.ends_with("stores v2, and may have objects stored as v1"), "{text}");
        // Also where PROJECT does not remember them.
        assert!(said(&known("v2", &[]), &crd("v2", &["v1", "v2"])).is_some());
        let (verdict, _) = said(&known("v2", &["v1"]), &crd("v2", &["v2"])).unwrap();
        assert_eq!(verdict, Verdict::Ok);
    }

    #[test]
    fn a_version_that_the_project_has_dropped_too_early_is_named_first() {
        let (_, text) = said(&known("v2", &[]), &crd("v3", &["v1", "v0", "v3"])).unwrap();
        assert!(
            text.ends_with("stored as v0, which the project no longer has"),
            "{text}"
        );
        let (_, text) = said(&known("v2", &["v1"]), &crd("v1", &["v1"])).unwrap();
        assert!(
            text.ends_with("stores objects as v1, and that of the project as v2"),
            "{text}"
        );
    }
}
