//! An API server with a Helm release on it: commands, and what is there after them.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use control_plane::{ControlPlane, Settings, root, run};

use crate::{
    Programs,
    project::{NAME, NAMESPACE},
};

/// The kinds of objects of a release, in its namespace and outside of it.
const KINDS: &str = "deployments,services,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings,crds";

/// One of the two API servers.
pub struct Server {
    kubeconfig: PathBuf,
    helm: PathBuf,
    kubectl: PathBuf,
    /// Helm's own files.
    home: PathBuf,
    _runs: Running,
}

#[expect(dead_code, reason = "they end when they are dropped")]
enum Running {
    Real(Box<ControlPlane>),
    Ours(Process, tempfile::TempDir),
}

/// Killed on drop.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended.
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

impl Server {
    /// A real kube-apiserver.
    pub async fn real(programs: &Programs) -> Result<Self> {
        Self::started(programs, Settings::default()).await
    }

    /// A real kube-apiserver with these settings.
    pub async fn started(programs: &Programs, settings: Settings) -> Result<Self> {
        let plane = ControlPlane::start(&programs.assets, settings).await?;
        let (kubeconfig, home) = (plane.kubeconfig(), plane.folder().join("helm"));
        Ok(Self::new(programs, kubeconfig, home, Running::Real(Box::new(plane))))
    }

    /// `kubewright apiserver`.
    pub fn ours(programs: &Programs) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let kubeconfig = folder.path().join("kubeconfig");
        let built = root().join("target/debug/kubewright");
        let kubewright = std::env::var_os("KUBEWRIGHT_BIN").map_or(built, PathBuf::from);
        let mut command = Command::new(kubewright);
        command
            .args(["apiserver", "--kubeconfig"])
            .arg(&kubeconfig)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let process = Process(command.spawn().context("cannot run `kubewright apiserver`")?);
        let home = folder.path().join("helm");
        let server = Self::new(programs, kubeconfig, home, Running::Ours(process, folder));
        server.until("the server answers", || {
            server.kubectl(&["get", "--raw", "/readyz"]).map(|said| said == "ok")
        })?;
        Ok(server)
    }

    fn new(programs: &Programs, kubeconfig: PathBuf, home: PathBuf, runs: Running) -> Self {
        Self {
            kubeconfig,
            helm: programs.helm.clone(),
            kubectl: programs.assets.kubectl(),
            home,
            _runs: runs,
        }
    }

    /// Waits for what an API server does after its answer.
    pub fn until(&self, what: &str, look: impl Fn() -> Result<bool>) -> Result<()> {
        let mut last = String::new();
        for _ in 0..600 {
            match look() {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) => last = format!("{error:#}"),
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        bail!("waited in vain until {what}; {last}")
    }

    /// `kubectl`, and its output.
    pub fn kubectl(&self, arguments: &[&str]) -> Result<String> {
        run(Command::new(&self.kubectl)
            .env("KUBECONFIG", &self.kubeconfig)
            .args(arguments))
    }

    /// `kubectl apply` of a file with this text.
    pub fn apply(&self, text: &str, arguments: &[&str]) -> Result<String> {
        let file = tempfile::NamedTempFile::new()?;
        std::fs::write(file.path(), text)?;
        let name = file.path().display().to_string();
        self.kubectl(&[&["apply", "--server-side", "-f", &name], arguments].concat())
    }

    /// `helm VERB foobar-operator [CHART]` in the operator's namespace.
    pub fn helm(&self, verb: &str, chart: Option<&Path>, arguments: &[&str]) -> Result<String> {
        self.helm_of([NAME, NAMESPACE], verb, chart, arguments)
    }

    /// The same for a release of this name in this namespace.
    pub fn helm_of(
        &self,
        [release, namespace]: [&str; 2],
        verb: &str,
        chart: Option<&Path>,
        arguments: &[&str],
    ) -> Result<String> {
        let mut helm = Command::new(&self.helm);
        for variable in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
            helm.env(variable, &self.home);
        }
        helm.env("KUBECONFIG", &self.kubeconfig)
            .args([verb, release])
            .args(chart);
        run(helm.args(["--namespace", namespace]).args(arguments))
    }

    /// The objects, the values that change from chart to chart, and the revisions of the release.
    pub fn state(&self) -> Result<Vec<String>> {
        let all = self.kubectl(&["get", KINDS, "--all-namespaces", "--output", "name"])?;
        let mut lines: Vec<String> = all
            .lines()
            .filter(|line| line.contains("foobar"))
            .map(str::to_owned)
            .collect();
        lines.sort();
        let read = |what: &[&str], path: &str| -> Result<String> {
            let output = format!("jsonpath={path}");
            self.kubectl(&[&["get", "--ignore-not-found", "--output", &output], what].concat())
        };
        let properties = "{.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties}";
        lines.push(read(&["crd", "foobars.test.example.com"], properties)?);
        let deployment = [
            "deployment",
            "--namespace",
            NAMESPACE,
            "foobar-operator-controller-manager",
        ];
        lines.push(read(
            &deployment,
            "{.spec.replicas} {.spec.template.spec.containers[0].image}",
        )?);
        let owned =
            "{.metadata.labels.app\\.kubernetes\\.io/managed-by} {.metadata.annotations.meta\\.helm\\.sh/release-name}";
        lines.push(read(&deployment, owned)?);
        lines.push(read(&["crd", "foobars.test.example.com"], owned)?);
        let history = "{range .items[*]}{.metadata.labels.version} {.metadata.labels.status}{\"\\n\"}{end}";
        lines.push(read(
            &["secrets", "--namespace", NAMESPACE, "--selector", "owner=helm"],
            history,
        )?);
        Ok(lines)
    }
}
