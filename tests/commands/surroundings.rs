//! What is around a command: the folder it runs in, files that were there before, standard output, options of other commands.

use crate::cli::{self, Run, binary, create, kubewright, project, project_without_crates, read, tree};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs `kubewright <args>` in a folder, without `--dir`.
fn run_in(folder: &Path, args: &[&str]) -> Run {
    let mut command = Command::new(binary());
    command.args(args).current_dir(folder).stdin(Stdio::null());
    Run::of(command.output().unwrap())
}

/// A folder as a Git host makes it.
fn clone() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    fs::write(dir.path().join("README.md"), "# ours\n").unwrap();
    fs::write(dir.path().join("LICENSE"), "ours\n").unwrap();
    fs::write(dir.path().join(".gitignore"), "target/\n*.pdb").unwrap();
    dir
}

const INIT: [&str; 5] = ["init", "--domain", "example.com", "--project-name", "foobar-operator"];

#[test]
fn init_in_a_fresh_clone_adds_what_is_missing_keeps_what_is_there_and_names_both() {
    let dir = clone();
    let run = kubewright(dir.path(), &[&INIT[..], &["--license", "mit"]].concat()).succeeds();
    assert_eq!(read(&dir, "README.md"), "# ours\n");
    assert_eq!(read(&dir, "LICENSE"), "ours\n");
    assert!(
        read(&dir, ".gitignore").starts_with("target/\n*.pdb\n/dist\n"),
        "{}",
        read(&dir, ".gitignore")
    );
    for kept in ["README.md", "LICENSE"] {
        assert!(
            run.stderr.contains(&format!("kept `{kept}`, which was there")),
            "{}",
            run.stderr
        );
    }
    for written in ["create Cargo.toml", "create PROJECT", "update .gitignore"] {
        assert!(run.stdout.lines().any(|line| line == written), "{}", run.stdout);
    }
    create(dir.path(), "test", "FooBar").succeeds();
    kubewright(dir.path(), &["sync"]).succeeds();
    assert_eq!(read(&dir, "README.md"), "# ours\n");
}

#[test]
fn no_line_of_a_gitignore_hides_vendored_crates_and_the_lock() {
    let dir = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| {
        let output = Command::new("git").current_dir(dir.path()).args(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    // Lines of templates of Git hosts, for C, Python, Node and Rust; and of settings for all repositories of a user.
    fs::write(
        dir.path().join(".gitignore"),
        "core\nbuild/\nlib\n*.log\nCargo.lock\ntarget/\n.DS_Store\n",
    )
    .unwrap();
    fs::write(dir.path().join("of-user"), "kinds\nlicense*\n").unwrap();
    git(&["config", "core.excludesFile", "of-user"]);
    kubewright(dir.path(), &[&INIT[..], &["--crates", "vendored"]].concat()).succeeds();
    let ignored = || git(&["ls-files", "--others", "--ignored", "--exclude-standard"]);
    assert_eq!(ignored(), "");
    assert!(dir.path().join("crates/apiserver/src/kinds/core").is_dir());
    for built in [
        "target/debug/operator",
        "dist/install.yaml",
        // As an interrupted command leaves it.
        ".kubewright/journal.new",
        "crates/runtime/target/debug/runtime",
        "crates/.DS_Store",
        "crates/runtime/src/.lib.rs.swp",
        "crates/runtime/src/lib.rs~",
    ] {
        fs::create_dir_all(dir.path().join(built).parent().unwrap()).unwrap();
        fs::write(dir.path().join(built), "").unwrap();
    }
    assert_eq!(ignored().lines().count(), 7, "{}", ignored());
    kubewright(dir.path(), &["sync", "--crates", "archives"]).succeeds();
}

#[test]
fn archives_are_kept_out_of_git_lfs_whatever_attributes_are_there() {
    let dir = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| {
        let output = Command::new("git").current_dir(dir.path()).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    let own = "*.tar filter=lfs diff=lfs merge=lfs -text\n*.bat eol=crlf\n";
    fs::write(dir.path().join(".gitattributes"), own).unwrap();
    kubewright(dir.path(), &INIT).succeeds();
    assert!(read(&dir, ".gitattributes").starts_with(own));
    let attributes = git(&[
        "check-attr",
        "filter",
        "text",
        "eol",
        "--",
        "crates/runtime/source.tar",
        "a.tar",
        "a.bat",
    ]);
    for line in [
        "crates/runtime/source.tar: filter: unset",
        "crates/runtime/source.tar: text: unset",
        "a.tar: filter: lfs",
        "a.bat: eol: crlf",
    ] {
        assert!(attributes.contains(line), "{line}: {attributes}");
    }
}

#[test]
fn init_adds_a_workflow_for_releases_only_beside_one_that_it_can_call() {
    for (own, is_added) in [("on: push\n", false), ("on:\n  workflow_call:\n", true)] {
        let dir = clone();
        let workflows = dir.path().join(".github/workflows");
        fs::create_dir_all(&workflows).unwrap();
        fs::write(workflows.join("ci.yml"), own).unwrap();
        let run = kubewright(dir.path(), &INIT).succeeds();
        assert_eq!(workflows.join("release.yml").exists(), is_added, "{}", run.stderr);
        let note = "left out `.github/workflows/release.yml`, because it calls `.github/workflows/ci.yml`";
        assert_eq!(run.stderr.contains(note), !is_added, "{}", run.stderr);
    }
}

#[test]
fn files_are_written_in_the_style_of_the_project_whatever_is_above_it() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("rustfmt.toml"), "hard_tabs = true\nmax_width = 60\n").unwrap();
    let project = dir.path().join("op");
    kubewright(&project, &INIT).succeeds();
    let files = ["src/lib.rs", "manifests/src/main.rs"];
    let rustfmt = || {
        let mut rustfmt = Command::new("rustfmt");
        rustfmt
            .current_dir(&project)
            .args(["--check", "--edition=2024"])
            .args(files);
        rustfmt.output().unwrap()
    };
    let said = rustfmt();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stdout));
    fs::remove_file(project.join("rustfmt.toml")).unwrap();
    assert!(!rustfmt().status.success(), "the style above would apply");
}

