//! The in-process API server as a process of its own.

use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result};
use control_plane::{eventually, root};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use crate::load::Place;

/// A server, which is killed on drop.
pub struct Server {
    process: Child,
    folder: PathBuf,
}

impl Server {
    pub async fn start() -> Result<Self> {
        let kubewright =
            std::env::var_os("KUBEWRIGHT_BIN").context("KUBEWRIGHT_BIN is not set\n\nhint: run `make bench`")?;
        let folder = root().join("target/bench/server");
        fs::create_dir_all(&folder)?;
        let kubeconfig = folder.join("kubeconfig");
        if kubeconfig.exists() {
            fs::remove_file(&kubeconfig)?;
        }
        let mut command = Command::new(kubewright);
        command.arg("apiserver").arg("--kubeconfig").arg(&kubeconfig);
        let process = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
        let server = Self { process, folder };
        eventually("the in-process API server", Duration::from_secs(60), async || {
            server.client().await?.apiserver_version().await?;
            Ok(Some(()))
        })
        .await?;
        Ok(server)
    }

    pub async fn place(&self) -> Result<Place> {
        Ok(Place {
            client: self.client().await?,
            kubeconfig: self.folder.join("kubeconfig"),
            folder: self.folder.clone(),
        })
    }

    async fn client(&self) -> Result<Client> {
        let kubeconfig = Kubeconfig::read_from(self.folder.join("kubeconfig"))?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        Ok(Client::try_from(config)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Fails only if the process has ended already.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
