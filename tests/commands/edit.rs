//! `kubewright edit`: the project gets another scope or licence, and edits of the author survive it.

use crate::cli::{self, Tree, assert_same, kubewright, project_without_crates, read, tree};
use std::fs;
use std::path::Path;

/// The settings of a project, as flags of `init` and `edit`.
const SETTINGS: [&[&str]; 5] = [
    &["--namespaced=false", "--license=none", "--owner=A", "--year=2026"],
    &["--namespaced=true", "--license=none", "--owner=A", "--year=2026"],
    &["--namespaced=true", "--license=mit", "--owner=A", "--year=2026"],
    &["--namespaced=false", "--license=apache2", "--owner=B", "--year=2026"],
    &[
        "--namespaced=false",
        "--license=mit",
        "--owner=Jane \"J\" Doe",
        "--year=1999",
    ],
];

/// A project with kinds of several patterns, made with these settings.
fn made(settings: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let flags = settings.iter().filter_map(|flag| match *flag {
        "--namespaced=false" => None,
        "--namespaced=true" => Some("--namespaced"),
        flag => Some(flag),
    });
    let init = ["init", "--domain=example.com", "--project-name=foobar-operator"];
    let args: Vec<_> = init.into_iter().chain(flags).collect();
    kubewright(dir.path(), &args).succeeds();
    for kind in [
        &["--version=v1", "--kind=FooBar"][..],
        &[
            "--version=v1",
            "--kind=Greeter",
            "--pattern=deployment",
            "--image=app:1",
        ],
    ] {
        let create = ["create", "api", "--group=test"];
        kubewright(dir.path(), &[&create, kind].concat()).succeeds();
    }
    dir
}

fn edit(dir: &Path, flags: &[&str]) -> cli::Run {
    kubewright(dir, &[&["edit"], flags].concat())
}

fn write(dir: &Path, file: &str, text: &str) {
    fs::write(dir.join(file), text).unwrap();
}

fn rust(tree: &Tree) -> impl Iterator<Item = &String> {
    let own = |path: &&String| path.ends_with(".rs") && !path.starts_with("crates/");
    tree.keys().filter(own)
}

#[test]
fn an_edited_project_is_the_one_that_init_makes_with_these_settings() {
    let wanted = SETTINGS.map(|settings| tree(made(settings).path()));
    let dir = made(SETTINGS[0]);
    let start = tree(dir.path());
    edit(dir.path(), &[SETTINGS[3], &["--dry-run"]].concat()).succeeds();
    assert_same(&start, &tree(dir.path()));
    // One setting, and several together, there and back.
    for at in [1, 0, 1, 2, 3, 4, 0] {
        edit(dir.path(), SETTINGS[at]).succeeds();
        assert_same(&wanted[at], &tree(dir.path()));
    }
    let again = edit(dir.path(), SETTINGS[0]).succeeds();
    assert!(
        again.stderr.contains("nothing to do") && again.stdout.is_empty(),
        "{}",
        again.stderr
    );
}

#[test]
fn settings_that_are_left_out_stay() {
    let dir = made(SETTINGS[2]);
    edit(dir.path(), &["--owner", "B"]).succeeds();
    let text = read(dir.path(), "PROJECT");
    for line in ["namespaced: true", "license: mit", "owner: B", "year: 2026"] {
        assert!(text.contains(line), "{text}");
    }
    assert!(read(dir.path(), "LICENSE").contains("2026 B"));
    assert!(read(dir.path(), "src/main.rs").starts_with("// Copyright 2026 B\n// SPDX-License-Identifier: MIT\n\n"));
}

#[test]
fn edits_stay_where_they_are_and_only_the_header_above_them_changes() {
    let dir = made(SETTINGS[2]);
    let before = tree(dir.path());
    let edited: Vec<String> = rust(&before).cloned().collect();
    for (at, file) in edited.iter().enumerate() {
        let text = read(dir.path(), file);
        if text.contains("@generated") {
            continue;
        }
        // At the first line below the header, where a merge of lines would see a conflict; with line ends of Windows.
        let mine = text.replacen("\n\n", "\n\n//! Mine.\n", 1) + "// mine\n";
        let mine = if at % 2 == 0 { mine.replace('\n', "\r\n") } else { mine };
        write(dir.path(), file, &mine);
    }
    let before = tree(dir.path());
    let run = edit(dir.path(), &["--license", "apache2", "--owner", "B"]).succeeds();
    assert!(!run.stderr.contains("by hand"), "{}", run.stderr);
    for file in &edited {
        let text = |tree: &Tree| String::from_utf8(tree[file].bytes.clone()).unwrap();
        let wanted =
            text(&before)
                .replacen("2026 A", "2026 B", 1)
                .replacen("Identifier: MIT", "Identifier: Apache-2.0", 1);
        assert_eq!(read(dir.path(), file), wanted, "{file}");
    }
    assert!(read(dir.path(), "LICENSE").contains("Apache License"));
}

