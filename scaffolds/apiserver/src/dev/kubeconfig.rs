//! The administrator's kubeconfig of `make dev`, beside the program: `dev.kubeconfig`, unless another server is running under that
//! name. It is deleted with the server that it leads to.

use std::{
    fs,
    path::{Path, PathBuf},
    process,
    time::Duration,
};

use serde_json::Value;
use tokio::{net::TcpStream, time::timeout};

use super::describe;
use crate::serve::Listener;

/// The time after which a server on this machine counts as gone.
const PATIENCE: Duration = Duration::from_secs(1);

/// The written file. Dropping this deletes it, unless it has been replaced.
pub(super) struct OwnKubeconfig {
    path: PathBuf,
    text: String,
}

impl OwnKubeconfig {
    /// Writes the kubeconfig of this server into a folder.
    ///
    /// # Errors
    /// The file that cannot be written, and why.
    pub async fn write(listener: &Listener, folder: &Path) -> Result<Self, String> {
        let mut path = folder.join("dev.kubeconfig");
        if leads_to_a_server(&path).await {
            path = folder.join(format!("dev-{}.kubeconfig", process::id()));
        }
        listener.write_kubeconfig(&path).map_err(|error| describe(&error))?;
        let text = fs::read_to_string(&path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
        Ok(Self { path, text })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for OwnKubeconfig {
    fn drop(&mut self) {
        if fs::read_to_string(&self.path).is_ok_and(|found| found == self.text) {
            // A file that remains leads to no server, and the next one replaces it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether the server of a kubeconfig accepts connections.
async fn leads_to_a_server(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    let documents = kubewright_schema::yaml::documents(&text).unwrap_or_default();
    let server = documents
        .first()
        .and_then(|config| config.pointer("/clusters/0/cluster/server"));
    let Some(address) = server
        .and_then(Value::as_str)
        .and_then(|url| url.strip_prefix("https://"))
    else {
        return false;
    };
    matches!(timeout(PATIENCE, TcpStream::connect(address)).await, Ok(Ok(_)))
}
