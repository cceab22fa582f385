//! The command line that a project's `manifests` crate is: reads the arguments, runs the pipeline, writes or compares.

use crate::compat::{self, Break};
use crate::files::{self, Mode};
use crate::stamp::Stamp;
use crate::{Describe, Options, finish, source};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
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
struct Arguments {
    out: PathBuf,
    mode: Mode,
    since: Option<String>,
    json: bool,
    options: Options,
}

/// Runs `make manifests` for `crds`, with the arguments of the process. `sources` is the folder of the types' source, where
/// attributes are looked for that the derives [ignore](source).
///
/// # Flow
/// All CRDs are [finished](finish) first. Then `<group>_<plural>.yaml` of each is
/// [written](files::write_manifests) to `--out`, or with `--check` compared; with `--breaking-since` nothing is written, and
/// the CRDs are [compared](compat::breaking) with those of a git revision.
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
        (&crds, sources),
        words.into_iter(),
        (&mut io::stdout().lock(), &mut io::stderr().lock()),
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
fn execute<D: Describe>(
    (crds, sources): (&[D], &Path),
    words: impl Iterator<Item = String>,
    (out, err): (&mut dyn Write, &mut dyn Write),
) -> u8 {
    let arguments = match parse(words) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            _ = out.write_all(HELP.as_bytes());
            return 0;
        }
        Err(wrong) => {
            _ = writeln!(err, "error: {wrong}\n\nhint: --help shows the options");
            return 2;
        }
    };
    let ignored = match source::findings(sources) {
        Ok(findings) => findings,
        Err(error) => {
            _ = writeln!(err, "error: {error}");
            return 1;
        }
    };
    let finished = match finish(crds, &arguments.options) {
        Ok(finished) if ignored.is_empty() => Ok(finished),
        Ok(_) => Err(ignored),
        Err(findings) => Err(findings.into_iter().chain(ignored).collect()),
    };
    match finished {
        Ok(finished) if arguments.since.is_some() => verify(&arguments, &finished, (out, err)),
        Ok(finished) => {
            let files = finished
                .into_iter()
                .map(|crd| (file_name(&crd), vec![crd]))
                .collect::<BTreeMap<_, _>>();
            let result = files::write_manifests(&arguments.out, &files, arguments.mode);
            files::tell(result, arguments.mode, (out, err))
        }
        Err(findings) => {
            for finding in &findings {
                _ = writeln!(err, "error: {finding}\n");
            }
            let count = findings.len();
            let noun = if count == 1 { "finding" } else { "findings" };
            _ = writeln!(err, "nothing was written: {count} {noun} to repair first");
            1
        }
    }
}

