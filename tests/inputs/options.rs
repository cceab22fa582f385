//! Every argument of every command: it changes what its command does, or it is refused. An argument without a row fails the test.

use crate::cli::{self, Run, Tree, kubewright, tree};
use clap::{Arg, Command, CommandFactory};
use kubewright::cli::Cli;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A command, the words that it needs, and its rows: with the words after `+` the command succeeds, and differently than without them;
/// with those after `!` it fails, and without them it succeeds. The first of these words names the argument. `...` stands for the words
/// that the command needs.
type Effects = (&'static str, &'static str, &'static [&'static str]);

const EFFECTS: [Effects; 13] = [
    (
        "init",
        "--domain example.com --project-name op --year 2026 --dry-run",
        &[
            "--project-name op --dry-run + --domain example.com",
            "--domain example.com --dry-run + --project-name op",
            "... + --namespaced",
            "... + --license mit",
            "... --license mit + --owner Somebody",
            "--domain example.com --project-name op --license mit --dry-run + --year 1999",
            "... + --crates vendored",
            "... + --templates {templates}",
            "--project-name op --dry-run + --yes",
            "--domain example.com --project-name op + --dry-run",
        ],
    ),
    (
        "create api",
        "--group test --version v1 --kind New --dry-run",
        &[
            "--version v1 --kind New --dry-run + --group test",
            "--group test --kind New --dry-run + --version v1",
            "--group test --version v1 --dry-run + --kind New",
            "... + --plural newer",
            "... + --cluster",
            "... + --namespaced=false",
            "--dry-run + --from-crd {crd}",
            "--from-crd {crd} --dry-run + --own",
            "--group apps --version v1 --kind Deployment --dry-run + --resource=false",
            "... + --controller=false",
            "... + --controller-name other",
            "--group test --version v4 --kind Old --dry-run + --storage",
            "... + --pattern minimal",
            "... --pattern deployment + --image nginx",
            "... --pattern stateful --image nginx + --backups",
            "... + --finalizer",
            "... --pattern internal --yes + --internal-kind Other",
            "... + --short-name nw",
            "--group test --version v2 --kind FooBar --dry-run + --force",
            "--group test --kind New --dry-run + --yes",
            "--group test --version v1 --kind New + --dry-run",
        ],
    ),
    (
        "create webhook",
        "--group test --kind Plain --validation --dry-run",
        &[
            "--kind Deployment --validation --dry-run + --group apps",
            "--group test --validation --dry-run + --kind Plain",
            "... + --defaulting",
            "--group test --kind Plain --dry-run + --validation",
            "--kind Old --dry-run + --conversion",
            "--kind Old --conversion --dry-run ! --spoke v1",
            "... + --policy",
            "--kind Old --policy --dry-run + --version v1",
            "--group test --kind Plain --validation + --dry-run",
        ],
    ),
    (
        "delete api",
        "--group test --version v2 --kind Plain --dry-run",
        &[
            "--version v2 --kind Plain --dry-run + --group test",
            "--group test --kind Plain --dry-run + --version v2",
            "--group test --version v2 --dry-run + --kind Plain",
            "--group test --kind Old --dry-run + --all-versions",
            "--group test --version v1 --kind Old --dry-run + --migrated",
            "--group test --kind FooBar --all-versions --dry-run + --force",
            "--group test --version v2 --kind Plain + --dry-run",
        ],
    ),
    (
        "delete webhook",
        "--group test --kind FooBar --dry-run",
        &[
            "--kind Plain --dry-run + --group other",
            "--group test --dry-run + --kind FooBar",
            "... + --defaulting",
            "... + --validation",
            "... + --conversion",
            "... --conversion + --spoke v2",
            "... + --policy",
            "... + --force",
            "--group test --kind FooBar + --dry-run",
        ],
    ),
    (
        "edit",
        "--license mit --dry-run",
        &[
            "... + --namespaced",
            "--dry-run + --license mit",
            "... + --owner Somebody",
            "... + --year 1999",
            "--license mit + --dry-run",
        ],
    ),
    (
        "edit controller",
        "plain --version v2 --dry-run",
        &[
            "--version v2 --dry-run + plain",
            "plain --dry-run + --version v2",
            "plain --version v2 + --dry-run",
        ],
    ),
    (
        "sync",
        "--templates {templates} --dry-run",
        &[
            "--dry-run + --crates vendored",
            "--dry-run + --templates {templates}",
            "--templates {templates} + --dry-run",
        ],
    ),
    ("plan", "", &["+ --output json"]),
    (
        "eject",
        "runtime --dry-run",
        &["--dry-run + runtime", "runtime + --dry-run"],
    ),
    ("doctor", "", &["+ --output json"]),
    ("version", "", &["+ --output json"]),
    ("completion", "bash", &["+ bash", "+ --kinds"]),
];

