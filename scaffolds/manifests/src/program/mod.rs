//! The command line of a project's `manifests` program: reads the arguments, runs the pipeline, writes or compares files.

mod arguments;
mod beside;
mod releases;
mod size;

use self::arguments::{HELP, ManifestsArguments, parse};
use self::size::Size;
use crate::removal::{self, Removed};
use crate::stamp::Stamp;
use crate::words::settled;
use crate::{api_docs, bundle, chart, installer, parts, published, source, test_image};
use kubewright_schema::compat::{self, Break};
use kubewright_schema::files::{self, Mode, Streams};
use kubewright_schema::{Describe, Options, checkout, finish};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Runs `make manifests` for `crds`, with the arguments of the process. `sources` is the folder with the source code of the types: it is
/// searched for attributes that the derives ignore.
///
/// # Flow
/// First, all CRDs are [finished](finish). Then each is [written](files::write_manifests) to `<group>_<plural>.yaml` in `--out`, or, with
/// `--check`, compared with that file. With `--breaking-since` nothing is written, and the CRDs are compared with the CRDs of a git revision.
///
/// With the first argument `chart` it writes a Helm chart instead: see [`crate::chart`]. With `bundle` it writes an OLM bundle: see
/// [`crate::bundle`]. With `parts` it writes the objects on standard input into two files, for the administrator of the cluster and for the one
/// of the operator's namespace. With `api-docs` it writes a page about the kinds: see [`crate::api_docs`]. With `installer` it writes all
/// objects of the project into one file, with `deploy` it applies them, and with `undeploy` or `uninstall` it takes them out of the cluster. With
/// `kubeconfig` it prepares the cluster for an operator on this machine. With `test-image` it tests the
/// operator's image in a cluster of kind. With `dev` it becomes the program `dev`.
///
/// If the program, its arguments, `sources` and `--out` have not changed since an earlier run, by the lengths and modification times of
/// files, the run does nothing. `--check` and `--breaking-since` always compare.
///
/// # Errors
/// Exits with 1 when `sources` is not in the current folder, which is a project's ([`checkout::check`]), a type has a finding (all are printed, nothing is written), a rule needs a later release of Kubernetes than `--oldest-kubernetes`, a CRD is larger than etcd can store, a file cannot be read or written,
/// `--check` finds stale files, or `--breaking-since` finds a breaking change; with 2 when the arguments are wrong or the revision cannot be
/// read or has no CRD.
///
/// # Caveats
/// A panic while a type's CRD is made becomes a finding only if panics unwind, which is the default; with `panic = "abort"` in the profile the
/// process ends.
pub fn run<D: Describe>(crds: Vec<D>, sources: impl AsRef<Path>) -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    files::with_streams(|streams| program(&crds, sources.as_ref(), words, streams))
}

fn program<D: Describe>(crds: &[D], sources: &Path, words: Vec<String>, streams: Streams<'_>) -> u8 {
    let rest = words.iter().skip(1).cloned();
    match words.first().map(String::as_str) {
        Some("chart") => {
            let version = || Some(bundle::package().ok()?.version);
            return chart::execute(rest, version, &mut io::stdin().lock(), streams);
        }
        Some("bundle") => return bundle::execute(rest, &mut io::stdin().lock(), streams),
        Some("parts") => return parts::execute(rest, &mut io::stdin().lock(), streams),
        Some("installer") => return installer::execute(rest, &mut io::stdin().lock(), streams),
        Some("deploy") => return installer::deploy(rest, streams),
        Some("kubeconfig") => return installer::kubeconfig(rest, streams),
        Some("uninstall") => return removal::execute(Removed::Kinds, rest, streams),
        Some("undeploy") => return removal::execute(Removed::Operator, rest, streams),
        Some("test-image") => return test_image::execute(rest, streams),
        Some("dev") => return beside::run("dev", rest, streams),
        _ => {}
    }
    if let Err(elsewhere) = checkout::check(sources) {
        _ = writeln!(streams.err, "error: {elsewhere}");
        return 1;
    }
    if words.first().is_some_and(|word| word == "api-docs") {
        let crds = |streams: &mut Streams<'_>| finished(crds, sources, &Options::default(), streams);
        return api_docs::execute(crds, rest, streams);
    }
    let stamp = stamp(&words, sources);
    if stamp.as_ref().is_some_and(Stamp::holds) {
        return 0;
    }
    let code = execute(crds, sources, words.into_iter(), streams);
    if let Some(stamp) = stamp.filter(|_| code == 0) {
        stamp.set();
    }
    code
}

