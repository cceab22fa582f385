//! The Makefile of a generated project, with cargo as a user may have configured it.

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

/// What `make dev` prints last.
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
        let ran = format!("[{:?}", root.join("target/debug").join(program));
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
    let expected = |path: String| format!("[{:?}, \"--\", \"--log-level\", \"debug\"]", root.join(path));
    assert_eq!(dev(&root, &[]), expected("target/debug/dev".to_owned()));
    assert_eq!(
        dev(&root, &[]),
        expected("target/debug/dev".to_owned()),
        "nothing is built"
    );
    assert_eq!(
        dev(&root, &[("CARGO_TARGET_DIR", "else where")]),
        expected("else where/debug/dev".to_owned())
    );
    assert_eq!(
        dev(&root, &[("CARGO_BUILD_TARGET", &host)]),
        expected(format!("target/{host}/debug/dev"))
    );
    fs::create_dir(root.join(".cargo")).unwrap();
    let config = format!("build = {{ target-dir = \"configured\", target = \"{host}\" }}");
    fs::write(root.join(".cargo/config.toml"), config).unwrap();
    assert_eq!(dev(&root, &[]), expected(format!("configured/{host}/debug/dev")));
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

/// A cargo that may have the subcommand `llvm-cov`, and writes down what it is asked.
const CARGO: &str = r#"
[ "$1" = llvm-cov ] && [ -n "$HAS_LLVM_COV" ] && echo "$*" >>"$LOG"
"#;

#[test]
fn make_coverage_runs_cargo_llvm_cov_or_says_how_to_install_it() {
    let root = std::env::temp_dir().join(format!("kubewright-makefile-coverage-{}", std::process::id()));
    project(&root);
    fs::write(root.join("cargo"), CARGO).unwrap();
    let coverage = |has: &str| {
        let mut make = Command::new("make");
        // Without a rule for `manifests`, which would be built.
        make.args(["coverage", "--old-file=manifests", "CARGOFLAGS=--locked"]);
        make.arg(format!("CARGO=bash {}", root.join("cargo").display()));
        make.current_dir(&root)
            .env("LOG", root.join("log"))
            .env("HAS_LLVM_COV", has);
        make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").output().unwrap()
    };
    let without = coverage("");
    let errors = String::from_utf8_lossy(&without.stderr);
    let hint = "error: cargo-llvm-cov is not installed: cargo install --locked cargo-llvm-cov";
    assert!(!without.status.success() && errors.contains(hint), "{errors}");
    assert!(coverage("yes").status.success());
    let log = fs::read_to_string(root.join("log")).unwrap();
    assert!(
        log.contains("\nllvm-cov --locked --html --ignore-filename-regex /crates/("),
        "{log}"
    );
    fs::remove_dir_all(root).unwrap();
}

/// A kubectl that has two CRDs, one of them with a converter, and writes down what it is asked.
const KUBECTL: &str = r#"#!/usr/bin/env bash
echo "$*" >>"$LOG"
case "$*" in
"get -k config/crd --ignore-not-found -o name") printf 'crd/%s\n' foobars.test.example.com greeters.test.example.com ;;
"get crd/foobars"*) echo Webhook ;;
"get crd/greeters"*) echo None ;;
"api-resources"*) echo configmaps ;;
"delete greeters"*--cascade=foreground*) echo "error: timed out waiting for the condition" >&2 && exit 1 ;;
esac
"#;

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
        make.args(words)
            .current_dir(self.0.path())
            .env("LOG", self.0.path().join("log"));
        make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").output().unwrap()
    }

    /// What make prints, if it succeeds.
    fn prints(&self, words: &[&str]) -> String {
        let output = self.make(words);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What it asked kubectl.
    fn log(&self) -> String {
        fs::read_to_string(self.0.path().join("log")).unwrap_or_default()
    }
}

/// A kubectl that finds the Deployment, beside another object with its label.
const PLACING_KUBECTL: &str = r#"
case "$1" in
create) printf ' foobar-operator-system\nfoobar-operator-controller-manager foobar-operator-system\n' ;;
esac
"#;

#[test]
fn make_run_serves_webhooks_at_webhook_url_or_applies_none() {
    let folder = Folder::new("wide", PLACING_KUBECTL);
    let program = "cargo run --bin foobar-operator --";
    let deploys = "cargo run --quiet --bin manifests -- deploy --local";
    let said = folder.prints(&["run", "ARGS=--log-level debug"]);
    assert_eq!(said, format!("{program} --webhook-bind-address=0 --log-level debug\n"));
    let account = "running as foobar-operator-controller-manager in the namespace foobar-operator-system";
    let said = folder.prints(&["run", "AS_OPERATOR=1"]);
    let wanted = format!("{deploys} -- bash ./kubectl\n{account}\n{program} --webhook-bind-address=0\n");
    assert_eq!(said, wanted);
    let url = "https://192.168.1.5:9443";
    let said = folder.prints(&["run", &format!("WEBHOOK_URL={url}")]);
    let wanted = format!("{deploys} --webhook-url {url} -- bash ./kubectl\n{account}\n{program} --webhook-url={url}\n");
    assert_eq!(said, wanted);
}

