//! The shared stage of the cases: the control plane and the project; and a case's own namespace.

use std::{
    cell::RefCell,
    path::PathBuf,
    sync::LazyLock,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail, ensure};
pub use control_plane::say;
use control_plane::{
    Api as Generate, Assets, ControlPlane, Mark, Operator, Project, Request, Settings, eventually,
    foobar::{self, FooBar},
    make_namespace, run,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, api::ListParams};
use tokio::{
    runtime::Runtime,
    sync::{Mutex, MutexGuard},
};

/// The time limit for what takes a second on an idle machine, which ten workers may share.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// A user with all permissions, other than the user of the tests.
pub const OPERATOR: &str = "operator";

/// Two more of that kind, to distinguish their operators in the audit log.
pub const CANDIDATES: [&str; 2] = ["candidate-a", "candidate-b"];

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("no runtime, no tests"));
static STAGE: Mutex<Option<Result<Stage, String>>> = Mutex::const_new(None);

/// The control plane and the project of all cases.
pub struct Stage {
    pub plane: ControlPlane,
    pub project: Project,
    client: Client,
    /// The project of the patterns, and the kubeconfig of its service account.
    pub patterns: Option<(Project, PathBuf)>,
    deployed: Option<Deployed>,
    cases: usize,
}

/// The output of `kubectl apply -k config/default`, and the kubeconfig of the service account that it created.
struct Deployed {
    kubectl: String,
    kubeconfig: PathBuf,
}

/// One case, with its namespace.
pub struct Case<'a> {
    pub stage: &'a mut Stage,
    pub namespace: String,
    pub client: Client,
    pub foobars: Api<FooBar>,
    pub children: Api<ConfigMap>,
    began: Mark,
    logs: RefCell<Vec<PathBuf>>,
    may_be_refused: bool,
}

/// Runs one case on the shared stage, which the first case creates. If it fails, the logs of its operators are printed.
///
/// In addition to the case's own checks, the API server must not have refused any request of the service account:
/// otherwise its role lacks a permission.
pub fn case(story: impl AsyncFnOnce(&mut Case<'_>) -> Result<()>) -> Result<()> {
    let Some(assets) = Assets::or_skip() else { return Ok(()) };
    RUNTIME.block_on(async {
        let mut shared = STAGE.lock().await;
        let stage = set(&mut shared, &assets).await?;
        let mut case = stage.case().await?;
        let result = match story(&mut case).await {
            Ok(()) => case.check_refusals(),
            failed => failed,
        };
        if result.is_err() {
            case.show_logs();
        }
        result
    })
}

async fn set<'a>(
    shared: &'a mut MutexGuard<'_, Option<Result<Stage, String>>>,
    assets: &Assets,
) -> Result<&'a mut Stage> {
    if shared.is_none() {
        **shared = Some(Stage::set(assets).await.map_err(|error| format!("{error:#}")));
    }
    let stage = shared.as_mut().context("it was set just now")?;
    stage
        .as_mut()
        .map_err(|error| anyhow!("the stage cannot be set: {error}"))
}

impl Stage {
    async fn set(assets: &Assets) -> Result<Self> {
        let began = Instant::now();
        say("\ngenerating and building the FooBar project");
        let project = Project::generate(
            "conformance-operator",
            &[Generate {
                group: "test",
                kind: "FooBar",
                flags: &["--finalizer"],
                ..Generate::default()
            }],
        )?;
        say(&format!(
            "built after {:.0} s; starting the control plane",
            began.elapsed().as_secs_f64()
        ));
        let users = [OPERATOR].iter().chain(&CANDIDATES);
        let users = users.map(|name| ((*name).to_owned(), vec!["system:masters".to_owned()]));
        let users = users.collect();
        let plane = ControlPlane::start(
            assets,
            Settings {
                controllers: true,
                audit: true,
                users,
                ..Settings::default()
            },
        )
        .await?;
        say(&format!("ready after {:.0} s", began.elapsed().as_secs_f64()));
        let client = plane.client().await?;
        Ok(Self {
            plane,
            project,
            client,
            patterns: None,
            deployed: None,
            cases: 0,
        })
    }

    /// Deploys unless that is done already, removes the objects of an earlier case, creates a namespace.
    async fn case(&mut self) -> Result<Case<'_>> {
        self.cases += 1;
        if self.deployed.is_none() {
            self.deploy().await?;
        }
        foobar::remove_by_force(&self.client, None).await?;
        let namespace = format!("case-{:02}", self.cases);
        make_namespace(&self.client, &namespace).await?;
        let client = self.client.clone();
        Ok(Case {
            foobars: Api::namespaced(client.clone(), &namespace),
            children: Api::namespaced(client.clone(), &namespace),
            began: self.plane.audit().mark()?,
            stage: self,
            namespace,
            client,
            logs: RefCell::default(),
            may_be_refused: false,
        })
    }

    /// `kubectl apply -k config/default`, as `make deploy` runs it, but without strict validation.
    pub async fn deploy(&mut self) -> Result<()> {
        let folder = self.project.folder().join("config/default");
        let mut kubectl = self.plane.kubectl();
        kubectl
            .args(["apply", "--server-side", "--force-conflicts", "--validate=strict", "-k"])
            .arg(folder);
        let output = kubectl.output().context("cannot run kubectl")?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        ensure!(output.status.success(), "config/default is refused:\n{said}");
        let foobars = foobar::of_any_form(self.client.clone(), None);
        eventually("FooBars to be served", PATIENCE, async || {
            Ok(Some(foobars.list(&ListParams::default()).await?))
        })
        .await?;
        let (namespace, account) = (self.project.namespace(), self.project.service_account());
        let kubeconfig = self.plane.kubeconfig_of_service_account(&namespace, &account).await?;
        self.deployed = Some(Deployed {
            kubectl: said,
            kubeconfig,
        });
        Ok(())
    }

    /// The output of kubectl at the last deployment.
    pub fn deployment(&self) -> &str {
        self.deployed.as_ref().map_or("", |deployed| &deployed.kubectl)
    }

    /// The deployment has changed: the next case deploys again.
    pub fn spoil(&mut self) {
        self.deployed = None;
    }
}

