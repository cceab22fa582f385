//! The control plane as a whole: started in order, with clear errors, killed and restarted, removed on drop.

use std::{
    fs,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail};
use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::ServiceAccount,
};
use kube::{
    Api, Client, Config,
    api::PostParams,
    config::{KubeConfigOptions, Kubeconfig},
};
use rustix::process::Signal;
use tokio::time::{Instant, sleep};

use crate::{Assets, Audit, PERIOD, audit, credentials, guardian, program::Program};

/// The controllers of kube-controller-manager that are always enabled. None handles nodes, or Pods on missing nodes.
const CONTROLLERS: [&str; 17] = [
    "garbage-collector-controller",
    "namespace-controller",
    "clusterrole-aggregation-controller",
    "validatingadmissionpolicy-status-controller",
    "deployment-controller",
    "replicaset-controller",
    "job-controller",
    "ttl-after-finished-controller",
    "cronjob-controller",
    "statefulset-controller",
    "persistentvolume-binder-controller",
    "persistentvolumeclaim-protection-controller",
    "persistentvolume-protection-controller",
    "disruption-controller",
    "daemonset-controller",
    "endpointslice-controller",
    "endpoints-controller",
];

/// The API server is ready after three seconds, and later on a busy machine.
const START_UP: Duration = Duration::from_secs(180);

/// Another process may take a free port between the choice of the port and listening on it.
const TRIES: u32 = 3;

/// The parts of a control plane; the default is etcd and kube-apiserver, and only the user `admin`.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Also runs kube-controller-manager's garbage collector and namespace controller, if the assets contain it.
    pub controllers: bool,
    /// Writes an audit log, see [`ControlPlane::audit`]; this costs the API server some percent of its time.
    pub audit: bool,
    /// Users in addition to `admin`, with their groups. RBAC decides what they may do.
    pub users: Vec<(String, Vec<String>)>,
    /// More flags of kube-controller-manager; `--controllers` enables more controllers.
    pub controller_flags: Vec<String>,
}

/// A running API server with its store, listening on 127.0.0.1 only.
///
/// # Guarantees
///
/// All started programs are killed, and the folder is removed, when the value is dropped or the process ends, even by
/// SIGKILL.
pub struct ControlPlane {
    // Dropped first to last: the programs before their files.
    controllers: Option<Program>,
    api_server: Option<Program>,
    etcd: Program,
    folder: Folder,
    assets: Assets,
    settings: Settings,
    ports: Ports,
    tokens: Vec<String>,
}

#[derive(Clone, Copy)]
struct Ports {
    etcd: u16,
    api: u16,
}

impl ControlPlane {
    /// Starts it and waits until it is ready.
    ///
    /// # Errors
    ///
    /// With the end of its log, if a program ends or is not ready within 90 s.
    pub async fn start(assets: &Assets, settings: Settings) -> Result<Self> {
        let mut tries = 1;
        loop {
            match Self::try_start(assets, &settings).await {
                Err(error) if tries < TRIES && format!("{error:#}").contains("address already in use") => tries += 1,
                other => return other,
            }
        }
    }

    async fn try_start(assets: &Assets, settings: &Settings) -> Result<Self> {
        let folder = Folder::make()?;
        let [etcd_port, api_port] = crate::operator::free_ports()?;
        let ports = Ports {
            etcd: etcd_port,
            api: api_port,
        };
        let tokens = write_credentials(&folder.0, ports, settings)?;
        let etcd = spawn(assets, &folder, "etcd", &etcd_flags(&folder.0, ports))?;
        let mut plane = Self {
            controllers: None,
            api_server: None,
            etcd,
            folder,
            assets: assets.clone(),
            settings: settings.clone(),
            ports,
            tokens,
        };
        plane.start_api_server().await?;
        if settings.controllers && assets.have_controller_manager() {
            plane.controllers = Some(plane.spawn_controllers()?);
        }
        Ok(plane)
    }

    /// Waits until earlier requests have no more effects: until API server and etcd have used less than a tenth of a
    /// core for a second. For a minute at most.
    ///
    /// # Errors
    ///
    /// If there is no /proc, or one of them has ended.
    pub async fn calm(&self) -> Result<()> {
        let mut before = self.cpu()?;
        for _ in 0..60 {
            sleep(Duration::from_secs(1)).await;
            let now = self.cpu()?;
            if now - before < 0.1 {
                break;
            }
            before = now;
        }
        Ok(())
    }

    /// The CPU time that API server and etcd have used so far, in seconds.
    ///
    /// # Errors
    ///
    /// If there is no /proc, or one of them has ended.
    pub fn cpu(&self) -> Result<f64> {
        self.api_server.iter().chain([&self.etcd]).map(Program::cpu).sum()
    }

