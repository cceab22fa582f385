//! `kubewright apiserver`: a Kubernetes API server on this machine, in the foreground.

use super::ask::Usage;
use super::{NoProject, given, report};
use crate::write::quoted;
use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;
use kubewright_apiserver::serve::{Listener, TemporaryFolder, random_token};
use kubewright_apiserver::{ApiServer, Controllers, OpenError, Options, User};
use std::path::{Path, PathBuf};

/// Flags of `apiserver`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Listens only on 127.0.0.1. The user of the kubeconfig may do everything. Each
run has a new certificate authority, and so writes a new kubeconfig. Ctrl-C
stops the server.")]
pub struct Args {
    #[command(flatten)]
    _no: NoProject,
    /// The port; 0 chooses a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The bearer token of the administrator [default: a random one]. `ps` shows it to all users of this machine
    #[arg(long, value_name = "TOKEN", value_parser = token, conflicts_with = "token_file")]
    token: Option<String>,
    /// A file with the token, which `ps` does not show
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The kubeconfig to write [default: a file in a new temporary folder]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Store objects in this folder, across restarts [default: in memory]
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// Enable a controller that is off by default: service-accounts, workloads
    #[arg(long, value_enum, value_name = "CONTROLLER", hide_possible_values = true)]
    enable: Vec<Controller>,
    /// Disable a controller: garbage-collector, namespaces, cluster-roles, resource-quotas, policy-types
    #[arg(long, value_enum, value_name = "CONTROLLER", hide_possible_values = true)]
    disable: Vec<Controller>,
}

/// A controller of the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Controller {
    GarbageCollector,
    Namespaces,
    ClusterRoles,
    ResourceQuotas,
    PolicyTypes,
    ServiceAccounts,
    Workloads,
}

/// The token of the administrator; a random one if the flags contain no token.
fn administrator(args: &Args) -> Result<String> {
    if let Some(token) = &args.token {
        return Ok(token.clone());
    }
    let Some(file) = &args.token_file else {
        return random_token().context("cannot make a token");
    };
    let name = file.display();
    let text = given::file(file).with_context(|| format!("cannot read the token in `{name}`"))?;
    let refused = |why| anyhow!("`{name}` does not hold a token: {why}");
    token(text.trim_end_matches(['\r', '\n'])).map_err(refused)
}

/// A token that a header can contain.
fn token(text: &str) -> Result<String, &'static str> {
    match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(text.to_owned()),
        false => Err("a token is one or more printable ASCII characters without blanks"),
    }
}

/// Serves until it is stopped.
pub fn run(args: Args) -> Result<()> {
    if let Some(both) = args.enable.iter().find(|it| args.disable.contains(it)) {
        let name = both.to_possible_value().map(|it| it.get_name().to_owned());
        return Err(Usage::error(format!(
            "`{}` is to be both enabled and disabled\n\nhint: leave out `--enable` or `--disable`",
            name.unwrap_or_default()
        )));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("cannot start threads")?.block_on(serve(args))
}

/// The controllers that are on by default, with `--enable` and without `--disable`.
fn controllers(args: &Args) -> Controllers {
    let runs =
        |controller, usually| (usually || args.enable.contains(&controller)) && !args.disable.contains(&controller);
    let usually = Controllers::default();
    Controllers {
        garbage_collector: runs(Controller::GarbageCollector, usually.garbage_collector),
        namespaces: runs(Controller::Namespaces, usually.namespaces),
        cluster_roles: runs(Controller::ClusterRoles, usually.cluster_roles),
        resource_quotas: runs(Controller::ResourceQuotas, usually.resource_quotas),
        policy_types: runs(Controller::PolicyTypes, usually.policy_types),
        service_accounts: runs(Controller::ServiceAccounts, usually.service_accounts),
        workloads: runs(Controller::Workloads, usually.workloads),
    }
}

async fn serve(args: Args) -> Result<()> {
    let token = administrator(&args)?;
    let listener = Listener::bind(args.port, Some(token.clone()))
        .await
        .map_err(|error| listen(error, args.port))?;
    let address = listener.address();
    let options = Options {
        controllers: controllers(&args),
        tokens: vec![(token, User::admin())],
        address: address.to_string(),
        certificate_authority: listener.certificate_authority(),
        ..Options::default()
    };
    let server = match &args.data_dir {
        Some(folder) => ApiServer::open(folder, options).map_err(|error| opening(error, folder))?,
        None => ApiServer::new(options),
    };
    let (kubeconfig, _folder) = place(args.kubeconfig)?;
    listener.write_kubeconfig(&kubeconfig)?;
    let running = listener.serve(server.clone())?;
    let stop = stop_signal()?;
    report::result(&format!(
        "https://{address} is ready: export KUBECONFIG={}\n",
        quoted(&kubeconfig)
    ))?;
    let failure = tokio::select! {
        () = stop => None,
        why = server.disk_failure() => Some(why),
    };
    running.shutdown().await;
    match (failure, &args.data_dir) {
        (Some(why), Some(folder)) => Err(unwritable(&why, folder)),
        _ => Ok(()),
    }
}

fn unwritable(why: &str, folder: &Path) -> anyhow::Error {
    let folder = quoted(folder);
    anyhow!(
        "{folder} is no longer writable: {why}\n\nhint: see whether its disk is full with `df -h {folder}`, then start the \
         server again; no acknowledged write is lost"
    )
}

/// The path of the kubeconfig, and the temporary folder to remove with it.
fn place(chosen: Option<PathBuf>) -> Result<(PathBuf, Option<TemporaryFolder>)> {
    if let Some(path) = chosen {
        return Ok((path, None));
    }
    let folder = TemporaryFolder::new().context("cannot make a folder for the kubeconfig")?;
    Ok((folder.path().join("kubeconfig"), Some(folder)))
}

fn listen(error: kubewright_apiserver::serve::ServeError, port: u16) -> anyhow::Error {
    match port {
        0 => error.into(),
        _ => anyhow!(error).context(format!(
            "cannot listen on port {port}\n\nhint: see what uses it with `ss -ltnp 'sport = :{port}'`, or let the system choose a port: `--port 0`"
        )),
    }
}

fn opening(error: OpenError, folder: &Path) -> anyhow::Error {
    let hint = match error {
        OpenError::InUse(_) => {
            format!(
                "stop the other `kubewright apiserver --data-dir {}`, or name another folder",
                folder.display()
            )
        }
        _ => "name another folder with `--data-dir`".to_owned(),
    };
    anyhow!("{error}\n\nhint: {hint}")
}

/// Waits for Ctrl-C, or for the signal of a service manager. Signals are handled from this call on, so that no signal is
/// missed once the server has reported that it is ready.
#[cfg(unix)]
pub(super) fn stop_signal() -> Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen to signals")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen to signals")?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
pub(super) fn stop_signal() -> Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
