//! The command line of `manifests installer`: writes the objects of a project into one file.

use crate::rendered::{self, Source};
use crate::words::{Words, settled};
use kubewright_schema::files::{self, Streams};
use std::io::Read;
use std::path::PathBuf;

const HELP: &str = "\
Writes all objects of config/default into one file.

Usage: manifests installer [OPTIONS] [-- KUBECTL...]

Options:
      --out FILE             The file [default: dist/install.yaml]
      --image IMAGE          The image of the operator, whatever the kustomizations set
      --kustomization DIR    The folder that KUBECTL renders [default: config/default]
      -- KUBECTL...          The kubectl that renders the folder; without it, the objects are read from standard input
  -h, --help                 Print this help
";

/// Runs with the arguments after `installer`, and returns the exit code. A closed output pipe is not an error.
pub(crate) fn execute(words: impl Iterator<Item = String>, input: &mut dyn Read, mut streams: Streams<'_>) -> u8 {
    let (source, out) = match settled(parse(words), HELP, "installer --help", &mut streams) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let written = source
        .documents(input)
        .and_then(|documents| files::write_file(&out, &rendered::join(&documents)).map_err(|error| error.to_string()));
    match written {
        Ok(()) => {
            _ = writeln!(streams.out, "{}", out.display());
            0
        }
        Err(error) => {
            _ = writeln!(streams.err, "error: {error}");
            1
        }
    }
}

/// The arguments; `None` for `--help`.
fn parse(words: impl Iterator<Item = String>) -> Result<Option<(Source, PathBuf)>, String> {
    let (mut source, mut out) = (Source::default(), PathBuf::from("dist/install.yaml"));
    let mut words = Words::new(words);
    while let Some(flag) = words.flag()? {
        match flag.as_str() {
            "--out" => out = words.value()?.into(),
            "-h" | "--help" => return Ok(None),
            _ if source.take(&flag, &mut words)? => {}
            _ => return Err(format!("unknown argument `{flag}`")),
        }
    }
    Ok(Some((source, out)))
}
