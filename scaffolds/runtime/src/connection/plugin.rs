//! Credential plugins (`exec` of a kubeconfig): what is checked before one starts, and what it returns, as in client-go
//! (`plugin/pkg/client/auth/exec`).

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        atomic::AtomicBool,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use http::HeaderValue;
use kube::config::{AuthInfo, ExecConfig, ExecInteractiveMode};
use kubewright_machinery::time::Moment;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Note, authorization, fields::Fields};

/// Fields of a user that take precedence over `exec`.
const OTHERS: [&str; 5] = [
    "token",
    "tokenFile",
    "username",
    "client-certificate",
    "client-certificate-data",
];

/// The plugin of a user, unless the user has other credentials.
pub(super) fn of(user: &mut AuthInfo) -> Option<&mut ExecConfig> {
    let set = Fields::of(user);
    user.exec
        .as_mut()
        .filter(|_| OTHERS.iter().all(|name| set.text(name).is_none()))
}

/// Checks the plugin of a user, if the user has one and no other credentials.
///
/// # Errors
/// If it is not installed, or must ask and the standard input is no terminal.
pub(super) fn check(user: &mut AuthInfo, is_terminal: bool) -> Result<(), String> {
    match of(user) {
        Some(exec) => installed(exec).and_then(|()| interactive(exec, is_terminal)),
        None => Ok(()),
    }
}

fn installed(exec: &ExecConfig) -> Result<(), String> {
    let command = exec.command.as_deref().unwrap_or_default();
    if find(command).is_some() {
        return Ok(());
    }
    let hint = exec
        .install_hint
        .as_deref()
        .map(str::trim)
        .filter(|hint| !hint.is_empty());
    let hint = match hint {
        Some(hint) => hint.to_owned(),
        None if command.contains('/') => "install it there, or correct `command` in the kubeconfig".to_owned(),
        None => format!("install `{command}`, or add its folder to PATH"),
    };
    Err(format!(
        "the credential plugin `{command}` (`exec` of the kubeconfig) is not installed\n\nhint: {hint}"
    ))
}

/// The file of a program: in a folder of PATH, or where its path is.
fn find(command: &str) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = match Path::new(command).components().count() {
        1 => env::split_paths(&env::var_os("PATH")?).collect(),
        _ => vec![PathBuf::new()],
    };
    let names = [command.to_owned(), format!("{command}{}", env::consts::EXE_SUFFIX)];
    let files = folders
        .iter()
        .flat_map(|folder| names.iter().map(|name| folder.join(name)));
    files.into_iter().find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata()
        .is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

/// Whether the plugin may ask: as in client-go, only if the standard input is a terminal.
fn interactive(exec: &mut ExecConfig, is_terminal: bool) -> Result<(), String> {
    if is_terminal {
        return Ok(());
    }
    if exec.interactive_mode == Some(ExecInteractiveMode::Always) {
        let command = exec.command.as_deref().unwrap_or_default();
        return Err(format!(
            "the credential plugin `{command}` needs a terminal (`interactiveMode: Always`), and the standard input is not one\n\n\
             hint: run the program in a terminal, or use a plugin that does not ask"
        ));
    }
    exec.interactive_mode = Some(ExecInteractiveMode::Never);
    Ok(())
}

/// A client certificate with its key, as PEM.
#[derive(PartialEq)]
pub(super) struct ClientCertificate {
    pub(super) chain: String,
    pub(super) key: String,
}

/// Credentials: a token, a certificate, or both.
pub(super) struct IssuedCredentials {
    pub(super) authorization: Option<HeaderValue>,
    pub(super) certificate: Option<ClientCertificate>,
    /// Their end, in seconds since 1970.
    pub(super) until: Option<i64>,
    /// Whether the API server has answered 401 to a request with them.
    pub(super) refused: AtomicBool,
}

