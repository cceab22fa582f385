//! No file of the tree says what a server answered, unless the recorder writes it.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use control_plane::root;
use fidelity::recording;

/// Where recordings are.
const FOLDERS: [&str; 7] = [
    "scaffolds/apiserver/src",
    "scaffolds/apiserver/tests",
    "scaffolds/cel",
    "scaffolds/runtime",
    "scaffolds/schema/src",
    "scaffolds/schema/tests",
    "tests/fidelity",
];

/// Files that look like recordings, and what they are instead.
const OTHERS: [(&str, &str); 7] = [
    ("scaffolds/apiserver/tests/kinds/cases.txt", "requests"),
    ("scaffolds/apiserver/tests/kinds/different.txt", "reasons"),
    ("scaffolds/apiserver/tests/api/custom/bars.json", "a request"),
    ("scaffolds/apiserver/tests/api/custom/foobar.json", "a request"),
    ("scaffolds/schema/tests/recorded/cel/rules.txt", "requests"),
    (
        "scaffolds/schema/tests/types/markers/controller-gen.txt",
        "a list of controller-gen's",
    ),
    ("scaffolds/schema/tests/types/rows.txt", "a table of tests"),
];

fn files(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path
            .extension()
            .is_some_and(|it| ["json", "jsonl", "txt"].iter().any(|end| it == *end))
        {
            found.insert(path.strip_prefix(root()).unwrap().to_string_lossy().into_owned());
        }
    }
}

#[test]
fn every_file_that_looks_like_a_recording_is_one_of_the_recorder_s() {
    let mut found = BTreeSet::new();
    FOLDERS
        .iter()
        .for_each(|folder| files(&root().join(folder), &mut found));
    let recordings = recording::all().unwrap().into_iter().map(|it| it.file);
    let others = OTHERS.iter().map(|(file, _)| (*file).to_owned());
    let known: BTreeSet<String> = recordings.chain(others).collect();
    let strange: Vec<_> = found.symmetric_difference(&known).collect();
    assert!(
        strange.is_empty(),
        "no recorder writes, or nobody committed: {strange:#?}"
    );
}

/// The release that the server reports: `1.2.3`.
fn release() -> &'static str {
    let version = kubewright_apiserver::PROGRAM_VERSION.trim_start_matches("Kubernetes v");
    version.split('+').next().unwrap()
}

#[test]
fn the_server_reports_the_release_that_is_recorded() {
    let module = fs::read_to_string(root().join("tests/control-plane/go.mod")).unwrap();
    let line = format!("k8s.io/kubernetes v{} ", release());
    assert!(module.contains(&line), "go.mod has no `{line}`");
}

/// Whether a text claims that the project follows `minor`.
fn claims(text: &str, minor: &str) -> bool {
    let feature = format!("features = [\"v{}\"]", minor.replace('.', "_"));
    ["kube-apiserver ", "kube-apiserver v", "kube-controller-manager "]
        .iter()
        .any(|program| text.contains(&format!("{program}{minor}")))
        || text.contains(&feature)
}

fn claiming(folder: &Path, minor: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            claiming(&path, minor, found);
        } else if fs::read_to_string(&path).is_ok_and(|text| claims(&text, minor)) {
            found.insert(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
}

#[test]
fn one_command_moves_all_texts_to_another_release() {
    const COPIED: [&str; 10] = [
        "Cargo.toml",
        "Makefile",
        "README.md",
        "benches/peers/kube-rs/Cargo.toml",
        "docs/src",
        "scaffolds",
        "src",
        "templates",
        "tests/control-plane/texts",
        "tests/packaging/check",
    ];
    let copy = tempfile::tempdir().unwrap();
    let mut copied = Command::new("cp");
    copied.args(["-r", "--parents"]).args(COPIED).arg(copy.path());
    assert!(copied.current_dir(root()).status().unwrap().success());
    let moved = |types: &str| {
        let mut texts = Command::new(copy.path().join("tests/control-plane/texts"));
        let output = texts
            .arg("1.99.1")
            .envs([("ETCD", "9.8.7"), ("TYPES", types)])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    // The types follow in a later run if k8s-openapi does not have them at first.
    assert_eq!(moved(""), release());
    assert_eq!(moved("v1_99"), "1.99.1");

    let minor = release().rsplit_once('.').unwrap().0;
    let mut found = BTreeSet::new();
    for folder in ["docs/src", "scaffolds", "src", "templates"] {
        claiming(&copy.path().join(folder), minor, &mut found);
    }
    // Its figures were measured on that release.
    let measured = BTreeSet::from(["performance.md".to_owned()]);
    assert!(found.is_subset(&measured), "still say {minor}: {found:?}");
    let read = |file: &str| fs::read_to_string(copy.path().join(file)).unwrap();
    assert!(read("scaffolds/apiserver/src/release.rs").contains("\"1.99.1\"\n"));
    assert!(read("Cargo.toml").contains("v1_99"));
    assert!(
        read("src/cli/envtest/etcd.rs").contains(r#"{"etcdserver":"9.8.7","etcdcluster":"9.8.0","storage":"9.8.0"}"#)
    );
    let makefile = read("Makefile");
    let others = makefile
        .lines()
        .find(|line| line.starts_with("OTHER_KUBERNETES = "))
        .unwrap();
    assert!(others.split(' ').any(|other| other == minor), "{others}");
    let page = read("docs/src/reference/kubernetes-versions.md");
    assert_eq!(page.matches("<!-- differences: ").count(), 1);
    assert!(page.contains(&format!("## What {minor} answers differently\n")));
    assert!(page.contains(&format!("<!-- differences: {minor} -->\n<!-- end -->\n")));
}
