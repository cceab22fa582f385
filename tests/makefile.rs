//! The Makefile of a generated project, with cargo as a user may have configured it.

use std::{fs, path::Path, process::Command};

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

/// Prints two objects as `kustomize` does, and writes what `apply` reads to the file STDIN.
const RENDERING_KUBECTL: &str = r#"
case "$1" in
kustomize) cat <<'OBJECTS'
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: foobar-operator-validating-webhook-configuration
webhooks:
- clientConfig:
    service:
      name: foobar-operator-webhook-service
      namespace: foobar-operator-system
      path: /validate-test-example-com-v1-foobar
  objectSelector:
    matchLabels:
      path: /kept
---
apiVersion: v1
kind: Service
metadata:
  name: foobar-operator-webhook-service
OBJECTS
;;
apply) cat >"$STDIN" ;;
create) echo foobar-operator-controller-manager foobar-operator-system ;;
esac
"#;

#[test]
fn make_run_serves_webhooks_at_webhook_url_or_applies_none() {
    let root = std::env::temp_dir().join(format!("kubewright-makefile-run-{}", std::process::id()));
    fs::create_dir_all(&root).unwrap();
    let makefile = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/wide/Makefile");
    fs::copy(makefile, root.join("Makefile")).unwrap();
    fs::write(root.join("kubectl"), RENDERING_KUBECTL).unwrap();
    let run = |settings: &[&str]| {
        let applied = root.join("applied");
        let mut make = Command::new("make");
        // Without a rule for `manifests`, which would be built.
        make.args(["run", "CARGO=echo", "--old-file=manifests"]).args(settings);
        make.arg(format!("KUBECTL=bash {}", root.join("kubectl").display()));
        make.current_dir(&root).env("STDIN", &applied);
        let output = make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{settings:?}: {errors}");
        let said = String::from_utf8(output.stdout).unwrap();
        (said, fs::read_to_string(&applied).unwrap_or_default())
    };
    let (said, applied) = run(&["ARGS=--log-level debug"]);
    assert!(said.ends_with("-- --webhook-bind-address=0 --log-level debug\n") && applied.is_empty());
    let (said, applied) = run(&["AS_OPERATOR=1"]);
    assert!(said.contains("running as foobar-operator-controller-manager"), "{said}");
    assert!(said.ends_with("-- --webhook-bind-address=0\n"), "{said}");
    assert!(
        !applied.contains("webhooks:") && applied.contains("kind: Service\n"),
        "{applied}"
    );
    let (said, applied) = run(&["WEBHOOK_URL=https://192.168.1.5:9443"]);
    assert!(said.contains("running as foobar-operator-controller-manager"), "{said}");
    assert!(said.ends_with("-- --webhook-url=https://192.168.1.5:9443\n"), "{said}");
    let called =
        "- clientConfig:\n    url: https://192.168.1.5:9443/validate-test-example-com-v1-foobar\n  objectSelector:";
    assert!(
        applied.contains(called) && applied.contains("      path: /kept\n---\n"),
        "{applied}"
    );
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn make_build_installer_writes_two_parts_for_operators_of_one_namespace_only() {
    let root = std::env::temp_dir().join(format!("kubewright-makefile-installer-{}", std::process::id()));
    for (case, parts) in [
        ("one", ""),
        ("namespaced", "run --quiet --locked --bin manifests -- parts\n"),
    ] {
        let folder = root.join(case);
        fs::create_dir_all(&folder).unwrap();
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(case);
        fs::copy(golden.join("Makefile"), folder.join("Makefile")).unwrap();
        fs::write(folder.join("kubectl"), RENDERING_KUBECTL).unwrap();
        // Writes down what the program reads.
        fs::write(folder.join("cargo"), "echo \"$*\"; cat >read").unwrap();
        let mut make = Command::new("make");
        // Without a rule for `manifests`, which would be built.
        make.args(["build-installer", "--old-file=manifests", "CARGOFLAGS=--locked"]);
        make.args(["CARGO=bash cargo", "KUBECTL=bash kubectl"])
            .current_dir(&folder);
        let output = make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{case}: {errors}");
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said, format!("dist/install.yaml\n{parts}"));
        let installed = fs::read_to_string(folder.join("dist/install.yaml")).unwrap();
        let read = fs::read_to_string(folder.join("read")).unwrap_or_default();
        assert_eq!(read, if parts.is_empty() { "" } else { &installed });
    }
    fs::remove_dir_all(root).unwrap();
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
    assert!(at(none) < at("delete --ignore-not-found -k config/default"));
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