#[test]
fn managed_files_in_the_style_of_the_project_are_not_edited() {
    let dir = project_without_crates();
    let create = |kind| create(dir.path(), "test", kind).succeeds();
    create("FooBar");
    let format = || {
        fs::write(dir.path().join("rustfmt.toml"), "hard_tabs = true\nmax_width = 60\n").unwrap();
        let files = ["src/controllers/mod.rs", "api/src/lib.rs"];
        let mut rustfmt = Command::new("rustfmt");
        let rustfmt = rustfmt.current_dir(dir.path()).arg("--edition=2024").args(files);
        assert!(rustfmt.status().unwrap().success());
        let text = fs::read_to_string(dir.path().join(files[0])).unwrap();
        assert!(text.contains("\n\tbuilt_from(["), "{text}");
    };
    format();
    create("Other");
    format();
    let said = run_in(dir.path(), &["sync"]).succeeds().stderr;
    assert!(said.contains("nothing to do"), "{said}");
    let plan = run_in(dir.path(), &["plan"]).succeeds().stdout;
    assert!(
        !plan
            .lines()
            .any(|line| line.contains(" managed ") && !line.contains("clean")),
        "{plan}"
    );
    let delete = ["delete", "api", "--group=test", "--version=v1", "--kind=Other"];
    run_in(dir.path(), &delete).succeeds();
}

