//! `kubewright upgrade`: projects of every release that this binary carries, edited as their users edit them, become projects of this one.

mod cli;
mod earlier;

use cli::{Tree, assert_same, create, kubewright, read, replace, tree};
use kubewright::project::{Release, file};
use kubewright::render::Sources;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The README of both releases has this line; this release adds another one below it.
const BEFORE_ADDED: &str = "# add a kind\n";

/// The release whose projects have a user's edits.
fn first() -> Release {
    "0.1.0".parse().unwrap()
}

/// A golden project of 0.1.0.
fn old(case: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    earlier::write(&first(), case, dir.path());
    dir
}

/// The files of a project as this release makes them from its PROJECT.
fn fresh(dir: &Path) -> Tree {
    let text = fs::read_to_string(dir.join("PROJECT")).unwrap();
    let mut project = file::parse(&text).unwrap();
    for kind in 0..project.kinds.len() {
        let path = project.crd_path(&project.kinds[kind]);
        project.kinds[kind].definition = earlier::definition(&dir.join(path), &project.kinds[kind]);
    }
    let file = |(path, file): (kubewright::plan::RelPath, kubewright::render::File)| {
        let found = cli::File {
            bytes: file.text.into_bytes(),
            executable: file.executable,
        };
        (path.to_string(), found)
    };
    let mut files: Tree = earlier::rendered(&project, &Release::own())
        .into_iter()
        .map(file)
        .collect();
    let project = cli::File {
        bytes: text.into_bytes(),
        executable: false,
    };
    files.insert("PROJECT".to_owned(), project);
    files
}

#[test]
fn an_unedited_project_of_each_release_becomes_what_this_release_would_make() {
    for release in Sources::carried() {
        for case in earlier::cases(&release) {
            let dir = tempfile::tempdir().unwrap();
            earlier::write(&release, &case, dir.path());
            let run = kubewright(dir.path(), &["upgrade"]).succeeds();
            assert!(run.stdout.contains("update crates/runtime/\n"), "{}", run.stdout);
            let upgraded = tree(dir.path());
            assert_same(&fresh(dir.path()), &upgraded);

            // A second time there is nothing to do, for any command.
            for command in ["upgrade", "sync"] {
                let run = kubewright(dir.path(), &[command]).succeeds();
                assert!(
                    run.stdout.is_empty() && run.stderr.contains("nothing to do"),
                    "{}",
                    run.stderr
                );
            }
            assert!(upgraded == tree(dir.path()));
        }
    }
    assert!(!Sources::carried().is_empty());
}

/// The edits of a user: they commute with an upgrade, and compile.
fn live_in(dir: &TempDir) {
    replace(
        dir,
        "api/src/test/v1/foobar.rs",
        "    /// `Ready` is true while",
        "    /// How many there are.\n    #[serde(skip_serializing_if = \"Option::is_none\")]\n    pub count: Option<i32>,\n\n    /// `Ready` is true while",
    );
    replace(
        dir,
        "src/controllers/foobar.rs",
        "            status.conditions.set(ready);\n",
        "            status.conditions.set(ready);\n            status.count = Some(1);\n",
    );
    replace(dir, "src/main.rs", "struct Cli {\n", "/// Our flags.\nstruct Cli {\n");
    replace(
        dir,
        "Makefile",
        "IMG ?= controller:latest",
        "IMG ?= registry.example.com/team/foobar:latest",
    );
    replace(dir, "README.md", "# foobar-operator\n", "# Our operator\n");
    fs::remove_file(dir.path().join("Dockerfile")).unwrap();
    fs::remove_dir_all(dir.path().join(".github")).unwrap();
}

/// For tests/golden/check, which upgrades the project and builds it.
#[test]
#[ignore = "writes a project to the folder EARLIER_PROJECT"]
fn write_an_edited_project_of_the_first_release() {
    let target = std::env::var_os("EARLIER_PROJECT").expect("the folder to write to");
    let dir = old("one");
    live_in(&dir);
    for (path, file) in tree(dir.path()) {
        let path = Path::new(&target).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, file.bytes).unwrap();
        cli::set_executable(&path, file.executable);
    }
}