impl IssuedCredentials {
    /// Credentials without an end.
    pub(super) fn always(authorization: Option<HeaderValue>) -> Self {
        Self {
            authorization,
            certificate: None,
            until: None,
            refused: AtomicBool::new(false),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecCredential {
    api_version: Option<String>,
    kind: Option<String>,
    status: Option<ExecStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecStatus {
    expiration_timestamp: Option<String>,
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

/// The time after which a run of a plugin is noted.
const PATIENCE: Duration = Duration::from_secs(5);

/// Notes that a plugin has not ended yet, after [`PATIENCE`] and each time that the wait has doubled, until `ended` is closed.
fn watch(command: &str, ended: &Receiver<()>, note: Note) {
    let mut waited = PATIENCE;
    while ended.recv_timeout(waited.div_f32(2.0).max(PATIENCE)) == Err(RecvTimeoutError::Timeout) {
        let seconds = waited.as_secs();
        note(&format!(
            "waiting for the credential plugin `{command}` (`exec` of the kubeconfig), for {seconds} s so far"
        ));
        waited *= 2;
    }
}

/// Runs a plugin to its end, however long that takes, and notes that it waits. The plugin inherits the environment, and a terminal if it may ask.
///
/// # Errors
/// If it fails, with what it has printed, or if its output contains no credentials.
pub(super) fn run(exec: &ExecConfig, note: Note) -> Result<IssuedCredentials, String> {
    let command = exec.command.as_deref().unwrap_or_default();
    let failed = |why: String| format!("the credential plugin `{command}` (`exec` of the kubeconfig) {why}");
    let may_ask = exec.interactive_mode != Some(ExecInteractiveMode::Never);
    let pipe = |inherits: bool| if inherits { Stdio::inherit() } else { Stdio::null() };
    let variables = exec.env.iter().flatten();
    let mut plugin = Command::new(command);
    plugin
        .args(exec.args.iter().flatten())
        .envs(variables.filter_map(|it| Some((it.get("name")?, it.get("value")?))))
        .env("KUBERNETES_EXEC_INFO", question(exec, may_ask).to_string())
        .stdin(pipe(may_ask))
        .stderr(if may_ask { Stdio::inherit() } else { Stdio::piped() });
    let output = thread::scope(|threads| {
        let (running, ended) = channel();
        threads.spawn(move || watch(command, &ended, note));
        let output = plugin.output();
        drop(running);
        output
    });
    let output = output.map_err(|error| failed(format!("cannot be started: {error}")))?;
    if !output.status.success() {
        let printed = String::from_utf8_lossy(&output.stderr);
        return Err(failed(format!("failed ({}): {}", output.status, printed.trim())));
    }
    let version = exec.api_version.as_deref().unwrap_or_default();
    answer(&output.stdout, version).map_err(|why| failed(format!("returned no credentials: {why}")))
}

fn question(exec: &ExecConfig, may_ask: bool) -> Value {
    let mut spec = json!({"interactive": may_ask});
    if let Some(cluster) = exec.cluster.as_ref().filter(|_| exec.provide_cluster_info) {
        spec["cluster"] = json!(cluster);
    }
    json!({"apiVersion": exec.api_version, "kind": "ExecCredential", "spec": spec})
}

/// Reads the output of a plugin. The errors do not contain it.
fn answer(output: &[u8], version: &str) -> Result<IssuedCredentials, String> {
    let read: ExecCredential =
        serde_json::from_slice(output).map_err(|_| "its output is not JSON of an `ExecCredential`".to_owned())?;
    let returned = (read.api_version.unwrap_or_default(), read.kind.unwrap_or_default());
    if (returned.0.as_str(), returned.1.as_str()) != (version, "ExecCredential") {
        return Err(format!(
            "it returned `{}` of `{}`, not `ExecCredential` of `{version}`",
            returned.1, returned.0
        ));
    }
    let status = read.status.ok_or("`status` is missing")?;
    let set = |text: Option<String>| text.filter(|text| !text.is_empty());
    let token = set(status.token);
    let certificate = match (set(status.client_certificate_data), set(status.client_key_data)) {
        (Some(chain), Some(key)) => Some(ClientCertificate { chain, key }),
        (None, None) if token.is_none() => return Err("it has neither `token` nor `clientCertificateData`".to_owned()),
        (None, None) => None,
        _ => return Err("it has one of `clientCertificateData` and `clientKeyData` without the other".to_owned()),
    };
    let token = token.map(|token| authorization::bearer(&token)).transpose();
    let until = set(status.expiration_timestamp)
        .map(|text| Moment::parse(&text))
        .transpose();
    Ok(IssuedCredentials {
        authorization: token.map_err(|why| format!("`token`: {why}"))?,
        certificate,
        until: until
            .map_err(|why| format!("`expirationTimestamp`: {why}"))?
            .map(|it| it.seconds),
        refused: AtomicBool::new(false),
    })
}
