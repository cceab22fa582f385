//! Earlier releases inside this binary: each still renders its own golden projects, byte for byte.

mod cli;
mod earlier;

use cli::{Tree, golden};
use kubewright::project::Release;
use kubewright::render::{Sources, header, vendor};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The archive of a release in the repository.
fn archive(release: &Release) -> PathBuf {
    repository().join(format!("releases/{release}.zlib"))
}

/// The hashes of a file such as `sha256sum` writes, by path.
fn sums(path: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(path).unwrap();
    let line = |line: &str| {
        line.split_once("  ")
            .map(|(hash, path)| (path.to_owned(), hash.to_owned()))
    };
    text.lines().map(|text| line(text).unwrap()).collect()
}

/// The paths whose hashes differ, or that only one side has.
fn differences(recorded: &BTreeMap<String, String>, found: &BTreeMap<String, String>) -> Vec<String> {
    let mut paths: Vec<_> = recorded.keys().chain(found.keys()).cloned().collect();
    paths.sort();
    paths.dedup();
    paths.retain(|path| recorded.get(path) != found.get(path));
    paths
}

#[test]
fn every_carried_release_renders_its_golden_projects_as_it_did() {
    let mut cases = 0;
    for release in Sources::carried() {
        for case in earlier::cases(&release) {
            let rendered = earlier::rendered(&earlier::project(&release, &case), &release);
            let files = rendered.iter().filter(|(path, _)| !is_of_a_crate(path.as_str()));
            let found = files.map(|(path, file)| (path.to_string(), header::sha256(&file.text)));
            let wrong = differences(
                &sums(&earlier::folder(&release).join(&case).join("files.sha256")),
                &found.collect(),
            );
            assert!(
                wrong.is_empty(),
                "kubewright {release} wrote other texts in the project `{case}`, so an upgrade would take the difference for an edit: \
                 {wrong:?}; what its templates need of src/plan and src/render has to stay"
            );
            cases += 1;
        }
        let sources = Sources::of(&release).unwrap().unwrap();
        let hash = |name: String| (format!("crates/{name}"), vendor::hash(&sources.crate_files(&name)));
        let found = sources.crates().into_iter().map(hash).collect();
        assert_eq!(sums(&earlier::folder(&release).join("crates.sha256")), found);
    }
    assert_eq!(cases == 0, Sources::carried().is_empty());
}

/// `crates/rustfmt.toml` is a file of the project.
fn is_of_a_crate(path: &str) -> bool {
    path.strip_prefix("crates/").is_some_and(|path| path.contains('/'))
}

#[test]
fn a_release_does_not_change_after_it_is_frozen() {
    let release = Release::own();
    if let Ok(frozen) = fs::read(archive(&release)) {
        assert!(
            frozen == Sources::own().packed().unwrap(),
            "kubewright {release} is frozen, but its templates or crates have changed: begin the next version with `releases/bump`"
        );
    }
}

/// `make freeze`: see docs/src/contributing/releasing.md.
#[test]
#[ignore = "writes the archive of this release"]
fn freeze_this_release() {
    let release = Release::own();
    let target = archive(&release);
    assert!(
        !target.exists(),
        "kubewright {release} is frozen already: {}",
        target.display()
    );
    let folder = earlier::folder(&release);
    for case in golden::cases() {
        freeze_golden(&golden::whole(&case), &folder.join(case));
    }
    let own = Sources::own();
    let line = |name: String| format!("{}  crates/{name}\n", vendor::hash(&own.crate_files(&name)));
    fs::write(
        folder.join("crates.sha256"),
        own.crates().into_iter().map(line).collect::<String>(),
    )
    .unwrap();
    fs::write(target, own.packed().unwrap()).unwrap();
}

/// Records the inputs of a golden project, and the hashes of its files.
fn freeze_golden(project: &Tree, target: &Path) {
    fs::create_dir_all(target).unwrap();
    let mut lines = String::new();
    for (path, file) in project {
        let is_input = path == "PROJECT"
            || ["external", "adopted"]
                .iter()
                .any(|folder| path.starts_with(&format!("config/crd/{folder}/")));
        if is_input {
            let copy = target.join(path);
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::write(copy, &file.bytes).unwrap();
        }
        if path != "PROJECT" && !golden::derived(path) && !is_of_a_crate(path) {
            lines.push_str(&format!(
                "{}  {path}\n",
                header::sha256(&String::from_utf8_lossy(&file.bytes))
            ));
        }
    }
    fs::write(target.join("files.sha256"), lines).unwrap();
}
