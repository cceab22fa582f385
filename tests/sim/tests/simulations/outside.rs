//! Another system has the faults of requests too, and what it holds is compared; two processes of one operator work at once.

use sim::{
    outside::{self, Mistake},
    rivals, simulation_of,
    wrong::Wrong,
};

fn explore(mistake: Mistake) -> kubewright_apiserver::dev::sim::Report {
    let simulation =
        simulation_of(move |manager, connection| outside::register(manager, outside::simulated(connection), mistake));
    simulation.explore(sim::objects(), 1, 8).unwrap()
}

#[test]
fn a_right_operator_of_another_system_passes() {
    let report = explore(Mistake::None);
    assert!(report.failure.is_none(), "{}", report.text());
    assert_eq!(report.differs, None);
}

#[test]
fn mistakes_about_another_system_are_found() {
    for (mistake, oracle) in outside::WRONG {
        let report = explore(mistake);
        let text = report.text();
        let failure = report.failure.unwrap();
        assert_eq!(failure.finding.oracle, oracle, "{text}");
        assert!(text.contains(" dns /records/"), "{text}");
    }
}

#[test]
fn two_processes_that_disturb_each_other_are_found() {
    for Wrong { name, register, oracle } in rivals::ALL {
        let report = sim::explore(register, 0);
        let text = report.text();
        let failure = report.failure.unwrap_or_else(|| panic!("{name}: {text}"));
        assert_eq!(failure.finding.oracle, oracle, "{name}: {text}");
        assert!(failure.only().ends_with(":two-processes"), "{name}: {text}");
        let writes = ["applies", "patches"].map(|verb| format!("operator 2/foobar {verb} configmaps "));
        assert!(writes.iter().any(|write| text.contains(write)), "{name}: {text}");
    }
}
