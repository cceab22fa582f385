//! The flags of the process. Nothing else here prints or ends it.

use std::{
    io::{self, ErrorKind, Write},
    process,
};

use clap::Parser;

use super::Operator;

impl Operator {
    /// Reads the flags of the process. For `--help`, `--version` and wrong flags it ends the process, with the exit codes of
    /// [`Parser::parse`]: 0, and 2 for wrong flags. Unlike there, the exit code is 1 if help or version cannot be written, as on a full
    /// disk; a reader that closes the pipe is no error.
    #[allow(
        clippy::disallowed_methods,
        reason = "nothing has started yet, and clap ends the process in the same way"
    )]
    pub fn flags<F: Parser>() -> F {
        F::try_parse().unwrap_or_else(|error| {
            let written = error.print().and_then(|()| io::stdout().flush());
            match written.err().filter(|it| it.kind() != ErrorKind::BrokenPipe) {
                Some(failed) if !error.use_stderr() => {
                    eprintln!("error: cannot write the standard output: {failed}");
                    process::exit(1)
                }
                // Wrong flags are reported by the exit code, too.
                _ => process::exit(error.exit_code()),
            }
        })
    }
}
