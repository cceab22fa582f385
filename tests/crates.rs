//! Projects whose crates of kubewright are from a registry: what they consist of, and the way from vendored crates and back.
//! `tests/packaging/check` compiles one from the packages.

mod cli;

use cli::{CRATES, Run, Tree, assert_same, create, kubewright, read, replace, tree};
use kubewright::project::Release;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A project with one kind.
fn made(crates: &[&str]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let init = [
        "init",
        "--domain",
        "example.com",
        "--project-name",
        "foobar-operator",
        "--license",
        "mit",
    ];
    kubewright(dir.path(), &[&init, crates].concat()).succeeds();
    create(dir.path(), "test", "FooBar").succeeds();
    dir
}

fn vendored() -> TempDir {
    made(&["--crates", "vendored"])
}

fn registry() -> TempDir {
    made(&["--crates", "registry"])
}

fn moved(dir: &TempDir, to: &str) -> Run {
    kubewright(dir.path(), &["sync", "--crates", to])
}

/// The output of `doctor` for the project.
fn doctor(dir: &TempDir) -> String {
    let said = kubewright(dir.path(), &["doctor"]).stdout;
    let lines: Vec<_> = said
        .lines()
        .skip_while(|line| !line.contains(" project "))
        .take(2)
        .collect();
    lines.join("\n")
}

/// A lock after a build: cargo has added the crates, with the checksums of the registry.
fn build(dir: &TempDir, version: &str) {
    let package = |name: &str| {
        format!(
            "\n[[package]]\nname = \"kubewright-{name}\"\nversion = \"{version}\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"00\"\n"
        )
    };
    let added = CRATES.map(package).concat();
    fs::write(dir.path().join("Cargo.lock"), read(dir, "Cargo.lock") + &added).unwrap();
}

fn own() -> String {
    Release::own().to_string()
}

