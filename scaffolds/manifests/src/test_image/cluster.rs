//! The cluster of kind: one that exists, or one that the test makes and deletes.

use super::WORK;
use crate::installer;
use crate::removal::CRDS;
use crate::tool::Tool;
use std::fs;
use std::path::Path;

/// The kubeconfig in the test's folder.
const KUBECONFIG: &str = "kubeconfig";

/// A cluster of kind. Dropped, it deletes a cluster that it made.
pub(super) struct KindCluster<'a> {
    kind: &'a Tool,
    name: &'a str,
    is_made: bool,
    /// Kubectl for this cluster.
    pub kubectl: Tool,
}

impl<'a> KindCluster<'a> {
    /// Makes the cluster, unless one of this name exists.
    ///
    /// # Errors
    /// kind fails, or the kubeconfig cannot be written.
    pub fn start(kind: &'a Tool, name: &'a str, kubectl: &Tool) -> Result<Self, String> {
        let config = format!("{WORK}/{KUBECONFIG}");
        let clusters = kind.output(&["get", "clusters"])?;
        let kubectl = kubectl.with(&["--kubeconfig", &config]);
        let mut cluster = Self {
            kind,
            name,
            is_made: false,
            kubectl,
        };
        if !clusters.lines().any(|line| line == name) {
            cluster.make(&config)?;
        }
        let text = kind.output(&["get", "kubeconfig", "--name", name])?;
        installer::write_private(Path::new(&config), &text)
            .map_err(|error| format!("cannot write `{config}`: {error}"))?;
        Ok(cluster)
    }

    /// kind removes the parts of a cluster that it failed to make; killed or interrupted, it does not.
    fn make(&mut self, config: &str) -> Result<(), String> {
        let create = [
            "create",
            "cluster",
            "--name",
            self.name,
            "--kubeconfig",
            config,
            "--wait",
            "3m",
        ];
        let status = self.kind.start(&create)?.wait();
        let status = status.map_err(|error| format!("kind is lost: {error}"))?;
        self.is_made = status.success() || status.code().is_none_or(|code| code > 128);
        match status.success() {
            true => Ok(()),
            false => Err(format!(
                "the cluster `{}` cannot be made\n\nhint: see what kind prints",
                self.name
            )),
        }
    }

    /// # Errors
    /// The cluster has the operator's namespace or kinds, or does not answer.
    pub fn refuse_operators(&self, namespace: &str) -> Result<(), String> {
        let found = self
            .kubectl
            .output(&["get", "namespace", namespace, "--ignore-not-found", "--output", "name"])?;
        if !found.trim().is_empty() {
            return Err(format!(
                "the cluster `{}` has the namespace `{namespace}` already\n\nhint: run `make undeploy` there, or name another cluster with KIND_CLUSTER",
                self.name
            ));
        }
        let found = self
            .kubectl
            .output(&["get", "-k", CRDS, "--ignore-not-found", "--output", "name"])?;
        if found.trim().is_empty() {
            return Ok(());
        }
        Err(format!(
            "the cluster `{}` has kinds of this operator already: {}\n\nhint: run `make uninstall` there, which deletes all their objects, or name \
             another cluster with KIND_CLUSTER",
            self.name,
            found.lines().collect::<Vec<_>>().join(" ")
        ))
    }

    /// Loads the image into the nodes, from a file: kind itself can only ask Docker for an image.
    ///
    /// # Errors
    /// The container tool or kind fails.
    pub fn load(&self, image: &str, container_tool: &Tool) -> Result<(), String> {
        let file = format!("{WORK}/image.tar");
        // Podman does not replace one that a killed test has left.
        _ = fs::remove_file(&file);
        container_tool.run(&["save", "--output", &file, image])?;
        self.kind.run(&["load", "image-archive", &file, "--name", self.name])
    }
}

impl Drop for KindCluster<'_> {
    fn drop(&mut self) {
        if self.is_made {
            let config = format!("{WORK}/{KUBECONFIG}");
            // kind prints why it fails.
            _ = self
                .kind
                .run(&["delete", "cluster", "--name", self.name, "--kubeconfig", &config]);
        }
        _ = fs::remove_dir_all(WORK);
    }
}
