//! Inputs of commands: which are accepted, which are asked for, and which are refused with a reason.

#[path = "../inputs/options.rs"]
mod options;

use crate::cli::{self, assert_same, create, kubewright, project, project_without_crates, read, tree};
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

/// Runs a command in a terminal, with these answers. Returns what it printed; `None` where there is no program for terminals.
fn on_a_terminal(dir: &Path, command: &str, answers: &str) -> Option<String> {
    let line = format!("'{}' --dir '{}' {command}", cli::binary(), dir.display());
    let mut script = match std::process::Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
    {
        Ok(script) => script,
        Err(error) => {
            cli::skip(&format!("no terminal is available here, `script` says {error}"));
            return None;
        }
    };
    std::io::Write::write_all(&mut script.stdin.take().unwrap(), answers.as_bytes()).unwrap();
    let output = script.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    Some(text)
}

#[test]
fn missing_inputs_are_asked_for_on_a_terminal() {
    let dir = project_without_crates();
    // The default version, an invalid kind, and a valid one.
    let Some(text) = on_a_terminal(dir.path(), "create api --group test", "\rfoo\rFooBar\r") else {
        return;
    };
    assert!(
        text.contains("Version [v1]") && text.contains("must start with an upper case letter"),
        "{text}"
    );
    assert!(dir.path().join("api/src/test/v1/foobar.rs").exists());
}

#[test]
fn code_is_deleted_on_a_terminal_only_after_a_question() {
    let dir = project_without_crates();
    create(dir.path(), "test", "FooBar").succeeds();
    let webhook = [
        "create",
        "webhook",
        "--group",
        "test",
        "--kind",
        "FooBar",
        "--validation",
    ];
    kubewright(dir.path(), &webhook).succeeds();
    let before = cli::tree(dir.path());
    let api = "delete api --group test --version v1 --kind FooBar";
    let Some(text) = on_a_terminal(dir.path(), api, "n\r") else {
        return;
    };
    assert!(
        text.contains("`api/src/test/v1/foobar.rs`") && text.contains("(y/n)"),
        "{text}"
    );
    let hooks = "delete webhook --group test --kind FooBar";
    on_a_terminal(dir.path(), hooks, "\r");
    assert!(cli::tree(dir.path()) == before, "nothing is deleted");
    on_a_terminal(dir.path(), hooks, "y\r");
    assert!(!dir.path().join("src/webhooks/foobar.rs").exists());
    on_a_terminal(dir.path(), &format!("{api} --yes"), "");
    assert!(!dir.path().join("api/src/test/v1/foobar.rs").exists());
}

#[test]
fn yes_asks_nothing_on_a_terminal() {
    for (command, refused) in [
        ("create webhook --kind FooBar --yes", Some("none of `--defaulting`")),
        ("delete webhook --kind FooBar --yes", None),
        ("delete api --group test --version v1 --kind FooBar --yes", None),
    ] {
        let dir = project_without_crates();
        create(dir.path(), "test", "FooBar").succeeds();
        let webhook = ["create", "webhook", "--kind", "FooBar", "--validation"];
        kubewright(dir.path(), &webhook).succeeds();
        let before = tree(dir.path());
        // A question would get the answer `n`.
        let line = match refused {
            None => command.to_owned(),
            Some(_) => format!("{command} || true"),
        };
        let Some(text) = on_a_terminal(dir.path(), &line, "n\r") else {
            return;
        };
        assert!(!text.contains("(y/n)") && !text.contains("Types, by"), "{text}");
        assert!(refused.is_none_or(|words| text.contains(words)), "{text}");
        assert_eq!(tree(dir.path()) == before, refused.is_some(), "{command}");
    }
}