/// Arguments that only a terminal, a server or a project of an earlier release shows the effect of: each with the test that does it, below `tests/`.
const TESTED: [(&str, &str, &str, &str); 15] = [
    (
        "create webhook",
        "--yes",
        "commands/inputs.rs",
        "yes_asks_nothing_on_a_terminal",
    ),
    (
        "delete api",
        "--yes",
        "commands/inputs.rs",
        "yes_asks_nothing_on_a_terminal",
    ),
    (
        "delete webhook",
        "--yes",
        "commands/inputs.rs",
        "yes_asks_nothing_on_a_terminal",
    ),
    (
        "apiserver",
        "--port",
        "commands/apiserver.rs",
        "every_flag_of_the_server_has_its_effect",
    ),
    (
        "apiserver",
        "--token",
        "commands/apiserver.rs",
        "every_flag_of_the_server_has_its_effect",
    ),
    (
        "apiserver",
        "--token-file",
        "commands/apiserver.rs",
        "every_flag_of_the_server_has_its_effect",
    ),
    (
        "apiserver",
        "--enable",
        "commands/apiserver.rs",
        "every_flag_of_the_server_has_its_effect",
    ),
    (
        "apiserver",
        "--disable",
        "commands/apiserver.rs",
        "every_flag_of_the_server_has_its_effect",
    ),
    (
        "apiserver",
        "--kubeconfig",
        "commands/apiserver.rs",
        "acknowledged_writes_survive_sigkill",
    ),
    (
        "apiserver",
        "--data-dir",
        "commands/apiserver.rs",
        "acknowledged_writes_survive_sigkill",
    ),
    (
        "envtest",
        "--bin-dir",
        "envtest.rs",
        "the_line_to_export_survives_any_path",
    ),
    ("envtest", "--print", "envtest.rs", "kubectl_is_linked_if_there_is_one"),
    (
        "upgrade",
        "--to",
        "upgrade.rs",
        "only_earlier_releases_that_are_known_are_upgraded",
    ),
    (
        "upgrade",
        "--templates",
        "upgrade.rs",
        "the_users_own_templates_stay_in_force",
    ),
    (
        "upgrade",
        "--dry-run",
        "upgrade.rs",
        "a_dry_run_shows_the_upgrade_and_writes_nothing",
    ),
];

/// The commands that have no project, and so refuse `--dir`.
const WITHOUT_PROJECT: [&str; 4] = ["apiserver", "completion", "envtest", "version"];

