//! The behaviour of each command, as users observe it.

#[path = "../webhooks/mod.rs"]
mod webhooks;

use crate::cli::{self, INIT, assert_same, create, kubewright, project, project_without_crates, tree};
use std::fs;
use std::path::Path;

const FOOBAR: [&str; 6] = ["--group", "test", "--version", "v1", "--kind", "FooBar"];

fn api(verb: &str, more: &[&str]) -> Vec<String> {
    [&[verb, "api"], &FOOBAR[..], more]
        .concat()
        .into_iter()
        .map(str::to_owned)
        .collect()
}

fn append(dir: &Path, file: &str, text: &str) {
    let path = dir.join(file);
    fs::write(&path, fs::read_to_string(&path).unwrap() + text).unwrap();
}

/// The state of a file in the output of `plan`.
fn state(dir: &Path, file: &str) -> String {
    let rows = kubewright(dir, &["plan", "-o", "json"]).succeeds().stdout;
    let rows: Vec<serde_json::Value> = serde_json::from_str(&rows).unwrap();
    let row = rows
        .iter()
        .find(|row| row["path"] == file)
        .unwrap_or_else(|| panic!("`{file}` is not planned"));
    row["state"].as_str().unwrap().to_owned()
}

#[test]
fn kubebuilders_flag_for_cluster_scoped_kinds_does_the_same_as_ours() {
    let [ours, theirs, namespaced] = ["--cluster", "--namespaced=false", "--namespaced"].map(|flag| {
        let dir = project_without_crates();
        kubewright(dir.path(), &api("create", &[flag])).succeeds();
        tree(dir.path())
    });
    assert_same(&ours, &theirs);
    assert_ne!(ours, namespaced);
    let dir = project_without_crates();
    kubewright(dir.path(), &api("create", &["--cluster", "--namespaced"])).refuses(2, &["--cluster", "--namespaced"]);
    let nothing_to_scope = api("create", &["--resource=false", "--namespaced=false"]);
    kubewright(dir.path(), &nothing_to_scope).refuses(2, &["`--namespaced=false` need a type"]);
    let namespaced = project_without_crates();
    kubewright(namespaced.path(), &api("create", &[])).succeeds();
    for flag in ["--cluster", "--namespaced=false"] {
        kubewright(namespaced.path(), &api("create", &[flag])).refuses(
            1,
            &[
                "with namespaced objects",
                "leave out `--cluster` or `--namespaced=false`",
            ],
        );
    }
    // Said of a kind that is cluster-scoped, the flag is wrong, and not without an effect.
    kubewright(dir.path(), &api("create", &["--cluster"])).succeeds();
    kubewright(dir.path(), &api("create", &["--namespaced"]))
        .refuses(1, &["cluster-scoped", "leave out `--namespaced`"]);
    let of_kubernetes =
        cli::words("create api --group core --version v1 --kind Namespace --resource=false --namespaced");
    kubewright(dir.path(), &of_kubernetes).refuses(2, &["`Namespace` are cluster-scoped", "leave out `--namespaced`"]);
}

#[test]
fn a_controller_that_is_named_beside_storage_is_created() {
    let dir = project_without_crates();
    kubewright(dir.path(), &api("create", &[])).succeeds();
    kubewright(dir.path(), &api("create", &["--storage", "--controller-name", "other"])).succeeds();
    assert!(tree(dir.path()).contains_key("src/controllers/other.rs"));
}

#[test]
fn flags_of_kubebuilder_that_say_what_is_so_anyway_change_nothing() {
    let [ours, theirs] = [
        vec![],
        vec!["--multigroup", "--fetch-deps=false", "--skip-go-version-check"],
    ]
    .map(|flags| {
        let dir = tempfile::tempdir().unwrap();
        let init = ["init", "--domain=example.com", "--project-name=op", "--year=2026"];
        let more: &[_] = if flags.is_empty() {
            &[]
        } else {
            &["--make=false", "--ssa"]
        };
        kubewright(dir.path(), &[&init, &flags[..]].concat()).succeeds();
        kubewright(dir.path(), &api("create", more)).succeeds();
        tree(dir.path())
    });
    assert_same(&ours, &theirs);
}

