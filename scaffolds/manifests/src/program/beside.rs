//! Another program of the project, which one build has put beside this one.

use kubewright_schema::files::Streams;
use std::process::Command;

/// Becomes the program, with `arguments`. Returns an exit code if the program does not exist; on other systems than Unix, also the program's.
///
/// `cargo run` would compile its dependencies once more, with the features that it needs alone.
pub(super) fn run(name: &str, arguments: impl Iterator<Item = String>, streams: Streams<'_>) -> u8 {
    let path = std::env::current_exe().map(|own| own.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX)));
    let error = match path {
        Ok(path) if path.is_file() => {
            let mut command = Command::new(path);
            command.args(arguments);
            #[cfg(unix)]
            let error = std::os::unix::process::CommandExt::exec(&mut command);
            #[cfg(not(unix))]
            let error = match command.status() {
                Ok(status) => return status.code().and_then(|code| code.try_into().ok()).unwrap_or(1),
                Err(error) => error,
            };
            error.to_string()
        }
        Ok(path) => format!(
            "there is no `{}`\n\nhint: cargo build --workspace --bins",
            path.display()
        ),
        Err(error) => error.to_string(),
    };
    _ = writeln!(streams.err, "error: cannot run `{name}`: {error}");
    1
}
