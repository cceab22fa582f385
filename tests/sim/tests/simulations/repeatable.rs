//! The same seed and faults give the same requests, at the same times, with the same bodies; what prevents that is named.

use std::env;

use sim::right::Right;

#[test]
fn the_same_seed_gives_the_same_requests() {
    let is_nightly = env::var_os("KUBEWRIGHT_NIGHTLY").is_some();
    let times = if is_nightly { 1000 } else { 12 };
    // The one with two objects: a process finds both at its start.
    let shares = sim::right::ALL.iter().filter(|it| it.name.starts_with("shares"));
    let operators = sim::right::ALL[..2].iter().chain(shares);
    for Right {
        name,
        register,
        objects,
    } in operators
    {
        for faults in ["w1:crash-after", "p4:events-late+w2:user-recreates"] {
            let difference = sim::simulation(*register).repeat(objects(), 1, faults, times);
            assert_eq!(difference.unwrap(), None, "{name} {faults}");
        }
    }
}

#[test]
fn what_differs_from_run_to_run_is_named() {
    for (reason, register) in sim::chancy::ALL {
        let report = sim::explore(register, 0);
        let differs = report.differs.unwrap_or_default();
        let named = "controller `foobar`, object `default/sample` applies configmaps default/sample-foobar with ";
        assert!(differs.starts_with(named), "{reason}: {differs}");
        assert!(differs.contains("at `/data/text`"), "{reason}: {differs}");
    }
}