#[test]
fn flags_of_kubebuilder_without_a_meaning_are_refused_with_a_remedy_before_anything_is_written() {
    let dir = project_without_crates();
    let before = tree(dir.path());
    for (command, remedy) in [
        ("init --repo example.com/a", "`--project-name`"),
        ("init --plugins=helm/v2-alpha", "`make chart`"),
        ("init --project-version=3", "`kubewright upgrade`"),
        ("init --multigroup=false", "each group has its own folder"),
        ("init --license-file=header.txt", "`LICENSE`"),
        ("edit --plugins grafana/v1-alpha", "`make dashboards`"),
        ("edit --namespaced --force", "merged"),
        ("edit --output-dir=charts", "`make chart`"),
        ("create api --kind FooBar --make", "`make manifests`"),
        ("create api --kind FooBar --ssa=false", "server-side apply"),
        (
            "create api --kind Issuer --external-api-path=a/b",
            "`kubewright create api --from-crd FILE`",
        ),
        (
            "create api --kind FooBar --image-container-port=80",
            "`--pattern deployment --image IMAGE`",
        ),
        (
            "create webhook --kind FooBar --validation --validation-path /v",
            "`make manifests` writes it",
        ),
        ("create webhook --kind FooBar --validation --force", "merged"),
        ("alpha generate --input-dir=.", "`kubewright upgrade`"),
    ] {
        let args = cli::words(command);
        kubewright(dir.path(), &args).refuses(2, &["error: kubebuilder's `", "has no meaning here\n\nhint: ", remedy]);
    }
    assert_same(&before, &tree(dir.path()));
}

#[test]
fn repeated_commands_have_nothing_to_do() {
    let dir = project();
    create(dir.path(), "test", "FooBar").succeeds();
    append(dir.path(), "src/controllers/foobar.rs", "// mine\n");
    let before = tree(dir.path());
    for args in [
        INIT.to_vec(),
        ["create", "api"].into_iter().chain(FOOBAR).collect(),
        vec!["sync"],
    ] {
        let run = kubewright(dir.path(), &args).succeeds();
        assert!(
            run.stderr.contains("nothing to do") && run.stdout.is_empty(),
            "{args:?}: {}{}",
            run.stdout,
            run.stderr
        );
    }
    assert_same(&before, &tree(dir.path()));
    kubewright(dir.path(), &["init", "--domain", "other.com", "--project-name", "x"]).refuses(
        1,
        &[
            "has a project already",
            "another value of `--domain`, `--project-name`, `--owner`",
        ],
    );
    // Also in another year.
    let path = dir.path().join("PROJECT");
    let text = fs::read_to_string(&path).unwrap();
    let year = text.lines().find(|line| line.starts_with("year:")).unwrap();
    fs::write(&path, text.replace(year, "year: 2020")).unwrap();
    let run = kubewright(dir.path(), &INIT[..5]).succeeds();
    assert!(run.stderr.contains("nothing to do"), "{}", run.stderr);
}

#[test]
fn delete_undoes_create() {
    let dir = project_without_crates();
    let before = tree(dir.path());
    create(dir.path(), "test", "FooBar").succeeds();
    kubewright(dir.path(), &api("delete", &[])).succeeds();
    assert_same(&before, &tree(dir.path()));
    assert!(
        !dir.path().join("api/src/test").exists(),
        "empty folders are deleted too"
    );
    kubewright(dir.path(), &api("delete", &[])).refuses(1, &["`FooBar` of `test.example.com/v1` is not a kind"]);
}

#[test]
fn delete_keeps_and_names_changed_files() {
    let dir = project_without_crates();
    create(dir.path(), "test", "FooBar").succeeds();
    append(dir.path(), "src/controllers/foobar.rs", "// mine\n");
    let run = kubewright(dir.path(), &api("delete", &[])).succeeds();
    assert!(
        run.stderr.contains("kept `src/controllers/foobar.rs`"),
        "{}",
        run.stderr
    );
    assert!(dir.path().join("src/controllers/foobar.rs").exists());
    // It prevents another `create`, unless that is forced.
    kubewright(dir.path(), &api("create", &[])).refuses(1, &["`src/controllers/foobar.rs` exists already"]);
    let run = kubewright(dir.path(), &api("create", &["--force"])).succeeds();
    assert!(run.stderr.contains("-// mine"), "the diff is shown: {}", run.stderr);
    append(dir.path(), "src/controllers/foobar.rs", "// mine\n");
    kubewright(dir.path(), &api("delete", &["--force"])).succeeds();
    assert!(!dir.path().join("src/controllers/foobar.rs").exists());
}

