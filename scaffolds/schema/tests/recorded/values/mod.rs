//! Compares custom resources with a real kube-apiserver, whose outcome for each value is recorded in `recorded.jsonl`, so
//! that the comparison needs no server. After a change of cases, `KUBEWRIGHT_BLESS=1 cargo test -p kubewright-schema --test
//! recorded` adds them to the file, and `fidelity record schema-values` the server's outcomes.

mod cases;
mod equality;
mod outcome;

use outcome::{Case, Keyed, Outcomes, Place, Try, different, report};
use recordings::Exchange;
use std::path::Path;

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded/values/recorded.jsonl");

fn text() -> String {
    std::fs::read_to_string(RECORDED).unwrap()
}

fn recorded() -> Vec<Exchange<Keyed, Outcomes>> {
    recordings::read(&text())
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
    for Exchange { asked, answered } in recorded() {
        let definition = answered.definition;
        assert!(definition.is_empty(), "{}: {definition:?}", asked.case.name);
    }
}

#[test]
fn every_case_is_recorded_as_it_is_now() {
    let mut by_hand = cases::all();
    let mut cases: Vec<Keyed> = recordings::requests(&text());
    let numbers = cases.iter().filter_map(|it| it.key.strip_prefix('c')?.parse().ok());
    let last: usize = numbers.max().unwrap_or(0);
    // Those at random were drawn once.
    cases.retain(|it| {
        let found = by_hand.iter().position(|other| *other == it.case);
        it.case.name.starts_with("random") || found.map(|at| by_hand.remove(at)).is_some()
    });
    cases.extend(by_hand.into_iter().zip(last + 1..).map(|(case, number)| Keyed {
        key: format!("c{number}"),
        case,
    }));
    cases.sort_by(|one, other| one.case.name.cmp(&other.case.name));
    recordings::assert_requests(Path::new(RECORDED), cases);
}