#[test]
fn a_file_with_another_header_is_named_and_not_changed() {
    let dir = project_without_crates();
    let (acme, app) = ("// Copyright 2019 ACME\n\n", read(dir.path(), "src/app.rs"));
    write(dir.path(), "src/app.rs", &format!("{acme}{app}"));
    let run = edit(dir.path(), &["--license", "mit", "--owner", "A"]).succeeds();
    for line in [
        "`src/app.rs` is yours and was not changed; make these changes by hand:",
        "+ // Copyright 2026 A",
        "+ // SPDX-License-Identifier: MIT",
    ] {
        assert!(run.stderr.contains(line), "{}", run.stderr);
    }
    assert_eq!(read(dir.path(), "src/app.rs"), format!("{acme}{app}"));
    // Once that is done, nothing is left to say; and without a licence the header goes, but for what was there before.
    write(
        dir.path(),
        "src/app.rs",
        &format!("{acme}// Copyright 2026 A\n// SPDX-License-Identifier: MIT\n\n{app}"),
    );
    let run = edit(dir.path(), &["--license", "none"]).succeeds();
    assert!(!run.stderr.contains("src/app.rs"), "{}", run.stderr);
    assert_eq!(read(dir.path(), "src/app.rs"), format!("{acme}{app}"));
}

#[test]
fn the_headers_of_deleted_files_are_not_printed() {
    let dir = project_without_crates();
    fs::remove_file(dir.path().join("src/app.rs")).unwrap();
    let run = edit(dir.path(), &["--license", "mit", "--owner", "A"]).succeeds();
    assert!(!run.stderr.contains("src/app.rs"), "{}", run.stderr);
    fs::remove_file(dir.path().join("LICENSE")).unwrap();
    let run = edit(dir.path(), &["--license", "apache2"]).succeeds();
    assert!(run.stderr.contains("`LICENSE` would change"), "{}", run.stderr);
}

#[test]
fn an_edited_licence_stays_and_one_of_the_author_is_not_replaced() {
    let dir = made(SETTINGS[2]);
    let mine = read(dir.path(), "LICENSE") + "\nAnd be nice.\n";
    write(dir.path(), "LICENSE", &mine);
    let run = edit(dir.path(), &["--license", "apache2"]).succeeds();
    assert!(run.stderr.contains("kept `LICENSE`"), "{}", run.stderr);
    edit(dir.path(), &["--license", "none"]).succeeds();
    assert_eq!(read(dir.path(), "LICENSE"), mine);
    let before = tree(dir.path());
    edit(dir.path(), &["--license", "mit"]).refuses(1, &["`LICENSE` exists already, with other contents"]);
    assert_same(&before, &tree(dir.path()));
}