#[test]
fn a_dry_run_shows_the_diff_and_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("new");
    let run = kubewright(&target, &["init", "--domain", "example.com", "--dry-run"]).succeeds();
    assert!(
        run.stdout.contains("+++ b/src/main.rs") && run.stdout.contains("new crate crates/runtime"),
        "{}",
        run.stdout
    );
    assert!(!target.exists());

    let dir = project_without_crates();
    let before = tree(dir.path());
    let run = kubewright(dir.path(), &api("create", &["--dry-run"])).succeeds();
    assert!(
        run.stdout.contains("+pub mod foobar;") && run.stdout.contains("+++ b/PROJECT"),
        "{}",
        run.stdout
    );
    assert_same(&before, &tree(dir.path()));
}

#[test]
fn an_edited_registry_is_refused_and_an_ejected_one_is_not_changed() {
    let dir = project_without_crates();
    append(dir.path(), "src/controllers/mod.rs", "// mine\n");
    assert_eq!(state(dir.path(), "src/controllers/mod.rs"), "edited");
    let before = tree(dir.path());
    kubewright(dir.path(), &api("create", &[])).refuses(
        1,
        &[
            "error: `src/controllers/mod.rs` was edited by hand\n\nhint: run `git -C ",
            " diff src/controllers/mod.rs`",
        ],
    );
    kubewright(dir.path(), &["sync"]).refuses(1, &["was edited by hand"]);
    assert_same(&before, &tree(dir.path()));

    let path = dir.path().join("src/controllers/mod.rs");
    let own = fs::read_to_string(&path)
        .unwrap()
        .split_once('\n')
        .unwrap()
        .1
        .to_owned();
    fs::write(&path, &own).unwrap();
    assert_eq!(state(dir.path(), "src/controllers/mod.rs"), "ejected");
    let run = kubewright(dir.path(), &api("create", &[])).succeeds();
    assert!(
        run.stderr.contains("`src/controllers/mod.rs` is yours") && run.stderr.contains("+ pub mod foobar;"),
        "{}",
        run.stderr
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), own);
    // Once the lines are added, the note is not repeated; on deletion the same lines are named.
    append(dir.path(), "src/controllers/mod.rs", "pub mod foobar;\n");
    let run = kubewright(dir.path(), &api("delete", &[])).succeeds();
    assert!(run.stderr.contains("- pub mod foobar;"), "{}", run.stderr);
}

#[test]
fn sync_restores_managed_files_and_leaves_seeded_ones_deleted() {
    let dir = project_without_crates();
    create(dir.path(), "test", "FooBar").succeeds();
    let before = tree(dir.path());
    for file in ["src/controllers/mod.rs", "api/src/test/v1/mod.rs", "tests/foobar.rs"] {
        fs::remove_file(dir.path().join(file)).unwrap();
    }
    kubewright(dir.path(), &["sync"]).succeeds();
    let mut wanted = before.clone();
    wanted.remove("tests/foobar.rs");
    assert_same(&wanted, &tree(dir.path()));
    assert_eq!(state(dir.path(), "tests/foobar.rs"), "missing");
}

#[test]
fn sync_removes_managed_files_of_removed_kinds() {
    let dir = project_without_crates();
    create(dir.path(), "test", "FooBar").succeeds();
    let text = fs::read_to_string(dir.path().join("PROJECT")).unwrap();
    let without: String = text
        .lines()
        .filter(|line| !line.starts_with("- ") && *line != "kinds:")
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(dir.path().join("PROJECT"), without).unwrap();
    kubewright(dir.path(), &["sync"]).succeeds();
    assert!(!dir.path().join("api/src/test/v1/mod.rs").exists());
    assert!(
        dir.path().join("api/src/test/v1/foobar.rs").exists(),
        "seeded files are the user's"
    );
}

#[test]
fn a_registry_that_a_merge_made_correct_gets_its_hash() {
    let dir = project_without_crates();
    let path = dir.path().join("src/controllers/mod.rs");
    let right = fs::read_to_string(&path).unwrap();
    let licensed = format!("// Copyright\n\n{right}");
    for right in [right, licensed.replace('\n', "\r\n"), licensed] {
        fs::write(&path, right.replace("sha256:", "sha256:0")).unwrap();
        kubewright(dir.path(), &["sync"]).succeeds();
        assert_eq!(fs::read_to_string(&path).unwrap(), right);
    }
}

