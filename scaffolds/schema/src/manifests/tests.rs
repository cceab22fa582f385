//! Tests of `make manifests`: what a run writes and prints.

use super::execute;
use crate::files::Streams;
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
    let code = execute(
        crds,
        nowhere.path(),
        words,
        Streams {
            out: &mut out,
            err: &mut err,
        },
    );
    let text = |bytes: Vec<u8>| {
        String::from_utf8(bytes)
            .unwrap()
            .replace(&dir.display().to_string(), "DIR")
    };
    (code, text(out), text(err))
}

const BOTH: [Crd<Value>; 2] = [("api::Foo", foo), ("api::Bar", bar)];

#[test]
fn the_file_of_a_kind_is_written_changed_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &dir.path().join("config/crd/bases");
    let wrote = "wrote DIR/test.example.com_bars.yaml\nwrote DIR/test.example.com_foos.yaml\n";
    assert_eq!(run(&BOTH, dir, &[]), (0, wrote.into(), "".into()));
    assert_eq!(
        run(&BOTH, dir, &[]),
        (0, "".into(), "".into()),
        "the second run has nothing to do"
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
    assert!(dir.join("mine.yaml").exists(), "a file without the header stays");
}

#[test]
fn a_finding_in_one_type_prevents_all_writes() {
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
    assert!(err.ends_with("nothing was written: fix 2 findings first\n"), "{err}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn an_attribute_without_effect_is_a_finding() {
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
    let streams = Streams {
        out: &mut out,
        err: &mut err,
    };
    let code = execute(&BOTH, sources.path(), words, streams);
    let err = String::from_utf8(err).unwrap();
    let found = "error: `FooSpec`, `target`: `range(…)` does not apply to this type and is ignored (v1/foo.rs:1)";
    assert!(code == 1 && err.starts_with(found), "{err}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);

    let streams = Streams {
        out: &mut out,
        err: &mut Vec::new(),
    };
    let gone = execute(&BOTH, &sources.path().join("gone"), std::iter::empty(), streams);
    assert_eq!(gone, 1, "a missing source folder is an error");
}

#[test]
fn breaking_changes_and_unknown_revisions_are_reported() {
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
        "`bars.test.example.com`: the kind is gone: all its objects are deleted"
    );
    let unknown = compat::published::in_folder(repository.path(), "nowhere", Path::new("bases"));
    let wanted = "`nowhere` is not a revision of this git repository\n\nhint: `git fetch` it, or name another: ";
    assert!(unknown.as_ref().unwrap_err().starts_with(wanted), "{unknown:?}");

    let elsewhere = tempfile::tempdir().unwrap();
    let none = compat::published::in_folder(elsewhere.path(), "HEAD", Path::new("bases"));
    let error = none.unwrap_err();
    assert!(error.contains("\n\nhint: git init"), "{error}");
}

#[test]
fn values_may_follow_an_equals_sign_and_wrong_arguments_are_reported() {
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