#[test]
fn edits_of_a_user_are_kept_and_the_rest_is_upgraded() {
    let dir = old("one");
    let untouched = old("one");
    let more = |dir: &TempDir| {
        live_in(dir);
        replace(
            dir,
            "Cargo.toml",
            "serde_json = \"1\"\n",
            "serde_json = \"1\"\nmy-library = \"2\"\n",
        );
        let mine = "\n[[package]]\nname = \"zz-my-library\"\nversion = \"2.0.0\"\n";
        fs::write(dir.path().join("Cargo.lock"), read(dir, "Cargo.lock") + mine).unwrap();
        fs::write(dir.path().join("src/mine.rs"), "// Mine.\n").unwrap();
    };
    more(&dir);
    kubewright(dir.path(), &["upgrade"]).succeeds();
    kubewright(untouched.path(), &["upgrade"]).succeeds();
    // As if the user had edited a project of this release.
    more(&untouched);
    assert_same(&tree(untouched.path()), &tree(dir.path()));
    assert!(read(&dir, "README.md").contains("kubewright upgrade"));
    kubewright(dir.path(), &["sync"]).succeeds();
    create(dir.path(), "test", "Second").succeeds();
}

#[test]
fn an_upgrade_brings_make_sim_to_a_project_with_edits() {
    let dir = old("one");
    live_in(&dir);
    assert!(!read(&dir, "Makefile").contains("\nsim:"));
    assert!(!dir.path().join("dev/src/sim.rs").exists() && !dir.path().join("src/lib.rs").exists());
    kubewright(dir.path(), &["upgrade"]).succeeds();
    let makefile = read(&dir, "Makefile");
    assert!(makefile.contains("\nsim: manifests ##"), "{makefile}");
    assert!(
        makefile.contains("--package dev --features sim --bin sim --"),
        "{makefile}"
    );
    assert!(read(&dir, "dev/Cargo.toml").contains("name = \"sim\"\n"));
    // The program registers the controllers of the project, which its library has from now on.
    assert!(read(&dir, "dev/src/sim.rs").contains("controllers::register(&manager, &app)"));
    assert!(read(&dir, "src/lib.rs").contains("pub mod app;\npub mod controllers;\n"));
    let main = read(&dir, "src/main.rs");
    assert!(
        main.contains("use operator::{app, controllers};") && main.contains("/// Our flags."),
        "{main}"
    );
    assert!(
        !main.contains("\nmod app;") && !main.contains("\nmod controllers;"),
        "{main}"
    );
}

#[test]
fn a_kind_that_an_earlier_release_added_on_another_branch_is_upgraded_after_the_merge() {
    let dir = old("one");
    let earlier = tree(dir.path());
    kubewright(dir.path(), &["upgrade"]).succeeds();
    let upgraded = tree(dir.path());
    let of_kind = |path: &str| path.contains("foobar") && !path.starts_with("crates/");
    let merged: Vec<_> = earlier
        .iter()
        .filter(|(path, file)| of_kind(path) && upgraded.get(*path).is_some_and(|now| now != *file))
        .collect();
    assert!(merged.iter().any(|(path, _)| path.ends_with(".rs")));
    for (path, file) in merged {
        fs::write(dir.path().join(path), &file.bytes).unwrap();
    }
    assert!(
        kubewright(dir.path(), &["sync"])
            .succeeds()
            .stderr
            .contains("nothing to do")
    );
    let own = format!("version: {}", Release::own());
    replace(&dir, "PROJECT", &own, "version: 0.1.0");
    kubewright(dir.path(), &["upgrade"]).succeeds();
    assert_same(&upgraded, &tree(dir.path()));
}

#[test]
fn line_ends_of_windows_are_kept() {
    let dir = old("one");
    for (path, file) in tree(dir.path()) {
        if !path.starts_with("crates/") {
            let text = String::from_utf8(file.bytes).unwrap().replace('\n', "\r\n");
            fs::write(dir.path().join(path), text).unwrap();
        }
    }
    replace(&dir, "README.md", "# foobar-operator\r\n", "# Our operator\r\n");
    kubewright(dir.path(), &["upgrade"]).succeeds();
    for path in ["README.md", "PROJECT", "src/controllers/mod.rs"] {
        let text = read(&dir, path);
        assert!(!text.replace("\r\n", "").contains('\n'), "{path}");
    }
    assert!(read(&dir, "README.md").contains("kubewright upgrade"));
    assert!(
        kubewright(dir.path(), &["upgrade"])
            .succeeds()
            .stderr
            .contains("nothing to do")
    );
}

