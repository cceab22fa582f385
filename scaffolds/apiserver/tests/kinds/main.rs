//! The built-in kinds compared with the real server's answers to the same requests: bodies, errors and their causes.
//! `fidelity record kinds` writes `recorded.jsonl` from `cases.txt`.

mod replay;
mod services;

use std::collections::BTreeMap;

use kubewright_apiserver::testing::kinds;
use replay::{Outcome, Record};
use serde_json::Value;

const RECORDED: &str = include_str!("recorded.jsonl");
/// Cases with different results, each with the reason; the ledger has a row for each.
const DIFFERENT: &str = include_str!("different.txt");

fn records() -> Vec<Record> {
    recordings::read(RECORDED).into_iter().map(Record::read).collect()
}

/// The reasons by kind and case, as in the list of differences.
fn different() -> BTreeMap<&'static str, &'static str> {
    let lines = DIFFERENT
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(" ## ").unwrap()).collect()
}

#[test]
fn every_recorded_request_has_the_real_servers_result() {
    let resources = kinds::resources();
    let known = different();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for record in records() {
        let outcome = replay::run(&resources, &record);
        let name = format!("{}: {}", record.kind, record.case);
        count += 1;
        match (outcome, known.contains_key(name.as_str())) {
            (Outcome::Same, true) => wrong.push(format!("no longer different: {name}")),
            (Outcome::Different(what), false) => wrong.push(format!("{name}\n{what}")),
            _ => {}
        }
    }
    assert!(count > 800);
    assert!(
        wrong.is_empty(),
        "{} of {count} differ:\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

#[test]
fn every_recorded_object_prints_as_on_the_real_server() {
    let resources = kinds::resources();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for record in records() {
        count += 1;
        if let Outcome::Different(what) = replay::print(&resources, &record) {
            wrong.push(format!("{}: {}\n{what}", record.kind, record.case));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count} differ:\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

#[test]
fn every_resource_has_verbs_columns_and_a_shape() {
    for resource in kinds::resources() {
        let name = resource.qualified();
        assert!(!resource.verbs.is_empty(), "{name} has no verbs");
        assert!(
            resource
                .subresources
                .iter()
                .all(|subresource| !subresource.verbs.is_empty()),
            "{name}"
        );
        let lists = resource.verbs.contains(&"list");
        assert!(
            !lists || !resource.rules().table.columns.is_empty(),
            "{name} has no columns"
        );
        let shape = kinds::name_of_kind(&resource.api_version(), &resource.names.kind);
        assert!(shape.is_some(), "{name} has no shape");
    }
}

#[test]
fn no_body_of_any_shape_makes_a_kind_panic() {
    let resources = kinds::resources();
    let odd: [Value; 6] = [
        Value::Null,
        Value::Bool(true),
        serde_json::json!(-1),
        serde_json::json!("x"),
        serde_json::json!([null, [], {}]),
        serde_json::json!({"": {"a": [1, "b"]}}),
    ];
    // One record in seven is enough, because the kinds share most of their code.
    for record in records().iter().step_by(7) {
        for path in replay::paths(&record.sent) {
            for value in &odd {
                let mut odd = record.clone();
                *odd.sent.pointer_mut(&path).unwrap() = value.clone();
                let _ = replay::run(&resources, &odd);
            }
        }
    }
}
