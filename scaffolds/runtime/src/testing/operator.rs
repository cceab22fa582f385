//! The operator under test: the real program, as a child process that ends with the test.

use std::{
    env,
    fs::{self, File},
    io::{self, Write as _},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, sleep},
};

use super::{
    PATIENCE, PERIOD, TestCluster, account::Account, converters::Converters, free_ports, launch::Launch,
    log_filter::with_warnings, policies, random, refusals::Refusals, webhooks::Webhooks,
};
use crate::{
    checkout::built_from,
    clock::{TEST_CLOCK, TEST_CLOCK_SET},
    error::{Error, Result},
    operator::DEVELOPMENT,
};

/// The time for kube-apiserver to see the authorities in a webhook configuration: it watches configurations, which takes
/// milliseconds, and nothing shows when it has seen one. Until then every request for the kind fails.
const NOTICED: Duration = Duration::from_millis(500);

/// The time for an operator to become ready in spite of a refused request: the permissions are known to apply, but another API
/// server of a user's own cluster may learn of them later.
const REFUSED: Duration = Duration::from_secs(5);

/// The program of an operator under test.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its path.
    pub path: &'static str,
    /// The folder of the test's package when the test was compiled; `None` if it is unknown.
    pub folder: Option<&'static str>,
}

impl From<&'static str> for Program {
    fn from(path: &'static str) -> Self {
        Self { path, folder: None }
    }
}

impl Program {
    /// Its path, if the test is of the checkout in which it runs.
    pub(super) fn of_this_checkout(self) -> Result<&'static str> {
        self.folder.map_or(Ok(()), |folder| built_from([folder]))?;
        Ok(self.path)
    }
}

/// The [`Program`] of this name in the package of a test, with the folder of that package:
/// `operator!("foobar-operator")`.
#[macro_export]
macro_rules! operator {
    ($name:literal) => {
        $crate::testing::Program {
            path: env!(concat!("CARGO_BIN_EXE_", $name)),
            folder: Some(env!("CARGO_MANIFEST_DIR")),
        }
    };
}

/// A running operator, killed on drop. Unless [`stop`](Self::stop) was called and returned no error, the test has
/// failed, and the operator's log is printed.
pub struct RunningOperator {
    child: Child,
    log: PathBuf,
    refusals: Refusals,
    passed: bool,
    /// The port of its probes.
    port: u16,
    /// Whether the API server reads the configurations of its webhooks some time after they are written.
    notices_webhooks: bool,
    // Dropped after the program that uses them.
    _account: Account,
    _converters: Option<Converters>,
}

impl RunningOperator {
    pub(super) async fn spawn(program: &str, launch: Launch, cluster: &TestCluster) -> Result<Self> {
        let cannot = |error: io::Error| Error::Setup(format!("cannot run `{program}`: {error}"));
        check_role(program).map_err(cannot)??;
        let account = Account::make(cluster).await?;
        let [port, webhook_port] = free_ports().map_err(cannot)?;
        let webhooks = Webhooks::read(cluster, webhook_port)?;
        policies::deploy(cluster).await?;
        let log = env::temp_dir().join(format!("kubewright-operator-{:016x}.log", random()));
        let output = File::create(&log).map_err(cannot)?;
        let mut command = Command::new(program);
        command.args(["--namespace", cluster.namespace()]);
        command.arg(format!("--health-probe-bind-address=127.0.0.1:{port}"));
        command.env("POD_NAMESPACE", cluster.namespace());
        command.env(DEVELOPMENT, "1");
        command.env("RUST_LOG", with_warnings(&env::var("RUST_LOG").unwrap_or_default()));
        command.arg("--kubeconfig").arg(account.kubeconfig());
        let mut converters = None;
        match &webhooks {
            Some(webhooks) => {
                converters = webhooks.deploy(cluster).await?;
                command.args(webhooks.flags());
            }
            None => _ = command.arg("--webhook-bind-address=0"),
        }
        command.args(&launch.arguments).envs(launch.variables);
        let stdin = match launch.clock {
            Some(start) => {
                command.env(TEST_CLOCK, start.to_string());
                Stdio::piped()
            }
            None => Stdio::null(),
        };
        command
            .stdin(stdin)
            .stdout(output.try_clone().map_err(cannot)?)
            .stderr(output);
        Ok(Self {
            child: command.spawn().map_err(cannot)?,
            refusals: Refusals::of(cluster, log.clone()),
            log,
            passed: false,
            port,
            notices_webhooks: webhooks.is_some() && !cluster.is_in_process(),
            _account: account,
            _converters: converters,
        })
    }