/// The lines that tell the two kinds of projects apart. `KUBEWRIGHT_BLESS=1` writes them again.
#[test]
fn a_project_with_crates_of_a_registry_differs_where_they_are_named() {
    let dir = vendored();
    let said = kubewright(dir.path(), &["sync", "--crates", "registry", "--dry-run"]).succeeds();
    let is_short = |part: &&str| !part.starts_with("a/Cargo.lock") && !part.starts_with("a/crates/rustfmt.toml");
    let mut found = String::new();
    for part in said.stdout.split("--- ").skip(1).filter(is_short) {
        let (file, hunks) = part.split_once('\n').unwrap();
        let changed = hunks
            .lines()
            .filter(|line| line.starts_with(['-', '+']) && !line.starts_with("+++ "));
        let lines: String = changed.map(|line| format!("{line}\n")).collect();
        found.push_str(&format!("--- {file}\n{}", lines.replace(&own(), "VERSION")));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/to-a-registry.diff");
    if std::env::var_os("KUBEWRIGHT_BLESS").is_some() {
        fs::write(&path, &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(path).unwrap());
    for name in CRATES {
        assert!(said.stdout.contains(&format!("deleted crate crates/{name} (")));
    }
    assert!(dir.path().join("crates/runtime/VERSION").exists());
}

#[test]
fn a_project_has_a_fraction_of_the_files_without_vendored_crates() {
    let [vendored, registry] = [vendored(), registry()].map(|dir| tree(dir.path()));
    let lines = |tree: &Tree| {
        let files = tree.values();
        files
            .map(|file| file.bytes.iter().filter(|byte| **byte == b'\n').count())
            .sum::<usize>()
    };
    println!("vendored: {} files, {} lines", vendored.len(), lines(&vendored));
    println!("registry: {} files, {} lines", registry.len(), lines(&registry));
    assert!(registry.keys().all(|path| !path.starts_with("crates/")));
    assert!(registry.len() < 100 && vendored.len() > 500);
    let lock = String::from_utf8_lossy(&registry["Cargo.lock"].bytes).into_owned();
    assert!(
        !lock.contains("kubewright-") && lock.contains("name = \"kube\""),
        "{lock}"
    );
}

#[test]
fn a_project_moves_to_a_registry_and_back_and_is_what_init_makes() {
    let dir = vendored();
    let [of_init_vendored, of_init_registry] = [tree(dir.path()), tree(registry().path())];
    let run = moved(&dir, "registry").succeeds();
    assert!(run.stdout.contains("delete crates/runtime/\n"), "{}", run.stdout);
    assert!(
        run.stderr.contains("commit it") && run.stderr.contains(&own()),
        "{}",
        run.stderr
    );
    assert_same(&of_init_registry, &tree(dir.path()));
    assert!(!dir.path().join("crates").exists());
    assert!(moved(&dir, "registry").succeeds().stderr.contains("nothing to do"));
    // A build adds the crates to the lock.
    build(&dir, &own());
    let run = moved(&dir, "vendored").succeeds();
    assert!(run.stdout.contains("create crates/runtime/\n"), "{}", run.stdout);
    assert_same(&of_init_vendored, &tree(dir.path()));
}

#[test]
fn what_a_user_changed_moves_along_and_what_is_in_the_way_is_named() {
    let dir = vendored();
    replace(&dir, "Cargo.toml", "tokio = {", "mine = \"2\"\ntokio = {");
    replace(&dir, "README.md", "# foobar-operator\n", "# Ours\n");
    fs::remove_file(dir.path().join("AGENTS.md")).unwrap();
    replace(&dir, "dev/Cargo.toml", "[\"serve\"]", "[\"serve\", \"http2\"]");
    replace(&dir, "Cargo.toml", "\"dev\", ", "\"dev\", \"tools/mine\", ");
    fs::create_dir_all(dir.path().join("tools/mine")).unwrap();
    let mine = "[dependencies]\nkubewright-runtime = { path = \"../../crates/runtime\", features = [\"a\"] }\n";
    fs::write(dir.path().join("tools/mine/Cargo.toml"), mine).unwrap();
    let run = moved(&dir, "registry").succeeds();
    let manifest = read(&dir, "Cargo.toml");
    assert!(
        manifest.contains("mine = \"2\"") && !manifest.contains("crates/"),
        "{manifest}"
    );
    assert!(
        manifest.contains(&format!("\nkubewright-runtime = \"{}\"\n", own())),
        "{manifest}"
    );
    assert!(read(&dir, "README.md").starts_with("# Ours\n") && !read(&dir, "README.md").contains("crates/"));
    assert!(!dir.path().join("AGENTS.md").exists());
    for said in [
        "`AGENTS.md` would change, but you have deleted it",
        "`dev/Cargo.toml` is yours and was not changed; make these changes by hand:",
        "  + kubewright-apiserver = { workspace = true, features = [\"serve\"] }",
        "`tools/mine/Cargo.toml` is yours and was not changed; make these changes by hand:",
        "  + kubewright-runtime = { workspace = true, features = [\"a\"] }",
    ] {
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

#[test]
fn a_crate_that_no_package_uses_is_not_vendored() {
    let dir = registry();
    // As the README of a project says.
    fs::remove_dir_all(dir.path().join("dev")).unwrap();
    replace(&dir, "Cargo.toml", "\"dev\", ", "");
    let run = moved(&dir, "vendored").succeeds();
    let note = "`crates/apiserver` is left out, because no package of the project uses it";
    assert!(run.stderr.contains(note), "{}", run.stderr);
    let has = |name: &str| dir.path().join("crates").join(name).exists();
    assert_eq!(CRATES.map(has), [false, true, true, true, true, true]);
    let again = kubewright(dir.path(), &["sync"]).succeeds();
    assert!(!again.stderr.contains("is missing"), "{}", again.stderr);
}

#[test]
fn a_crate_that_a_package_of_the_user_uses_is_vendored() {
    let dir = registry();
    fs::remove_dir_all(dir.path().join("dev")).unwrap();
    replace(&dir, "Cargo.toml", "\"dev\", ", "");
    replace(
        &dir,
        "Cargo.toml",
        "[dev-dependencies]\n",
        "[dev-dependencies]\nkubewright-apiserver.workspace = true\n",
    );
    let run = moved(&dir, "vendored").succeeds();
    assert!(run.stdout.contains("create crates/apiserver/\n"), "{}", run.stdout);
}

#[test]
fn crates_that_are_not_those_of_this_kubewright_are_refused_and_nothing_is_written() {
    let dir = vendored();
    let lib = dir.path().join("crates/runtime/src/lib.rs");
    fs::write(&lib, fs::read_to_string(&lib).unwrap() + "// Ours.\n").unwrap();
    kubewright(dir.path(), &["eject", "schema"]).succeeds();
    let before = tree(dir.path());
    let run = moved(&dir, "registry").refuses(
        1,
        &["`crates/runtime`, edited: see the differences above; `crates/schema`, ejected\n\nhint: restore each with git"],
    );
    assert!(run.stdout.contains("+++ b/crates/runtime/src/lib.rs\n") && run.stdout.contains("+// Ours.\n"));
    assert_same(&before, &tree(dir.path()));
    // A user who needs neither crate deletes both.
    for name in ["runtime", "schema"] {
        fs::remove_dir_all(dir.path().join("crates").join(name)).unwrap();
    }
    moved(&dir, "registry").succeeds();
    assert!(!dir.path().join("crates").exists());
}

#[test]
fn a_crate_is_not_written_over_files_of_a_user() {
    let dir = registry();
    fs::create_dir_all(dir.path().join("crates/runtime/src")).unwrap();
    fs::write(dir.path().join("crates/runtime/src/lib.rs"), "// Mine.\n").unwrap();
    let before = tree(dir.path());
    moved(&dir, "vendored").refuses(1, &["`crates/runtime/src/lib.rs` exists already"]);
    assert_same(&before, &tree(dir.path()));
}

#[test]
fn all_commands_work_without_vendored_crates() {
    let dir = registry();
    for command in ["sync", "upgrade"] {
        let run = kubewright(dir.path(), &[command]).succeeds();
        assert!(run.stderr.contains("nothing to do"), "{}", run.stderr);
    }
    let rows = kubewright(dir.path(), &["plan"]).succeeds().stdout;
    assert!(!rows.contains("crates") && !rows.contains("missing  project"), "{rows}");
    kubewright(dir.path(), &["eject", "runtime"])
        .refuses(1, &["has no vendored crates", "`kubewright sync --crates vendored`"]);
    create(dir.path(), "test", "Second").succeeds();
    assert!(read(&dir, "PROJECT").contains("\ncrates: registry\n"));
    let said = kubewright(
        dir.path(),
        &["init", "--domain", "example.com", "--project-name", "foobar-operator"],
    );
    said.refuses(1, &["with another value of `--license`, `--crates`"]);
}

#[test]
fn doctor_says_which_crates_a_project_is_built_with() {
    let dir = registry();
    for name in ["crd/bases/test.example.com_foobars.yaml", "rbac/role.yaml"] {
        fs::write(
            dir.path().join("config").join(name),
            "# @generated by make manifests; do not edit\n",
        )
        .unwrap();
    }
    let lock = read(&dir, "Cargo.lock");
    let said = doctor(&dir);
    assert!(
        said.contains("warning") && said.contains("`Cargo.lock` does not have kubewright's crates yet"),
        "{said}"
    );
    build(&dir, &own());
    let said = doctor(&dir);
    assert!(
        said.contains("ok ") && said.contains(&format!("kubewright's crates are {} of a registry", own())),
        "{said}"
    );
    fs::write(dir.path().join("Cargo.lock"), lock).unwrap();
    build(&dir, "0.1.7");
    let said = doctor(&dir);
    assert!(
        said.contains("`Cargo.lock` has kubewright's crates in version 0.1.7"),
        "{said}"
    );
    fs::create_dir_all(dir.path().join("crates/runtime")).unwrap();
    fs::write(dir.path().join("crates/runtime/VERSION"), "# of a merge\n").unwrap();
    let said = doctor(&dir);
    assert!(
        said.contains("PROJECT has `crates: registry`, and there are `crates/runtime`"),
        "{said}"
    );
}

#[test]
fn a_project_has_the_crate_of_webhooks_while_it_has_any() {
    for form in ["vendored", "archives", "registry"] {
        let dir = made(&["--crates", form]);
        let before = tree(dir.path());
        let has_crate = || {
            let is_named = |file: &str| read(&dir, file).contains("kubewright-webhooks");
            let found = is_named("Cargo.toml");
            assert_eq!(has_webhooks(&dir, form), found && form != "registry", "{form}");
            // The crates of a registry are not in the lock before the first build.
            assert_eq!(is_named("Cargo.lock"), found && form != "registry", "{form}");
            found
        };
        assert!(!has_crate(), "{form}");
        let kind = ["--group", "test", "--kind", "FooBar"];
        for add in ["--validation", "--policy"] {
            kubewright(dir.path(), &[&["create", "webhook", add], &kind[..]].concat()).succeeds();
            assert!(has_crate(), "{form} {add}");
        }
        for command in ["sync", "plan"] {
            let run = kubewright(dir.path(), &[command]).succeeds();
            let said = run.stdout + &run.stderr;
            let is_wrong =
                |line: &str| line.contains("webhooks") && line.contains("missing") && !line.contains("config/");
            assert!(!said.lines().any(is_wrong), "{form}: {said}");
        }
        let delete =
            |what: &[&str]| kubewright(dir.path(), &[&["delete", "webhook"], what, &kind[..]].concat()).succeeds();
        delete(&["--validation"]);
        assert!(has_crate(), "{form}: the policy is left");
        delete(&["--policy"]);
        assert!(!has_crate(), "{form}");
        assert_same(&before, &tree(dir.path()));
    }
}

/// Whether the crate of webhooks is in the project.
fn has_webhooks(dir: &TempDir, form: &str) -> bool {
    let exists = |path: String| dir.path().join(path).exists();
    match form {
        "vendored" => exists("crates/webhooks/src/lib.rs".to_owned()),
        "archives" => exists("crates/webhooks/source.tar".to_owned()),
        _ => exists("crates".to_owned()),
    }
}

#[test]
fn the_crate_of_webhooks_stays_if_it_is_the_users() {
    let dir = vendored();
    let webhook = |command: &str| {
        let flags = ["webhook", "--policy", "--group", "test", "--kind", "FooBar"];
        kubewright(dir.path(), &[&[command], &flags[..]].concat()).succeeds()
    };
    webhook("create");
    kubewright(dir.path(), &["eject", "webhooks"]).succeeds();
    let lib = "crates/webhooks/src/lib.rs";
    replace(&dir, lib, "//! Admission", "//! Ours. Admission");
    let ours = read(&dir, lib);
    webhook("delete");
    assert_eq!(read(&dir, lib), ours);
    webhook("create");
    assert_eq!(read(&dir, lib), ours);
    assert!(!dir.path().join("crates/webhooks/VERSION").exists());
}