#[test]
fn one_kind_in_two_groups_gets_two_controllers() {
    let dir = project_without_crates();
    create(dir.path(), "test", "FooBar").succeeds();
    create(dir.path(), "other", "FooBar").succeeds();
    assert!(dir.path().join("src/controllers/foobar.rs").exists());
    assert!(dir.path().join("src/controllers/other_foobar.rs").exists());
    create(dir.path(), "other", "FooBar").succeeds();
    // Each has children of its own, though the owners may have one name.
    assert_eq!(suffixes(dir.path()), ["foobar: foobar", "other_foobar: other-foobar"]);
    // As two branches would, of which each has one of the kinds.
    let recorded = read(dir.path(), "PROJECT");
    let merged = recorded.replace(", childSuffix: other-foobar", "");
    for (project, is_named) in [(merged, true), (recorded, false)] {
        fs::write(dir.path().join("PROJECT"), project).unwrap();
        let said = kubewright(dir.path(), &["sync"]).succeeds().stderr;
        let note = "children of controllers `foobar` and `other_foobar` have one name";
        assert_eq!(said.contains(note), is_named, "{said}");
    }
    // The sample of the first stays as it was written, and that of the second does when the first is deleted.
    let sample = read(dir.path(), "config/samples/other_v1_foobar.yaml");
    assert!(sample.contains("name: other-foobar-sample"), "{sample}");
    for group in ["test", "other"] {
        let delete = ["delete", "api", "--group", group, "--version", "v1", "--kind", "FooBar"];
        let run = kubewright(dir.path(), &delete).succeeds();
        assert!(!run.stderr.contains("kept"), "{}", run.stderr);
    }
}

#[test]
fn the_names_of_children_are_valid_whatever_the_controllers_are_called() {
    let dir = project_without_crates();
    create(dir.path(), "test", "FooBar").succeeds();
    let named = |name: &str, more: &[&str]| {
        let args = [&["--resource=false", "--controller-name", name], more].concat();
        kubewright(dir.path(), &api("create", &args)).succeeds();
    };
    named("my_second", &[]);
    named("audit", &[]);
    // Of another kind, with the name of a controller above.
    create(dir.path(), "test", "Audit").succeeds();
    let expected = [
        "audit: audit",
        "foobar: foobar",
        "my_second: my-second",
        "test_audit: test-audit",
    ];
    assert_eq!(suffixes(dir.path()), expected);
    // A controller that is started afresh keeps the names of its children, and the other files of its kind stay.
    let others = ["api/src/test/v1/foobar.rs", "src/controllers/foobar.rs"];
    let edited = others.map(|file| {
        let text = read(dir.path(), file) + "// mine\n";
        fs::write(dir.path().join(file), &text).unwrap();
        text
    });
    for pattern in ["minimal", "child"] {
        named("my_second", &["--pattern", pattern, "--force"]);
    }
    assert_eq!(suffixes(dir.path()), expected);
    assert_eq!(others.map(|file| read(dir.path(), file)), edited);
}

/// The controllers of the project, and what the names of their children end in.
fn suffixes(dir: &Path) -> Vec<String> {
    let of = |path: &String| {
        let name = path.strip_prefix("src/controllers/")?.strip_suffix(".rs")?;
        let file = read(dir, path);
        let (_, rest) = file.split_once("child_name(&object.name_any(), \"")?;
        Some(format!("{name}: {}", rest.split_once('"')?.0))
    };
    tree(dir).keys().filter_map(of).collect()
}

#[test]
fn a_kind_can_have_a_second_controller() {
    let dir = project_without_crates();
    create(dir.path(), "test", "FooBar").succeeds();
    let more = [
        "--resource=false",
        "--controller-name",
        "foobar-audit",
        "--pattern",
        "minimal",
    ];
    kubewright(dir.path(), &api("create", &more)).succeeds();
    assert!(dir.path().join("src/controllers/foobar_audit.rs").exists());
    kubewright(
        dir.path(),
        &[
            "create",
            "api",
            "--group",
            "test",
            "--version",
            "v1",
            "--kind",
            "Other",
            "--controller-name",
            "foobar_audit",
        ],
    )
    .refuses(1, &["controller `foobar_audit` exists already, for `FooBar`"]);
}

