//! The charts of `make chart`, with a real Helm: what it renders is what kustomize does, each value changes what it should, and
//! releases come and go on both API servers alike. `make nightly` builds Helm; `make conformance` uses it if it is there.

mod equal;
mod life;
mod project;
mod release;
mod values;

use std::path::PathBuf;

use control_plane::{Assets, root};

/// The programs of these tests.
pub struct Programs {
    /// Helm.
    pub helm: PathBuf,
    /// kubectl, and a real kube-apiserver.
    pub assets: Assets,
}

/// The programs; `None`, and a note, without one of them.
pub fn programs() -> Option<Programs> {
    let helm = std::env::var_os("HELM").map_or_else(|| root().join("target/helm/helm"), PathBuf::from);
    let assets = Assets::find();
    match assets {
        Ok(assets) if helm.is_file() => Some(Programs { helm, assets }),
        Ok(_) => {
            eprintln!(
                "SKIPPED: no `{}`; `tests/control-plane/helm/build` builds it",
                helm.display()
            );
            None
        }
        Err(error) => {
            eprintln!("SKIPPED: {error:#}");
            None
        }
    }
}