/// The stamp of a run that writes; `None` for a run that only compares, which always does its work.
fn stamp(words: &[String], sources: &Path) -> Option<Stamp> {
    let arguments = parse(words.iter().cloned()).ok()??;
    let writes = arguments.mode == Mode::Write && arguments.since.is_none();
    writes.then(|| Stamp::of_this_program(words, vec![sources.to_owned(), arguments.out]))?
}

/// Runs, and returns the exit code. A closed output pipe is not an error.
fn execute<D: Describe>(
    crds: &[D],
    sources: &Path,
    words: impl Iterator<Item = String>,
    mut streams: Streams<'_>,
) -> u8 {
    let arguments = match settled(parse(words), HELP, "--help", &mut streams) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let Some(finished) = finished(crds, sources, &arguments.options, &mut streams) else {
        return 1;
    };
    if arguments.since.is_some() {
        return verify(&arguments, &finished, streams);
    }
    if !releases::are_accepted(&finished, arguments.oldest, &mut streams) || !are_storable(&finished, &mut streams) {
        return 1;
    }
    let files = finished
        .into_iter()
        .map(|crd| (file_name(&crd), vec![crd]))
        .collect::<BTreeMap<_, _>>();
    let result = files::write_manifests(&arguments.out, &files, arguments.mode);
    files::report_to(result, arguments.mode, "make manifests", streams)
}

/// The CRDs; `None` if there are findings, which are printed.
fn finished<D: Describe>(
    crds: &[D],
    sources: &Path,
    options: &Options,
    streams: &mut Streams<'_>,
) -> Option<Vec<Value>> {
    let source::Found { ignored, endless } = match source::findings(sources) {
        Ok(found) => found,
        Err(error) => {
            _ = writeln!(streams.err, "error: {error}");
            return None;
        }
    };
    let described = match endless.is_empty() {
        true => finish(crds, options),
        false => Err(endless),
    };
    let findings: Vec<_> = match described {
        Ok(finished) if ignored.is_empty() => return Some(finished),
        Ok(_) => ignored,
        Err(findings) => findings.into_iter().chain(ignored).collect(),
    };
    for finding in &findings {
        _ = writeln!(streams.err, "error: {finding}\n");
    }
    let count = findings.len();
    let noun = if count == 1 { "finding" } else { "findings" };
    _ = writeln!(streams.err, "nothing was written: fix {count} {noun} first");
    None
}

/// Prints which CRDs are too large for client-side `kubectl apply` or for etcd. Returns whether API servers can store all of them.
fn are_storable(crds: &[Value], streams: &mut Streams<'_>) -> bool {
    let mut storable = true;
    for crd in crds {
        match size::of(crd) {
            Size::Fits => {}
            Size::Warned(warning) => _ = writeln!(streams.err, "warning: {warning}\n"),
            Size::Refused(error) => {
                storable = false;
                _ = writeln!(streams.err, "error: {error}\n");
            }
        }
    }
    storable
}

/// Prints what `finished` breaks of the API of a revision.
fn verify(arguments: &ManifestsArguments, finished: &[Value], streams: Streams<'_>) -> u8 {
    let Streams { out, err } = streams;
    let since = arguments.since.as_deref().unwrap_or_default();
    let published = match published::at(since, &arguments.out) {
        Ok(published) => published,
        Err(wrong) => {
            _ = writeln!(err, "error: {wrong}");
            return 2;
        }
    };
    let breaks = compat::breaking(&published, finished);
    // A closed pipe is not an error.
    if arguments.json {
        _ = writeln!(out, "{}", serde_json::json!(breaks));
    } else {
        breaks.iter().for_each(|it: &Break| _ = writeln!(out, "{it}"));
    }
    if breaks.is_empty() {
        return 0;
    }
    let noun = if breaks.len() == 1 {
        "change breaks"
    } else {
        "changes break"
    };
    _ = writeln!(
        err,
        "error: {} {noun} the API of `{since}`\n\nhint: add a new version and keep the old one, or announce the break with the release",
        breaks.len()
    );
    1
}

/// `<group>_<plural>.yaml`, as controller-gen names them.
fn file_name(crd: &Value) -> String {
    let text = |path: &str| crd.pointer(path).and_then(Value::as_str).unwrap_or_default();
    format!("{}_{}.yaml", text("/spec/group"), text("/spec/names/plural"))
}

#[cfg(test)]
mod tests;
