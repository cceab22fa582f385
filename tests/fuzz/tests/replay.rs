//! Inputs that the fuzzer kept, and inputs that it starts from, on stable Rust.

use fuzz::TARGETS;
use std::{fs, panic, path::Path};

#[test]
fn every_input_of_the_corpora_is_taken() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut failed = Vec::new();
    for (name, target) in TARGETS {
        let mut inputs = 0;
        for entry in fs::read_dir(corpus.join(name)).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            inputs += 1;
            if panic::catch_unwind(|| target(&bytes)).is_err() {
                failed.push(path);
            }
        }
        assert!(inputs > 0, "`corpus/{name}` is empty");
    }
    assert!(failed.is_empty(), "see above; `fuzz::run` with these: {failed:?}");
}

#[test]
fn every_target_can_be_fuzzed_and_nothing_else() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("libfuzzer/fuzz_targets");
    let mut programs: Vec<String> = fs::read_dir(programs)
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    programs.sort_unstable();
    assert_eq!(programs, TARGETS.map(|(name, _)| name));
}