#[test]
fn a_deleted_crate_that_only_other_crates_use_is_missing() {
    let dir = project();
    fs::remove_dir_all(dir.path().join("crates/machinery")).unwrap();
    assert_eq!(state(dir.path(), "crates/machinery"), "missing");
    for name in cli::CRATES.into_iter().filter(|name| *name != "machinery") {
        fs::remove_dir_all(dir.path().join("crates").join(name)).unwrap();
    }
    assert_eq!(state(dir.path(), "crates/machinery"), "ejected");
}

#[test]
fn a_deleted_crate_is_written_again_by_sync_and_in_another_form() {
    let dir = project();
    let archived = tree(dir.path());
    let delete = || fs::remove_dir_all(dir.path().join("crates/runtime")).unwrap();
    delete();
    let run = kubewright(dir.path(), &["sync"]).succeeds();
    assert!(run.stdout.contains("create crates/runtime/"), "{}", run.stdout);
    assert_same(&archived, &tree(dir.path()));
    kubewright(dir.path(), &["sync", "--crates", "vendored"]).succeeds();
    let vendored = tree(dir.path());
    kubewright(dir.path(), &["sync", "--crates", "archives"]).succeeds();
    assert_same(&archived, &tree(dir.path()));
    delete();
    kubewright(dir.path(), &["sync", "--crates", "vendored"]).succeeds();
    assert_same(&vendored, &tree(dir.path()));
    delete();
    kubewright(dir.path(), &["sync", "--crates", "archives"]).succeeds();
    assert_same(&archived, &tree(dir.path()));
}

#[test]
fn an_ejected_crate_is_not_checked_or_replaced() {
    let dir = project();
    kubewright(dir.path(), &["sync", "--crates", "vendored"]).succeeds();
    assert_eq!(state(dir.path(), "crates/runtime"), "clean");
    append(dir.path(), "crates/runtime/src/lib.rs", "// mine\n");
    assert_eq!(state(dir.path(), "crates/runtime"), "edited");
    let run = kubewright(dir.path(), &["sync"]).succeeds();
    assert!(run.stderr.contains("`crates/runtime` was edited"), "{}", run.stderr);
    kubewright(dir.path(), &["eject", "kubewright-runtime"]).succeeds();
    assert_eq!(state(dir.path(), "crates/runtime"), "ejected");
    assert!(!dir.path().join("crates/runtime/VERSION").exists());
    assert!(
        kubewright(dir.path(), &["eject", "runtime"])
            .succeeds()
            .stderr
            .contains("nothing to do")
    );
    kubewright(dir.path(), &["eject", "tokio"]).refuses(1, &["`tokio` is not a vendored crate", "`runtime`, `schema`"]);
}

#[test]
fn a_forced_pattern_replaces_the_reconciler() {
    let dir = project_without_crates();
    create(dir.path(), "test", "FooBar").succeeds();
    kubewright(dir.path(), &api("create", &["--pattern", "minimal"]))
        .refuses(1, &["with pattern `child`", "`--force`"]);
    let child = fs::read(dir.path().join("src/controllers/foobar.rs")).unwrap();
    kubewright(dir.path(), &api("create", &["--pattern", "minimal", "--force"])).succeeds();
    assert_ne!(fs::read(dir.path().join("src/controllers/foobar.rs")).unwrap(), child);
    assert_eq!(state(dir.path(), "src/controllers/foobar.rs"), "clean");
}

#[test]
#[cfg(unix)]
fn kinds_are_completed_while_another_command_holds_the_project() {
    let dir = project_without_crates();
    create(dir.path(), "test", "FooBar").succeeds();
    let lock = fs::File::open(dir.path()).unwrap();
    lock.lock().unwrap();
    let mut print = cli::command(dir.path(), &["completion", "--kinds"]);
    let printed = print.current_dir(dir.path()).output().unwrap();
    assert_eq!(printed.stdout, b"FooBar\n");
}

#[test]
fn completions_exist_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(
            kubewright(Path::new("."), &["completion", shell])
                .succeeds()
                .stdout
                .contains("kubewright")
        );
    }
}