#[test]
fn inputs_that_kubernetes_would_refuse_are_refused() {
    let dir = project_without_crates();
    create(dir.path(), "test", "FooBar").succeeds();
    let refused = |args: &[&str], words: &[&str]| {
        kubewright(dir.path(), &[&["create", "api"], args].concat()).refuses(1, words);
    };
    let of = |kind: &'static str, more: &[&'static str]| {
        [&["--group", "test", "--version", "v1", "--kind", kind], more].concat()
    };
    refused(&of("Foobar", &[]), &["would both be called `foobars`"]);
    refused(
        &of("Other", &["--plural", "foobars"]),
        &["would both be called `foobars`"],
    );
    refused(
        &of("Other", &["--short-name", "foobar"]),
        &["would both be called `foobar`"],
    );
    refused(&of("FooBarList", &[]), &["list kind"]);
    refused(
        &[
            "--group",
            "other",
            "--version",
            "v1",
            "--kind",
            "Pod",
            "--resource=false",
        ],
        &["neither a kind of this project", "--group core --version v1 --kind Pod"],
    );
    create(dir.path(), "a-b", "One").succeeds();
    refused(
        &["--group", "a.b", "--version", "v1", "--kind", "Two"],
        &["would share the Rust module `a_b`"],
    );

    let own = tempfile::tempdir().unwrap();
    kubewright(
        own.path(),
        &["init", "--domain", "example.com", "--project-name", "x", "--namespaced"],
    )
    .succeeds();
    kubewright(own.path(), &api("create", &["--cluster"])).refuses(1, &["cannot be cluster-scoped"]);
}

#[test]
fn a_group_is_given_without_the_domain() {
    let dir = project_without_crates();
    let remedies = [
        ("test.example.com", "`--group test` makes `test.example.com`"),
        ("a.b.example.com", "`--group a.b` makes `a.b.example.com`"),
    ];
    for (group, remedy) in remedies {
        create(dir.path(), group, "FooBar").refuses(2, &[&format!("{group}.example.com"), remedy]);
    }
    create(dir.path(), "anexample.com", "FooBar").succeeds();
}

#[test]
fn the_domain_is_a_group_too() {
    let dir = project_without_crates();
    let before = tree(dir.path());
    create(dir.path(), "example.com", "FooBar").succeeds();
    let types = read(dir.path(), "api/src/example_com/v1/foobar.rs");
    assert!(types.contains("group = \"example.com\""), "{types}");
    let sample = read(dir.path(), "config/samples/example_com_v1_foobar.yaml");
    assert!(sample.contains("apiVersion: example.com/v1\n"), "{sample}");
    create(dir.path(), "test", "FooBar").succeeds();
    let rest = ["--version=v1", "--kind=FooBar"];
    for group in ["test", "example.com"] {
        kubewright(dir.path(), &[&["delete", "api", "--group", group], &rest[..]].concat()).succeeds();
    }
    assert_same(&before, &tree(dir.path()));
}

#[test]
fn all_missing_inputs_are_listed_together() {
    let dir = project_without_crates();
    kubewright(dir.path(), &["create", "api"]).refuses(2, &["`--group`, `--version`, `--kind` are missing"]);
    kubewright(dir.path(), &["create", "api", "--yes"]).refuses(2, &["`--group`, `--kind` are missing"]);
    kubewright(
        dir.path(),
        &["create", "api", "--yes", "--group", "test", "--kind", "FooBar"],
    )
    .succeeds();
    let empty = tempfile::tempdir().unwrap();
    kubewright(empty.path(), &["plan"]).refuses(1, &["has no `PROJECT` file", "`kubewright init` creates one"]);
    kubewright(&empty.path().join("none"), &["plan"]).refuses(1, &["is not a folder"]);
}

