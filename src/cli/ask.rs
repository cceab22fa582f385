//! Asks for missing values on a terminal, and otherwise lists them in one error. The only module that uses dialoguer, and of it only
//! lines of text: its lists hide the cursor, which Ctrl-C would leave hidden.

use super::report;
use anyhow::{Error, Result};
use dialoguer::Input;
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

    /// Whether the command asks for a missing value.
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
        line(question, default.map(|it| it.to_string()), |text| {
            text.parse::<T>().map_err(|error| error.to_string())
        })
        .map(Some)
    }

    /// As [`Ask::need`], with the values that the project has: they are offered in the question, where one alone is the default.
    pub fn need_of<T>(&mut self, flag: &'static str, question: &str, given: Option<T>, known: &[T]) -> Result<Option<T>>
    where
        T: FromStr + Display + Clone,
        T::Err: Display,
    {
        let names: Vec<_> = known.iter().map(ToString::to_string).collect();
        let question = match names.len() {
            0 | 1 => question.to_owned(),
            _ => format!("{question} ({})", names.join(", ")),
        };
        let only = known.first().filter(|_| known.len() == 1 && self.asks());
        self.need(flag, &question, given, only.cloned())
    }

    /// The options that the user chooses, by their numbers; `None` without a terminal, or without a question.
    pub fn choose(&self, question: &str, options: &[&str]) -> Result<Option<Vec<usize>>> {
        if !self.asks() {
            return Ok(None);
        }
        let numbered = options
            .iter()
            .zip(1..)
            .map(|(option, nth)| format!("  {nth}  {option}"));
        report::note(&numbered.collect::<Vec<_>>().join("\n"));
        line(question, None, |text| numbers(text, options.len())).map(Some)
    }

    /// Fails if any value is missing, with the names of all missing values.
    pub fn done(self, command: &str) -> Result<()> {
        if self.missing.is_empty() {
            return Ok(());
        }
        let flags: Vec<_> = self.missing.iter().map(|flag| format!("`{flag}`")).collect();
        let are = if flags.len() == 1 { "is" } else { "are" };
        let yes = match (self.yes, flags.len()) {
            (true, 1) => "it has no default",
            (true, _) => "they have no defaults",
            (false, 1) => "add it, or run the command on a terminal to be asked",
            (false, _) => "add them, or run the command on a terminal to be asked",
        };
        Err(Usage::error(format!(
            "{} {are} missing\n\nhint: {yes}; see `kubewright {command} --help`",
            flags.join(", ")
        )))
    }
}

/// Asks before files are overwritten or deleted. Without a terminal the answer is yes: a script has given its arguments.
pub fn confirm(yes: bool, question: &str) -> Result<bool> {
    if yes || !stdin().is_terminal() || !stderr().is_terminal() {
        return Ok(true);
    }
    line(&format!("{question} (y/n)"), Some("n".to_owned()), |text| {
        match text.to_ascii_lowercase().as_str() {
            "y" | "yes" => Ok(true),
            "n" | "no" => Ok(false),
            _ => Err("answer `y` or `n`".to_owned()),
        }
    })
}

/// The answer to a question, which is asked until `read` accepts it.
fn line<T>(question: &str, default: Option<String>, read: impl Fn(&str) -> Result<T, String>) -> Result<T> {
    let mut input = Input::<String>::new()
        .with_prompt(question)
        .validate_with(|text: &String| read(text.trim()).map(drop));
    if let Some(default) = default {
        input = input.default(default);
    }
    let text = input.interact_text()?;
    read(text.trim()).map_err(|why| Usage::error(format!("`{text}` {why}")))
}

/// The indexes that numbers from 1 to `count` name, separated by commas or blanks.
fn numbers(text: &str, count: usize) -> Result<Vec<usize>, String> {
    let words = text.split([',', ' ']).filter(|word| !word.is_empty());
    let index = |word: &str| {
        word.parse()
            .ok()
            .filter(|nth| (1..=count).contains(nth))
            .map(|nth: usize| nth - 1)
    };
    let chosen: Option<Vec<_>> = words.map(index).collect();
    match chosen {
        Some(chosen) if !chosen.is_empty() => Ok(chosen),
        _ => Err(format!("answer with numbers from 1 to {count}, such as `1,2`")),
    }
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn several_numbers_are_one_answer() {
        assert_eq!(numbers("1, 3", 3), Ok(vec![0, 2]));
        assert_eq!(numbers("2", 3), Ok(vec![1]));
        for wrong in ["", "0", "4", "one", "1;2"] {
            assert!(numbers(wrong, 3).is_err(), "{wrong}");
        }
    }
}