#[test]
fn lines_that_both_changed_are_conflicts_which_are_resolved_once() {
    let dir = old("one");
    replace(&dir, "README.md", BEFORE_ADDED, "# add a kind\nmake everything\n");
    let planned =
        kubewright(dir.path(), &["upgrade", "--dry-run"]).refuses(1, &["would write conflict markers: `README.md`"]);
    assert!(planned.stdout.contains("+<<<<<<< yours\n"), "{}", planned.stdout);
    let run = kubewright(dir.path(), &["upgrade"]);
    let own = Release::own();
    let said = format!(
        "the project is upgraded to kubewright {own}, with conflicts between your changes and those of the release: `README.md`"
    );
    let run = run.refuses(1, &[&said, "hint: edit it: keep what you want"]);
    assert!(
        run.stdout.contains("update README.md\n") && run.stdout.contains("update PROJECT\n"),
        "{}",
        run.stdout
    );
    let text = read(&dir, "README.md");
    let markers = [
        "<<<<<<< yours\nmake everything\n",
        "||||||| kubewright 0.1.0\n=======\n",
        &format!(">>>>>>> kubewright {own}\n"),
    ];
    assert!(markers.iter().all(|marker| text.contains(*marker)), "{text}");
    // All other files are of this release.
    let mut rest = fresh(dir.path());
    let mut found = tree(dir.path());
    rest.remove("README.md");
    found.remove("README.md");
    assert_same(&rest, &found);

    let before = tree(dir.path());
    kubewright(dir.path(), &["upgrade"]).refuses(1, &["conflict markers of an earlier merge: `README.md`"]);
    assert!(before == tree(dir.path()));
    let resolved: Vec<_> = text
        .lines()
        .filter(|line| {
            !["<<<<<<<", "|||||||", "=======", ">>>>>>>"]
                .iter()
                .any(|mark| line.starts_with(mark))
        })
        .collect();
    fs::write(dir.path().join("README.md"), resolved.join("\n")).unwrap();
    assert!(
        kubewright(dir.path(), &["upgrade"])
            .succeeds()
            .stderr
            .contains("nothing to do")
    );
}

#[test]
fn conflicts_of_an_earlier_merge_are_resolved_first() {
    let dir = old("one");
    replace(
        &dir,
        "src/main.rs",
        "mod app;\n",
        "<<<<<<< HEAD\nmod app;\n=======\nmod apps;\n>>>>>>> branch\n",
    );
    let before = tree(dir.path());
    kubewright(dir.path(), &["upgrade"]).refuses(1, &["conflict markers of an earlier merge: `src/main.rs`"]);
    assert!(before == tree(dir.path()));
}

#[test]
fn an_edited_crate_is_refused_with_its_edits_until_it_is_ejected() {
    let dir = old("one");
    let lib = "crates/runtime/src/lib.rs";
    fs::write(dir.path().join(lib), read(&dir, lib) + "// A fix of ours.\n").unwrap();
    fs::write(dir.path().join("crates/runtime/src/ours.rs"), "// Ours.\n").unwrap();
    let before = tree(dir.path());
    let run = kubewright(dir.path(), &["upgrade"]).refuses(
        1,
        &[
            "`crates/runtime` was edited since kubewright 0.1.0 wrote it",
            "own it with `kubewright eject runtime`",
        ],
    );
    assert!(
        run.stdout.contains("+++ b/crates/runtime/src/lib.rs\n"),
        "{}",
        run.stdout
    );
    let lines = ["+// A fix of ours.\n", "+// Ours.\n"];
    assert!(
        lines.iter().all(|line| run.stdout.contains(line)) && run.stdout.lines().count() < 40,
        "{}",
        run.stdout
    );
    assert!(before == tree(dir.path()));

    kubewright(dir.path(), &["eject", "runtime"]).succeeds();
    assert!(read(&dir, "PROJECT").contains("version: 0.1.0\n"));
    let run = kubewright(dir.path(), &["upgrade"]).succeeds();
    assert!(
        run.stderr
            .contains("`crates/runtime` is ejected, so it is not upgraded"),
        "{}",
        run.stderr
    );
    let after = tree(dir.path());
    let of_it = |tree: &Tree| {
        tree.clone()
            .into_iter()
            .filter(|(path, _)| path.starts_with("crates/runtime/") && path != "crates/runtime/VERSION")
            .collect::<Tree>()
    };
    assert_same(&of_it(&before), &of_it(&after));
    assert!(!after.contains_key("crates/runtime/VERSION"));
    assert_eq!(
        after["crates/schema/VERSION"],
        fresh(dir.path())["crates/schema/VERSION"]
    );
}