#[test]
fn what_is_shipped_has_the_image_that_somebody_names_and_else_the_one_in_config() {
    let folder = Folder::new("wide", "");
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
        "BASE",
        "ignore-not-found",
        "CLEANUP_TIMEOUT",
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
}

#[test]
fn a_switch_that_is_off_is_off() {
    let folder = Folder::new("one", PLACING_KUBECTL);
    for off in ["", "0", "false", "no"] {
        let said = folder.prints(&["run", &format!("AS_OPERATOR={off}")]);
        assert!(!said.contains("running as"), "{said}");
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
fn a_command_that_fails_in_the_middle_of_a_recipe_ends_it_in_makes_without_shellflags() {
    // kubectl cannot list the CRDs.
    let folder = Folder::new("one", "echo \"$*\" >>\"$LOG\"; [[ $* != get* ]]");
    // GNU make 3.81 calls the shell with `-c` alone.
    let output = folder.make(&["uninstall", ".SHELLFLAGS=-c"]);
    assert!(!output.status.success());
    assert!(!folder.log().contains("\ndelete "), "{}", folder.log());
}

#[test]
fn the_targets_are_listed_in_a_folder_with_spaces_and_by_the_name_of_the_makefile() {
    let folder = Folder::new("one", "");
    let path = folder.0.path().join("Makefile");
    for words in [vec!["help"], vec!["-f", path.to_str().unwrap()]] {
        assert!(folder.prints(&words).contains("Delete ALL objects of these kinds"));
    }
}

/// A cluster with the namespace: its labels are in MADE_BY, its objects in OBJECTS.
const NAMESPACE_KUBECTL: &str = r#"
echo "$*" >>"$LOG"
case "$*" in
"delete --dry-run=client"*) echo namespace/foobar-operator-system ;;
"get namespaces"*app.kubernetes.io/name=*) [ "$MADE_BY" != deploy ] || echo namespace/foobar-operator-system ;;
"get namespaces"*) [ "$MADE_BY" = nobody ] || echo namespace/foobar-operator-system ;;
api-resources*) printf 'configmaps\nleases.coordination.k8s.io\n' ;;
"get configmaps,leases.coordination.k8s.io --namespace foobar-operator-system"*) printf "$OBJECTS" ;;
esac
"#;

/// What undeploy prints and asks of that cluster.
fn undeployed(made_by: &str, objects: &str, words: &[&str]) -> (String, String) {
    let settings = format!("MADE_BY={made_by}; OBJECTS='{objects}'\n");
    let folder = Folder::new("one", &format!("{settings}{NAMESPACE_KUBECTL}"));
    let said = folder.prints(&[&["undeploy"], words].concat());
    (said, folder.log())
}

#[test]
fn make_undeploy_deletes_the_namespace_that_deploy_made_if_nobody_else_uses_it() {
    let objects =
        "ConfigMap/kube-root-ca.crt \\nServiceAccount/default \\nLease/foobar-operator \\nEvent/x \\nPod/mine uid-1\\n";
    let deleted = "\ndelete namespace foobar-operator-system\n";
    for none_or_ours in ["", objects] {
        let (said, log) = undeployed("deploy", none_or_ours, &[]);
        assert!(log.contains(deleted) && !said.contains("left:"), "{said}{log}");
    }
    for (made_by, objects, left) in [
        ("others", "", "which `make deploy` has not made"),
        (
            "deploy",
            "Lease/other \\nConfigMap/settings \\n",
            "which has objects of others: Lease/other ConfigMap/settings",
        ),
    ] {
        let (said, log) = undeployed(made_by, objects, &[]);
        assert!(
            said.contains(&format!("left: the namespace foobar-operator-system, {left}\n")),
            "{said}"
        );
        assert!(!log.contains("delete namespace"), "{log}");
        let selector = "delete --ignore-not-found -k config/default --selector app.kubernetes.io/component!=namespace";
        assert!(log.contains(selector), "{log}");
    }
    let (said, log) = undeployed("nobody", "", &[]);
    assert!(
        !log.contains("delete namespace") && !said.contains("left:"),
        "{said}{log}"
    );
}

