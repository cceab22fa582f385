//! The only printer: results to stdout, notes and errors to stderr. Characters that act on a terminal are escaped, because every text may
//! contain parts of the project, of CRDs and of paths.

use super::ask::Usage;
use crate::project::printable::printable_lines;
use anyhow::Error;
use std::io::{self, Write};
use std::process::ExitCode;

/// Prints a result. A reader that closes its end, as `head` does, is no error.
pub fn result(text: &str) {
    let _ = io::stdout().lock().write_all(printable_lines(text).as_bytes());
}

/// Prints a line about what happens.
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

/// The causes on one line, then the hints, wherever in the chain they stand.
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

/// What to do about the errors of a disk.
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
