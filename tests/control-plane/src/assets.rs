//! Locates the programs of the control plane.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::{project::root, say};

/// A folder with `etcd`, `kube-apiserver` and `kubectl`, and perhaps `kube-controller-manager`.
#[derive(Clone, Debug)]
pub struct Assets {
    folder: PathBuf,
}

impl Assets {
    /// The folder `KUBEBUILDER_ASSETS` if that is set, else `target/control-plane` if it is built.
    ///
    /// # Errors
    ///
    /// If neither contains a `kube-apiserver`.
    pub fn find() -> Result<Self> {
        let built = root().join("target/control-plane");
        let folder = std::env::var_os("KUBEBUILDER_ASSETS")
            .filter(|set| !set.is_empty())
            .map_or(built, PathBuf::from);
        if !folder.join("kube-apiserver").is_file() {
            bail!(
                "no `kube-apiserver` in `{}`\n\nhint: run `tests/control-plane/build`, which needs Go, or set KUBEBUILDER_ASSETS",
                folder.display()
            );
        }
        Ok(Self { folder })
    }

    /// The same for a test; `None`, and a line that says why it is skipped, without them.
    pub fn or_skip() -> Option<Self> {
        Self::find()
            .inspect_err(|error| say(&format!("SKIPPED: {error:#}")))
            .ok()
    }

    /// The path of a required program.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Whether there is a `kube-controller-manager`. Folders of setup-envtest have none: children of deleted owners
    /// stay, and namespaces are never deleted.
    pub fn have_controller_manager(&self) -> bool {
        self.program("kube-controller-manager").is_file()
    }

    /// The `kubectl` in the assets, or else the one in PATH.
    pub fn kubectl(&self) -> PathBuf {
        let own = self.program("kubectl");
        if own.is_file() {
            own
        } else {
            Path::new("kubectl").to_owned()
        }
    }
}
