//! The command line of `manifests api-docs`.

use super::{HEADER, MOST_FIELDS, page};
use crate::words::{Words, settled};
use kubewright_schema::files::{self, Generator, Mode, Streams};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const HELP: &str = "\
Writes a page of Markdown about the kinds of this project: each field with its type, rules and description.

Usage: manifests api-docs [OPTIONS]

Options:
      --out FILE    The page [default: docs/api.md]
      --all         Also list the fields below a field with more than 200 of them, such as a Pod template
      --check       Write nothing; print a diff if the page is out of date, and exit with 1
  -h, --help        Print this help
";

const API_DOCS: Generator = Generator {
    target: "make api-docs",
    header: HEADER,
    is_ours,
};

/// The parsed arguments.
#[derive(Debug)]
struct ApiDocsArguments {
    out: PathBuf,
    most: usize,
    mode: Mode,
}

/// Runs with the arguments after `api-docs`, and returns the exit code. `crds` makes the CRDs; it has printed why there are
/// none.
pub(crate) fn execute(
    crds: impl FnOnce(&mut Streams<'_>) -> Option<Vec<Value>>,
    words: impl Iterator<Item = String>,
    mut streams: Streams<'_>,
) -> u8 {
    let arguments = match settled(parse(words), HELP, "api-docs --help", &mut streams) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let (Some(folder), Some(name)) = (arguments.out.parent(), arguments.out.file_name()) else {
        let out = arguments.out.display();
        _ = writeln!(streams.err, "error: `{out}` is no file\n\nhint: --out docs/api.md");
        return 2;
    };
    let Some(crds) = crds(&mut streams) else {
        return 1;
    };
    let folder = if folder == Path::new("") {
        Path::new(".")
    } else {
        folder
    };
    let page = (name.to_string_lossy().into_owned(), page(&crds, arguments.most));
    let result = files::write_texts(folder, &BTreeMap::from([page]), &API_DOCS, arguments.mode);
    files::report_to(result, arguments.mode, API_DOCS.target, streams)
}

fn is_ours(content: &str) -> bool {
    content.starts_with(HEADER)
}

/// The arguments; `None` for `--help`.
fn parse(words: impl Iterator<Item = String>) -> Result<Option<ApiDocsArguments>, String> {
    let mut arguments = ApiDocsArguments {
        out: PathBuf::from("docs/api.md"),
        most: MOST_FIELDS,
        mode: Mode::Write,
    };
    let mut words = Words::new(words);
    while let Some(flag) = words.flag()? {
        match flag.as_str() {
            "--out" => arguments.out = words.value()?.into(),
            "--all" => arguments.most = usize::MAX,
            "--check" => arguments.mode = Mode::Check,
            "-h" | "--help" => return Ok(None),
            _ => return Err(format!("unknown argument `{flag}`")),
        }
    }
    Ok(Some(arguments))
}
