//! The golden projects: `tests/golden/<case>.commands` has the commands that create each, `tests/golden/<case>/` the
//! result, byte for byte. Only `one` is whole. Another case has what differs from it, and what `make manifests` writes;
//! `<case>.without` lists the files of `one` that it lacks. `KUBEWRIGHT_BLESS=1 cargo test --test golden` writes them again.

mod cli;
#[path = "../build/strip.rs"]
mod strip;

use cli::golden::{BASE, cases, derived, folder, whole, without};
use cli::{Tree, kubewright, tree, words};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Runs the commands of a case in `dir`.
fn make(case: &str, dir: &Path) {
    let commands = fs::read_to_string(folder(case).with_extension("commands")).unwrap();
    for line in commands.lines() {
        kubewright(dir, &words(line)[1..]).succeeds();
    }
}

fn vendored(path: &str) -> bool {
    crates().iter().any(|name| path.starts_with(&format!("crates/{name}/")))
}

/// The vendored crates.
fn crates() -> Vec<String> {
    let scaffolds = Path::new(env!("CARGO_MANIFEST_DIR")).join("scaffolds");
    let folders = fs::read_dir(scaffolds).unwrap().map(|entry| entry.unwrap().path());
    let crates = folders.filter(|folder| folder.join("Cargo.toml").is_file());
    crates
        .map(|folder| folder.file_name().unwrap().to_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_golden_equals_the_output_of_its_commands() {
    let bless = std::env::var_os("KUBEWRIGHT_BLESS").is_some();
    let mut wrong = String::new();
    let (base, others): (Vec<_>, Vec<_>) = cases().into_iter().partition(|case| case == BASE);
    for case in base.into_iter().chain(others) {
        let fresh = tempfile::tempdir().unwrap();
        make(&case, fresh.path());
        let mut made = tree(fresh.path());
        made.retain(|path, _| !vendored(path));
        if bless {
            write(&case, &made);
        }
        let mut committed = whole(&case);
        committed.retain(|path, _| !derived(path) && !vendored(path));
        if let Some(difference) = first_difference(&committed, &made).or_else(|| first_repetition(&case)) {
            wrong.push_str(&format!("{case}: {difference}\n"));
        }
    }
    assert!(
        wrong.is_empty(),
        "goldens are stale; check the differences, then run `KUBEWRIGHT_BLESS=1 cargo test --test golden`\n{wrong}"
    );
}

/// Writes what a case has of its own; the base comes first.
fn write(case: &str, made: &Tree) {
    let target = folder(case);
    let mut own = made.clone();
    if case != BASE {
        let mut base = whole(BASE);
        base.retain(|path, _| !derived(path) && !vendored(path));
        own.retain(|path, file| base.get(path) != Some(file));
        base.retain(|path, _| !made.contains_key(path));
        let lines = base.into_keys().map(|path| path + "\n").collect::<String>();
        let list = target.with_extension("without");
        if lines.is_empty() {
            let _ = fs::remove_file(list);
        } else {
            fs::write(list, lines).unwrap();
        }
    }
    let committed = tree(&target);
    for (path, _) in committed.iter().filter(|(path, _)| !derived(path) && !vendored(path)) {
        if !own.contains_key(path) {
            fs::remove_file(target.join(path)).unwrap();
        }
    }
    for (path, file) in own {
        if committed.get(&path) != Some(&file) {
            let target = target.join(path);
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::write(&target, &file.bytes).unwrap();
            cli::set_executable(&target, file.executable);
        }
    }
}

/// A file that a case has in common with the base, or has although it is listed as missing.
fn first_repetition(case: &str) -> Option<String> {
    if case == BASE {
        return None;
    }
    let (base, own, without) = (tree(&folder(BASE)), tree(&folder(case)), without(case));
    let mut own = own.into_iter().filter(|(path, _)| !derived(path) && !vendored(path));
    own.find(|(path, file)| base.get(path) == Some(file) || without.contains(path))
        .map(|(path, _)| format!("`{path}` is in `{BASE}` or listed as missing"))
}

fn first_difference(committed: &Tree, made: &Tree) -> Option<String> {
    let paths: BTreeMap<_, _> = committed.keys().chain(made.keys()).map(|path| (path, ())).collect();
    paths
        .into_keys()
        .find_map(|path| match (committed.get(path), made.get(path)) {
            (Some(a), Some(b)) if a == b => None,
            (Some(_), Some(_)) => Some(format!("`{path}` differs")),
            (Some(_), None) => Some(format!("`{path}` is no longer generated")),
            _ => Some(format!("`{path}` is not committed")),
        })
}

#[test]
fn vendored_crates_equal_the_scaffolds_without_their_tests() {
    let fresh = tempfile::tempdir().unwrap();
    make("one", fresh.path());
    let policy = ["create", "webhook", "--policy", "--kind", "FooBar"];
    kubewright(fresh.path(), &policy).succeeds();
    kubewright(fresh.path(), &["sync", "--crates", "vendored"]).succeeds();
    for name in crates() {
        let mut vendored = texts(&fresh.path().join("crates").join(&name));
        assert!(vendored.remove("VERSION").is_some());
        let mut scaffold = texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("scaffolds").join(&name));
        scaffold.retain(|path, _| {
            let of_package = !path.contains('/') && path != "Cargo.lock";
            path.starts_with("src/") || of_package && (name == "runtime" || !path.starts_with("LICENSE"))
        });
        strip::without_tests(&mut scaffold);
        assert_eq!(vendored.keys().collect::<Vec<_>>(), scaffold.keys().collect::<Vec<_>>());
        for (path, text) in vendored {
            let expected = match path.as_str() {
                "Cargo.toml" => strip::without_table(&scaffold[&path], "[dev-dependencies]"),
                _ => scaffold[&path].clone(),
            };
            assert!(
                text == expected,
                "crates/{name}/{path} differs from scaffolds/{name}/{path}"
            );
            assert!(
                !text.contains("#[test]") && !text.contains("#[cfg(test)]"),
                "crates/{name}/{path} has tests"
            );
        }
    }
}

#[test]
fn test_code_of_every_form_is_taken_out() {
    let source = r##"//! A crate.

#[cfg(test)]
mod apart;
#[cfg(test)]
#[path = "else_tests.rs"]
pub(crate) mod elsewhere;
pub mod kept;

pub enum Member {
    A,
    /// In tests.
    #[cfg(test)]
    B(u8),
}

impl Member {
    // Comments go
    // with the item.
    #[cfg(test)]
    pub fn of<A, B>(a: A, _: B) -> A {
        let text = r#"
}
"#;
        a
    }

    pub fn name(&self) -> &str {
        match self {
            Self::A => "#[cfg(test)]",
            #[cfg(test)]
            Self::B(it) => { it.to_string().leak() },
        }
    }
}

#[cfg(any(test, feature = "testing"))]
pub fn both() {}

#[cfg(all(test, unix))]
mod tests {
    #[test]
    fn it() {}
}
"##;
    let expected = r##"//! A crate.

pub mod kept;

pub enum Member {
    A,
}

impl Member {
    pub fn name(&self) -> &str {
        match self {
            Self::A => "#[cfg(test)]",
        }
    }
}

#[cfg(any(test, feature = "testing"))]
pub fn both() {}
"##;
    let files = [
        "a/mod.rs",
        "a/apart.rs",
        "a/apart/deep.rs",
        "a/else_tests.rs",
        "a/kept.rs",
        "apart.rs",
    ];
    let mut files: BTreeMap<_, _> = files.map(|path| (path.to_owned(), String::new())).into();
    files.insert("a/mod.rs".to_owned(), source.to_owned());
    files.insert("b.rs".to_owned(), "#[cfg(test)]\nmod tests;\n".to_owned());
    files.insert("b/tests.rs".to_owned(), String::new());
    strip::without_tests(&mut files);
    assert_eq!(files["a/mod.rs"], expected);
    let left: Vec<_> = files.keys().map(String::as_str).collect();
    assert_eq!(left, ["a/kept.rs", "a/mod.rs", "apart.rs", "b.rs"]);
}

fn texts(folder: &Path) -> BTreeMap<String, String> {
    let files = tree(folder).into_iter();
    files
        .map(|(path, file)| (path, String::from_utf8(file.bytes).unwrap()))
        .collect()
}

#[test]
fn a_second_api_is_added_to_the_registry_and_main_is_unchanged() {
    let fresh = tempfile::tempdir().unwrap();
    make("one", fresh.path());
    let before = tree(fresh.path());
    kubewright(
        fresh.path(),
        &[
            "create",
            "api",
            "--group",
            "test",
            "--version",
            "v1",
            "--kind",
            "Second",
        ],
    )
    .succeeds();
    let after = tree(fresh.path());
    let changed: Vec<_> = before
        .iter()
        .filter(|(path, file)| after.get(*path) != Some(file))
        .map(|(path, _)| path.as_str())
        .collect();
    assert!(changed.contains(&"src/controllers/mod.rs"), "{changed:?}");
    assert!(!changed.contains(&"src/main.rs"), "{changed:?}");
    let seeded = |path: &&str| !String::from_utf8_lossy(&before[*path].bytes).contains("@generated by kubewright");
    assert_eq!(changed.into_iter().filter(seeded).collect::<Vec<_>>(), ["PROJECT"]);
}