#[test]
fn make_undeploy_keeps_crds_and_objects_if_asked() {
    let (said, log) = undeployed("deploy", "FooBar/sample \\n", &["KEEP_CRDS=1"]);
    assert!(
        said.contains("left: the CRDs and all their objects\n") && said.contains("objects of others: FooBar/sample"),
        "{said}"
    );
    let deletes: Vec<_> = log
        .lines()
        .filter(|line| line.starts_with("delete ") && !line.contains("--dry-run"))
        .collect();
    let operator = "delete --ignore-not-found=false -k config/default --selector app.kubernetes.io/component notin (crd, namespace)";
    assert_eq!(deletes, [operator]);
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

/// A kubectl with a CRD whose objects wait for a garbage collector that never ends their deletion: it has first seen them in
/// a version that is gone. The operator needs a moment to clean up, and the collector one for their child.
const STUCK_KUBECTL: &str = r#"#!/usr/bin/env bash
echo "$*" >>"$LOG"
nth() { grep -c -- "^$1" "$LOG"; }
case "$*" in
"get -k config/crd --ignore-not-found -o name") echo crd/foobars.test.example.com ;;
"api-resources"*) echo configmaps ;;
"delete foobars"*--cascade=foreground*) until [ -e "$LOG.released" ]; do command -p sleep 0.05; done ;;
"delete foobars"*--cascade=background*) touch "$LOG.released" ;;
"get foobars"*) [ "$(nth "get foobars")" -gt 3 ] && echo '["foregroundDeletion"] uid-1' || echo '["foregroundDeletion","ours"] uid-1' ;;
"get configmaps"*) [ "$(nth "get configmaps")" -gt 2 ] || echo "ConfigMap default/sample uid-0 uid-1" ;;
esac
"#;

#[test]
fn make_uninstall_releases_objects_that_the_garbage_collector_forgot_once_their_children_are_gone() {
    let root = std::env::temp_dir().join(format!("kubewright-makefile-uninstall-{}", std::process::id()));
    fs::create_dir_all(root.join("bin")).unwrap();
    let makefile = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/one/Makefile");
    fs::copy(makefile, root.join("Makefile")).unwrap();
    fs::write(root.join("kubectl"), STUCK_KUBECTL).unwrap();
    // Its pauses take no time.
    let sleep = root.join("bin/sleep");
    fs::write(&sleep, "#!/usr/bin/env bash\n").unwrap();
    fs::set_permissions(&sleep, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", root.join("bin").display(), std::env::var("PATH").unwrap());
    let (log, kubectl) = (
        root.join("log"),
        format!("KUBECTL=bash {}", root.join("kubectl").display()),
    );
    let mut make = Command::new("make");
    make.args(["uninstall", &kubectl]).current_dir(&root);
    make.env("LOG", &log).env("PATH", path);
    let output = make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    let log = fs::read_to_string(log).unwrap();
    let count = |words: &str| log.lines().filter(|line| line.starts_with(words)).count();
    let at = |words: &str| log.find(words).unwrap_or_else(|| panic!("no `{words}` in\n{log}"));
    let released = at("--cascade=background");
    // Three times the operator's finalizer is still there; then five quiet looks are needed; then two find the child.
    assert!(log[..released].matches("\nget foobars").count() >= 10, "{log}");
    assert_eq!(log[..released].matches("\nget configmaps").count(), 3, "{log}");
    assert_eq!(
        count("delete foobars.test.example.com --all --all-namespaces --cascade=foreground"),
        1
    );
    assert!(released < at("delete --ignore-not-found=false -k config/crd"), "{log}");
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn make_undeploy_takes_the_converter_out_of_crds_once_the_operator_is_gone() {
    let root = std::env::temp_dir().join(format!("kubewright-makefile-undeploy-{}", std::process::id()));
    fs::create_dir_all(&root).unwrap();
    let makefile = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/wide/Makefile");
    fs::copy(makefile, root.join("Makefile")).unwrap();
    fs::write(root.join("kubectl"), KUBECTL).unwrap();
    let (log, kubectl) = (
        root.join("log"),
        format!("KUBECTL=bash {}", root.join("kubectl").display()),
    );
    let mut make = Command::new("make");
    make.args(["undeploy", &kubectl]).current_dir(&root).env("LOG", &log);
    let output = make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let log = fs::read_to_string(log).unwrap();
    let at = |words: &str| log.find(words).unwrap_or_else(|| panic!("no `{words}` in\n{log}"));
    let none = r#"patch crd/foobars.test.example.com --type merge --patch {"spec":{"conversion":{"strategy":"None","webhook":null}}}"#;
    assert!(at("-k config/default --selector") < at(none));
    assert!(
        at(none) < at("delete --ignore-not-found -k config/default --selector app.kubernetes.io/component!=namespace")
    );
    assert!(!log.contains("patch crd/greeters"), "{log}");
    // One kind's deletion in the foreground does not end.
    let deleted = |cascade: &str| {
        at(&format!(
            "delete greeters.test.example.com --all --all-namespaces --cascade={cascade}"
        ))
    };
    assert!(deleted("foreground") < deleted("background"));
    assert!(
        !log.contains("delete foobars.test.example.com --all --all-namespaces --cascade=background"),
        "{log}"
    );
    fs::remove_dir_all(root).unwrap();
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
