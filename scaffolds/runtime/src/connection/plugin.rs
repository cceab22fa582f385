//! Credential plugins (`exec` of a kubeconfig): what is checked before kube starts one, and readable errors.

use std::{
    env,
    io::IsTerminal as _,
    path::{Path, PathBuf},
};

use kube::{
    client::AuthError,
    config::{AuthInfo, ExecConfig, ExecInteractiveMode},
};

/// Checks the plugin of a user, if the user has one and no other credentials.
///
/// # Errors
/// If it is not installed, or needs a terminal and there is none.
pub(super) fn check(user: &mut AuthInfo) -> Result<(), String> {
    let other = user.auth_provider.is_some()
        || user.token.is_some()
        || user.token_file.is_some()
        || (user.username.is_some() && user.password.is_some());
    match &mut user.exec {
        Some(exec) if !other => {
            installed(exec)?;
            interactive(exec)
        }
        _ => Ok(()),
    }
}

fn installed(exec: &ExecConfig) -> Result<(), String> {
    let command = exec.command.as_deref().unwrap_or_default();
    if command.is_empty() {
        return Err("the credential plugin (`exec`) has no `command`".to_owned());
    }
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
fn interactive(exec: &mut ExecConfig) -> Result<(), String> {
    if std::io::stdin().is_terminal() {
        return Ok(());
    }
    if exec.interactive_mode == Some(ExecInteractiveMode::Always) {
        let command = exec.command.as_deref().unwrap_or_default();
        return Err(format!(
            "the credential plugin `{command}` needs a terminal (`interactiveMode: Always`), and the standard input is none\n\n\
             hint: run the program in a terminal, or use a plugin that does not ask"
        ));
    }
    exec.interactive_mode = Some(ExecInteractiveMode::Never);
    Ok(())
}

/// An error of kube, with what a plugin printed instead of its bytes.
pub(super) fn readable(error: &kube::Error) -> String {
    match error {
        kube::Error::Auth(AuthError::AuthExecRun { cmd, out }) => {
            let printed = String::from_utf8_lossy(&out.stderr);
            format!(
                "the credential plugin {cmd} failed ({}): {}",
                out.status,
                printed.trim()
            )
        }
        error => error.to_string(),
    }
}
