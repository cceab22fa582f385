//! The program `dev` of a generated project: the operator on an API server in this process (`make dev`), or that server
//! alone, for tests.

mod operator;
mod samples;

use std::{
    env, fs, io,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use tokio::sync::oneshot;

use crate::{
    serve::{Listener, Running, TemporaryFolder},
    server::{ApiServer, Options},
};

use self::operator::Operator;

const HELP: &str = "\
Runs the operator on an API server of its own, with the samples applied, until Ctrl-C.

Usage: dev [OPTIONS] [-- FLAGS OF THE OPERATOR]

Options:
      --only-server    No operator: print the path of a kubeconfig once ready, and end when the standard input does
  -h, --help           Print this help
";

/// Runs the program `operator`, which is built beside this one, on an API server in this process.
///
/// # Flow
/// The server listens on a free port of 127.0.0.1 and writes `dev.kubeconfig` beside this program. The operator starts
/// with `--install-crds`, and the CRDs of `config/crd/external` are there before it; each object of `config/samples` is applied as soon as its kind is served. All of it lives in
/// memory and ends with Ctrl-C, after the operator has drained.
///
/// With `--only-server` there is the server alone, its kubeconfig stands in a folder of its own, and it ends when the
/// standard input does: with the test that started it, however that ends.
///
/// # Errors
/// Exits with 1 when the server cannot start or the operator cannot be run; with the operator's own code when that ends by
/// itself; with 2 when the arguments are wrong.
pub fn run(operator: &str) -> ExitCode {
    let mut arguments = env::args().skip(1);
    let outcome = match arguments.next().as_deref() {
        None => block_on(develop(operator, Vec::new())),
        Some("--") => block_on(develop(operator, arguments.collect())),
        Some("--only-server") => block_on(only_server()),
        Some("-h" | "--help") => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Some(other) => {
            eprintln!(
                "error: `{other}` is not known\n\nhint: --help shows the options; the operator's come after `--`"
            );
            return ExitCode::from(2);
        }
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

fn block_on(program: impl Future<Output = Result<ExitCode, String>>) -> Result<ExitCode, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime
        .map_err(|error| format!("cannot start: {error}"))?
        .block_on(program)
}

async fn only_server() -> Result<ExitCode, String> {
    let folder = TemporaryFolder::new().map_err(|error| format!("cannot make a folder for the kubeconfig: {error}"))?;
    let kubeconfig = folder.path().join("kubeconfig");
    let served = serve(&kubeconfig).await?;
    println!("{}", kubeconfig.display());
    // Whoever asked is gone if that fails, and so is the standard input.
    let _ = io::stdout().flush();
    end_of_input().await;
    served.1.shutdown().await;
    Ok(ExitCode::SUCCESS)
}

/// A read cannot be given up, so it has a thread, which ends with the process.
async fn end_of_input() {
    let (over, input) = oneshot::channel();
    std::thread::spawn(move || {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        let _ = over.send(());
    });
    let _ = input.await;
}

async fn develop(operator: &str, flags: Vec<String>) -> Result<ExitCode, String> {
    let folder = beside_this_program()?;
    let kubeconfig = folder.join("dev.kubeconfig");
    let (server, running) = serve(&kubeconfig).await?;
    println!("API server: https://{}, until Ctrl-C", running.address());
    println!("kubectl:    export KUBECONFIG={}", kubeconfig.display());
    // Their owners are not here to install them, and the operator watches them from its start.
    samples::apply(&server, Path::new("config/crd/external")).await?;
    let mut operator = Operator::start(&folder.join(operator), &kubeconfig, flags)?;
    let code = tokio::select! {
        code = operator.ended() => code,
        refused = samples::apply(&server, Path::new("config/samples")) => {
            if let Err(refused) = refused {
                eprintln!("error: {refused}");
            }
            // The operator has the word from here on.
            operator.ended().await
        }
    };
    running.shutdown().await;
    let _ = fs::remove_file(kubeconfig);
    Ok(code)
}

async fn serve(kubeconfig: &Path) -> Result<(ApiServer, Running), String> {
    let listener = Listener::bind(0, None).await.map_err(|error| describe(&error))?;
    listener
        .write_kubeconfig(kubeconfig)
        .map_err(|error| describe(&error))?;
    let address = listener.address().to_string();
    let server = ApiServer::new(Options {
        address,
        ..Options::default()
    });
    let running = listener.serve(server.clone()).map_err(|error| describe(&error))?;
    Ok((server, running))
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