/// A folder with a project, one with vendored crates and without kinds, templates and a CRD.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let template = folder.path().join("templates/api/config/samples");
        fs::create_dir_all(&template).unwrap();
        fs::write(template.join("__group_____version_____kind__.yaml.tera"), "mine\n").unwrap();
        let crd = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/external/pump.yaml");
        fs::copy(crd, folder.path().join("pump.yaml")).unwrap();
        let project = folder.path().join("project");
        for (place, crates) in [("project", "registry"), ("empty", "vendored")] {
            let words = "init --domain example.com --project-name foobar-operator --year 2026 --crates ";
            kubewright(&folder.path().join(place), &cli::words(&format!("{words}{crates}"))).succeeds();
        }
        for line in [
            "create api --group test --version v1 --kind FooBar",
            "create api --group test --version v2 --kind FooBar",
            "create api --group test --version v3 --kind FooBar",
            "create webhook --kind FooBar --defaulting --validation --conversion --policy --version v1",
            "create api --group test --version v1 --kind Plain",
            "create api --group test --version v2 --kind Plain",
            "create api --group other --version v1 --kind Plain --controller-name plain-other",
            "create webhook --group other --kind Plain --validation",
            "create api --group test --version v1 --kind Old --controller=false",
            "create api --group test --version v2 --kind Old --controller=false --storage",
            "create api --group test --version v3 --kind Old --controller=false",
        ] {
            kubewright(&project, &cli::words(line)).succeeds();
        }
        for file in ["api/src/test/v2/foobar.rs", "src/webhooks/foobar.rs"] {
            let text = cli::read(&project, file) + "// mine\n";
            fs::write(project.join(file), text).unwrap();
        }
        Self(folder)
    }

    /// The same folder once more, to be written to.
    fn copy(&self) -> Self {
        let copy = tempfile::tempdir().unwrap();
        let all = format!("{}/.", self.0.path().display());
        let copied = std::process::Command::new("cp")
            .arg("-R")
            .arg(all)
            .arg(copy.path())
            .status();
        assert!(copied.unwrap().success());
        Self(copy)
    }

    /// Where a command runs: in the project, unless that is in its way.
    fn dir(&self, command: &str) -> std::path::PathBuf {
        self.0.path().join(match command {
            "init" => "new",
            "edit" | "eject" => "empty",
            _ => "project",
        })
    }

    fn run(&self, command: &str, words: &str) -> Run {
        let place = |name: &str| self.0.path().join(name).display().to_string();
        let words = words
            .replace("{crd}", &place("pump.yaml"))
            .replace("{templates}", &place("templates"));
        let dir = self.dir(command);
        let mut program = cli::command(&dir, &words_of(command, &words));
        if dir.is_dir() {
            // For `completion`, which has no `--dir`.
            program.current_dir(&dir);
        }
        Run::of(program.output().unwrap())
    }
}

fn words_of(command: &str, words: &str) -> Vec<String> {
    let all = format!("{command} {words}");
    all.split_whitespace().map(str::to_owned).collect()
}

/// The exit code of a command, its outputs, and the files that it wrote.
type Outcome = (Option<i32>, String, String, Tree);

impl Folder {
    /// The outcome of a command on a folder of its own, unless it writes nothing.
    fn outcome(&self, command: &str, words: &str) -> Outcome {
        let writes = ["init", "create", "delete", "edit", "sync", "eject"].iter();
        let writes = writes.into_iter().any(|it| command.starts_with(it)) && !words.contains("--dry-run");
        let own = writes.then(|| self.copy());
        let folder = own.as_ref().unwrap_or(self);
        let run = folder.run(command, words);
        let written = if writes {
            tree(&folder.dir(command))
        } else {
            Tree::new()
        };
        (run.code, run.stdout, run.stderr, written)
    }
}

/// The commands that do something themselves, by their words.
fn commands(command: &Command, path: &str, found: &mut Vec<(String, Command)>) {
    if !command.is_subcommand_required_set() {
        found.push((path.trim().to_owned(), command.clone()));
    }
    for inner in command.get_subcommands().filter(|it| it.get_name() != "help") {
        commands(inner, &format!("{path} {}", inner.get_name()), found);
    }
}

/// The arguments of a command; those of no name are `positional`.
fn arguments(command: &Command) -> impl Iterator<Item = (String, &Arg)> {
    let own = command
        .get_arguments()
        .filter(|arg| !["help", "version"].contains(&arg.get_id().as_str()) || arg.get_action().takes_values());
    own.map(|arg| {
        (
            arg.get_long()
                .map_or("positional".to_owned(), |long| format!("--{long}")),
            arg,
        )
    })
}

fn argument_of(words: &str) -> String {
    match words.split(['=', ' ']).next() {
        Some(first) if first.starts_with("--") => first.to_owned(),
        _ => "positional".to_owned(),
    }
}