    /// The CPU time that kube-controller-manager has used so far, in seconds.
    ///
    /// # Errors
    ///
    /// If there is no /proc, or it is not running.
    pub fn controllers_cpu(&self) -> Result<f64> {
        let controllers = self.controllers.as_ref();
        controllers.context("no kube-controller-manager is running")?.cpu()
    }

    /// The administrator's kubeconfig.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.0.join("admin.kubeconfig")
    }

    /// The kubeconfig of one of [`Settings::users`].
    ///
    /// # Errors
    ///
    /// If there is no such user.
    pub fn kubeconfig_of(&self, user: &str) -> Result<PathBuf> {
        let at = self.settings.users.iter().position(|(name, _)| name == user);
        let at = at.with_context(|| format!("no user `{user}`"))?;
        // The first token is the administrator's.
        credentials::kubeconfig(&self.folder.0, self.ports.api, user, &self.tokens[at + 1], "default")
    }

    /// A kubeconfig with a token of a service account, valid for a day, and the account's namespace as the default:
    /// with the same access as a Pod of that account.
    ///
    /// # Errors
    ///
    /// An error of the API server, such as that there is no such account.
    pub async fn kubeconfig_of_service_account(&self, namespace: &str, name: &str) -> Result<PathBuf> {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client().await?, namespace);
        let spec = TokenRequestSpec {
            expiration_seconds: Some(24 * 3600),
            ..TokenRequestSpec::default()
        };
        let request = TokenRequest {
            spec: Some(spec),
            ..TokenRequest::default()
        };
        let answer = accounts
            .create_token_request(name, &PostParams::default(), &request)
            .await?;
        let token = answer
            .status
            .and_then(|status| status.token)
            .context("a TokenRequest without a token")?;
        let user = format!("system:serviceaccount:{namespace}:{name}");
        credentials::kubeconfig(&self.folder.0, self.ports.api, &user, &token, namespace)
    }

    /// A client that may do everything.
    ///
    /// # Errors
    ///
    /// If the API server was never ready.
    pub async fn client(&self) -> Result<Client> {
        let kubeconfig = Kubeconfig::read_from(self.kubeconfig())?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        Ok(Client::try_from(config)?)
    }

    /// `kubectl` as the administrator, ready for its arguments.
    pub fn kubectl(&self) -> Command {
        let mut command = Command::new(self.assets.kubectl());
        command.env("KUBECONFIG", self.kubeconfig());
        command
    }

    /// The programs of this control plane.
    pub fn assets(&self) -> &Assets {
        &self.assets
    }

    /// A folder that lives as long as the control plane.
    pub fn folder(&self) -> &Path {
        &self.folder.0
    }

    /// Whether children of deleted owners and namespaces are deleted.
    pub fn has_controllers(&self) -> bool {
        self.controllers.is_some()
    }

    /// Where etcd listens.
    pub(crate) fn etcd(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.etcd)
    }

    /// The API server's requests; needs [`Settings::audit`].
    pub fn audit(&self) -> Audit {
        Audit::new(&self.folder.0.join("audit.log"))
    }

    /// Kills the API server with SIGKILL. etcd keeps the data.
    ///
    /// # Errors
    ///
    /// If it is not running.
    pub fn kill_api_server(&mut self) -> Result<()> {
        self.api_server.take().context("the API server is not running")?.kill()
    }

    /// Starts the API server on the same port and the same data, and waits until it is ready; kills it first if it runs.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub async fn restart_api_server(&mut self) -> Result<()> {
        if self.api_server.is_some() {
            self.kill_api_server()?;
        }
        self.start_api_server().await
    }

    /// Stops etcd (SIGSTOP): the API server does not answer requests that need it.
    ///
    /// # Errors
    ///
    /// If it is not running.
    pub fn pause_etcd(&self) -> Result<()> {
        self.etcd.pause()
    }

    /// Continues a paused etcd.
    ///
    /// # Errors
    ///
    /// If it is not running.
    pub fn resume_etcd(&self) -> Result<()> {
        self.etcd.signal(Signal::CONT)
    }

    /// Stops kube-controller-manager (SIGSTOP): no children are deleted, and no namespace deletion completes.
    ///
    /// # Errors
    ///
    /// If it is not running.
    pub fn pause_controllers(&self) -> Result<()> {
        let controllers = self
            .controllers
            .as_ref()
            .context("no kube-controller-manager is running")?;
        controllers.pause()
    }

    /// Continues a paused kube-controller-manager.
    ///
    /// # Errors
    ///
    /// If it is not running.
    pub fn resume_controllers(&self) -> Result<()> {
        let controllers = self
            .controllers
            .as_ref()
            .context("no kube-controller-manager is running")?;
        controllers.signal(Signal::CONT)
    }

    async fn start_api_server(&mut self) -> Result<()> {
        let flags = self.api_server_flags();
        self.api_server = Some(spawn(&self.assets, &self.folder, "kube-apiserver", &flags)?);
        let deadline = Instant::now() + START_UP;
        loop {
            self.etcd.check()?;
            let api_server = self.api_server.as_mut().context("the API server is not running")?;
            api_server.check()?;
            if Instant::now() >= deadline {
                bail!(api_server.failure(&format!("was not ready after {} s", START_UP.as_secs())));
            }
            if self.is_ready().await.unwrap_or(false) {
                return Ok(());
            }
            sleep(PERIOD).await;
        }
    }

    async fn is_ready(&self) -> Result<bool> {
        // The server creates the certificate that the kubeconfig names while it starts.
        let request = http::Request::get("/readyz").body(Vec::new())?;
        Ok(self.client().await?.request_text(request).await? == "ok")
    }

    fn spawn_controllers(&self) -> Result<Program> {
        let mut flags = vec![
            format!("--kubeconfig={}", self.kubeconfig().display()),
            format!("--controllers={}", CONTROLLERS.join(",")),
            "--leader-elect=false".to_owned(),
            "--secure-port=0".to_owned(),
            // Logs what it deletes.
            "--v=2".to_owned(),
            // The default limit of 20 requests a second would slow the tests down.
            "--kube-api-qps=1000".to_owned(),
            "--kube-api-burst=2000".to_owned(),
        ];
        flags.extend_from_slice(&self.settings.controller_flags);
        spawn(&self.assets, &self.folder, "kube-controller-manager", &flags)
    }

    fn api_server_flags(&self) -> Vec<String> {
        let file = |name: &str| self.folder.0.join(name).display().to_string();
        let mut flags = vec![
            format!("--etcd-servers=http://127.0.0.1:{}", self.ports.etcd),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={}", self.ports.api),
            format!("--cert-dir={}", file("certificates")),
            format!("--token-auth-file={}", file("tokens.csv")),
            "--authorization-mode=RBAC".to_owned(),
            "--service-account-issuer=https://127.0.0.1".to_owned(),
            format!("--service-account-key-file={}", file("service-account.pub")),
            format!("--service-account-signing-key-file={}", file("service-account.key")),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
            // As in usual clusters; the default is false.
            "--allow-privileged=true".to_owned(),
            // No controller creates the `default` service accounts that it requires.
            "--disable-admission-plugins=ServiceAccount".to_owned(),
            // As on OpenShift: a user who blocks an owner's deletion needs a permission on its finalizers.
            "--enable-admission-plugins=OwnerReferencesPermissionEnforcement".to_owned(),
        ];
        if self.settings.audit {
            flags.push(format!("--audit-policy-file={}", file("audit-policy.json")));
            flags.push(format!("--audit-log-path={}", file("audit.log")));
            // In MiB: never rotated, so that positions in it stay valid.
            flags.push("--audit-log-maxsize=100000".to_owned());
        }
        flags
    }
}

