//! Tests of `make manifests`: what a run writes and prints.

use super::execute;
use crate::published;
use kubewright_schema::files::Streams;
use kubewright_schema::{Crd, Options, compat};
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

#[test]
fn a_type_that_contains_itself_is_reported_without_describing_it() {
    let sources = tempfile::tempdir().unwrap();
    fs::write(
        sources.path().join("a.rs"),
        "#[derive(KubeSchema)] struct A { a: Box<A> }",
    )
    .unwrap();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams {
        out: &mut out,
        err: &mut err,
    };
    let crds: [Crd<Value>; 1] = [("api::Bar", panicking)];
    assert_eq!(
        super::finished(&crds, sources.path(), &Options::default(), &mut streams),
        None
    );
    let err = String::from_utf8(err).unwrap();
    assert!(
        err.contains("contains itself (a.rs:1)") && !err.contains("no schema today"),
        "{err}"
    );
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

/// A kind whose description has this many characters.
fn described<const LENGTH: usize>() -> Value {
    let text = "Says it all. ".repeat(LENGTH / 13);
    crd("foos", "Foo", json!({"type": "string", "description": text}))
}

#[test]
fn a_crd_that_kubectl_or_etcd_cannot_take_is_named_with_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let written = |make: fn() -> Value, more: &[&str]| {
        let (code, out, err) = run(&[("api::Foo", make)], dir.path(), more);
        (code, !out.is_empty(), err)
    };
    assert_eq!(written(described::<261_000>, &[]), (0, true, String::new()));
    let (code, wrote, err) = written(described::<262_144>, &[]);
    assert!(code == 0 && wrote, "{err}");
    assert!(err.starts_with("warning: `foos.test.example.com` has 262"), "{err}");
    assert!(
        err.contains("client-side `kubectl apply` fails above 262144\n\nhint: apply it with `--server-side`"),
        "{err}"
    );
    let (code, wrote, err) = written(described::<1_400_000>, &[]);
    assert!(
        code == 0 && wrote && err.contains("of the 1572864 bytes that etcd can store"),
        "{err}"
    );
    let (code, wrote, err) = written(described::<1_560_000>, &[]);
    assert!(code == 1 && !wrote, "{err}");
    assert!(err.starts_with("error: `foos.test.example.com` has 156"), "{err}");
    assert!(err.contains("hint: set MAX_DESC_LEN in the Makefile"), "{err}");
    let cut = written(described::<1_560_000>, &["--max-description-length=100"]);
    assert_eq!(cut, (0, true, String::new()));
}

fn of_three_releases() -> Value {
    let rules = json!([
        {"rule": "self.size() > 0", "messageExpression": "self.distinct().size() > 0 ? 'a' : 'b'"},
        {"rule": "self.all(it, isSemver(it))"},
    ]);
    let items = json!({"type": "string", "maxLength": 9});
    crd(
        "foos",
        "Foo",
        json!({"type": "array", "maxItems": 9, "items": items, "x-kubernetes-validations": rules}),
    )
}

#[test]
fn a_rule_that_needs_a_release_is_named_with_the_release() {
    let run_in = |more: &[&str]| {
        let dir = tempfile::tempdir().unwrap();
        let (code, out, err) = run(&[("api::Foo", of_three_releases)], dir.path(), more);
        (code, !out.is_empty(), err)
    };
    let (code, wrote, err) = run_in(&[]);
    assert!(code == 0 && wrote, "{err}");
    assert!(
        err.starts_with(
            "warning: `Foo` v1, `spec.target`: the rule `self.distinct().size() > 0 ? 'a' : 'b'` needs Kubernetes 1.35: older API servers \
             do not know `distinct`, and refuse the CRD\n\nhint: if all clusters have it, set OLDEST_KUBERNETES = 1.35 in the Makefile\n"
        ),
        "{err}"
    );
    assert!(
        err.contains("`self.all(it, isSemver(it))` needs Kubernetes 1.34"),
        "{err}"
    );

    let (code, wrote, err) = run_in(&["--oldest-kubernetes", "1.34"]);
    assert!(code == 1 && !wrote && !err.contains("isSemver"), "{err}");
    assert!(
        err.starts_with("error: `Foo` v1, `spec.target`: the rule `self.distinct()"),
        "{err}"
    );
    assert!(
        err.contains("hint: write the rule without it, or raise OLDEST_KUBERNETES, which is 1.34"),
        "{err}"
    );

    assert_eq!(run_in(&["--oldest-kubernetes=1.35"]), (0, true, String::new()));
    for (release, refusal) in [
        (
            "1.32",
            "is at least 1.33, the oldest release that operators are tested on, not `1.32`",
        ),
        ("v1.35", "needs a release of Kubernetes such as 1.35, not `v1.35`"),
        ("1.36.3", "needs a release of Kubernetes such as 1.35, not `1.36.3`"),
    ] {
        let (code, _, err) = run_in(&["--oldest-kubernetes", release]);
        assert!(code == 2 && err.contains(refusal), "{err}");
    }
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

/// Runs git in the repository of a folder.
fn git(folder: &Path, arguments: &[&str]) {
    let mut git = std::process::Command::new("git");
    git.args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
        .args(arguments)
        .current_dir(folder);
    for of_a_hook in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        git.env_remove(of_a_hook);
    }
    assert!(git.status().unwrap().success(), "git {arguments:?}");
}

