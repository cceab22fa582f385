//! No file of the tree says what a server answered, unless the recorder writes it.

use std::{collections::BTreeSet, fs, path::Path};

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
    ("scaffolds/apiserver/tests/custom/bars.json", "a request"),
    ("scaffolds/apiserver/tests/custom/foobar.json", "a request"),
    ("scaffolds/schema/tests/cel/rules.txt", "requests"),
    (
        "scaffolds/schema/tests/markers/controller-gen.txt",
        "a list of controller-gen's",
    ),
    ("scaffolds/schema/tests/rows.txt", "a table of tests"),
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