#[test]
fn every_argument_has_an_effect_or_is_refused() {
    let folder = Folder::new();
    let mut shown = BTreeSet::new();
    let mut known = BTreeMap::new();
    for (command, needs, rows) in EFFECTS {
        for row in rows {
            let (rest, with) = row.split_once(['+', '!']).unwrap();
            let (rest, with) = (rest.replace("...", needs), with.trim());
            let before = known.entry((command, rest.clone()));
            let before = before.or_insert_with(|| folder.outcome(command, rest.trim()));
            let after = folder.outcome(command, &format!("{rest}{with}"));
            let succeeds = if row.contains('!') { &*before } else { &after };
            assert_eq!(succeeds.0, Some(0), "{command}: {row}: {}", succeeds.2);
            assert!(*before != after, "{command}: {row} changes nothing");
            shown.insert((command.to_owned(), argument_of(with)));
        }
    }
    for (command, argument, file, test) in TESTED {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
        let text = fs::read_to_string(path).unwrap();
        let body = text.split(&format!("fn {test}(")).nth(1).expect(test);
        let body = body.split("\n}\n").next().unwrap();
        let short = if argument == "--print" { "\"-p\"" } else { argument };
        assert!(body.contains(short), "{test} is not about `{argument}`");
        shown.insert((command.to_owned(), argument.to_owned()));
    }
    let mut all = Vec::new();
    let mut root = Cli::command();
    root.build();
    commands(&root, "", &mut all);
    let mut there = BTreeSet::new();
    for (path, command) in &all {
        for (name, arg) in arguments(command) {
            there.insert((path.clone(), name.clone()));
            let row = (path.clone(), name.clone());
            if name == "--dir" {
                dir_has_an_effect(&folder, path);
                shown.insert(row);
            } else if arg.is_hide_set() && !shown.contains(&row) {
                let given = format!("{name}=no-such-value");
                let refused = format!("kubebuilder's `{name}` has no meaning here");
                kubewright(&folder.dir(path), &words_of(path, &given)).refuses(2, &[&refused, "hint: "]);
                shown.insert(row);
            } else if path == "alpha" {
                folder.run(path, "generate").refuses(2, &["has no meaning here"]);
                shown.insert(row);
            }
        }
    }
    let without: Vec<_> = there.difference(&shown).collect();
    let stale: Vec<_> = shown.difference(&there).collect();
    assert!(
        without.is_empty() && stale.is_empty(),
        "without a row: {without:?}; rows of nothing: {stale:?}"
    );
}

/// `--dir` names another project than the one around the current folder, or is refused.
fn dir_has_an_effect(folder: &Folder, command: &str) {
    if command == "alpha" {
        return;
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let run = |dir: Option<&Path>, words: &str| {
        let mut program = std::process::Command::new(cli::binary());
        program.args(dir.map(|dir| format!("--dir={}", dir.display())));
        program.args(words_of(command, words)).current_dir(elsewhere.path());
        Run::of(program.stdin(std::process::Stdio::null()).output().unwrap())
    };
    let needs = EFFECTS
        .iter()
        .find(|(name, ..)| *name == command)
        .map(|(_, needs, _)| *needs);
    let templates = folder.0.path().join("templates").display().to_string();
    let needs = &needs.unwrap_or_default().replace("{templates}", &templates);
    let project = folder.dir("plan");
    if WITHOUT_PROJECT.contains(&command) {
        run(Some(&project), needs).refuses(2, &["`--dir` has no effect"]);
        return;
    }
    let [here, there] = [run(None, needs), run(Some(&project), needs)];
    assert!(
        (here.code, here.stdout, here.stderr) != (there.code, there.stdout, there.stderr),
        "`--dir` changes nothing of `{command}`"
    );
}

/// The flags of kubebuilder's commands: a line for each command.
const KUBEBUILDERS: &str = include_str!("kubebuilder.txt");

#[test]
fn every_flag_of_kubebuilder_is_known() {
    let mut all = Vec::new();
    let mut root = Cli::command();
    root.build();
    commands(&root, "", &mut all);
    for line in KUBEBUILDERS.lines().filter(|line| !line.starts_with('#')) {
        let (path, flags) = line.split_once(": ").unwrap();
        let (_, command) = all.iter().find(|(ours, _)| ours == path).unwrap();
        let ours: BTreeSet<_> = command
            .get_arguments()
            .flat_map(|arg| {
                arg.get_long_and_visible_aliases()
                    .into_iter()
                    .flatten()
                    .chain(arg.get_all_aliases().into_iter().flatten())
            })
            .map(|name| format!("--{name}"))
            .collect();
        for flag in flags.split(' ') {
            assert!(ours.contains(flag), "kubebuilder {path} {flag}");
        }
    }
}
