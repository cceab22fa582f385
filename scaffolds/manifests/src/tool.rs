//! Programs that the user names, such as kubectl: their command lines, and errors that name the line which failed.

use std::io::{ErrorKind, Write};
use std::process::{Child, Command, ExitStatus, Stdio};

/// A program, with the first arguments of each call.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    words: Vec<String>,
    /// The variable of the Makefile that names the program.
    variable: &'static str,
}

impl Tool {
    pub(crate) fn new(words: Vec<String>, variable: &'static str) -> Self {
        Self { words, variable }
    }

    /// Whether the user named none.
    pub(crate) fn is_missing(&self) -> bool {
        self.words.is_empty()
    }

    /// The same program with more of the first arguments.
    pub(crate) fn with(&self, arguments: &[&str]) -> Self {
        let more = arguments.iter().map(|&argument| argument.to_owned());
        Self::new(self.words.iter().cloned().chain(more).collect(), self.variable)
    }

    /// The program and its first arguments.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// The output.
    ///
    /// # Errors
    /// The program cannot be started, or fails; then it has printed why.
    pub(crate) fn output(&self, arguments: &[&str]) -> Result<String, String> {
        let command = self.command(arguments)?.stderr(Stdio::inherit()).output();
        let output = command.map_err(|error| self.cannot_start(&error))?;
        self.ended(arguments, output.status)?;
        String::from_utf8(output.stdout).map_err(|error| format!("`{}` prints no text: {error}", self.line(arguments)))
    }

    /// The output, even if the program fails, with a text on its standard input.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(crate) fn answer(&self, arguments: &[&str], text: &str) -> Result<String, String> {
        let mut child = self.spawn(self.command(arguments)?.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program that does not read ends with an answer all the same.
            _ = stdin.write_all(text.as_bytes());
        }
        let output = child.wait_with_output().map_err(|error| self.cannot_start(&error))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs the program with a text on its standard input. It prints for the user.
    ///
    /// # Errors
    /// The program cannot be started, or fails; then it has printed why.
    pub(crate) fn send(&self, arguments: &[&str], text: &str) -> Result<(), String> {
        let child = self.command(arguments)?.stdin(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| self.cannot_start(&error))?;
        let written = child.stdin.take().map(|mut stdin| stdin.write_all(text.as_bytes()));
        let status = child.wait().map_err(|error| self.cannot_start(&error))?;
        self.ended(arguments, status)?;
        match written {
            Some(Err(error)) => Err(format!("`{}` did not read all objects: {error}", self.line(arguments))),
            _ => Ok(()),
        }
    }

    /// The output without messages, even if the program fails.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(crate) fn printed(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.command(arguments)?.stderr(Stdio::null()).output();
        let output = output.map_err(|error| self.cannot_start(&error))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The output without messages; `None` if the program fails.
    pub(crate) fn quiet(&self, arguments: &[&str]) -> Option<String> {
        let output = self.command(arguments).ok()?.stderr(Stdio::null()).output().ok()?;
        let printed = || String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then(printed)
    }

    /// Runs the program, which prints for the user.
    ///
    /// # Errors
    /// The program cannot be started, or fails; then it has printed why.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<(), String> {
        let status = self.start(arguments)?.wait();
        self.ended(arguments, status.map_err(|error| self.cannot_start(&error))?)
    }

    /// Starts the program, which prints for the user.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(crate) fn start(&self, arguments: &[&str]) -> Result<Child, String> {
        self.spawn(self.command(arguments)?.stdin(Stdio::null()))
    }

    /// Starts the program, whose output the caller reads.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(crate) fn start_read(&self, arguments: &[&str]) -> Result<Child, String> {
        self.spawn(self.command(arguments)?.stdin(Stdio::null()).stdout(Stdio::piped()))
    }

    fn spawn(&self, command: &mut Command) -> Result<Child, String> {
        command.spawn().map_err(|error| self.cannot_start(&error))
    }

    /// # Errors
    /// The user named no program.
    fn command(&self, arguments: &[&str]) -> Result<Command, String> {
        let Some((program, first)) = self.words.split_first() else {
            return Err("no kubectl is named\n\nhint: end the command with `-- kubectl`".to_owned());
        };
        let mut command = Command::new(program);
        command.args(first).args(arguments);
        Ok(command)
    }

    fn cannot_start(&self, error: &std::io::Error) -> String {
        let program = self.words.first().map_or("", String::as_str);
        match error.kind() {
            ErrorKind::NotFound => format!(
                "`{program}` is not installed\n\nhint: install it, or name its path with {}",
                self.variable
            ),
            _ => format!("cannot run `{program}`: {error}"),
        }
    }

    fn ended(&self, arguments: &[&str], status: ExitStatus) -> Result<(), String> {
        match status.success() {
            true => Ok(()),
            false => Err(format!("`{}` failed: {status}", self.line(arguments))),
        }
    }

    fn line(&self, arguments: &[&str]) -> String {
        let words = self.words.iter().map(String::as_str).chain(arguments.iter().copied());
        words.collect::<Vec<_>>().join(" ")
    }
}
