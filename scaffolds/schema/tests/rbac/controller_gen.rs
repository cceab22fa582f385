//! Runs controller-gen on lists of rules: many at once, each as the Role of a separate namespace.

use super::Recorded;
use kubewright_schema::{rbac::PolicyRule, yaml};
use serde_json::Value;
use std::{collections::BTreeMap, fmt::Write, fs, process::Command};

/// The number of lists in one run: YAML parsers limit the number of documents.
const SHARE: usize = 500;

pub fn ask(sets: Vec<Vec<PolicyRule>>) -> Vec<Recorded> {
    sets.chunks(SHARE).flat_map(ask_together).collect()
}

fn ask_together(sets: &[Vec<PolicyRule>]) -> Vec<Recorded> {
    let mut source = String::from("package rules\n\n");
    for (at, rules) in sets.iter().enumerate() {
        rules
            .iter()
            .for_each(|rule| _ = writeln!(source, "{}", marker(at, rule)));
    }
    let mut roles = run(&source);
    let recorded = |(at, rules): (usize, &Vec<PolicyRule>)| Recorded {
        rules: rules.clone(),
        theirs: roles.remove(&namespace(at)).expect("a Role for each set"),
    };
    sets.iter().enumerate().map(recorded).collect()
}

fn namespace(at: usize) -> String {
    format!("set-{at}")
}

fn marker(at: usize, rule: &PolicyRule) -> String {
    let mut text = format!("// +kubebuilder:rbac:namespace={}", namespace(at));
    for (key, list) in [
        ("groups", &rule.api_groups),
        ("resources", &rule.resources),
        ("resourceNames", &rule.resource_names),
        ("urls", &rule.non_resource_urls),
        ("verbs", &rule.verbs),
    ] {
        if !list.is_empty() {
            let quoted: Vec<_> = list.iter().map(|word| format!("{word:?}")).collect();
            _ = write!(text, ",{key}={{{}}}", quoted.join(","));
        }
    }
    text
}

/// The rules of each Role by its namespace.
fn run(source: &str) -> BTreeMap<String, Value> {
    let controller_gen = std::env::var_os("CONTROLLER_GEN").expect("CONTROLLER_GEN is set");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("go.mod"), "module rules\n\ngo 1.24\n").unwrap();
    fs::write(folder.path().join("rules.go"), source).unwrap();
    let arguments = ["rbac:roleName=manager-role", "paths=./...", "output:stdout"];
    let output = Command::new(controller_gen)
        .args(arguments)
        .current_dir(folder.path())
        .output();
    let output = output.expect("controller-gen runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let roles = yaml::documents(&String::from_utf8(output.stdout).unwrap()).unwrap();
    let rules = |mut role: Value| {
        let namespace = role["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        (namespace, role["rules"].take())
    };
    roles.into_iter().map(rules).collect()
}
