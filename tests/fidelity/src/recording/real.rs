//! The real server.

use std::{env, path::PathBuf};

use anyhow::{Context, Result, ensure};
use control_plane::{Assets, ControlPlane, Settings};
use serde_json::Value;

use crate::{Answer, Step, Target};

/// A real server: that of KUBECONFIG, or one that is started, and stopped when this value is dropped.
pub struct Real {
    /// Sends requests to it.
    pub target: Target,
    /// The administrator's kubeconfig.
    pub kubeconfig: PathBuf,
    _plane: Option<ControlPlane>,
}

impl Real {
    /// Finds or starts a server.
    ///
    /// # Errors
    /// If it does not start, or KUBECONFIG cannot be read.
    pub async fn start() -> Result<Self> {
        if let Some(kubeconfig) = env::var_os("KUBECONFIG").map(PathBuf::from) {
            return Self::at(kubeconfig, None).await;
        }
        Self::with(Settings::default()).await
    }

    /// Starts a server.
    ///
    /// # Errors
    /// If it does not start.
    pub async fn with(settings: Settings) -> Result<Self> {
        let plane = ControlPlane::start(&Assets::find()?, settings).await?;
        Self::at(plane.kubeconfig(), Some(plane)).await
    }

    async fn at(kubeconfig: PathBuf, plane: Option<ControlPlane>) -> Result<Self> {
        Ok(Self {
            target: Target::of_kubeconfig(&kubeconfig).await?,
            kubeconfig,
            _plane: plane,
        })
    }

    /// The answer to a GET request.
    ///
    /// # Errors
    /// If the request is refused.
    pub async fn get(&self, path: &str) -> Result<Value> {
        self.get_as(path, "application/json").await
    }

    /// The answer to a GET request in another media type.
    ///
    /// # Errors
    /// If the request is refused.
    pub async fn get_as(&self, path: &str, accept: &str) -> Result<Value> {
        let step = Step {
            r#do: format!("GET {path}"),
            accept: Some(accept.to_owned()),
            ..Step::default()
        };
        let Answer { code, body, .. } = self.target.send(&step).await.with_context(|| format!("GET {path}"))?;
        ensure!(code == 200, "GET {path}: {code} {body}");
        Ok(body)
    }
}
