//! The Makefile of a generated project, with cargo as a user may have configured it.

#[path = "../makefile/variables.rs"]
mod variables;

use crate::cli;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A workspace with the programs of a generated project, which only print their names and arguments.
fn project(root: &Path) {
    let write = |file: &str, text: &str| {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let package = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    let main = "fn main() { println!(\"{:?}\", std::env::args().collect::<Vec<_>>()); }";
    let workspace = "[workspace]\nmembers = [\"dev\", \"manifests\"]\ndefault-members = [\".\", \"manifests\"]\n";
    write("Cargo.toml", &format!("{workspace}\n{}", package("foobar-operator")));
    write("src/main.rs", main);
    for program in ["dev", "manifests"] {
        write(&format!("{program}/Cargo.toml"), &package(program));
        write(&format!("{program}/src/main.rs"), main);
    }
    let makefile = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/one/Makefile");
    fs::copy(makefile, root.join("Makefile")).unwrap();
}

/// The end of the output of `make dev`.
fn dev(root: &Path, settings: &[(&str, &str)]) -> String {
    let mut make = Command::new("make");
    make.args(["dev", "ARGS=--log-level debug"]).current_dir(root);
    for inherited in [
        "CARGO_TARGET_DIR",
        "CARGO_BUILD_BUILD_DIR",
        "CARGO_BUILD_TARGET",
        "CARGOFLAGS",
        "MAKEFLAGS",
        "MAKELEVEL",
    ] {
        make.env_remove(inherited);
    }
    let output = make.envs(settings.iter().copied()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{settings:?}: {errors}");
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .last()
        .unwrap()
        .to_owned()
}

#[test]
fn make_test_runs_the_programs_that_it_builds_beside_the_tests() {
    let root = std::env::temp_dir().join(format!("kubewright-makefile-test-{}", std::process::id()));
    project(&root);
    let root = root.canonicalize().unwrap();
    let mut make = Command::new("make");
    make.arg("test").current_dir(&root);
    for inherited in [
        "CARGO_TARGET_DIR",
        "CARGO_BUILD_BUILD_DIR",
        "CARGOFLAGS",
        "MAKEFLAGS",
        "MAKELEVEL",
    ] {
        make.env_remove(inherited);
    }
    let output = make.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let said = String::from_utf8(output.stdout).unwrap();
    // The programs, and not their unit tests, which have the same names.
    for program in ["manifests", "foobar-operator"] {
        let ran = format!("[\"target/debug/{program}\"");
        assert!(said.contains(&ran), "{said}");
    }
    fs::remove_dir_all(root).unwrap();
}

/// The target of this machine.
fn host() -> String {
    let version = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.unwrap().to_owned()
}

#[test]
fn make_dev_runs_its_program_wherever_cargo_writes_it() {
    let folder = std::env::temp_dir().join(format!("kubewright-makefile-{}", std::process::id()));
    let root = folder.join("a project");
    project(&root);
    let root = root.canonicalize().unwrap();
    let host = host();
    let expected = |path: String| format!("[{path:?}, \"dev\", \"--\", \"--log-level\", \"debug\"]");
    assert_eq!(dev(&root, &[]), expected("target/debug/manifests".to_owned()));
    assert_eq!(
        dev(&root, &[]),
        expected("target/debug/manifests".to_owned()),
        "nothing is built"
    );
    assert_eq!(
        dev(&root, &[("CARGO_TARGET_DIR", "else where")]),
        expected("else where/debug/manifests".to_owned())
    );
    assert_eq!(
        dev(&root, &[("CARGO_BUILD_TARGET", &host)]),
        expected(format!("target/{host}/debug/manifests"))
    );
    fs::create_dir(root.join(".cargo")).unwrap();
    let config = format!("build = {{ target-dir = \"configured\", target = \"{host}\" }}");
    fs::write(root.join(".cargo/config.toml"), config).unwrap();
    assert_eq!(dev(&root, &[]), expected(format!("configured/{host}/debug/manifests")));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn make_dev_shows_why_a_program_does_not_compile() {
    let root = std::env::temp_dir().join(format!("kubewright-makefile-broken-{}", std::process::id()));
    project(&root);
    fs::write(root.join("dev/src/main.rs"), "fn main() { not_there() }").unwrap();
    let output = Command::new("make").arg("dev").current_dir(&root).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && errors.contains("cannot find function `not_there`"),
        "{errors}"
    );
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn make_lint_fix_applies_what_clippy_suggests_and_formats() {
    let root = std::env::temp_dir().join(format!("kubewright-makefile-fix-{}", std::process::id()));
    project(&root);
    fs::write(root.join("src/main.rs"), "fn main() {\nreturn ();\n}").unwrap();
    let mut make = Command::new("make");
    make.arg("lint-fix").current_dir(&root).env_remove("CARGO_TARGET_DIR");
    let output = make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let fixed = fs::read_to_string(root.join("src/main.rs")).unwrap();
    assert!(!fixed.contains("return") && fixed.ends_with("}\n"), "{fixed}");
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn make_coverage_runs_cargo_llvm_cov() {
    let said = Folder::new("one", "").prints(&["coverage", "CARGOFLAGS=--locked"]);
    assert!(
        said.contains("\ncargo llvm-cov --locked --html --ignore-filename-regex /crates/("),
        "{said}"
    );
}

#[test]
fn make_sim_passes_seed_number_kind_and_faults_on() {
    let plain = Folder::new("one", "").prints(&["sim"]);
    assert!(
        plain.ends_with("--package dev --features sim --bin sim --\n"),
        "{plain}"
    );
    let set = [
        "sim",
        "SEED=7",
        "SCHEDULES=20",
        "RANDOM_RUNS=30",
        "SIM_KIND=FooBar",
        "ONLY=w1:500+p2:late",
        "JSON=1",
    ];
    let said = Folder::new("one", "").prints(&set);
    let arguments =
        "--bin sim -- --seed 7 --schedules 20 --random-runs 30 --kind FooBar --only w1:500+p2:late --output json\n";
    assert!(said.ends_with(arguments), "{said}");
}

#[test]
fn make_test_runs_the_failures_that_simulations_kept() {
    let folder = Folder::new("one", "");
    assert!(!folder.prints(&["test"]).contains("--bin sim"));
    fs::create_dir(folder.0.path().join("dev")).unwrap();
    fs::write(folder.0.path().join("dev/sim.kept"), "1 w0:500\n").unwrap();
    let said = folder.prints(&["test"]);
    assert!(said.ends_with("--bin sim -- --kept\n"), "{said}");
}

/// A folder with the Makefile of a golden project, and a kubectl.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(golden: &str, kubectl: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("a project").tempdir().unwrap();
        let makefile = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{golden}/Makefile"));
        fs::copy(makefile, folder.path().join("Makefile")).unwrap();
        fs::write(folder.path().join("kubectl"), kubectl).unwrap();
        Self(folder)
    }

    /// Runs make with a cargo that prints its arguments, and without a rule for `manifests`, which would be built.
    fn make(&self, words: &[&str]) -> Output {
        let mut make = Command::new("make");
        make.args(["CARGO=echo cargo", "KUBECTL=bash ./kubectl", "--old-file=manifests"]);
        make.args(words).current_dir(self.0.path());
        for inherited in [
            "CARGOFLAGS",
            "KUBEBUILDER_ASSETS",
            "KUBECONFIG",
            "MAKEFLAGS",
            "MAKELEVEL",
            "USE_EXISTING_CLUSTER",
            "WATCH_NAMESPACE",
        ] {
            make.env_remove(inherited);
        }
        make.output().unwrap()
    }

    /// The output of a make that succeeds.
    fn prints(&self, words: &[&str]) -> String {
        let output = self.make(words);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn make_run_serves_webhooks_at_webhook_url_or_applies_none() {
    let folder = Folder::new("one", "");
    let program = "cargo run --bin foobar-operator --";
    let prepares = "cargo run --quiet --bin manifests -- kubeconfig --out target/operator.kubeconfig";
    let said = folder.prints(&["run", "ARGS=--log-level debug"]);
    assert_eq!(said, format!("{program} --webhook-bind-address=0 --log-level debug\n"));
    let said = folder.prints(&["run", "AS_OPERATOR=1"]);
    assert_eq!(
        said,
        format!("{prepares} -- bash ./kubectl\n{program} --webhook-bind-address=0\n")
    );
    let url = "https://192.168.1.5:9443";
    let said = folder.prints(&["run", &format!("WEBHOOK_URL={url}")]);
    assert_eq!(
        said,
        format!("{prepares} --webhook-url {url} -- bash ./kubectl\n{program} --webhook-url={url}\n")
    );
}

#[test]
fn make_run_as_the_operator_uses_its_kubeconfig_and_watches_its_namespace() {
    // The kubectl names the namespace, and the cargo of `run` prints its environment.
    for (case, watched) in [("one", ""), ("namespaced", "operators")] {
        let folder = Folder::new(
            case,
            "case \"$*\" in 'config view --kubeconfig target/operator.kubeconfig '*) echo operators;; esac",
        );
        let cargo = folder.0.path().join("cargo");
        fs::write(&cargo, "echo \"$KUBECONFIG $WATCH_NAMESPACE\"").unwrap();
        let asked = ["run", "AS_OPERATOR=1", "CARGO=sh ./cargo"];
        let said = folder.prints(&asked);
        assert_eq!(
            said.lines().last(),
            Some(format!("target/operator.kubeconfig {watched}").as_str()),
            "{case}"
        );
        let said = folder.prints(&["run", "CARGO=sh ./cargo"]);
        assert_eq!(said, " \n", "{case}");
    }
}

#[test]
fn make_undeploy_and_uninstall_pass_their_settings_on() {
    let folder = Folder::new("one", "");
    let manifests = "cargo run --quiet --bin manifests --";
    let settings = "--operator foobar-operator --ignore-not-found false --timeout 2m";
    assert_eq!(
        folder.prints(&["uninstall"]),
        format!("{manifests} uninstall {settings} -- bash ./kubectl\n")
    );
    let kept = folder.make(&["uninstall", "KEEP_CRDS=1"]);
    let errors = String::from_utf8_lossy(&kept.stderr);
    assert!(
        !kept.status.success() && errors.contains("make undeploy KEEP_CRDS=1 keeps them"),
        "{errors}"
    );
    let undeploy = |words: &[&str]| folder.prints(&[&["undeploy"], words].concat()).replace("  ", " ");
    assert_eq!(
        undeploy(&[]),
        format!("{manifests} undeploy {settings} -- bash ./kubectl\n")
    );
    let settings = "--operator foobar-operator --ignore-not-found true --timeout 5m";
    assert_eq!(
        undeploy(&["KEEP_CRDS=1", "ignore-not-found=true", "CLEANUP_TIMEOUT=5m"]),
        format!("{manifests} undeploy {settings} --keep-crds -- bash ./kubectl\n")
    );
}

#[test]
fn crds_are_written_and_compared_with_the_same_options() {
    let folder = Folder::new("one", "");
    let manifests = "cargo run --quiet --bin manifests --";
    // `Folder::make` takes the target `manifests` for done.
    let again = "again: ; @$(MAKE) --silent manifests CARGO='$(CARGO)'\n";
    fs::write(folder.0.path().join("again.mk"), again).unwrap();
    for (target, check) in [("again", ""), ("verify-manifests", " --check")] {
        let first = |words: &[&str]| {
            let file = if check.is_empty() { "again.mk" } else { "Makefile" };
            let said = folder.prints(&[&["--file", file, target], words].concat());
            said.lines().next().map(str::to_owned)
        };
        assert_eq!(first(&[]), Some(format!("{manifests}{check}")));
        let cut = format!("{manifests}{check} --max-description-length 0");
        assert_eq!(first(&["MAX_DESC_LEN=0"]), Some(cut.clone()));
        let oldest = format!("{cut} --oldest-kubernetes 1.34");
        assert_eq!(first(&["MAX_DESC_LEN=0", "OLDEST_KUBERNETES=1.34"]), Some(oldest));
    }
}

#[test]
fn what_is_shipped_has_the_image_that_somebody_names_and_else_the_one_in_config() {
    let folder = Folder::new("one", "");
    for (target, command) in [
        ("build-installer", "installer"),
        ("deploy", "deploy"),
        ("chart", "chart"),
        ("bundle", "bundle"),
    ] {
        let shipped = |words: &[&str]| {
            let said = folder.prints(&[&[target], words].concat());
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            said.strip_prefix("cargo run --quiet --bin manifests -- ")
                .unwrap()
                .to_owned()
        };
        assert_eq!(shipped(&[]), format!("{command} -- bash ./kubectl"));
        for image in ["registry.example/op:2", "controller:latest"] {
            let named = format!("IMG={image}");
            assert_eq!(
                shipped(&[&named]),
                format!("{command} --image {image} -- bash ./kubectl")
            );
        }
        if ["chart", "bundle"].contains(&target) {
            let wanted = format!("{command} --oldest-kubernetes 1.34 -- bash ./kubectl");
            assert_eq!(shipped(&["OLDEST_KUBERNETES=1.34"]), wanted);
        }
        let said = folder.prints(&[target, "IMG=$(touch pwned) '"]);
        assert!(
            !folder.0.path().join("pwned").exists() && said.contains("--image "),
            "{said}"
        );
    }
}

#[test]
fn a_variable_that_is_set_to_nothing_is_an_error_that_names_it() {
    let folder = Folder::new("one", "");
    for variable in [
        "IMG",
        "PLATFORMS",
        "CONTAINER_TOOL",
        "KUBECTL",
        "CARGO",
        "BUNDLE_IMG",
        "KIND",
        "KIND_CLUSTER",
        "BASE",
        "ignore-not-found",
        "CLEANUP_TIMEOUT",
        // These have no default in the Makefile, and are not named unless somebody sets them.
        "CHART_VERSION",
        "BUNDLE_VERSION",
        "CHANNELS",
        "DEFAULT_CHANNEL",
        "MAX_DESC_LEN",
        "OLDEST_KUBERNETES",
    ] {
        for nothing in ["", " "] {
            let output = folder.make(&["build-installer", &format!("{variable}={nothing}")]);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(
                !output.status.success() && errors.contains(&format!("{variable} is empty")),
                "{errors}"
            );
        }
    }
    // A make inside make gets only what somebody has set.
    let nested = folder.0.path().join("nested.mk");
    fs::write(&nested, "include Makefile\nnested:\n\t@$(MAKE) --silent help\n").unwrap();
    let output = folder.make(&["--file=nested.mk", "nested"]);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_switch_that_is_off_is_off() {
    let folder = Folder::new("one", "");
    for off in ["", "0", "false", "no"] {
        let said = folder.prints(&["run", &format!("AS_OPERATOR={off}")]);
        assert!(!said.contains("kubeconfig"), "{said}");
        let said = folder.prints(&["verify-api", &format!("JSON={off}")]);
        assert!(!said.contains("--output json"), "{said}");
        assert!(
            !folder
                .prints(&["migrate-storage", &format!("CHECK={off}")])
                .contains("--check")
        );
    }
    assert!(
        folder
            .prints(&["verify-api", "JSON=1"])
            .ends_with("--breaking-since origin/main --output json\n")
    );
}

#[test]
fn the_targets_are_listed_in_a_folder_with_spaces_and_by_the_name_of_the_makefile() {
    let folder = Folder::new("one", "");
    let path = folder.0.path().join("Makefile");
    for words in [vec!["help"], vec!["-f", path.to_str().unwrap()]] {
        assert!(folder.prints(&words).contains("Delete ALL objects of these kinds"));
    }
}

/// A cargo whose program writes all objects, or reads them.
const WRITING_CARGO: &str = r#"echo "$*"
case "$*" in
*"-- installer "*) mkdir dist && echo objects >dist/install.yaml ;;
*) cat >read ;;
esac
"#;

#[test]
fn make_build_installer_writes_two_parts_for_operators_of_one_namespace_only() {
    for (case, has_parts) in [("one", false), ("namespaced", true)] {
        let folder = Folder::new(case, "");
        fs::write(folder.0.path().join("cargo"), WRITING_CARGO).unwrap();
        let mut make = Command::new("make");
        // Without a rule for `manifests`, which would be built.
        make.args(["build-installer", "--old-file=manifests", "CARGOFLAGS=--locked"]);
        make.args(["CARGO=bash cargo", "KUBECTL=bash kubectl"])
            .current_dir(folder.0.path());
        let output = make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{case}: {errors}");
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(
            said.starts_with("run --quiet --locked --bin manifests -- installer "),
            "{said}"
        );
        let parts = said.ends_with("\nrun --quiet --locked --bin manifests -- parts\n");
        let read = fs::read_to_string(folder.0.path().join("read")).ok();
        assert_eq!(
            (parts, read),
            (has_parts, has_parts.then(|| "objects\n".to_owned())),
            "{case}: {said}"
        );
    }
}

#[test]
fn docker_build_asks_for_buildkit_whatever_the_environment_says() {
    let root = tempfile::tempdir().unwrap();
    project(root.path());
    fs::write(root.path().join("tool"), "echo \"BUILDKIT=$DOCKER_BUILDKIT $*\"\n").unwrap();
    let mut make = Command::new("make");
    make.args(["docker-build", "CONTAINER_TOOL=sh tool", "IMG=a:b"])
        .current_dir(root.path());
    make.env("DOCKER_BUILDKIT", "0")
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL");
    let output = make.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("BUILDKIT=1 build --tag a:b .\n"), "{said}");
}

/// Features that GNU make 3.81 (macOS) ignores or does not know; the NEWS of make names the release of each.
const NEWER_THAN_3_81: [&str; 17] = [
    ".ONESHELL",
    ".SHELLFLAGS",
    ".RECIPEPREFIX",
    ".EXTRA_PREREQS",
    ".NOTINTERMEDIATE",
    ".WAIT",
    "undefine ",
    "private ",
    "load ",
    "!=",
    "::=",
    "&:",
    "$(file ",
    "$(guile ",
    "$(let ",
    "$(intcmp ",
    "define ",
];

/// Features that dash and other shells of POSIX do not have, or treat differently.
const BEYOND_POSIX: [&str; 12] = [
    "[[",
    "pipefail",
    "<<<",
    "<(",
    "&>",
    "|&",
    " == ",
    "echo -",
    "function ",
    "local ",
    "source ",
    "$'",
];

/// Options that programs of GNU have, and those of BSD lack.
const OF_GNU: [&str; 6] = ["sed -i", "mktemp --", "readlink -f", "grep -P", "xargs -r", "date -d"];

/// The lines of a makefile that need more than GNU make 3.81, a shell of POSIX and its programs.
fn unfit(makefile: &str) -> Vec<String> {
    let mut found = Vec::new();
    let code = makefile.lines().filter(|line| !line.starts_with('#'));
    for line in code {
        let first = |names: &'static [&str]| names.iter().find(|name| line.contains(**name));
        let beyond = || first(&BEYOND_POSIX).or_else(|| first(&OF_GNU));
        let name = first(&NEWER_THAN_3_81).or_else(|| line.starts_with('\t').then(beyond).flatten());
        found.extend(name.map(|name| format!("`{name}`: {line}")));
    }
    found
}

#[test]
fn the_makefile_needs_neither_a_newer_make_nor_another_shell_than_posix() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let makefiles = fs::read_dir(golden)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("Makefile"));
    let texts: Vec<_> = makefiles.filter_map(|path| fs::read_to_string(path).ok()).collect();
    assert!(texts.len() > 1);
    for text in texts {
        assert_eq!(unfit(&text), [""; 0]);
    }
    let newer = ".SHELLFLAGS = -e\nV != date\n# a comment may name .ONESHELL\na:\n\t@set -o pipefail; a | b\n\t@sed -i s/a/b/ c\n\techo a\n";
    assert_eq!(unfit(newer).len(), 4);
}