/// Names what `finished` breaks of the API of a revision.
fn verify(arguments: &Arguments, finished: &[Value], (out, err): (&mut dyn Write, &mut dyn Write)) -> u8 {
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

/// The arguments; `None` when help was asked for.
fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
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

#[cfg(test)]
mod tests {
    use super::execute;
    use crate::{Crd, compat};
    use serde_json::{Value, json};
    use std::fs;
    use std::path::Path;

    fn crd(plural: &str, kind: &str, target: Value) -> Value {
        json!({
            "metadata": {"name": format!("{plural}.test.example.com")},
            "spec": {
                "group": "test.example.com", "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                    "type": "object", "properties": {"spec": {"type": "object", "properties": {"target": target}}},
                }}}],
            },
        })
    }

    fn foo() -> Value {
        crd("foos", "Foo", json!({"type": "string"}))
    }

    fn bar() -> Value {
        crd("bars", "Bar", json!({"type": "integer", "format": "uint8"}))
    }

    fn refused() -> Value {
        crd("bars", "Bar", json!({"type": "array", "items": [{"type": "string"}]}))
    }

    fn panicking() -> Value {
        panic!("no schema today")
    }

    fn run(crds: &[Crd<Value>], dir: &Path, more: &[&str]) -> (u8, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let words = ["--out".to_owned(), dir.display().to_string()].into_iter();
        let words = words.chain(more.iter().map(|word| (*word).to_owned()));
        let nowhere = tempfile::tempdir().unwrap();
        let code = execute((crds, nowhere.path()), words, (&mut out, &mut err));
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes)
                .unwrap()
                .replace(&dir.display().to_string(), "DIR")
        };
        (code, text(out), text(err))
    }

    const BOTH: [Crd<Value>; 2] = [("api::Foo", foo), ("api::Bar", bar)];

    #[test]
    fn a_kind_comes_changes_and_goes_and_its_file_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let dir = &dir.path().join("config/crd/bases");
        let wrote = "wrote DIR/test.example.com_bars.yaml\nwrote DIR/test.example.com_foos.yaml\n";
        assert_eq!(run(&BOTH, dir, &[]), (0, wrote.into(), "".into()));
        assert_eq!(
            run(&BOTH, dir, &[]),
            (0, "".into(), "".into()),
            "nothing to do a second time"
        );
        assert_eq!(run(&BOTH, dir, &["--check"]), (0, "".into(), "".into()));
        fs::write(dir.join("mine.yaml"), "a: 1\n").unwrap();
        let (code, out, err) = run(&BOTH[..1], dir, &["--check"]);
        assert_eq!(
            (code, err.as_str()),
            (
                1,
                "error: `DIR/test.example.com_bars.yaml` is stale\n\nhint: make manifests\n"
            )
        );
        assert!(
            out.starts_with("--- DIR/test.example.com_bars.yaml\n+++ /dev/null\n@@ -1,"),
            "{out}"
        );
        assert_eq!(
            run(&BOTH[..1], dir, &[]),
            (0, "removed DIR/test.example.com_bars.yaml\n".into(), "".into())
        );
        assert!(dir.join("mine.yaml").exists(), "what is not ours stays");
    }

    #[test]
    fn a_finding_in_one_type_keeps_all_from_being_written() {
        let dir = tempfile::tempdir().unwrap();
        let crds: [Crd<Value>; 3] = [("api::Foo", foo), ("api::Bar", refused), ("api::Baz", panicking)];
        let (code, out, err) = run(&crds, dir.path(), &[]);
        assert_eq!((code, out.as_str()), (1, ""));
        assert!(
            err.contains("error: `api::Baz`: cannot be described: no schema today\n\nhint: "),
            "{err}"
        );
        assert!(
            err.contains("error: `api::Bar`, `spec.target`: Forbidden: items must be a schema object"),
            "{err}"
        );
        assert!(err.contains("make it a struct"), "{err}");
        assert!(
            err.ends_with("nothing was written: 2 findings to repair first\n"),
            "{err}"
        );
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_attribute_that_does_nothing_is_a_finding_too() {
        let dir = tempfile::tempdir().unwrap();
        let sources = tempfile::tempdir().unwrap();
        let file = sources.path().join("v1/foo.rs");
        fs::create_dir(sources.path().join("v1")).unwrap();
        fs::write(
            file,
            "pub struct FooSpec { #[schemars(range(min = 1))] target: String }",
        )
        .unwrap();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let words = ["--out".to_owned(), dir.path().display().to_string()].into_iter();
        let code = execute((&BOTH, sources.path()), words, (&mut out, &mut err));
        let err = String::from_utf8(err).unwrap();
        let found = "error: `FooSpec`, `target`: `range(…)` says nothing about this type and is ignored (v1/foo.rs:1)";
        assert!(code == 1 && err.starts_with(found), "{err}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);

        let gone = execute(
            (&BOTH, &sources.path().join("gone")),
            std::iter::empty(),
            (&mut out, &mut Vec::new()),
        );
        assert_eq!(gone, 1, "a folder that is not there is no folder without mistakes");
    }

    #[test]
    fn what_breaks_a_published_api_is_named_and_a_wrong_revision_too() {
        let repository = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let status = std::process::Command::new("git")
                .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
                .args(arguments)
                .current_dir(repository.path())
                .status();
            assert!(status.unwrap().success(), "git {arguments:?}");
        };
        git(&["init", "--quiet"]);
        run(&BOTH, &repository.path().join("bases"), &[]);
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "--message", "published"]);
        let published = compat::published::in_folder(repository.path(), "HEAD", Path::new("bases")).unwrap();
        assert_eq!(published.len(), 2);
        let left = crate::finish(&BOTH[..1], &crate::Options::default()).unwrap();
        let breaks = compat::breaking(&published, &left);
        assert_eq!(breaks.len(), 1);
        assert_eq!(
            breaks[0].to_string(),
            "`bars.test.example.com`: the kind is gone: all its objects are deleted with it"
        );
        let unknown = compat::published::in_folder(repository.path(), "nowhere", Path::new("bases"));
        let wanted = "`nowhere` is no revision of this git repository\n\nhint: `git fetch` it, or name another: ";
        assert!(unknown.as_ref().unwrap_err().starts_with(wanted), "{unknown:?}");

        let elsewhere = tempfile::tempdir().unwrap();
        let none = compat::published::in_folder(elsewhere.path(), "HEAD", Path::new("bases"));
        let error = none.unwrap_err();
        assert!(error.contains("\n\nhint: git init"), "{error}");
    }

    #[test]
    fn arguments_may_be_attached_and_wrong_ones_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let usage = |more: &[&str]| run(&BOTH, dir.path(), more);
        assert_eq!(usage(&["--max-description-length=0"]).0, 0);
        for (words, complaint) in [
            (&["--chekc"][..], "unknown argument `--chekc`"),
            (
                &["--max-description-length", "many"][..],
                "`--max-description-length` needs a number, not `many`",
            ),
            (&["--out"][..], "`--out` needs a value"),
            (&["--check=yes"][..], "`--check` takes no value"),
        ] {
            let (code, _, err) = usage(words);
            assert_eq!(
                (code, err),
                (2, format!("error: {complaint}\n\nhint: --help shows the options\n"))
            );
        }
        assert!(usage(&["--help"]).1.contains("Usage: manifests"));
    }
}
