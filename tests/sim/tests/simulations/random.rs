//! Runs with random faults combine what single faults do not, and their failures can be replayed.

use kubewright_apiserver::dev::sim::{Oracle, Report};
use sim::{right::Right, unlucky};

fn explore(register: sim::Register, runs: usize) -> Report {
    let simulation = sim::simulation(register).random_runs(runs);
    simulation.explore(sim::objects(), 1, 0).unwrap()
}

#[test]
fn a_mistake_that_needs_two_faults_is_found_by_random_ones_and_replayed_with_their_seed() {
    let without = explore(unlucky::gives_up, 0);
    assert!(without.failure.is_none(), "{}", without.text());
    let report = explore(unlucky::gives_up, 400);
    let text = report.text();
    let only = report
        .failure
        .as_ref()
        .map(|failure| failure.only())
        .unwrap_or_default();
    let failure = report.failure.unwrap_or_else(|| panic!("{text}"));
    assert_eq!(failure.finding.oracle, Oracle::State, "{text}");
    assert_eq!(only.split('+').count(), 2, "{text}");
    assert!(report.random.runs > 0 && report.random.runs <= 400, "{text}");
    let replay = format!("replay: make sim SEED={} ONLY={only}\n", failure.seed);
    assert!(text.ends_with(&replay), "{text}");
    let simulation = sim::simulation(unlucky::gives_up);
    let found = simulation
        .repeat(sim::objects(), failure.seed, &only, 1)
        .unwrap()
        .unwrap();
    assert!(found.starts_with(&Oracle::State.to_string()), "{found}");
}

#[test]
fn random_runs_are_counted_with_their_faults_and_seeds() {
    let Right { register, .. } = sim::right::ALL[0];
    let report = explore(register, 60);
    let text = report.text();
    assert!(report.failure.is_none() && report.differs.is_none(), "{text}");
    let random = report.random;
    assert_eq!((random.runs, random.seeds), (60, 2));
    assert!((120..480).contains(&random.faults), "{text}");
    assert!(report.runs > random.runs && report.faults > random.faults, "{text}");
    let line = format!("of all runs, 60 had {} random faults, with 2 seeds\n", random.faults);
    assert!(text.contains(&line), "{text}");
}
