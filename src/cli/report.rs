//! The only module that prints: results to stdout, notes and errors to stderr. Terminal control characters are escaped,
//! because every text may contain parts of the project, of CRDs and of paths.

use super::ask::Usage;
use crate::project::printable::printable_lines;
use anyhow::{Context, Error, Result};
use clap::builder::Styles;
use std::io::{self, Write};
use std::process::ExitCode;

/// Prints a result. If the reader closes the pipe, as `head` does, that is not an error.
///
/// # Errors
/// The standard output cannot be written, such as a file on a full disk.
pub fn result(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    written(
        out.write_all(printable_lines(text).as_bytes())
            .and_then(|()| out.flush()),
    )
}

/// Prints clap's output in place of a run: a help, the version, or an error of usage.
pub fn parsed(answer: &clap::Error) -> ExitCode {
    match written(answer.print().and_then(|()| io::stdout().flush())) {
        Ok(()) => ExitCode::from(u8::try_from(answer.exit_code()).unwrap_or(2)),
        Err(error) => failure(&error),
    }
}

fn written(outcome: io::Result<()>) -> Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome.context("cannot write the standard output"),
    }
}

/// Prints a note about progress.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable_lines(text));
}

/// Prints an error, in clap's colours if the standard error is a terminal with colours. The exit code is 2 for wrong
/// usage, and 1 otherwise.
pub fn failure(error: &Error) -> ExitCode {
    let text = coloured(&printable_lines(&shape(error)));
    let _ = writeln!(anstream::stderr().lock(), "{text}");
    match error.is::<Usage>() {
        true => ExitCode::from(2),
        false => ExitCode::FAILURE,
    }
}

/// The text with the colours of clap for the first words of its parts.
fn coloured(text: &str) -> String {
    let styles = Styles::styled();
    let (error, hint) = (styles.get_error(), styles.get_valid());
    let text = text.replacen("error:", &format!("{error}error:{error:#}"), 1);
    text.replace("\n\nhint:", &format!("\n\n{hint}hint:{hint:#}"))
}

/// The causes on one line, then the hints of all errors in the chain.
fn shape(error: &Error) -> String {
    let (causes, hints) = parts(error);
    let hints: String = hints.iter().map(|hint| format!("\n\nhint: {hint}")).collect();
    format!("error: {}{hints}", causes.join(": "))
}

/// The causes, and the hints, of all errors in the chain.
pub fn parts(error: &Error) -> (Vec<String>, Vec<String>) {
    let (mut causes, mut hints) = (Vec::new(), Vec::new());
    for cause in error.chain() {
        let text = cause.to_string();
        let (message, hint) = text
            .split_once("\n\nhint: ")
            .map_or((text.as_str(), None), |(text, hint)| (text, Some(hint)));
        causes.push(message.to_owned());
        hints.extend(hint.map(str::to_owned));
        if hints.is_empty() {
            hints.extend(cause.downcast_ref::<io::Error>().and_then(of_io).map(str::to_owned));
        }
    }
    causes.dedup();
    (causes, hints)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_of_an_error_and_of_its_hint_are_coloured() {
        let text = coloured("error: a: error: b\n\nhint: c");
        assert_eq!(text.matches("\u{1b}[1m\u{1b}[31merror:").count(), 1, "{text:?}");
        assert!(text.contains("\u{1b}[32mhint:"), "{text:?}");
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(plain, "error: a: error: b\n\nhint: c");
    }

    #[test]
    fn a_closed_pipe_is_no_error_and_a_full_disk_is_one() {
        assert!(written(Err(io::ErrorKind::BrokenPipe.into())).is_ok());
        let full = written(Err(io::ErrorKind::StorageFull.into())).unwrap_err();
        assert!(
            shape(&full).starts_with("error: cannot write the standard output: "),
            "{full:#}"
        );
    }
}
