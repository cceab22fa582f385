//! The real server that recorders ask.

use std::{env, path::PathBuf};

use anyhow::{Context, Result, ensure};
use control_plane::{Assets, ControlPlane, Settings};
use serde_json::Value;

use crate::{Answer, Step, Target};

/// A real server: that of KUBECONFIG, or one that is started and ends with this value.
pub struct Real {
    /// How it is asked.
    pub target: Target,
    /// The administrator's.
    pub kubeconfig: PathBuf,
    _plane: Option<ControlPlane>,
}

impl Real {
    /// Finds or starts it.
    ///
    /// # Errors
    /// When it does not start, or KUBECONFIG cannot be read.
    pub async fn start() -> Result<Self> {
        if let Some(kubeconfig) = env::var_os("KUBECONFIG").map(PathBuf::from) {
            return Self::at(kubeconfig, None).await;
        }
        Self::with(Settings::default()).await
    }

    /// Starts one of its own.
    ///
    /// # Errors
    /// When it does not start.
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

    /// What is at a path.
    ///
    /// # Errors
    /// When it is refused.
    pub async fn get(&self, path: &str) -> Result<Value> {
        self.get_as(path, "application/json").await
    }

    /// What is at a path, in another form.
    ///
    /// # Errors
    /// When it is refused.
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
