//! The standard output of programs that write files. A reader that closes the pipe, as `head` does, is no error; a full disk is one.

use super::Streams;
use std::io::{self, Write};
use std::process::ExitCode;

/// Prints text on standard output.
///
/// # Errors
/// The standard output cannot be written; not if its reader has closed it.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Runs a program with the standard streams. Its exit code is 1 if it could not print.
pub fn with_streams(program: impl FnOnce(Streams<'_>) -> u8) -> ExitCode {
    let mut out = Output::new(io::stdout().lock());
    let err = &mut io::stderr().lock();
    let code = program(Streams { out: &mut out, err });
    let Err(error) = out.end() else {
        return ExitCode::from(code);
    };
    // If this fails too, no output is left.
    _ = writeln!(err, "error: cannot write the standard output: {error}");
    ExitCode::from(code.max(1))
}

/// A writer that goes on after an error, and remembers it.
struct Output<W> {
    inner: W,
    failed: io::Result<()>,
}

impl<W: Write> Output<W> {
    fn new(inner: W) -> Self {
        Self { inner, failed: Ok(()) }
    }

    /// The first error, unless the reader has closed the pipe.
    fn end(mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        match self.failed.and(flushed) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            ended => ended,
        }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed.is_ok() {
            self.failed = self.inner.write_all(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Output;
    use std::io::{self, ErrorKind, Write};

    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_an_error_and_a_closed_pipe_is_none() {
        let print = |kind| {
            let mut out = Output::new(Broken(kind));
            out.write_all(b"wrote a\n").unwrap();
            out.end().map_err(|error| error.kind())
        };
        assert_eq!(print(ErrorKind::StorageFull), Err(ErrorKind::StorageFull));
        assert_eq!(print(ErrorKind::BrokenPipe), Ok(()));
    }
}
