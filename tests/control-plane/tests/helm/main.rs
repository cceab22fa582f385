//! The charts of `make chart`, with a real Helm: what it renders is what kustomize does, each value changes what it should, and
//! releases come and go on both API servers alike, also without rights in the cluster. And the bundles of `make bundle`, by the rules of OLM. `make nightly` builds Helm and
//! the validator of bundles; `make conformance` uses them if they are there. HELM names another Helm, of version 3 or 4.

mod bundle;
mod equal;
mod life;
mod project;
mod release;
mod tenant;
mod values;

use std::{path::PathBuf, process::Command};

use control_plane::{Assets, root, run, say};

/// The programs of these tests.
pub struct Programs {
    /// Helm.
    pub helm: PathBuf,
    /// Whether it is Helm 3, which sends patches instead of applying on the server.
    pub patches: bool,
    /// kubectl, and a real kube-apiserver.
    pub assets: Assets,
}

/// The programs; `None`, and a note, without one of them.
pub fn programs() -> Option<Programs> {
    let helm = std::env::var_os("HELM").map_or_else(|| root().join("target/helm/helm"), PathBuf::from);
    let assets = Assets::or_skip()?;
    if helm.is_file() {
        let mut version = Command::new(&helm);
        let version = run(version.args(["version", "--template", "{{.Version}}"])).expect("Helm has a version");
        return Some(Programs {
            patches: version.starts_with("v3."),
            helm,
            assets,
        });
    }
    say(&format!(
        "SKIPPED: no `{}`; `tests/control-plane/helm/build` builds it",
        helm.display()
    ));
    None
}
