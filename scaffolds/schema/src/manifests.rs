//! The command line that a project's `manifests` crate is: reads the arguments, runs the pipeline, writes or compares.

mod arguments;

use self::arguments::{Arguments, HELP, parse};
use crate::compat::{self, Break};
use crate::files::{self, Mode, Streams};
use crate::stamp::Stamp;
use crate::{describe::Describe, pipeline::finish, source};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Runs `make manifests` for `crds`, with the arguments of the process. `sources` is the folder of the types' source, where
/// attributes are looked for that the derives ignore.
///
/// # Flow
/// All CRDs are [finished](finish) first. Then `<group>_<plural>.yaml` of each is
/// [written](files::write_manifests) to `--out`, or with `--check` compared; with `--breaking-since` nothing is written, and
/// the CRDs are compared with those of a git revision.
///
/// A run that finds its own program, its arguments, `sources` and `--out` as an earlier one left them, by the lengths and times of
/// files, has nothing to do. `--check` and `--breaking-since` always look.
///
/// # Errors
/// Exits with 1 when a type has a finding (every one is printed, nothing is written), a file cannot be read or written,
/// `--check` finds stale files, or `--breaking-since` a break; with 2 when the arguments are wrong or the revision cannot be
/// read.
///
/// # Caveats
/// A panic in a type's description becomes a finding only where panics unwind, as they do unless the profile says
/// `panic = "abort"`.
pub fn run<D: Describe>(crds: Vec<D>, sources: impl AsRef<Path>) -> ExitCode {
    let (sources, words): (_, Vec<String>) = (sources.as_ref(), std::env::args().skip(1).collect());
    let stamp = stamp(&words, sources);
    if stamp.as_ref().is_some_and(Stamp::holds) {
        return ExitCode::SUCCESS;
    }
    let code = execute(
        &crds,
        sources,
        words.into_iter(),
        Streams {
            out: &mut io::stdout().lock(),
            err: &mut io::stderr().lock(),
        },
    );
    if let Some(stamp) = stamp.filter(|_| code == 0) {
        stamp.set();
    }
    ExitCode::from(code)
}

/// Of a run that writes; those that only look always look.
fn stamp(words: &[String], sources: &Path) -> Option<Stamp> {
    let arguments = parse(words.iter().cloned()).ok()??;
    let writes = arguments.mode == Mode::Write && arguments.since.is_none();
    writes.then(|| Stamp::of_this_program(words, vec![sources.to_owned(), arguments.out]))?
}

/// The exit code. A closed pipe on either stream is nobody's failure here.
fn execute<D: Describe>(crds: &[D], sources: &Path, words: impl Iterator<Item = String>, streams: Streams<'_>) -> u8 {
    let arguments = match parse(words) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            _ = streams.out.write_all(HELP.as_bytes());
            return 0;
        }
        Err(wrong) => {
            _ = writeln!(streams.err, "error: {wrong}\n\nhint: --help shows the options");
            return 2;
        }
    };
    let ignored = match source::findings(sources) {
        Ok(findings) => findings,
        Err(error) => {
            _ = writeln!(streams.err, "error: {error}");
            return 1;
        }
    };
    let finished = match finish(crds, &arguments.options) {
        Ok(finished) if ignored.is_empty() => Ok(finished),
        Ok(_) => Err(ignored),
        Err(findings) => Err(findings.into_iter().chain(ignored).collect()),
    };
    match finished {
        Ok(finished) if arguments.since.is_some() => verify(&arguments, &finished, streams),
        Ok(finished) => {
            let files = finished
                .into_iter()
                .map(|crd| (file_name(&crd), vec![crd]))
                .collect::<BTreeMap<_, _>>();
            let result = files::write_manifests(&arguments.out, &files, arguments.mode);
            files::tell(result, arguments.mode, streams)
        }
        Err(findings) => {
            for finding in &findings {
                _ = writeln!(streams.err, "error: {finding}\n");
            }
            let count = findings.len();
            let noun = if count == 1 { "finding" } else { "findings" };
            _ = writeln!(streams.err, "nothing was written: {count} {noun} to repair first");
            1
        }
    }
}

/// Names what `finished` breaks of the API of a revision.
fn verify(arguments: &Arguments, finished: &[Value], streams: Streams<'_>) -> u8 {
    let Streams { out, err } = streams;
    let since = arguments.since.as_deref().unwrap_or_default();
    let published = match compat::published::at(since, &arguments.out) {
        Ok(published) => published,
        Err(wrong) => {
            _ = writeln!(err, "error: {wrong}");
            return 2;
        }
    };
    let breaks = compat::breaking(&published, finished);
    // A reader that closes its end has read enough.
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
        "error: {} {noun} what `{since}` promises\n\nhint: serve a new version beside the old one, or accept it with the release",
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
