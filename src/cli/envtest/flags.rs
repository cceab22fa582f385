//! The flags of programs whose place kubewright takes: a table, the arguments that Go's programs accept, and `--help`.

use crate::cli::ask::Usage;
use anyhow::Result;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A flag.
#[derive(Debug)]
pub struct Flag {
    pub name: &'static str,
    /// The name of its value in the help; empty for a flag that may stand alone, which means `true`.
    pub value: &'static str,
    pub accepted: Accepted,
    pub help: &'static str,
}

/// A flag that has the effect in its help.
pub const fn flag(name: &'static str, value: &'static str, help: &'static str) -> Flag {
    Flag {
        name,
        value,
        accepted: Accepted::Honoured,
        help,
    }
}

/// A flag that is accepted with these values only.
pub const fn only(
    name: &'static str,
    value: &'static str,
    values: &'static [&'static str],
    help: &'static str,
) -> Flag {
    Flag {
        name,
        value,
        accepted: Accepted::Only(values),
        help,
    }
}

/// A flag that is accepted with all values, without effect.
pub const fn ignored(name: &'static str, value: &'static str) -> Flag {
    Flag {
        name,
        value,
        accepted: Accepted::WithoutEffect,
        help: "",
    }
}

/// The values that a flag accepts.
#[derive(Clone, Copy, Debug)]
pub enum Accepted {
    /// All values; the flag has the effect in its help.
    Honoured,
    /// All values, because nothing that clients see depends on the flag.
    WithoutEffect,
    /// The values that describe the fixed behaviour of this server.
    Only(&'static [&'static str]),
}

/// A program whose place kubewright takes.
pub struct Program {
    pub name: &'static str,
    /// The first paragraph of the help.
    pub about: &'static str,
    /// The output of `--version`.
    pub version: &'static str,
    pub flags: &'static [Flag],
    /// The last paragraph of the help.
    pub differs: &'static str,
}

/// The flags that were given, with their values in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Given(BTreeMap<&'static str, Vec<String>>);

impl Given {
    /// The last value of a flag, which counts where a flag has one value.
    pub fn last(&self, name: &str) -> Option<&str> {
        self.all(name).last().map(String::as_str)
    }

    /// All values of a flag.
    pub fn all(&self, name: &str) -> &[String] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The elements of all values of a flag, whose values are lists with commas.
    pub fn list(&self, name: &str) -> Vec<&str> {
        let values = self.all(name).iter().flat_map(|value| value.split(','));
        values.map(str::trim).filter(|element| !element.is_empty()).collect()
    }

    /// Whether a flag that may stand alone is set; `otherwise` if it was not given.
    ///
    /// # Errors
    /// A value that is no boolean of Go.
    pub fn is_set(&self, name: &str, otherwise: bool) -> Result<bool> {
        match self.last(name) {
            None => Ok(otherwise),
            Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
            Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
            Some(other) => Err(Usage::error(format!("`--{name}={other}`: neither `true` nor `false`"))),
        }
    }
}

