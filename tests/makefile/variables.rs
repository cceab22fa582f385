//! Every variable of the Makefile: it changes what a target runs, or it is refused. A variable without a row fails the test.

use super::Folder;
use std::collections::BTreeSet;
use std::fs;

/// A variable, a target that it concerns, a value, and the words which that target runs or prints only with the value.
const EFFECTS: [(&str, &str, &str, &str); 38] = [
    ("IMG", "build-installer", "a/b:1", "installer --image a/b:1"),
    ("PLATFORMS", "docker-buildx", "linux/arm64", "--platform linux/arm64"),
    ("CONTAINER_TOOL", "docker-push", "echo podman", "podman push"),
    ("KUBECTL", "install", "echo oc", "oc apply"),
    ("KUBECTL", "run", "kubectl --context a", "names a cluster with a flag"),
    (
        "KUBECTL",
        "migrate-storage",
        "kubectl -s a",
        "names a cluster with a flag",
    ),
    ("CARGO", "fmt", "echo other", "other fmt"),
    ("CARGOFLAGS", "lint", "--offline", "clippy --offline"),
    ("BUNDLE_IMG", "bundle-push", "a/bundle:1", "push a/bundle:1"),
    ("KIND", "test-image", "kind-0.30", "--kind kind-0.30"),
    ("KIND_CLUSTER", "test-image", "mine", "--cluster mine"),
    ("BASE", "verify-api", "v1.0.0", "--breaking-since v1.0.0"),
    ("ignore-not-found", "undeploy", "true", "--ignore-not-found true"),
    ("CLEANUP_TIMEOUT", "uninstall", "9m", "--timeout 9m"),
    ("CHART_VERSION", "chart", "1.2.3", "--version 1.2.3"),
    ("BUNDLE_VERSION", "bundle", "1.2.3", "--version 1.2.3"),
    ("CHANNELS", "bundle", "beta", "--channels beta"),
    ("DEFAULT_CHANNEL", "bundle", "beta", "--default-channel beta"),
    ("WEBHOOK_URL", "run", "https://a:1", "--webhook-url=https://a:1"),
    (
        "MAX_DESC_LEN",
        "verify-manifests",
        "80",
        "--check --max-description-length 80",
    ),
    (
        "OLDEST_KUBERNETES",
        "verify-manifests",
        "1.34",
        "--check --oldest-kubernetes 1.34",
    ),
    ("JSON", "verify-api", "1", "--output json"),
    ("KUBEBUILDER_ASSETS", "test-e2e", "bin", "cargo test --test *"),
    ("USE_EXISTING_CLUSTER", "test-e2e", "true", "cargo test --test *"),
    ("ARGS", "run", "--log-level debug", "--log-level debug"),
    ("ARGS", "dev", "--log-level debug", "dev -- --log-level debug"),
    ("ARGS", "test-image", "--except a", "--except a"),
    ("AS_OPERATOR", "run", "1", "kubeconfig --out target/operator.kubeconfig"),
    ("CHECK", "migrate-storage", "1", "migrate-storage --check"),
    ("KEEP_CRDS", "undeploy", "1", "--keep-crds"),
    ("KEEP_CRDS", "uninstall", "1", "make undeploy KEEP_CRDS=1 keeps them"),
    (
        "ARGS",
        "migrate-storage",
        "--log-level debug",
        "-- --log-level debug migrate-storage",
    ),
    ("WATCH_NAMESPACE", "run", "mine", "WATCH_NAMESPACE=mine"),
    ("SEED", "sim", "7", "--seed 7"),
    ("SCHEDULES", "sim", "9", "--schedules 9"),
    ("RANDOM_RUNS", "sim", "9", "--random-runs 9"),
    ("SIM_KIND", "sim", "FooBar", "--kind FooBar"),
    ("ONLY", "sim", "w0:500", "--only w0:500"),
];

/// Variables that make sets itself.
const OF_MAKE: [&str; 3] = ["MAKE_VERSION", "MAKELEVEL", "MAKE"];

/// Names in a line that stand after `before` and end before any other character than those of names.
fn names_after<'a>(line: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    line.split(before).skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"_-".contains(c));
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// The variables of a makefile that its users set: those that it reads, without those that it defines for itself.
fn variables(makefile: &str) -> BTreeSet<&str> {
    let code = || makefile.lines().filter(|line| !line.starts_with('#'));
    let own: BTreeSet<_> = code()
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name)
        .collect();
    let defaults = code().filter_map(|line| line.split_once(" ?= ")).map(|(name, _)| name);
    let exported = code()
        .filter_map(|line| line.strip_prefix("export "))
        .flat_map(str::split_whitespace);
    let read = code().flat_map(|line| {
        let of_make = names_after(line, "$(").filter(move |name| line.contains(&format!("$({name})")));
        of_make
            .chain(names_after(line, "$${"))
            .chain(names_after(line, "\"$$").filter(|it| !it.is_empty()))
    });
    let is_of_users = |name: &&str| {
        let letters = name
            .chars()
            .all(|c| c.is_ascii_uppercase() || "_-0123456789".contains(c));
        !own.contains(name) && !OF_MAKE.contains(name) && (letters && name.len() > 1 || name.contains('-'))
    };
    read.chain(defaults).chain(exported).filter(is_of_users).collect()
}

#[test]
fn every_variable_has_an_effect() {
    let folder = Folder::new("namespaced", "");
    fs::create_dir(folder.0.path().join("config")).unwrap();
    // The environment of a program that `run` starts.
    let cargo = "CARGO=f() { echo \"cargo $$*\"; env | grep -E '^(WATCH_NAMESPACE|KUBECONFIG)='; }; f";
    let said = |words: &[&str]| {
        let run = folder.make(words);
        let [out, errors] = [run.stdout, run.stderr].map(|text| String::from_utf8(text).unwrap());
        format!("{out}{errors}")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (variable, target, value, words) in EFFECTS {
        let usual: &[&str] = match (variable, target) {
            ("CONTAINER_TOOL", _) => &[],
            ("WATCH_NAMESPACE", _) => &["CONTAINER_TOOL=echo tool", "AS_OPERATOR=1", cargo],
            _ => &["CONTAINER_TOOL=echo tool"],
        };
        let set = format!("{variable}={value}");
        let [before, after] = [vec![target], vec![target, &set]].map(|given| said(&[usual, &given].concat()));
        assert!(
            !before.contains(words) && after.contains(words),
            "make {target} {set}: {after}\nwithout: {before}"
        );
    }
    let text = fs::read_to_string(folder.0.path().join("Makefile")).unwrap();
    let shown: BTreeSet<_> = EFFECTS.iter().map(|(variable, ..)| *variable).collect();
    assert_eq!(variables(&text), shown);
    let added = "NEW ?= a\nown = b\nexport OUT\nt:\n\t@$(TOOL) \"$$NEW\" $(own) $(call own,x)\n";
    assert_eq!(variables(added), ["NEW", "OUT", "TOOL"].into());
}