impl Case<'_> {
    /// Starts the operator as the deployed service account, for all namespaces, and waits until it is ready.
    pub async fn operator(&self, arguments: &[&str]) -> Result<Operator> {
        let mut operator = self.start_operator(arguments)?;
        operator.ready(PATIENCE).await?;
        Ok(operator)
    }

    /// The same without waiting.
    pub fn start_operator(&self, arguments: &[&str]) -> Result<Operator> {
        let kubeconfig = self
            .stage
            .deployed
            .as_ref()
            .context("nothing is deployed")?
            .kubeconfig
            .clone();
        self.start(&self.stage.project.operator(), arguments, &kubeconfig)
    }

    /// Starts any operator with a kubeconfig.
    pub fn start(
        &self,
        binary: &std::path::Path,
        arguments: &[&str],
        kubeconfig: &std::path::Path,
    ) -> Result<Operator> {
        let operator = Operator::start(binary, arguments, kubeconfig, self.stage.plane.folder())?;
        self.logs.borrow_mut().push(operator.log());
        Ok(operator)
    }

    /// The path of a log for another process, whose end is printed if the case fails.
    pub fn log(&self, name: &str) -> PathBuf {
        let log = self.stage.plane.folder().join(format!("{}-{name}.log", self.namespace));
        self.logs.borrow_mut().push(log.clone());
        log
    }

    /// Later requests may be answered with 401 or 403.
    pub fn may_be_refused(&mut self) {
        self.may_be_refused = true;
    }

    /// The start of the case in the audit log.
    pub fn began(&self) -> Mark {
        self.began
    }

    pub fn mark(&self) -> Result<Mark> {
        self.stage.plane.audit().mark()
    }

    /// The requests of the service account since then.
    pub fn asked(&self, since: Mark) -> Result<Vec<Request>> {
        let user = format!(
            "system:serviceaccount:{}:{}",
            self.stage.project.namespace(),
            self.stage.project.service_account()
        );
        let mut requests = self.stage.plane.audit().since(since)?;
        requests.retain(|request| request.user == user);
        Ok(requests)
    }

    /// Its writes, except events and the lease, which are written later or periodically.
    pub fn written(&self, since: Mark) -> Result<Vec<Request>> {
        let mut requests = self.asked(since)?;
        requests.retain(|request| request.is_write() && !matches!(request.resource.as_str(), "events" | "leases"));
        Ok(requests)
    }

    /// Fails if the service account goes on writing: waits for a third of a second without a write, because the last
    /// reconcile may still run and the audit log lags behind watches, and then for three seconds.
    pub async fn stays_quiet(&self) -> Result<()> {
        eventually("a moment without a write", PATIENCE, async || {
            let written = self.written_within(Duration::from_millis(300)).await?;
            Ok(written.is_empty().then_some(()))
        })
        .await?;
        let written = self.written_within(Duration::from_secs(3)).await?;
        ensure!(written.is_empty(), "written although nothing had changed: {written:#?}");
        Ok(())
    }

    async fn written_within(&self, time: Duration) -> Result<Vec<Request>> {
        let mark = self.mark()?;
        tokio::time::sleep(time).await;
        self.written(mark)
    }

    /// Checks that there is exactly one right ConfigMap for each of these FooBars.
    pub async fn check_children(&self, foobars: &[FooBar]) -> Result<()> {
        let children = self.children.list(&ListParams::default()).await?.items;
        let owned = children
            .iter()
            .filter(|child| child.metadata.owner_references.is_some())
            .count();
        ensure!(
            owned == foobars.len(),
            "{owned} ConfigMaps of {} FooBars",
            foobars.len()
        );
        for foobar in foobars {
            let name = foobar.metadata.name.as_deref().map(foobar::child_of);
            let child = children.iter().find(|child| child.metadata.name == name);
            foobar::check_child(foobar, child.with_context(|| format!("no ConfigMap {name:?}"))?)?;
        }
        Ok(())
    }

    pub async fn make_namespace(&self, name: &str) -> Result<()> {
        make_namespace(&self.client, name).await
    }

    /// Runs `kubectl` with these arguments in the case's namespace; returns its output.
    pub fn kubectl(&self, arguments: &[&str]) -> Result<String> {
        run(self
            .stage
            .plane
            .kubectl()
            .args(["--namespace", &self.namespace])
            .args(arguments))
    }

    fn check_refusals(&self) -> Result<()> {
        let mut refused = self.asked(self.began)?;
        refused.retain(|request| matches!(request.code, 401 | 403));
        if !refused.is_empty() && !self.may_be_refused {
            bail!("the generated role does not allow: {refused:#?}");
        }
        Ok(())
    }

    fn show_logs(&self) {
        for log in self.logs.borrow().iter() {
            let text = std::fs::read_to_string(log).unwrap_or_default();
            let lines: Vec<_> = text.lines().collect();
            let end = lines[lines.len().saturating_sub(40)..].join("\n");
            eprintln!("the end of {}:\n{end}\n", log.display());
        }
    }
}