impl Program {
    /// Reads arguments as Go's programs do: `--name=value`, `--name value`, one dash or two; `_` in names stands for `-`.
    ///
    /// # Errors
    /// A flag that is not in the table, or whose value cannot be honoured, by its name.
    pub fn read(&self, arguments: impl IntoIterator<Item = String>) -> Result<Given> {
        let mut given = Given::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (argument.as_str(), None),
            };
            let flag = self.find(name)?;
            let value = match value {
                Some(value) => value,
                None if flag.value.is_empty() => "true".to_owned(),
                None => arguments
                    .next()
                    .ok_or_else(|| self.refuse(&format!("`--{}` needs a value", flag.name)))?,
            };
            self.check(flag, &value)?;
            given.0.entry(flag.name).or_default().push(value);
        }
        Ok(given)
    }

    fn find(&self, argument: &str) -> Result<&'static Flag> {
        let Some(name) = argument.strip_prefix('-') else {
            return Err(self.refuse(&format!("`{argument}` is no flag")));
        };
        let name = name.strip_prefix('-').unwrap_or(name).replace('_', "-");
        let name = if name == "h" { "help" } else { name.as_str() };
        let found = self.flags.iter().find(|flag| flag.name == name);
        found.ok_or_else(|| self.refuse(&format!("`--{name}` cannot be honoured")))
    }

    fn check(&self, flag: &Flag, value: &str) -> Result<()> {
        match flag.accepted {
            Accepted::Only(values) if !values.contains(&value) => {
                let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
                let values = values.join(" or ");
                Err(self.refuse(&format!("`--{}={value}` cannot be honoured, only {values}", flag.name)))
            }
            _ => Ok(()),
        }
    }

    /// The error of an argument: this program has the name of another one.
    pub fn refuse(&self, what: &str) -> anyhow::Error {
        let name = self.name;
        Usage::error(format!(
            "{what}: this `{name}` is kubewright\n\nhint: `{name} --help` lists what it accepts; use the real `{name}` for the rest"
        ))
    }

    /// The text that the program prints instead of starting, for `--help` or `--version`.
    ///
    /// # Errors
    /// A value of these that is no boolean.
    pub fn information(&self, given: &Given) -> Result<Option<String>> {
        if given.is_set("help", false)? {
            return Ok(Some(self.help()));
        }
        let version = given.is_set("version", false)?;
        Ok(version.then(|| format!("{}\n", self.version)))
    }

    /// The text of `--help`. Each flag begins a line, by which envtest recognises it.
    pub fn help(&self) -> String {
        let mut text = format!("{}\n\nUsage: {} [flags]\n", self.about, self.name);
        let honoured = |flag: &&Flag| !matches!(flag.accepted, Accepted::WithoutEffect);
        let (honoured, others): (Vec<_>, Vec<_>) = self.flags.iter().partition(honoured);
        for (title, flags) in [
            ("Flags", honoured),
            ("Accepted, because nothing that clients see depends on them", others),
        ] {
            let _ = write!(text, "\n{title}:\n");
            for flag in flags {
                let _ = writeln!(text, "{}", line(flag));
            }
        }
        let _ = write!(text, "\nEvery other flag is refused. {}\n", self.differs);
        text
    }
}

/// The line of a flag in the help.
fn line(flag: &Flag) -> String {
    let name = match flag.value {
        "" => format!("--{}", flag.name),
        value => format!("--{} {value}", flag.name),
    };
    let only = match flag.accepted {
        Accepted::Only(values) => format!(" [only: {}]", values.join(", ")),
        _ => String::new(),
    };
    format!("      {name:<44} {}{only}", flag.help).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: Program = Program {
        name: "server",
        about: "A server.",
        version: "1",
        flags: &[
            flag("help", "", "Print this"),
            flag("a-list", "strings", "A list"),
            ignored("tuned", "int"),
            only("fixed", "", &["true"], "Always on"),
        ],
        differs: "It differs.",
    };

    fn read(arguments: &[&str]) -> Result<Given, String> {
        let arguments = arguments.iter().map(|it| (*it).to_owned());
        PROGRAM.read(arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_are_read_as_go_reads_them() {
        let given = read(&[
            "--a-list=a,b",
            "-a_list",
            "c",
            "--fixed",
            "--tuned=1",
            "--tuned",
            "2",
            "-h",
        ])
        .unwrap();
        assert_eq!(given.list("a-list"), ["a", "b", "c"]);
        assert_eq!(given.last("tuned"), Some("2"));
        assert!(given.is_set("fixed", false).unwrap() && given.is_set("help", false).unwrap());
        assert!(!read(&[]).unwrap().is_set("help", false).unwrap());
        assert!(read(&["--help=maybe"]).unwrap().is_set("help", false).is_err());
    }

    #[test]
    fn what_cannot_be_honoured_is_refused_by_name() {
        for (arguments, message) in [
            (
                ["--other=1"].as_slice(),
                "`--other` cannot be honoured: this `server` is kubewright",
            ),
            (&["--fixed=false"], "`--fixed=false` cannot be honoured, only `true`"),
            (&["--tuned"], "`--tuned` needs a value"),
            (&["word"], "`word` is no flag"),
        ] {
            let refused = read(arguments).unwrap_err();
            assert!(
                refused.starts_with(message) && refused.contains("hint: `server --help`"),
                "{refused}"
            );
        }
    }

    #[test]
    fn each_flag_begins_a_line_of_the_help() {
        let help = PROGRAM.help();
        for flag in PROGRAM.flags {
            let name = format!("--{}", flag.name);
            assert!(help.lines().any(|line| line.trim_start().starts_with(&name)), "{name}");
        }
        assert!(
            help.contains("Always on [only: true]\n") && help.ends_with("It differs.\n"),
            "{help}"
        );
    }
}
