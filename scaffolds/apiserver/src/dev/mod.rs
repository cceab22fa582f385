//! The program `dev` of a generated project. Runs the operator, with the permissions of its deployment, on an API
//! server in this process (`make dev`), or the server alone, for tests.

mod account;
mod apply;
mod kubeconfig;
mod manifests;
mod operator;
mod refusals;
#[cfg(feature = "sim")]
pub mod sim;
#[cfg(all(test, target_os = "linux"))]
mod tests;
mod webhooks;

use std::{
    env, fs, io,
    io::Read,
    path::{Path, PathBuf},
    process::ExitCode,
};

use kubewright_schema::files;
use tokio::sync::oneshot;

use crate::{
    controllers::Controllers,
    serve::{self, Listener, TemporaryFolder},
    server::{ApiServer, Options},
    user::User,
};

use self::{
    account::Account,
    kubeconfig::OwnKubeconfig,
    manifests::Manifest,
    operator::{Operator, Program},
    webhooks::Webhooks,
};

/// The operator's namespace here; a deployed operator runs in the namespace of its deployment.
const NAMESPACE: &str = "default";

/// The exit code after SIGTERM, as shells report it.
const TERMINATED: u8 = 128 + 15;

const HELP: &str = "\
Runs the operator on an API server of its own, with the samples applied, until Ctrl-C.

Usage: dev [OPTIONS] [-- FLAGS OF THE OPERATOR]

Options:
      --only-server    Run no operator: print the path of a kubeconfig once ready, and exit when stdin closes
      --workloads      After --only-server: roll out Deployments, and report their Pods as running
  -h, --help           Print this help
";

/// Runs the program `operator`, which is built into the same folder, on an API server in this process.
///
/// # Flow
/// The server listens on a free port of 127.0.0.1 and writes the administrator's kubeconfig, `dev.kubeconfig`, beside
/// this program. It applies the CRDs that `config/crd` lists, those of `config/crd/external`, and what `config/rbac`
/// lists, in the namespace `default`, the webhooks of `config/webhook`, whose Service leads to the operator, and the policies
/// of `config/policy`. The operator then starts as the ServiceAccount of `config/rbac`. When the operator sends a request that no role grants,
/// the program prints the `.rule(…)` that would grant it. Each object of `config/samples` is applied as soon as its kind
/// is served. Deployments are rolled out and their Pods become ready, though no container runs: see
/// [`Controllers::workloads`]. All objects live in memory. Ctrl-C stops the program, after the operator has drained; SIGTERM stops both at
/// once. While another such program runs in the same folder, the kubeconfig is `dev-PID.kubeconfig`.
///
/// With `--only-server` the server runs alone, writes its kubeconfig to a temporary folder and the messages of requests
/// that no role grants to the file `refusals` beside it, runs workloads only with `--workloads`, and ends when the standard
/// input closes: with the test that started it, however that test ends.
///
/// # Errors
/// Exits with 1 when the server cannot start, when CRDs or permissions are missing or refused, or when the operator
/// cannot be run; with the operator's own code when the operator ends by itself; with 2 when the arguments are wrong; with 143
/// after SIGTERM.
pub fn run(operator: &str) -> ExitCode {
    let mut arguments = env::args().skip(1);
    let outcome = match arguments.next().as_deref() {
        None => block_on(develop(operator, Vec::new())),
        Some("--") => block_on(develop(operator, arguments.collect())),
        Some("--only-server") => match arguments.next().as_deref() {
            None => block_on(only_server(false)),
            Some("--workloads") => block_on(only_server(true)),
            Some(other) => return unknown(other),
        },
        Some("-h" | "--help") => print(HELP).map(|()| ExitCode::SUCCESS),
        Some(other) => return unknown(other),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

fn unknown(option: &str) -> ExitCode {
    eprintln!(
        "error: unknown option `{option}`\n\nhint: --help shows the options; put the operator's flags after `--`"
    );
    ExitCode::from(2)
}

/// Prints on standard output, whose reader may have closed it.
fn print(text: &str) -> Result<(), String> {
    files::print(text).map_err(|error| format!("cannot write the standard output: {error}"))
}

fn block_on(program: impl Future<Output = Result<ExitCode, String>>) -> Result<ExitCode, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(async {
        let terminated = terminated().map_err(|error| format!("cannot listen to signals: {error}"))?;
        tokio::select! {
            ended = program => ended,
            // The program is dropped, and with it its processes and files.
            () = terminated => Ok(ExitCode::from(TERMINATED)),
        }
    })
}

/// Waits for the signal of a service manager.
#[cfg(unix)]
fn terminated() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut signals = signal(SignalKind::terminate())?;
    Ok(async move { _ = signals.recv().await })
}

#[cfg(not(unix))]
fn terminated() -> io::Result<impl Future<Output = ()>> {
    Ok(std::future::pending())
}

