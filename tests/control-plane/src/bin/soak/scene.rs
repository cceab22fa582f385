//! The parts of a soak: a control plane with the operator deployed to it, a proxy with faults, users, and the
//! operator's processes.

use std::{fs, path::PathBuf, time::Duration};

use anyhow::{Context, Result};
use control_plane::{
    Api as Generate, Assets, ControlPlane, Mark, Project, Proxy, Request, Settings, eventually, foobar, make_namespace,
    root, run,
};
use kube::{Client, api::ListParams};

use crate::{
    crew::{Crew, Start},
    users::Users,
};

/// The time limit for what takes seconds on an idle machine, right after the API server was down.
pub const PATIENCE: Duration = Duration::from_secs(240);

/// The namespace of objects that cannot be decoded.
pub const MALFORMED: &str = "malformed";

const NAMESPACES: [&str; 3] = ["soak-a", "soak-b", "soak-c"];

pub struct Scene {
    pub plane: ControlPlane,
    pub project: Project,
    /// The administrator's client, without the proxy.
    pub client: Client,
    pub proxy: Proxy,
    pub users: Users,
    pub crew: Crew,
    /// The number of stored objects that cannot be decoded.
    pub malformed: usize,
    pub start: Start,
}

impl Scene {
    /// Builds, deploys and starts everything, with one process.
    pub async fn set(names: u64, malformed: usize, release: bool) -> Result<Self> {
        let api = Generate {
            group: "test",
            kind: "FooBar",
            flags: &["--finalizer"],
            ..Generate::default()
        };
        let project = Project::generate("soak-operator", &[api])?;
        let binary = if release {
            project.release()?
        } else {
            project.operator()
        };
        let settings = Settings {
            controllers: true,
            audit: true,
            ..Settings::default()
        };
        let plane = ControlPlane::start(&Assets::find()?, settings).await?;
        let client = plane.client().await?;
        deploy(&plane, &project, &client).await?;
        for name in NAMESPACES.iter().chain([&MALFORMED]) {
            make_namespace(&client, name).await?;
        }
        let (namespace, account) = (project.namespace(), project.service_account());
        let direct = plane.kubeconfig_of_service_account(&namespace, &account).await?;
        let proxy = Proxy::start(&direct).await?;
        let start = Start {
            binary,
            kubeconfig: proxy.kubeconfig(&direct)?,
            folder: plane.folder().to_owned(),
        };
        let namespaces = NAMESPACES.map(str::to_owned).to_vec();
        Ok(Self {
            users: Users::new(client.clone(), namespaces, names),
            crew: Crew::lone(start.clone()).await?,
            plane,
            project,
            client,
            proxy,
            malformed,
            start,
        })
    }

    /// `kubectl apply -k config/default`, and waits until FooBars are served.
    pub async fn deploy(&self) -> Result<()> {
        deploy(&self.plane, &self.project, &self.client).await
    }

    /// Copies all logs to a permanent folder, replacing those of the last failure.
    pub fn keep_logs(&self) -> Result<PathBuf> {
        let kept = root().join("target/soak");
        if kept.is_dir() {
            fs::remove_dir_all(&kept)?;
        }
        fs::create_dir_all(&kept)?;
        for entry in fs::read_dir(self.plane.folder())? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "log") {
                fs::copy(&path, kept.join(path.file_name().unwrap_or_default()))?;
            }
        }
        Ok(kept)
    }

    /// The operator's writes since then, except events and the lease.
    pub fn written(&self, since: Mark) -> Result<Vec<Request>> {
        let (namespace, account) = (self.project.namespace(), self.project.service_account());
        let user = format!("system:serviceaccount:{namespace}:{account}");
        let mut requests = self.plane.audit().since(since)?;
        requests.retain(|request| {
            let counts = !matches!(request.resource.as_str(), "events" | "leases");
            request.user == user && request.is_write() && counts
        });
        Ok(requests)
    }
}

async fn deploy(plane: &ControlPlane, project: &Project, client: &Client) -> Result<()> {
    let mut kubectl = plane.kubectl();
    kubectl
        .args(["apply", "--server-side", "--force-conflicts", "-k"])
        .arg(project.folder().join("config/default"));
    run(&mut kubectl).context("the project cannot be deployed")?;
    let foobars = foobar::of_any_form(client.clone(), None);
    eventually("FooBars to be served", PATIENCE, async || {
        Ok(Some(foobars.list(&ListParams::default()).await?))
    })
    .await?;
    Ok(())
}