fn etcd_flags(folder: &Path, ports: Ports) -> Vec<String> {
    let address = format!("http://127.0.0.1:{}", ports.etcd);
    vec![
        format!("--data-dir={}", folder.join("etcd").display()),
        format!("--listen-client-urls={address}"),
        format!("--advertise-client-urls={address}"),
        "--listen-peer-urls=http://127.0.0.1:0".to_owned(),
        // The data need not outlive the test.
        "--unsafe-no-fsync".to_owned(),
    ]
}

fn spawn(assets: &Assets, folder: &Folder, name: &str, flags: &[String]) -> Result<Program> {
    let log = folder.0.join(format!("{name}.log"));
    Program::spawn(name, Command::new(assets.program(name)).args(flags), &log)
}

fn write_credentials(folder: &Path, ports: Ports, settings: &Settings) -> Result<Vec<String>> {
    let admin = ("admin".to_owned(), vec!["system:masters".to_owned()]);
    let users: Vec<_> = std::iter::once(&admin).chain(&settings.users).collect();
    let tokens = users
        .iter()
        .map(|_| credentials::random())
        .collect::<Result<Vec<_>>>()?;
    let lines = tokens
        .iter()
        .zip(&users)
        .map(|(token, (name, groups))| (token.as_str(), name.as_str(), groups.as_slice()));
    fs::write(folder.join("tokens.csv"), credentials::token_file(lines))?;
    let (private, public) = credentials::service_account_keys()?;
    fs::write(folder.join("service-account.key"), private)?;
    fs::write(folder.join("service-account.pub"), public)?;
    fs::write(folder.join("audit-policy.json"), audit::POLICY)?;
    credentials::kubeconfig(folder, ports.api, "admin", &tokens[0], "default")?;
    Ok(tokens)
}

/// A temporary folder that only this user can read, because it contains tokens.
struct Folder(PathBuf);

impl Folder {
    fn make() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("control-plane-{}", credentials::random()?));
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(|error| anyhow!("cannot make `{}`: {error}", path.display()))?;
        guardian::folder(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The guardian tries again.
        _ = fs::remove_dir_all(&self.0);
    }
}