#[test]
fn a_note_names_the_line_that_an_outer_workspace_needs() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("Cargo.toml"),
        "[workspace]\nmembers = [\"ops/*\"]\nexclude = [\"old\"]\n",
    )
    .unwrap();
    let run = kubewright(&dir.path().join("ops/mine"), &["init", "--domain", "example.com"]).succeeds();
    assert!(
        run.stderr.contains(r#"exclude = ["old", "ops/mine"]"#),
        "{}",
        run.stderr
    );
    fs::write(
        dir.path().join("Cargo.toml"),
        "[workspace]\nmembers = [\"services/*/api\"]\n",
    )
    .unwrap();
    let run = kubewright(&dir.path().join("services/mine"), &["init", "--domain", "example.com"]).succeeds();
    assert!(run.stderr.contains(r#"exclude = ["services/mine"]"#), "{}", run.stderr);
    let run = kubewright(&dir.path().join("other/mine"), &["init", "--domain", "example.com"]).succeeds();
    assert!(!run.stderr.contains("exclude"), "{}", run.stderr);
}

#[test]
fn user_texts_are_never_parsed_as_templates() {
    let dir = tempfile::tempdir().unwrap();
    let owner = r#"{{ project.name }} "{% raw %}""#;
    kubewright(
        dir.path(),
        &[
            "init",
            "--domain",
            "example.com",
            "--project-name",
            "x",
            "--license",
            "mit",
            "--owner",
            owner,
        ],
    )
    .succeeds();
    let main = fs::read_to_string(dir.path().join("src/main.rs")).unwrap();
    assert!(main.lines().next().unwrap().ends_with(owner), "{main}");
    kubewright(dir.path(), &["sync"]).succeeds();
}

#[test]
fn own_templates_replace_built_in_ones_and_their_changes_are_detected() {
    let dir = tempfile::tempdir().unwrap();
    let (own, target) = (dir.path().join("own"), dir.path().join("project"));
    let write = |text: &str| {
        fs::create_dir_all(own.join("project/docs")).unwrap();
        fs::write(own.join("project/docs/house.md.tera"), text).unwrap();
    };
    write("{# managed #}\nThe house rules of {{ project.name }}.\n");
    let args = [
        "init",
        "--domain",
        "example.com",
        "--project-name",
        "x",
        "--templates",
        own.to_str().unwrap(),
    ];
    kubewright(&target, &args).succeeds();
    let text = fs::read_to_string(target.join("docs/house.md")).unwrap();
    assert!(text.ends_with("-->\nThe house rules of x.\n"), "{text}");
    assert!(
        fs::read_to_string(target.join("PROJECT"))
            .unwrap()
            .contains("path: ../own")
    );

    write("{# managed #}\nNew rules.\n");
    kubewright(&target, &["plan"]).refuses(1, &["the templates in `../own` have changed", "sync --templates"]);
    kubewright(&target, &["sync", "--templates", own.to_str().unwrap()]).succeeds();
    assert!(
        fs::read_to_string(target.join("docs/house.md"))
            .unwrap()
            .contains("New rules.")
    );
    write("{{ project.nam }}\n");
    kubewright(&target, &["sync", "--templates", own.to_str().unwrap()])
        .refuses(1, &["template `project/docs/house.md.tera` does not render"]);
    write("{# managed #}\nNew rules.\n");
    // Files of desktops and editors change nothing.
    for name in [".DS_Store", "._house.md.tera"] {
        fs::write(own.join("project/docs").join(name), [0, 255]).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("user@host.1:1", own.join("project/docs/.#house.md.tera")).unwrap();
    kubewright(&target, &["plan"]).succeeds();
}

#[test]
fn own_templates_with_line_ends_of_windows_render_as_those_with_others() {
    let dir = tempfile::tempdir().unwrap();
    let (own, target) = (dir.path().join("own"), dir.path().join("project"));
    fs::create_dir_all(own.join("project/docs")).unwrap();
    for (name, text) in [
        ("house", "{# managed #}\r\nThe rules\r\nof {{ project.name }}.\r\n"),
        ("seeded", "Notes.\r\n"),
    ] {
        fs::write(own.join(format!("project/docs/{name}.md.tera")), text).unwrap();
    }
    let folder = own.display().to_string();
    let init = ["init", "--domain", "example.com", "--project-name", "x", "--templates"];
    kubewright(&target, &[&init[..], &[&folder]].concat()).succeeds();
    let read = |name: &str| fs::read_to_string(target.join(name)).unwrap();
    assert!(
        read("docs/house.md").ends_with("-->\nThe rules\nof x.\n"),
        "{:?}",
        read("docs/house.md")
    );
    assert_eq!(read("docs/seeded.md"), "Notes.\n");
    assert!(
        kubewright(&target, &["sync"])
            .succeeds()
            .stderr
            .contains("nothing to do")
    );

    // In a checkout with line ends of Windows too.
    fs::write(
        target.join("docs/house.md"),
        read("docs/house.md").replace('\n', "\r\n"),
    )
    .unwrap();
    assert!(
        kubewright(&target, &["sync"])
            .succeeds()
            .stderr
            .contains("nothing to do")
    );
}

#[cfg(unix)]
#[test]
fn a_link_to_templates_is_recorded_as_their_folder() {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join("own");
    fs::create_dir_all(own.join("project/docs")).unwrap();
    fs::write(own.join("project/docs/house.md.tera"), "Rules.\n").unwrap();
    std::os::unix::fs::symlink(&own, dir.path().join("link")).unwrap();
    let target = dir.path().join("project");
    let link = dir.path().join("link").display().to_string();
    let args = [
        "init",
        "--domain",
        "example.com",
        "--project-name",
        "x",
        "--templates",
        &link,
    ];
    kubewright(&target, &args).succeeds();
    let registry = fs::read_to_string(target.join("PROJECT")).unwrap();
    assert!(registry.contains("path: ../own"), "{registry}");
    kubewright(&target, &["plan"]).succeeds();
}

#[test]
fn a_project_is_not_called_as_a_dependency() {
    for name in ["log", "kube", "tower"] {
        let dir = tempfile::tempdir().unwrap();
        kubewright(dir.path(), &["init", "--domain", "example.com", "--project-name", name])
            .refuses(2, &[&format!("is the package `{name}`"), "`--project-name`"]);
        assert!(!dir.path().join("PROJECT").exists());
    }
}

#[test]
fn without_a_name_the_controller_of_the_kinds_name_is_meant() {
    let dir = project_without_crates();
    create(dir.path(), "test", "FooBar").succeeds();
    let audit = ["--resource=false", "--controller-name", "audit", "--pattern", "minimal"];
    kubewright(dir.path(), &api("create", &audit)).succeeds();
    let before = fs::read(dir.path().join("src/controllers/audit.rs")).unwrap();
    let run = kubewright(dir.path(), &api("create", &[])).succeeds();
    assert!(run.stderr.contains("nothing to do"), "{}", run.stderr);
    let force = ["--force", "--yes", "--pattern", "deployment", "--image", "nginx:1"];
    kubewright(dir.path(), &api("create", &force)).succeeds();
    assert_eq!(fs::read(dir.path().join("src/controllers/audit.rs")).unwrap(), before);
    kubewright(dir.path(), &["create", "webhook", "--kind", "FooBar", "--validation"]).succeeds();
    assert!(dir.path().join("src/webhooks/foobar.rs").exists());

    let dir = project_without_crates();
    create(dir.path(), "test", "FooBar").succeeds();
    kubewright(dir.path(), &api("create", &audit)).succeeds();
    let registry = fs::read_to_string(dir.path().join("PROJECT")).unwrap();
    assert!(registry.contains("audit"), "{registry}");
}

#[test]
fn folders_and_units_of_templates_that_change_nothing_are_refused() {
    let dir = project_without_crates();
    let own = tempfile::tempdir().unwrap();
    let folder = own.path().join("none").display().to_string();
    let sync = || kubewright(dir.path(), &["sync", "--templates", &folder]);
    sync().refuses(1, &["is not a folder of templates"]);
    fs::create_dir_all(format!("{folder}/projects/docs")).unwrap();
    sync().refuses(1, &["is not a folder of templates: it has none"]);
    fs::write(format!("{folder}/projects/docs/house.md.tera"), "Rules.\n").unwrap();
    sync().refuses(
        1,
        &[
            "`projects/docs/house.md.tera`: `projects` is not a unit",
            "`kubewright plan --output json`",
        ],
    );
    fs::rename(format!("{folder}/projects"), format!("{folder}/project")).unwrap();
    sync().succeeds();
    let new = tempfile::tempdir().unwrap();
    let init = ["init", "--domain", "example.com", "--project-name", "x", "--templates"];
    let empty = own.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let empty = empty.display().to_string();
    kubewright(new.path(), &[&init[..], &[&empty]].concat()).refuses(1, &["it has none"]);
    assert!(!new.path().join("PROJECT").exists());
}

#[test]
fn a_project_of_another_release_is_refused_with_the_remedies() {
    let dir = project();
    let path = dir.path().join("PROJECT");
    let text = fs::read_to_string(&path).unwrap().replace("version: 0.", "version: 9.");
    fs::write(&path, text).unwrap();
    for args in [vec!["sync"], vec!["plan"], vec!["eject", "runtime"]] {
        kubewright(dir.path(), &args).refuses(
            1,
            &[
                "this project was written by kubewright 9.",
                "cargo install --locked --git https://github.com/kubewright/kubewright --tag v9.",
            ],
        );
    }
}

#[test]
fn a_second_version_shares_names_and_controller_with_the_first() {
    let dir = project_without_crates();
    let api = |command: &str, version: &str, more: &[&str]| {
        let args = [
            command,
            "api",
            "--group",
            "test",
            "--version",
            version,
            "--kind",
            "Datum",
        ];
        kubewright(dir.path(), &[&args, more].concat())
    };
    let read = |path: &str| std::fs::read_to_string(dir.path().join(path)).unwrap();
    api(
        "create",
        "v1",
        &["--plural", "datas", "--short-name", "dt", "--cluster"],
    )
    .succeeds();
    let note = "`v1` stays the version that is stored";
    assert!(api("create", "v2", &[]).succeeds().stderr.contains(note));
    let line = "kind: Datum, plural: datas, shortNames: [dt], cluster: true, \
                versions: [{version: v1}, {version: v2, storage: false}], controllers: [{name: datum, version: v1,";
    assert!(read("PROJECT").contains(line), "{}", read("PROJECT"));
    assert!(read("api/src/test/v2/datum.rs").contains("storage = false,"));
    assert!(!read("api/src/test/v1/datum.rs").contains("storage"));
    assert!(read("config/samples/test_v2_datum.yaml").contains("name: datum-sample-v2\n"));
    assert!(dir.path().join("tests/test_datum_v2.rs").exists());
    assert!(!dir.path().join("src/controllers/test_datum.rs").exists());
    assert!(api("create", "v2", &[]).succeeds().stderr.contains("nothing to do"));

    api("create", "v2", &["--controller"]).refuses(1, &["controller `datum` acts on `Datum` already, in version `v1`"]);
    let all = "in all its versions";
    api("create", "v3", &["--plural", "data"]).refuses(1, &["exists already, with the plural `datas`", all]);
    api("create", "v3", &["--short-name", "d"]).refuses(1, &["with the short name `dt`", all]);
    let other = ["--controller-name", "datum"];
    api("create", "v2", &other).refuses(
        1,
        &[
            "uses version `v1` of `Datum`",
            "kubewright edit controller datum --version v2",
        ],
    );
    let both = read("PROJECT").replace(", storage: false", "");
    let before = std::fs::read(dir.path().join("PROJECT")).unwrap();
    std::fs::write(dir.path().join("PROJECT"), both).unwrap();
    kubewright(dir.path(), &["sync"]).refuses(
        1,
        &["versions `v1` and `v2` of `Datum` are both marked as the storage version"],
    );
    std::fs::write(dir.path().join("PROJECT"), before).unwrap();

    let move_first = "kubewright edit controller datum --version v2";
    api("delete", "v1", &[]).refuses(1, &["controller `datum` uses version `v1` of `Datum`", move_first]);
    kubewright(dir.path(), &["edit", "controller", "datum", "--version", "v2"]).succeeds();
    assert!(dir.path().join("tests/test_datum_v1.rs").exists());
    let store = "kubewright create api --group test --version v2 --kind Datum --storage";
    api("delete", "v1", &[]).refuses(1, &["`v1` is the storage version of `Datum`", store]);
    api("create", "v2", &["--storage"]).succeeds();
    api("delete", "v1", &["--migrated"]).succeeds();
    assert!(!dir.path().join("tests/test_datum_v1.rs").exists());
    assert!(read("src/controllers/datum.rs").contains("use api::test::v2::Datum;"));
}

#[test]
fn a_kind_is_deleted_with_all_its_versions() {
    let dir = project_without_crates();
    let before = cli::tree(dir.path());
    for version in ["v1", "v2"] {
        let args = [
            "create",
            "api",
            "--group",
            "test",
            "--version",
            version,
            "--kind",
            "FooBar",
        ];
        kubewright(dir.path(), &args).succeeds();
    }
    let whole = ["delete", "api", "--group", "test", "--kind", "FooBar"];
    kubewright(dir.path(), &whole).refuses(2, &["`--version` is missing"]);
    kubewright(dir.path(), &[&whole[..], &["--all-versions"]].concat()).succeeds();
    cli::assert_same(&before, &cli::tree(dir.path()));
}

#[test]
fn other_kinds_of_a_group_do_not_hide_those_of_kubernetes() {
    let dir = project_without_crates();
    create(dir.path(), "apps", "FooBar").succeeds();
    let create = |group: &str, kind: &str| {
        let named = ["--group", group, "--version", "v1", "--kind", kind, "--yes"];
        kubewright(dir.path(), &[&["create", "api"], &named[..]].concat())
    };
    create("apps", "Deployment").refuses(2, &["`Deployment` in `apps`", "add `--resource=false`"]);
    for (group, there, kind) in [
        ("events", "events.k8s.io", "Event"),
        ("apiextensions", "apiextensions.k8s.io", "CustomResourceDefinition"),
        ("authentication.k8s.io", "authentication.k8s.io", "TokenReview"),
    ] {
        let words = format!("Kubernetes has the kind `{kind}` in `{there}`");
        create(group, kind).refuses(2, &[&words, "choose another group, or add `--resource`"]);
    }
    create("apps", "FooBar").refuses(0, &["nothing to do"]);
}

#[test]
fn init_beside_a_project_file_of_another_tool_names_the_file_and_no_flag() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("PROJECT"),
        "version: \"3\"\nlayout:\n- go.kubebuilder.io/v4\n",
    )
    .unwrap();
    let run = kubewright(dir.path(), &["init"]).refuses(1, &["`PROJECT`"]);
    assert!(!run.stderr.contains("--domain"), "{}", run.stderr);
}

#[test]
fn a_gitignore_that_is_not_utf_8_stays_as_it_is_and_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(".gitignore"), b"caf\xe9\n").unwrap();
    let args = ["init", "--domain", "example.com", "--project-name", "x"];
    let run = kubewright(dir.path(), &args).succeeds();
    assert!(run.stderr.contains("kept `.gitignore`"), "{}", run.stderr);
    assert_eq!(fs::read(dir.path().join(".gitignore")).unwrap(), b"caf\xe9\n");
}
