//! The samples of each kind are simulated by themselves, unless they belong together.

use kubewright_apiserver::dev::sim::{Oracle, Report};
use sim::{Register, several};

fn explore(register: Register, target: &str) -> Report {
    let report = sim::simulation(register).explore(several::objects(target), 1, 0);
    report.unwrap()
}

fn groups(report: &Report) -> Vec<&str> {
    report.groups.iter().map(|(kinds, _)| kinds.as_str()).collect()
}

#[test]
fn each_kind_is_simulated_alone_and_all_samples_together_without_faults() {
    // Of an operator that does nothing there are few faults.
    let report = explore(|_| Ok(()), "world");
    let text = report.text();
    assert!(report.failure.is_none() && report.differs.is_none(), "{text}");
    let all = "all samples together, without faults";
    assert_eq!(groups(&report), ["FooBar", "Site", all], "{text}");
    let runs: Vec<_> = report.groups.iter().map(|(_, runs)| *runs).collect();
    assert!(runs[0] > 8 && runs[1] > 8 && runs[2] == 2, "{text}");
    assert_eq!(report.runs, runs.iter().sum::<usize>());
}

#[test]
fn samples_that_name_each_other_or_need_each_other_are_simulated_together() {
    // Both fail without faults, which ends the simulation.
    for (register, target) in [(several::wrong as Register, "harbour"), (several::looking, "world")] {
        let report = explore(register, target);
        let text = report.text();
        assert_eq!(groups(&report), ["FooBar, Site"], "{text}");
    }
}

#[test]
fn a_failure_names_the_kind_whose_samples_replay_it() {
    let report = explore(several::wrong, "world");
    let text = report.text();
    assert_eq!(groups(&report), ["FooBar", "Site"], "{text}");
    assert!(
        text.contains("\nreplay: make sim SEED=1 SIM_KIND=Site ONLY=none\n"),
        "{text}"
    );
    let failure = report.failure.unwrap();
    assert_eq!(
        (failure.kind.as_deref(), failure.finding.oracle),
        (Some("Site"), Oracle::State)
    );
}
