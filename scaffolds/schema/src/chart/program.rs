//! The command line of `manifests chart`: reads objects from standard input, writes the files of their chart.

use super::HEADER;
use crate::files::{self, FilesError, Generator, Mode, Streams};
use crate::words::{Words, settled};
use crate::yaml;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

const HELP: &str = "\
Writes a Helm chart of the objects on standard input, the output of `kubectl kustomize config/default`.

Usage: manifests chart [OPTIONS]

Options:
      --out DIR            The folder of the chart [default: dist/chart]
      --version VERSION    The version of the chart [default: the one in Cargo.toml]
  -h, --help               Print this help
";

/// The files of a chart: everything with our header.
const CHART: Generator = Generator {
    target: "make chart",
    header: HEADER,
    is_ours,
};

/// The parsed arguments.
#[derive(Debug)]
struct Arguments {
    out: PathBuf,
    version: Option<String>,
}

/// Runs with the arguments after `chart`, and returns the exit code. `package` is the version of the project. A closed output pipe is not
/// an error.
pub(crate) fn execute(
    words: impl Iterator<Item = String>,
    package: Option<String>,
    input: &mut dyn Read,
    mut streams: Streams<'_>,
) -> u8 {
    let arguments = match settled(parse(words), HELP, "chart --help", &mut streams) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let Some(version) = arguments.version.or(package) else {
        _ = writeln!(
            streams.err,
            "error: the chart has no version\n\nhint: pass --version, or run it by `make chart`"
        );
        return 2;
    };
    match chart(input, &version).and_then(|files| write(&arguments.out, &files).map_err(|error| error.to_string())) {
        Ok(()) => {
            _ = writeln!(streams.out, "{}", arguments.out.display());
            0
        }
        Err(error) => {
            _ = writeln!(streams.err, "error: {error}");
            1
        }
    }
}

fn chart(input: &mut dyn Read, version: &str) -> Result<BTreeMap<String, String>, String> {
    let mut text = String::new();
    let read = input.read_to_string(&mut text);
    read.map_err(|error| format!("cannot read standard input: {error}"))?;
    let objects = yaml::documents(&text).map_err(|error| format!("standard input is not YAML: {error}"))?;
    super::files(&objects, version).map_err(|error| error.to_string())
}

/// Writes the chart, folder by folder, after each of them was compared.
fn write(out: &Path, files: &BTreeMap<String, String>) -> Result<(), FilesError> {
    let mut folders: BTreeMap<PathBuf, BTreeMap<String, String>> = BTreeMap::new();
    // All that an earlier run may have written to.
    for folder in ["", "templates", "templates/crds"] {
        folders.insert(out.join(folder), BTreeMap::new());
    }
    for (path, text) in files {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = folders.entry(out.join(folder)).or_default();
        folder.insert(name.to_owned(), text.clone());
    }
    for mode in [Mode::Check, Mode::Write] {
        for (folder, files) in &folders {
            files::write_texts(folder, files, &CHART, mode)?;
        }
    }
    Ok(())
}

/// Whether one of the first lines has the header: in a template it is in a comment, in JSON a value.
fn is_ours(content: &str) -> bool {
    content.lines().take(3).any(|line| line.contains(HEADER))
}

/// The arguments; `None` for `--help`.
fn parse(words: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
    let mut arguments = Arguments {
        out: PathBuf::from("dist/chart"),
        version: None,
    };
    let mut words = Words::new(words);
    while let Some(flag) = words.flag()? {
        match flag.as_str() {
            "--out" => arguments.out = words.value()?.into(),
            "--version" => arguments.version = Some(words.value()?),
            "-h" | "--help" => return Ok(None),
            _ => return Err(format!("unknown argument `{flag}`")),
        }
    }
    Ok(Some(arguments))
}
