//! Compares custom resources with a real kube-apiserver, whose outcome for each value is recorded in `recorded.jsonl`, so
//! that the comparison needs no server. After a change of cases, `KUBEWRIGHT_BLESS=1 cargo test -p kubewright-schema --test
//! values` adds them to the file, and `fidelity record schema-values` the server's outcomes.

mod cases;
mod equality;
mod outcome;

use outcome::{Case, Place, Recorded, Try, different, report};
use serde_json::{Value, json};

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/values/recorded.jsonl");

fn text() -> String {
    std::fs::read_to_string(RECORDED).unwrap()
}

/// The recorded cases that have an answer.
fn recorded() -> Vec<Recorded> {
    text()
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

#[test]
fn values_have_the_same_outcome_as_on_the_server() {
    let recorded = recorded();
    assert!(recorded.len() > 350, "the recording is incomplete");
    let report: String = recorded.iter().map(|it| report(it, &different(it))).collect();
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn the_schemas_of_all_cases_are_accepted() {
    for Recorded { case, definition, .. } in recorded() {
        assert!(definition.is_empty(), "{}: {definition:?}", case.name);
    }
}

#[test]
fn every_case_is_recorded_as_it_is_now() {
    let mut by_hand = cases::all();
    let mut lines = Vec::new();
    let mut keys = 0;
    for line in text().lines() {
        let it: Value = serde_json::from_str(line).unwrap();
        let case: Case = serde_json::from_value(it["case"].clone()).unwrap();
        let number = it["key"].as_str().and_then(|key| key.strip_prefix('c')?.parse().ok());
        keys = keys.max(number.unwrap_or(0));
        // Those at random were drawn once.
        let is_random = case.name.starts_with("random");
        let found = by_hand.iter().position(|other| *other == case);
        if is_random || found.map(|at| by_hand.remove(at)).is_some() {
            lines.push((case.name, line.to_owned()));
        }
    }
    for case in by_hand {
        keys += 1;
        // The server has not been asked.
        lines.push((
            case.name.clone(),
            json!({"key": format!("c{keys}"), "case": case}).to_string(),
        ));
    }
    lines.sort();
    let now: String = lines.into_iter().map(|(_, line)| line + "\n").collect();
    if std::env::var_os("KUBEWRIGHT_BLESS").is_some() {
        std::fs::write(RECORDED, &now).unwrap();
    }
    assert!(text() == now, "KUBEWRIGHT_BLESS=1 writes the cases");
    assert_eq!(
        recorded().len(),
        now.lines().count(),
        "record again: some cases have no answer"
    );
}