    /// Waits until the operator is ready, with the clock of the test if it gave one.
    pub(super) async fn ready(&mut self, program: Program, clock: bool) -> Result<()> {
        self.caches_are_filled().await?;
        if clock && !self.log().contains(TEST_CLOCK_SET) {
            let text = format!("`{}` does not take the clock of a test", program.path);
            let hint = "run the program of `operator!(…)`, which cargo builds for tests with the feature `testing` of the runtime";
            return Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
        }
        if self.notices_webhooks {
            sleep(NOTICED).await;
        }
        Ok(())
    }

    /// The log so far.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// Moves the operator's [clock](super::OperatorBuilder::clock) ahead: an object whose [`Action::At`](crate::Action::At) is
    /// then reached is reconciled soon after this returns.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if it has no clock of its own, or has ended.
    pub fn advance(&mut self, by: Duration) -> Result<()> {
        let cannot = |why: &str| Error::Setup(format!("the operator's clock cannot be moved: {why}"));
        let stdin = self.child.stdin.as_mut();
        let stdin = stdin.ok_or_else(|| cannot("it was started without `clock`"))?;
        writeln!(stdin, "{}", by.as_nanos()).map_err(|error| cannot(&error.to_string()))
    }

    /// Ends the operator, at the end of a test that has passed.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the API server refused a request of the operator because no role grants it. The error
    /// contains the `.rule(…)` that does: a reconciler that retries, or that only logs the error, would hide it until
    /// the deployment.
    ///
    /// # Guarantees
    ///
    /// The API server of the project's `dev` program names each request that it refused, also if the operator ignores the
    /// refusal. On other servers the operator's log is read: the runtime logs the refused requests of reconciles that
    /// return the error, of watches, of events and of its lease, whatever `RUST_LOG` is; a refusal that the operator
    /// ignores is not seen there.
    pub fn stop(mut self) -> Result<()> {
        if let Some(refused) = self.refusals.describe() {
            return Err(Error::Setup(refused));
        }
        self.passed = true;
        Ok(())
    }

    /// Waits until the operator is ready.
    async fn caches_are_filled(&mut self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let mut refused_since = None;
        while !is_ready(self.port).await.unwrap_or(false) {
            let refused = self.refusals.describe();
            let since = refused
                .is_some()
                .then(|| *refused_since.get_or_insert_with(Instant::now));
            let failure = if let Some(status) = self.exited() {
                Some(format!("the operator ended with {status}"))
            } else if since.is_some_and(|since| since.elapsed() >= REFUSED) {
                Some("the operator is not ready".to_owned())
            } else if Instant::now() >= deadline {
                Some(format!("the operator was not ready after {} s", PATIENCE.as_secs()))
            } else {
                None
            };
            if let Some(failure) = failure {
                let why = refused.map(|refused| format!(": {refused}")).unwrap_or_default();
                return Err(Error::Setup(failure + &why));
            }
            sleep(PERIOD).await;
        }
        Ok(())
    }

    pub(super) fn exited(&mut self) -> Option<ExitStatus> {
        // An error means that the state of the process is unknown; then the deadline decides.
        self.child.try_wait().ok().flatten()
    }
}

impl Drop for RunningOperator {
    fn drop(&mut self) {
        // These fail only if the process has ended, or the file is removed already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if !self.passed {
            eprintln!("the operator's log:\n{}", self.log());
        }
        let _ = fs::remove_file(&self.log);
    }
}

/// Returns an error if `config/rbac/role.yaml` is older than the program: the test depends on its permissions.
fn check_role(program: &str) -> io::Result<Result<()>> {
    let output = Command::new(program)
        .args(["manifests", "--check"])
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(Ok(()));
    }
    let said = [output.stdout, output.stderr].concat();
    // It ends with the remedy.
    let said = String::from_utf8_lossy(&said);
    let text = format!(
        "`config/rbac/role.yaml` differs from what the controllers declare:\n{}",
        said.trim_end()
    );
    Ok(Err(Error::Setup(text)))
}

/// Sends a request to the readiness probe, in HTTP/1.0 because then the response ends with the connection.
async fn is_ready(port: u16) -> io::Result<bool> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream
        .write_all(b"GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n")
        .await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    let status_line = answer.split(|byte| *byte == b'\r').next().unwrap_or_default();
    Ok(status_line.ends_with(b" 200 OK"))
}