/// Recipes run in the shell that `SHELL` of a command line names, as in a system whose /bin/sh is dash.
#[test]
fn recipes_run_in_dash() {
    if !Path::new("/bin/dash").exists() {
        return cli::skip("no /bin/dash");
    }
    let folder = tempfile::tempdir().unwrap();
    let makefile = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/one/Makefile");
    fs::copy(makefile, folder.path().join("Makefile")).unwrap();
    let log = folder.path().join("log");
    let program = folder.path().join("program");
    fs::write(&program, format!("#!/bin/sh\necho \"$@\" >> {}\n", log.display())).unwrap();
    let mode = Command::new("chmod")
        .args(["+x", "program"])
        .current_dir(folder.path())
        .status();
    assert!(mode.unwrap().success());
    let program = program.display().to_string();
    let tools = ["CARGO", "KUBECTL", "CONTAINER_TOOL"].map(|name| format!("{name}={program}"));
    for target in [
        "help",
        "manifests",
        "verify-manifests",
        "fmt",
        "lint",
        "test",
        "dev",
        "build",
        "run",
        "docker-build",
        "docker-buildx",
        "build-installer",
        "chart",
        "bundle",
        "install",
        "uninstall",
        "deploy",
        "undeploy",
    ] {
        let run = Command::new("make")
            .args(["SHELL=/bin/dash", "IMG=a b", target])
            .args(&tools)
            .current_dir(folder.path())
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(run.status.success() && said.is_empty(), "{target}: {said}");
    }
}

#[test]
fn the_alert_that_a_chart_can_leave_out_is_one_of_a_project() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let chart = read("scaffolds/manifests/src/chart/switches.rs");
    let (_, name) = chart.split_once("const NO_LEADER: &str = \"").unwrap();
    let (name, _) = name.split_once('"').unwrap();
    let rules = read("templates/project/config/prometheus/rules.yaml.tera");
    assert!(rules.contains(&format!("- alert: {name}\n")), "{name}");
}
