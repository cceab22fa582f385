//! The command line of `manifests chart`: reads the objects of the project, writes the files of their chart.

use super::HEADER;
use crate::rendered::Source;
use crate::semver::{is_version_of_chart, minor_of_kubernetes};
use crate::words::{Words, settled};
use kubewright_schema::files::{self, Generator, Streams};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

const HELP: &str = "\
Writes a Helm chart of all objects of config/default.

Usage: manifests chart [OPTIONS] [-- KUBECTL...]

Options:
      --out DIR                    The folder of the chart [default: dist/chart]
      --version VERSION            The version of the chart [default: the one in Cargo.toml]
      --oldest-kubernetes RELEASE  The oldest release of Kubernetes on which Helm installs the chart [default: any]
      --image IMAGE                The image of the operator, whatever the kustomizations set
      --kustomization DIR          The folder that KUBECTL renders [default: config/default]
      -- KUBECTL...          The kubectl that renders the folder; without it, the objects are read from standard input
  -h, --help                       Print this help
";

/// The files of a chart: everything with our header.
const CHART: Generator = Generator {
    target: "make chart",
    header: HEADER,
    is_ours,
};

/// The folders that an earlier run may have written to.
const FOLDERS: [&str; 3] = ["", "templates", "templates/crds"];

/// The parsed arguments.
#[derive(Debug)]
struct ChartArguments {
    out: PathBuf,
    version: Option<String>,
    oldest: Option<u16>,
    source: Source,
}

/// Runs with the arguments after `chart`, and returns the exit code. `package` finds the version of the project. A closed output pipe is not
/// an error.
pub(crate) fn execute(
    words: impl Iterator<Item = String>,
    package: impl FnOnce() -> Option<String>,
    input: &mut dyn Read,
    mut streams: Streams<'_>,
) -> u8 {
    let arguments = match settled(parse(words), HELP, "chart --help", &mut streams) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let Some(version) = arguments.version.clone().or_else(package) else {
        _ = writeln!(
            streams.err,
            "error: the chart has no version\n\nhint: pass --version, or run it by `make chart`"
        );
        return 2;
    };
    if !is_version_of_chart(&version) {
        _ = writeln!(
            streams.err,
            "error: `{version}` cannot be the version of a chart\n\nhint: it has the form MAJOR.MINOR.PATCH, such as 0.1.0 or 1.0.0-rc.1"
        );
        return 2;
    }
    let written = chart(&arguments, input, &version).and_then(|files| {
        files::write_tree(&arguments.out, &FOLDERS, &files, &CHART).map_err(|error| error.to_string())
    });
    match written {
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

fn chart(arguments: &ChartArguments, input: &mut dyn Read, version: &str) -> Result<BTreeMap<String, String>, String> {
    let objects = arguments.source.objects(input)?;
    super::files(&objects, version, arguments.oldest).map_err(|error| error.to_string())
}

/// Whether one of the first lines has the header: in a template it is in a comment, in JSON a value.
fn is_ours(content: &str) -> bool {
    content.lines().take(3).any(|line| line.contains(HEADER))
}

/// The arguments; `None` for `--help`.
fn parse(words: impl Iterator<Item = String>) -> Result<Option<ChartArguments>, String> {
    let mut arguments = ChartArguments {
        out: PathBuf::from("dist/chart"),
        version: None,
        oldest: None,
        source: Source::default(),
    };
    let mut words = Words::new(words);
    while let Some(flag) = words.flag()? {
        match flag.as_str() {
            "--out" => arguments.out = words.value()?.into(),
            "--oldest-kubernetes" => arguments.oldest = Some(minor_of_kubernetes(&flag, &words.value()?)?),
            "--version" => arguments.version = Some(words.value()?),
            "-h" | "--help" => return Ok(None),
            _ if arguments.source.take(&flag, &mut words)? => {}
            _ => return Err(format!("unknown argument `{flag}`")),
        }
    }
    Ok(Some(arguments))
}
