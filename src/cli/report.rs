//! The only module that prints: results to stdout, notes and errors to stderr. Terminal control characters are escaped,
//! because every text may contain parts of the project, of CRDs and of paths.

use super::ask::Usage;
use crate::project::printable::printable_lines;
use anyhow::Error;
use std::io::{self, Write};
use std::process::ExitCode;

/// Prints a result. If the reader closes the pipe, as `head` does, that is not an error.
pub fn result(text: &str) {
    let _ = io::stdout().lock().write_all(printable_lines(text).as_bytes());
}

/// Prints a note about progress.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable_lines(text));
}

/// Prints an error. The exit code is 2 for wrong usage, and 1 otherwise.
pub fn failure(error: &Error) -> ExitCode {
    note(&shape(error));
    match error.is::<Usage>() {
        true => ExitCode::from(2),
        false => ExitCode::FAILURE,
    }
}

/// The causes on one line, then the hints of all errors in the chain.
fn shape(error: &Error) -> String {
    let (mut causes, mut hints) = (Vec::new(), Vec::new());
    for cause in error.chain() {
        let text = cause.to_string();
        let (message, hint) = text
            .split_once("\n\nhint: ")
            .map_or((text.as_str(), None), |(text, hint)| (text, Some(hint)));
        causes.push(message.to_owned());
        hints.extend(hint.map(|hint| format!("\n\nhint: {hint}")));
        if hints.is_empty() {
            hints.extend(
                cause
                    .downcast_ref::<io::Error>()
                    .and_then(of_io)
                    .map(|hint| format!("\n\nhint: {hint}")),
            );
        }
    }
    causes.dedup();
    format!("error: {}{}", causes.join(": "), hints.concat())
}

/// A hint for I/O errors of a disk.
fn of_io(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("free space on the disk, then run the command again")
        }
        io::ErrorKind::PermissionDenied => Some("check the permissions with `ls -la`"),
        io::ErrorKind::ReadOnlyFilesystem => Some("choose a folder on a writable file system with `--dir`"),
        _ => None,
    }
}