#[test]
fn a_crate_whose_hash_was_forged_counts_as_edited() {
    let dir = old("one");
    fs::write(dir.path().join("crates/runtime/src/lib.rs"), "").unwrap();
    let files = tree(&dir.path().join("crates/runtime"));
    let files = files.iter().filter(|(path, _)| *path != "VERSION");
    let texts = files
        .map(|(path, file)| (path.clone(), String::from_utf8(file.bytes.clone()).unwrap()))
        .collect();
    let line = kubewright::render::header::line("0.1.0", &kubewright::render::vendor::hash(&texts));
    fs::write(dir.path().join("crates/runtime/VERSION"), format!("# {line}\n")).unwrap();
    kubewright(dir.path(), &["upgrade"]).refuses(1, &["`crates/runtime` was edited"]);
}

#[test]
fn a_missing_crate_is_restored_unless_nothing_uses_it() {
    let dir = old("one");
    fs::remove_dir_all(dir.path().join("crates/schema")).unwrap();
    // As the README of a project says.
    fs::remove_dir_all(dir.path().join("crates/apiserver")).unwrap();
    fs::remove_dir_all(dir.path().join("dev")).unwrap();
    replace(&dir, "Cargo.toml", "\"dev\", ", "");
    let run = kubewright(dir.path(), &["upgrade"]).succeeds();
    assert!(run.stdout.contains("create crates/schema/\n"), "{}", run.stdout);
    assert!(!dir.path().join("crates/apiserver").exists() && !dir.path().join("dev").exists());
    assert!(read(&dir, "crates/schema/VERSION").contains(&Release::own().to_string()));
}

#[test]
fn an_edited_managed_file_is_refused_and_an_ejected_one_stays() {
    let dir = old("one");
    let registry = "src/controllers/mod.rs";
    let original = read(&dir, registry);
    fs::write(dir.path().join(registry), original.clone() + "// mine\n").unwrap();
    let before = tree(dir.path());
    kubewright(dir.path(), &["upgrade"]).refuses(1, &["`src/controllers/mod.rs` was edited by hand"]);
    assert!(before == tree(dir.path()));
    let ejected = original
        .lines()
        .skip(1)
        .map(|line| format!("{line}\n"))
        .collect::<String>()
        + "// mine\n";
    fs::write(dir.path().join(registry), &ejected).unwrap();
    kubewright(dir.path(), &["upgrade"]).succeeds();
    assert_eq!(read(&dir, registry), ejected);
}

#[test]
fn new_files_of_a_git_host_leave_those_of_the_user_as_they_are() {
    let dir = old("one");
    let file = ".github/workflows/release.yml";
    assert!(!dir.path().join(file).exists());
    fs::write(dir.path().join(file), "on: push\n").unwrap();
    let run = kubewright(dir.path(), &["upgrade"]).succeeds();
    let note = format!("kept `{file}`, which was there\n");
    assert!(run.stderr.contains(&note), "{}", run.stderr);
    assert_eq!(read(&dir, file), "on: push\n");
}

#[test]
fn no_workflow_for_releases_is_added_that_would_call_none() {
    let dir = old("one");
    let [ci, renamed, release] = ["ci", "build", "release"].map(|name| format!(".github/workflows/{name}.yml"));
    fs::rename(dir.path().join(ci), dir.path().join(renamed)).unwrap();
    let run = kubewright(dir.path(), &["upgrade"]).succeeds();
    let note = format!("left out `{release}`, because it calls");
    assert!(run.stderr.contains(&note), "{}", run.stderr);
    assert!(!dir.path().join(release).exists());
}

#[test]
fn a_dry_run_shows_the_upgrade_and_writes_nothing() {
    let dir = old("one");
    let before = tree(dir.path());
    let run = kubewright(dir.path(), &["upgrade", "--dry-run"]).succeeds();
    let own = Release::own();
    for line in [
        "replaced crate crates/runtime (",
        "-version: 0.1.0\n",
        &format!("+version: {own}\n"),
        "+++ b/README.md\n",
    ] {
        assert!(run.stdout.contains(line), "`{line}` is not in {}", run.stdout);
    }
    // A lock file has as many lines as the packages of the release need.
    let files = run
        .stdout
        .split("\n--- ")
        .filter(|file| !file.starts_with("a/Cargo.lock\n"));
    let lines: usize = files.map(|file| file.lines().count()).sum();
    assert!(lines < 1_700, "{lines}");
    assert!(
        run.stderr
            .contains(&format!("an upgrade from 0.1.0 to {own} makes these changes")),
        "{}",
        run.stderr
    );
    assert!(before == tree(dir.path()));
}

