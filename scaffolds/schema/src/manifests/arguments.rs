//! The arguments of the command line.

use crate::files::Mode;
use crate::options::Options;
use std::path::PathBuf;

pub(super) const HELP: &str = "\
Writes the CustomResourceDefinitions of this project, one file per kind.

Usage: manifests [OPTIONS]

Options:
      --out DIR                     The folder to keep up to date [default: config/crd/bases]
      --check                       Write nothing; show what is stale as a diff, and exit with 1 if anything is
      --breaking-since REVISION     Write nothing; name what breaks the API that --out held at this git revision, and
                                    exit with 1 if anything does
  -o, --output text|json            How --breaking-since prints it [default: text]
      --max-description-length N    Cut descriptions to N characters; 0 drops them
      --keep-nullable               Keep `nullable: true` on optional fields
  -h, --help                        Print this help
";

/// What was asked for.
#[derive(Debug)]
pub(super) struct Arguments {
    pub out: PathBuf,
    pub mode: Mode,
    pub since: Option<String>,
    pub json: bool,
    pub options: Options,
}

/// The arguments; `None` when help was asked for.
pub(super) fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
    let mut arguments = Arguments {
        out: PathBuf::from("config/crd/bases"),
        mode: Mode::Write,
        since: None,
        json: false,
        options: Options::default(),
    };
    while let Some(word) = words.next() {
        let (flag, mut attached) = match word.split_once('=') {
            Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
            None => (word, None),
        };
        let mut value = || {
            attached
                .take()
                .or_else(|| words.next())
                .ok_or(format!("`{flag}` needs a value"))
        };
        match flag.as_str() {
            "--out" => arguments.out = value()?.into(),
            "--max-description-length" => {
                let text = value()?;
                let length = text
                    .parse()
                    .map_err(|_| format!("`{flag}` needs a number, not `{text}`"))?;
                arguments.options.max_description_length = Some(length);
            }
            "--check" => arguments.mode = Mode::Check,
            "--breaking-since" => arguments.since = Some(value()?),
            "-o" | "--output" => match value()?.as_str() {
                "text" => arguments.json = false,
                "json" => arguments.json = true,
                other => return Err(format!("`{flag}` is `text` or `json`, not `{other}`")),
            },
            "--keep-nullable" => arguments.options.keep_nullable = true,
            "-h" | "--help" => return Ok(None),
            _ => return Err(format!("unknown argument `{flag}`")),
        }
        if attached.is_some() {
            return Err(format!("`{flag}` takes no value"));
        }
    }
    Ok(Some(arguments))
}
