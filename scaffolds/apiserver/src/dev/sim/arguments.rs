//! The arguments of the program `sim`.

use super::{explore::Effort, fault::Schedule};

pub(super) const HELP: &str = "\
Runs the controllers on an API server in this process, with faults, on a clock of its own.

Usage: sim [OPTIONS]

Options:
      --seed N         The seed of delays and of the choice of faults [default: 1]
      --schedules N    Try all single faults of each kind, and then this many pairs [default: 50, with fewer for large kinds]
      --random-runs N  Add this many runs with random faults for each kind [default: 0]
      --kind KIND      Simulate the samples of this kind, or of all kinds at once [default: each kind]
      --only FAULTS    Run these faults alone, and print all steps
      --kept           Run the failures that SIM_SAVE=1 kept in dev/sim.kept
  -o, --output FORMAT  text or json [default: text]
  -h, --help           Print this help
";

/// All kinds at once.
pub(super) const ALL: &str = "all";

/// The arguments.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Arguments {
    pub seed: u64,
    pub effort: Effort,
    /// The kind whose samples are simulated, or [`ALL`].
    pub kind: Option<String>,
    pub only: Option<Schedule>,
    pub is_json: bool,
    /// Whether to run the kept failures, and nothing else.
    pub kept: bool,
    pub help: bool,
}

impl Arguments {
    /// # Errors
    /// The argument that is unknown or has no valid value, with a hint.
    pub(super) fn read(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut read = Self {
            seed: 1,
            effort: Effort::default(),
            kind: None,
            only: None,
            is_json: false,
            kept: false,
            help: false,
        };
        let mut arguments = arguments.into_iter();
        while let Some(name) = arguments.next() {
            if matches!(name.as_str(), "-h" | "--help") {
                read.help = true;
                continue;
            }
            if name == "--kept" {
                read.kept = true;
                continue;
            }
            let known = matches!(
                name.as_str(),
                "--seed" | "--schedules" | "--random-runs" | "--kind" | "--only" | "-o" | "--output"
            );
            if !known {
                return Err(format!("unknown option `{name}`\n\nhint: --help shows the options"));
            }
            let value = arguments.next().ok_or_else(|| format!("`{name}` has no value"))?;
            let number = || {
                value
                    .parse()
                    .map_err(|_| format!("`{name}` is a number, and not `{value}`"))
            };
            let runs = || number().map(|number| usize::try_from(number).unwrap_or(usize::MAX));
            match name.as_str() {
                "--seed" => read.seed = number()?,
                "--schedules" => read.effort.pairs = Some(runs()?),
                "--random-runs" => read.effort.random = runs()?,
                "--kind" => read.kind = Some(value),
                "--only" => read.only = Some(value.parse()?),
                _ => match value.as_str() {
                    "json" => read.is_json = true,
                    "text" => read.is_json = false,
                    _ => return Err(format!("`{name}` is text or json, and not `{value}`")),
                },
            }
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Arguments, String> {
        Arguments::read(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn arguments_are_read_or_refused() {
        let arguments = read("--seed 7 --kind FooBar --only w3:crash-after -o json").unwrap();
        assert_eq!(
            (arguments.seed, arguments.effort, arguments.is_json),
            (7, Effort::default(), true)
        );
        assert_eq!(arguments.kind.as_deref(), Some("FooBar"));
        assert_eq!(arguments.only.unwrap().to_string(), "w3:crash-after");
        assert!(read("--kept").unwrap().kept);
        let effort = Effort {
            pairs: Some(9),
            random: 4,
        };
        assert_eq!(read("--schedules 9 --random-runs 4").unwrap().effort, effort);
        for wrong in ["--seed", "--seed x", "--sed 1", "-o xml", "--only x"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