#[test]
fn only_earlier_releases_that_are_known_are_upgraded() {
    let own = Release::own().to_string();
    let cases = [
        (
            "999.1.0",
            "this project was written by kubewright 999.1.0, and this is the earlier kubewright",
            "--tag v999.1.0",
        ),
        (
            "0.0.7",
            "does not have the templates of 0.0.7",
            "it upgrades projects of `0.1.0`",
        ),
        ("0.1", "not a release", ""),
    ];
    for (version, error, hint) in cases {
        let dir = old("none");
        replace(&dir, "PROJECT", "version: 0.1.0", &format!("version: {version}"));
        let before = tree(dir.path());
        kubewright(dir.path(), &["upgrade"]).refuses(1, &[error, hint]);
        assert!(before == tree(dir.path()));
    }
    let dir = old("none");
    for target in ["0.1.0", "999.0.0"] {
        let said = format!("upgrades projects to {own}, not to {target}");
        kubewright(dir.path(), &["upgrade", "--to", target]).refuses(1, &[&said, &format!("--tag v{target}")]);
    }
    kubewright(dir.path(), &["upgrade", "--to", "soon"]).refuses(2, &["is not a release of kubewright"]);
    kubewright(dir.path(), &["upgrade", "--to", &own]).succeeds();
}

#[test]
fn other_commands_refuse_an_earlier_project_and_name_the_upgrade() {
    let dir = old("one");
    let before = tree(dir.path());
    for args in [
        &["sync"][..],
        &["plan"],
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
    ] {
        kubewright(dir.path(), args).refuses(
            1,
            &["this project was written by kubewright 0.1.0", "`kubewright upgrade`"],
        );
    }
    let run = kubewright(dir.path(), &["doctor"]).succeeds();
    assert!(
        run.stdout
            .contains("its crates differ from this release's: `crates/apiserver` of 0.1.0"),
        "{}",
        run.stdout
    );
    assert!(before == tree(dir.path()));
    kubewright(dir.path(), &["upgrade"]).succeeds();
    let run = kubewright(dir.path(), &["doctor"]).succeeds();
    assert!(!run.stdout.contains("crates"), "{}", run.stdout);
}

#[test]
fn the_users_own_templates_stay_in_force() {
    let dir = old("none");
    let templates = tempfile::tempdir().unwrap();
    fs::create_dir_all(templates.path().join("project")).unwrap();
    fs::write(
        templates.path().join("project/README.md.tera"),
        "Ours: {{ project.name }}.\n",
    )
    .unwrap();
    fs::write(dir.path().join("README.md"), "Ours, edited.\n").unwrap();
    kubewright(
        dir.path(),
        &["upgrade", "--templates", templates.path().to_str().unwrap()],
    )
    .succeeds();
    assert_eq!(read(&dir, "README.md"), "Ours, edited.\n");
    assert!(read(&dir, "PROJECT").contains("templates:"));
    assert!(read(&dir, "AGENTS.md").contains("kubewright upgrade"));
}

/// The output of a run, without the list of changed files.
fn printed(dir: &TempDir, args: &[&str]) -> String {
    let run = kubewright(dir.path(), args);
    let is_listed = |line: &&str| {
        ["create ", "update ", "delete "]
            .iter()
            .any(|verb| line.starts_with(verb))
    };
    let stdout: String = run
        .stdout
        .lines()
        .filter(|line| !is_listed(line))
        .map(|line| format!("{line}\n"))
        .collect();
    format!(
        "$ kubewright {}\n{stdout}{}? {}\n\n",
        args.join(" "),
        run.stderr,
        run.code.unwrap()
    )
}

#[test]
fn what_an_upgrade_prints_is_as_committed() {
    let mut text = String::new();
    let dir = old("one");
    replace(&dir, "README.md", BEFORE_ADDED, "# add a kind\nmake everything\n");
    fs::remove_file(dir.path().join("AGENTS.md")).unwrap();
    replace(
        &dir,
        "crates/runtime/src/lib.rs",
        "mod worker;\n",
        "mod worker; // ours\n",
    );
    for args in [
        &["sync"][..],
        &["upgrade"],
        &["eject", "runtime"],
        &["upgrade"],
        &["upgrade"],
    ] {
        text.push_str(&printed(&dir, args));
    }
    text.push_str(&printed(&old("one"), &["upgrade"]));
    let newer = old("none");
    replace(&newer, "PROJECT", "version: 0.1.0", "version: 999.0.0");
    text.push_str(&printed(&newer, &["upgrade"]));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/releases/printed.txt");
    if std::env::var_os("KUBEWRIGHT_BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(
        fs::read_to_string(&path).unwrap_or_default(),
        text,
        "to accept it, set KUBEWRIGHT_BLESS=1"
    );
}