#[test]
fn edits_are_merged_into_another_scope_and_lines_to_change_are_printed_where_they_are_in_the_way() {
    let dir = project_without_crates();
    let main = read(dir.path(), "src/main.rs");
    let mine = main.replace("use clap::Parser;", "use clap::Parser; // mine");
    write(dir.path(), "src/main.rs", &mine);
    let readme = read(dir.path(), "README.md");
    write(dir.path(), "README.md", "# Mine\n");
    let run = edit(dir.path(), &["--namespaced"]).succeeds();
    let now = read(dir.path(), "src/main.rs");
    assert_eq!(now.replace("        .namespaced()\n", ""), mine);
    assert_ne!(now, mine);
    assert!(
        run.stderr.contains("`README.md` is yours") && run.stderr.contains("+ The operator works in"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr
            .contains("clusterrolebinding/foobar-operator-manager-rolebinding"),
        "{}",
        run.stderr
    );
    edit(dir.path(), &["--namespaced=false"]).succeeds();
    assert_eq!(read(dir.path(), "src/main.rs"), mine);
    assert_ne!(read(dir.path(), "README.md"), readme);
}

#[test]
fn the_objects_to_delete_have_the_names_that_config_default_gives_them() {
    let dir = project_without_crates();
    let path = "config/default/kustomization.yaml";
    let mine = read(dir.path(), path)
        .replace("namespace: foobar-operator-system", "namespace: ops")
        .replace("namePrefix: foobar-operator-", "namePrefix: prod-");
    write(dir.path(), path, &mine);
    let run = edit(dir.path(), &["--namespaced"]).succeeds();
    let wanted = "kubectl delete clusterrolebinding/prod-manager-rolebinding clusterrole/prod-manager-role\n";
    assert!(run.stderr.contains(wanted), "{}", run.stderr);
    let run = edit(dir.path(), &["--namespaced=false"]).succeeds();
    let wanted = "kubectl delete --namespace ops rolebinding/prod-manager-rolebinding role/prod-manager-role\n";
    assert!(run.stderr.contains(wanted), "{}", run.stderr);
}

#[test]
fn a_project_with_what_needs_the_whole_cluster_does_not_become_namespaced() {
    let dir = made(SETTINGS[0]);
    let of = ["--group=test", "--version=v1", "--kind=Galaxy"];
    kubewright(dir.path(), &[&["create", "api", "--cluster"], &of[..]].concat()).succeeds();
    let hook = ["create", "webhook", "--kind=Greeter", "--validation"];
    kubewright(dir.path(), &hook).succeeds();
    let before = tree(dir.path());
    edit(dir.path(), &["--namespaced"]).refuses(
        1,
        &[
            "the project cannot be namespaced",
            "`Galaxy` is cluster-scoped",
            "`Greeter` has webhooks",
            "hint: delete these first",
        ],
    );
    assert_same(&before, &tree(dir.path()));
}

#[test]
fn flags_of_the_project_and_a_controller_are_two_commands() {
    let dir = made(SETTINGS[0]);
    let controller = ["controller", "greeter", "--version=v1"];
    edit(dir.path(), &[&["--namespaced"], &controller[..]].concat()).refuses(2, &["does not change the project"]);
    edit(dir.path(), &controller).succeeds();
    edit(dir.path(), &["--dry-run"]).refuses(2, &["nothing to change"]);
}

#[cfg(unix)]
#[test]
fn files_that_are_replaced_keep_their_modes_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let dir = made(SETTINGS[0]);
    let modes = [("src/main.rs", 0o600), ("PROJECT", 0o640), ("Cargo.toml", 0o664)];
    for (file, mode) in modes {
        fs::set_permissions(dir.path().join(file), fs::Permissions::from_mode(mode)).unwrap();
    }
    let before = modes.map(|(file, _)| read(dir.path(), file));
    // The umask belongs to the process.
    let output = std::process::Command::new("sh")
        .args(["-c", "umask 077; exec \"$@\"", "sh", cli::binary()])
        .args(["edit", "--license=mit", "--owner=B"])
        .current_dir(dir.path())
        .output();
    cli::Run::of(output.unwrap()).succeeds();
    for ((file, mode), before) in modes.into_iter().zip(before) {
        assert_ne!(read(dir.path(), file), before, "{file} is replaced");
        let found = fs::metadata(dir.path().join(file)).unwrap().permissions().mode() & 0o777;
        assert_eq!(found, mode, "{file}: {found:o} instead of {mode:o}");
    }
}

#[test]
fn the_lines_that_a_webhook_needs_in_files_that_were_moved_are_printed() {
    let dir = project_without_crates();
    cli::create(dir.path(), "test", "FooBar").succeeds();
    let moved = ["src/main.rs", "config/default/kustomization.yaml"];
    for file in moved {
        fs::rename(dir.path().join(file), dir.path().join(format!("{file}.moved"))).unwrap();
    }
    let args = ["create", "webhook", "--group=test", "--kind=FooBar", "--validation"];
    let run = kubewright(dir.path(), &args).succeeds();
    for file in moved {
        let note = format!("`{file}` is deleted or moved; make these changes by hand where its code is now:\n");
        assert!(run.stderr.contains(&note), "{}", run.stderr);
    }
    for line in ["  webhooks::register(manager, &app)?;\n", "\n  +   - ../webhook\n"] {
        assert!(run.stderr.contains(line), "{line}: {}", run.stderr);
    }
}

#[test]
fn a_lock_with_conflict_markers_is_refused_by_each_command_that_would_merge_it() {
    let dir = cli::project();
    cli::create(dir.path(), "test", "FooBar").succeeds();
    let webhook = |verb| [verb, "webhook", "--group=test", "--kind=FooBar", "--validation"];
    let conflict = || {
        let lock = read(dir.path(), "Cargo.lock");
        let conflict = format!("<<<<<<< HEAD\n[[package]]\n=======\n[[package]]\n>>>>>>> other\n{lock}");
        write(dir.path(), "Cargo.lock", &conflict);
        let before = tree(dir.path());
        (lock, before)
    };
    let refused = |args: &[&str]| {
        let (lock, before) = conflict();
        let hint = "`Cargo.lock` has merge conflict markers\n\nhint: take the lock of one side with `git -C ";
        kubewright(dir.path(), args).refuses(1, &[hint]);
        assert_same(&before, &tree(dir.path()));
        write(dir.path(), "Cargo.lock", &lock);
    };
    refused(&webhook("create"));
    refused(&["sync", "--crates", "registry"]);
    kubewright(dir.path(), &webhook("create")).succeeds();
    refused(&webhook("delete"));
}
