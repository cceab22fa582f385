//! Asks for missing values on a terminal, and otherwise lists them in one error. The only module that uses dialoguer.

use anyhow::{Error, Result, anyhow};
use dialoguer::{Confirm, Input, MultiSelect};
use std::fmt::Display;
use std::io::{IsTerminal, stderr, stdin};
use std::str::FromStr;

/// The command line is invalid or incomplete; the process exits with 2.
#[derive(Debug)]
pub struct Usage(String);

impl Usage {
    /// A usage error.
    pub fn error(message: impl Into<String>) -> Error {
        Error::new(Self(message.into()))
    }
}

impl Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Collects missing values.
pub struct Ask {
    yes: bool,
    terminal: bool,
    missing: Vec<&'static str>,
}

impl Ask {
    /// With `yes`, defaults are used without a question.
    pub fn new(yes: bool) -> Self {
        Self {
            yes,
            terminal: stdin().is_terminal() && stderr().is_terminal(),
            missing: Vec::new(),
        }
    }

    /// Whether a missing value is asked for.
    pub fn asks(&self) -> bool {
        self.terminal && !self.yes
    }

    /// The value of `flag`: given, or the default under `--yes`, or the answer to a question. If it is `None`,
    /// [`Ask::done`] fails.
    pub fn need<T>(
        &mut self,
        flag: &'static str,
        question: &str,
        given: Option<T>,
        default: Option<T>,
    ) -> Result<Option<T>>
    where
        T: FromStr + Display + Clone,
        T::Err: Display,
    {
        if given.is_some() {
            return Ok(given);
        }
        if self.yes && default.is_some() {
            return Ok(default);
        }
        if !self.asks() {
            self.missing.push(flag);
            return Ok(None);
        }
        let mut input = Input::<String>::new()
            .with_prompt(question)
            .validate_with(|text: &String| text.parse::<T>().map(drop).map_err(|error| error.to_string()));
        if let Some(default) = default {
            input = input.default(default.to_string());
        }
        let text = input.interact_text()?;
        text.parse()
            .map(Some)
            .map_err(|error: T::Err| anyhow!("`{text}` {error}"))
    }

    /// Which of these the user chooses, by their numbers; `None` without a terminal, and where nothing is asked.
    pub fn choose(&self, question: &str, options: &[&str]) -> Result<Option<Vec<usize>>> {
        if !self.asks() {
            return Ok(None);
        }
        let chosen = MultiSelect::new().with_prompt(question).items(options).interact()?;
        Ok(Some(chosen))
    }

    /// Fails if any value is missing, and names all of them.
    pub fn done(self, command: &str) -> Result<()> {
        if self.missing.is_empty() {
            return Ok(());
        }
        let flags: Vec<_> = self.missing.iter().map(|flag| format!("`{flag}`")).collect();
        let are = if flags.len() == 1 { "is" } else { "are" };
        let yes = if self.yes {
            "these have no default"
        } else {
            "add them, or run the command on a terminal to be asked"
        };
        Err(Usage::error(format!(
            "{} {are} missing\n\nhint: {yes}; see `kubewright {command} --help`",
            flags.join(", ")
        )))
    }
}

/// Asks before files are overwritten. Without a terminal the answer is yes, because the flag `--force` was given.
pub fn confirm(yes: bool, question: &str) -> Result<bool> {
    if yes || !stdin().is_terminal() || !stderr().is_terminal() {
        return Ok(true);
    }
    Ok(Confirm::new().with_prompt(question).default(false).interact()?)
}