#[test]
fn init_says_where_the_host_would_not_run_the_workflows() {
    let dir = tempfile::tempdir().unwrap();
    let said = |below: &str, head: &str| {
        let git = dir.path().join(".git");
        fs::create_dir_all(&git).unwrap();
        fs::write(git.join("HEAD"), head).unwrap();
        kubewright(&dir.path().join(below), &INIT).succeeds().stderr
    };
    let top = dir.path().canonicalize().unwrap();
    let inner = said("operators/foobar", "ref: refs/heads/main\n");
    let note = format!(
        "the repository begins in `{}`, and GitHub runs only workflows in `.github` there",
        top.display()
    );
    assert!(inner.contains(&note), "{inner}");
    let master = said("", "ref: refs/heads/master\n");
    let note = "the branch is `master`, and the project expects `main`: ";
    assert!(master.contains(note) && !master.contains("begins in"), "{master}");
    let next = "\nnext:\n  cd ";
    let main = clone();
    fs::write(main.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let main = kubewright(main.path(), &INIT).succeeds().stderr;
    assert!(
        main.contains(next) && !main.contains("expects") && !main.contains("begins in"),
        "{main}"
    );
}

#[test]
fn init_refuses_files_in_the_place_of_code_and_writes_nothing() {
    let dir = clone();
    fs::write(dir.path().join("Cargo.toml"), "[package]\n").unwrap();
    let before = tree(dir.path());
    kubewright(dir.path(), &INIT).refuses(1, &["`Cargo.toml` exists already", "hint: move it away"]);
    assert_eq!(tree(dir.path()), before);
}

#[test]
fn init_in_a_project_needs_no_answers() {
    let dir = project();
    kubewright(dir.path(), &["init", "--year", "2026"]).refuses(0, &["nothing to do: the project exists already"]);
    kubewright(dir.path(), &["init", "--namespaced", "--year", "2026"]).refuses(1, &["has a project already"]);
}

#[test]
fn commands_find_the_project_around_the_current_folder() {
    let dir = project();
    let inner = dir.path().join("src/controllers");
    run_in(
        &inner,
        &["create", "api", "--group=test", "--version=v1", "--kind=FooBar"],
    )
    .succeeds();
    assert!(dir.path().join("src/controllers/foobar.rs").is_file());
    run_in(&inner, &["sync"]).refuses(0, &["nothing to do"]);
    assert_eq!(run_in(&inner, &["plan"]).stdout, run_in(dir.path(), &["plan"]).stdout);
    assert_eq!(run_in(&inner, &["completion", "--kinds"]).succeeds().stdout, "FooBar\n");
    // A hint works where the command ran.
    fs::remove_dir_all(dir.path().join("crates/runtime")).unwrap();
    let root = dir.path().canonicalize().unwrap();
    let hint = format!("`git -C {} checkout -- crates/runtime`", root.display());
    run_in(&inner, &["eject", "runtime"]).refuses(1, &[&hint]);
    run_in(dir.path(), &["eject", "runtime"]).refuses(1, &["`git checkout -- crates/runtime`"]);
    // A folder that is named is that folder.
    kubewright(&inner, &["plan"]).refuses(1, &["has no `PROJECT` file"]);
    let elsewhere = tempfile::tempdir().unwrap();
    run_in(elsewhere.path(), &["plan"]).refuses(1, &["`.` has no `PROJECT` file"]);
}

#[test]
fn dir_is_refused_by_commands_without_a_project() {
    let dir = tempfile::tempdir().unwrap();
    for (args, remedy) in [
        (&["envtest"][..], "`--bin-dir`"),
        (&["apiserver"], "`--data-dir`"),
        (&["version"], "leave it out"),
        (&["completion", "bash"], "leave it out"),
    ] {
        let refused = format!("`--dir` has no effect on `{}`", args[0]);
        let named = ["--dir", dir.path().to_str().unwrap()];
        for words in [[&named[..], args].concat(), [args, &named].concat()] {
            run_in(dir.path(), &words).refuses(2, &[&refused, remedy]);
        }
        let help = run_in(dir.path(), &[args[0], "--help"]).succeeds().stdout;
        assert!(!help.contains("--dir "), "{help}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn kinds_of_kubernetes_are_not_created_by_accident() {
    let dir = project();
    let before = tree(dir.path());
    let create = |more: &[&str]| {
        kubewright(
            dir.path(),
            &[&["create", "api", "--version", "v1", "--yes"], more].concat(),
        )
    };
    for group in ["", "core"] {
        for kind in ["Pod", "Thing"] {
            create(&["--group", group, "--kind", kind])
                .refuses(2, &["`core` is Kubernetes' group", "--resource=false"]);
        }
        create(&["--group", group, "--kind", "Thing", "--resource"]).refuses(2, &["need another group"]);
    }
    for (group, kind) in [("apps", "Deployment"), ("batch", "CronJob"), ("networking", "Ingress")] {
        create(&["--group", group, "--kind", kind]).refuses(2, &[kind, "add `--resource=false`", "or `--resource`"]);
    }
    assert_eq!(tree(dir.path()), before);
    create(&["--group", "core", "--kind", "Pod", "--resource=false"]).succeeds();
    create(&["--group", "batch", "--kind", "CronJob", "--resource"]).succeeds();
    // A further version of a kind that the project has.
    kubewright(
        dir.path(),
        &["create", "api", "--group=batch", "--version=v2", "--kind=CronJob"],
    )
    .succeeds();
}

#[cfg(unix)]
#[test]
fn a_linked_folder_of_crates_gets_the_same_answer_from_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("project");
    cli::init(&root);
    fs::rename(root.join("crates"), dir.path().join("crates")).unwrap();
    std::os::unix::fs::symlink("../crates", root.join("crates")).unwrap();
    let create = ["create", "api", "--group=test", "--version=v1", "--kind=FooBar"];
    for args in [
        &["plan"][..],
        &["sync"],
        &["upgrade"],
        &create,
        &["edit", "--namespaced"],
        &["eject", "runtime"],
    ] {
        kubewright(&root, args).refuses(
            1,
            &[
                "`crates` is a symbolic link",
                "hint: replace it with the file or folder that it points to",
            ],
        );
    }
    let said = kubewright(&root, &["doctor"]).stdout;
    assert!(said.contains("`crates` is a symbolic link"), "{said}");
}

/// Commands that print results, of which none changes the project.
const PRINTING: [&[&str]; 10] = [
    &["plan"],
    &["plan", "-o", "json"],
    &["doctor"],
    &["--help"],
    &["create", "api", "--help"],
    &["--version"],
    &["version"],
    &["version", "-o", "json"],
    &["completion", "bash"],
    &[
        "delete",
        "api",
        "--group=test",
        "--kind=FooBar",
        "--all-versions",
        "--dry-run",
    ],
];

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let dir = project();
    create(dir.path(), "test", "FooBar").succeeds();
    for args in PRINTING {
        let mut command = Command::new(binary());
        command.args(args).current_dir(dir.path()).stdin(Stdio::null());
        command.stdout(File::options().write(true).open("/dev/full").unwrap());
        let run = Run::of(command.output().unwrap());
        let refused = "error: cannot write the standard output: No space left on device";
        assert!(
            run.code == Some(1) && run.stderr.contains(refused),
            "{args:?}: {:?} {}",
            run.code,
            run.stderr
        );
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let dir = project();
    create(dir.path(), "test", "FooBar").succeeds();
    for args in PRINTING.iter().filter(|args| args[0] != "doctor") {
        let mut command = Command::new(binary());
        command.args(*args).current_dir(dir.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let run = Run::of(child.wait_with_output().unwrap());
        assert!(
            run.code == Some(0) && run.stderr.is_empty(),
            "{args:?}: {:?} {}",
            run.code,
            run.stderr
        );
    }
}

#[test]
fn a_line_of_plan_fits_a_terminal() {
    let dir = project();
    create(dir.path(), "test", "FooBar").succeeds();
    let plan = kubewright(dir.path(), &["plan"]).succeeds().stdout;
    let longest = plan.lines().max_by_key(|line| line.len()).unwrap();
    assert!(longest.len() <= 80, "{longest}");
}

#[test]
fn doctor_lists_files_one_a_line() {
    let dir = project();
    create(dir.path(), "test", "FooBar").succeeds();
    for file in ["src/controllers/mod.rs", "api/src/lib.rs"] {
        fs::remove_file(dir.path().join(file)).unwrap();
    }
    let said = kubewright(dir.path(), &["doctor"]).stdout;
    let listed = [
        "not up to date with PROJECT:",
        "  `api/src/lib.rs`",
        "  `src/controllers/mod.rs`",
    ];
    let listed = listed.map(|line| format!("{line}\n"));
    assert!(said.contains(&listed.join(&" ".repeat(19))), "{said}");
    fs::write(dir.path().join("PROJECT"), "version: [\n").unwrap();
    let said = kubewright(dir.path(), &["doctor"]).stdout;
    assert!(said.contains("failed   project   "), "{said}");
}