fn commit(folder: &Path) {
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--message", "more"]);
}

/// A repository with the project in a sub-folder, if it is not empty: a commit without CRDs, and one with both.
fn published(sub_folder: &str) -> tempfile::TempDir {
    let repository = tempfile::tempdir().unwrap();
    let project = repository.path().join(sub_folder);
    fs::create_dir_all(project.join("bases")).unwrap();
    fs::write(project.join("bases/kustomization.yaml"), "resources: []\n").unwrap();
    git(repository.path(), &["init", "--quiet"]);
    commit(repository.path());
    run(&BOTH, &project.join("bases"), &[]);
    commit(repository.path());
    repository
}

fn at(root: &Path, revision: &str) -> Result<Vec<Value>, String> {
    published::in_folder(root, revision, Path::new("bases"))
}

#[test]
fn breaking_changes_and_unknown_revisions_are_reported() {
    let repository = published("");
    let published = at(repository.path(), "HEAD").unwrap();
    assert_eq!(published.len(), 2);
    let left = kubewright_schema::finish(&BOTH[..1], &kubewright_schema::Options::default()).unwrap();
    let breaks = compat::breaking(&published, &left);
    assert_eq!(breaks.len(), 1);
    assert_eq!(
        breaks[0].to_string(),
        "`bars.test.example.com`: the kind is gone: all its objects are deleted"
    );
    let unknown = at(repository.path(), "nowhere").unwrap_err();
    let wanted = "`nowhere` is not a revision of this git repository\n\nhint: `git fetch` it, or name another: ";
    assert!(unknown.starts_with(wanted), "{unknown}");

    let elsewhere = tempfile::tempdir().unwrap();
    let error = at(elsewhere.path(), "HEAD").unwrap_err();
    assert!(error.contains("\n\nhint: `git init`"), "{error}");
}

#[test]
fn a_revision_without_crds_is_an_error_and_no_empty_api() {
    let repository = published("operators/foo bar");
    let project = repository.path().join("operators/foo bar");
    assert_eq!(at(&project, "HEAD").unwrap().len(), 2, "a project in a sub-folder");
    let absolute = published::in_folder(&project, "HEAD", &project.join("bases"));
    assert_eq!(absolute.unwrap().len(), 2, "--out with an absolute path");
    let none = "`HEAD~1` has no CRD in `bases`, so there is nothing to compare with\n\nhint: ";
    let error = at(&project, "HEAD~1").unwrap_err();
    assert!(error.starts_with(none), "{error}");
    // Another folder of the repository has none at any revision.
    let error = at(repository.path(), "HEAD").unwrap_err();
    assert!(error.starts_with("`HEAD` has no CRD in `bases`"), "{error}");
    fs::write(project.join("bases/a.yaml"), "version\n").unwrap();
    commit(&project);
    let error = at(&project, "HEAD").unwrap_err();
    assert_eq!(error, "cannot read `bases/a.yaml` of `HEAD`: it is not a manifest");
}

/// Git sets these for hooks, for the top folder of the work tree, and `make` passes them on.
#[test]
fn variables_of_a_hook_do_not_select_another_folder() {
    let other = published("");
    let program = std::env::current_exe().unwrap();
    let again = std::process::Command::new(program)
        .args([
            "--exact",
            "program::tests::a_revision_without_crds_is_an_error_and_no_empty_api",
        ])
        .env("GIT_DIR", other.path().join(".git"))
        .env("GIT_INDEX_FILE", other.path().join(".git/index"))
        .env("GIT_WORK_TREE", other.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&again.stdout);
    assert!(again.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn a_revision_that_a_shallow_clone_lacks_is_named_as_such() {
    let repository = published("");
    let clone = tempfile::tempdir().unwrap();
    let url = format!("file://{}", repository.path().display());
    git(clone.path(), &["clone", "--quiet", "--depth=1", &url, "."]);
    assert_eq!(at(clone.path(), "HEAD").unwrap().len(), 2);
    let error = at(clone.path(), "HEAD~1").unwrap_err();
    let wanted = "`HEAD~1` is not in this shallow clone\n\nhint: `git fetch --unshallow`";
    assert!(error.starts_with(wanted), "{error}");
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
        (
            &["--output=json"][..],
            "`--output` has no effect without `--breaking-since`",
        ),
        (
            &["--check", "--breaking-since=HEAD"][..],
            "`--check` has no effect with `--breaking-since`",
        ),
    ] {
        let (code, _, err) = usage(words);
        assert_eq!(
            (code, err),
            (2, format!("error: {complaint}\n\nhint: --help shows the options\n"))
        );
    }
    assert!(usage(&["--help"]).1.contains("Usage: manifests"));
}