async fn only_server(workloads: bool) -> Result<ExitCode, String> {
    let folder = private_folder()?;
    let kubeconfig = folder.path().join("kubeconfig");
    let (listener, server) = listen(workloads).await?;
    listener
        .write_kubeconfig(&kubeconfig)
        .map_err(|error| describe(&error))?;
    let cannot = |error: io::Error| format!("cannot write the requests that are refused: {error}");
    let refused = fs::File::create(folder.path().join(refusals::FILE)).map_err(cannot)?;
    let recording = refusals::record(refused, server.refusals());
    let running = listener.serve(server).map_err(|error| describe(&error))?;
    print(&format!("{}\n", kubeconfig.display()))?;
    tokio::select! {
        () = end_of_input() => {}
        error = recording => return Err(cannot(error)),
    }
    running.shutdown().await;
    Ok(ExitCode::SUCCESS)
}

/// A blocking read cannot be cancelled, so it runs in a thread of its own, which ends with the process.
async fn end_of_input() {
    let (over, input) = oneshot::channel();
    std::thread::spawn(move || {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        let _ = over.send(());
    });
    let _ = input.await;
}

/// The contents of `config` that the operator's cluster needs.
struct Config {
    definitions: Vec<Manifest>,
    rbac: Vec<Manifest>,
    webhooks: Option<Webhooks>,
    policies: Vec<Manifest>,
}

impl Config {
    fn read(folder: &Path) -> Result<Self, String> {
        if !folder.is_dir() {
            return Err("there is no folder `config`\n\nhint: run `make dev` in the project's folder".to_owned());
        }
        let warn = &mut |sentence| eprintln!("warning: {sentence}");
        let mut definitions = manifests::of_kustomization(&folder.join("crd"), warn)?;
        // No other program installs the CRDs of other projects here.
        definitions.extend(manifests::in_folder(&folder.join("crd/external"))?);
        let rbac = manifests::of_kustomization(&folder.join("rbac"), warn)?;
        let mut policies = manifests::in_folder(&folder.join("policy"))?;
        // kustomization.yaml has no `apiVersion`.
        policies.retain(|manifest| manifest.object["apiVersion"].is_string());
        Ok(Self {
            definitions,
            rbac,
            webhooks: Webhooks::read(&folder.join("webhook"))?,
            policies,
        })
    }
}

/// A path as a word of a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    match text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c)) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

async fn develop(operator: &str, flags: Vec<String>) -> Result<ExitCode, String> {
    let config = Config::read(Path::new("config"))?;
    let folder = beside_this_program()?;
    let (listener, server) = listen(true).await?;
    let kubeconfig = OwnKubeconfig::write(&listener, &folder).await?;
    print(&format!(
        "API server: https://{}, until Ctrl-C\nkubectl:    export KUBECONFIG={}\n",
        listener.address(),
        quoted(kubeconfig.path())
    ))?;
    let webhooks = config.webhooks.as_ref().map(Webhooks::flags);
    let program = Program {
        path: folder.join(operator),
        flags: webhooks.into_iter().flatten().chain(flags).collect(),
    };
    operate(listener, server, config, program).await
}

/// Runs the operator until it exits, on a server with the objects of `config`.
async fn operate(listener: Listener, server: ApiServer, config: Config, program: Program) -> Result<ExitCode, String> {
    apply::apply_all(&server, &config.definitions).await?;
    let account = Account::make(&server, config.rbac).await?;
    if let Some(webhooks) = &config.webhooks {
        webhooks.deploy(&server).await?;
    }
    apply::apply_all(&server, &config.policies).await?;
    print(&format!(
        "operator:   ServiceAccount {NAMESPACE}/{}, with the permissions of config/rbac\n",
        account::NAME
    ))?;
    let folder = private_folder()?;
    let kubeconfig = folder.path().join("operator.kubeconfig");
    listener
        .write_token_kubeconfig(&kubeconfig, &account.token)
        .map_err(|error| describe(&error))?;
    let running = listener.serve(server.clone()).map_err(|error| describe(&error))?;
    let refused = tokio::spawn(refusals::report(server.refusals(), account.is_namespaced));
    let mut operator = Operator::start(program, &kubeconfig, account.is_namespaced)?;
    let code = tokio::select! {
        code = operator.ended() => code,
        refused = apply_samples(&server) => {
            if let Err(refused) = refused {
                eprintln!("error: {refused}");
            }
            // Run until the operator exits.
            operator.ended().await
        }
    };
    running.shutdown().await;
    refused.abort();
    Ok(code)
}

async fn apply_samples(server: &ApiServer) -> Result<(), String> {
    let samples = manifests::in_folder(Path::new("config/samples"))?;
    apply::apply_all(server, &samples).await
}

async fn listen(workloads: bool) -> Result<(Listener, ApiServer), String> {
    let token = serve::random_token().map_err(|error| format!("cannot make a token: {error}"))?;
    let listener = Listener::bind(0, Some(token.clone()))
        .await
        .map_err(|error| describe(&error))?;
    let address = listener.address().to_string();
    let server = ApiServer::new(Options {
        address,
        certificate_authority: listener.certificate_authority(),
        tokens: vec![(token, User::admin())],
        controllers: Controllers {
            workloads,
            ..Controllers::default()
        },
        ..Options::default()
    });
    Ok((listener, server))
}

fn private_folder() -> Result<TemporaryFolder, String> {
    TemporaryFolder::new().map_err(|error| format!("cannot make a folder for the kubeconfig: {error}"))
}

fn beside_this_program() -> Result<PathBuf, String> {
    let this = env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    Ok(this.parent().unwrap_or(Path::new(".")).to_owned())
}

/// The error with its causes.
fn describe(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
