//! Right operators pass.

use std::{env, time::Instant};

use kubewright_apiserver::dev::sim::Oracle;

#[test]
fn nothing_is_found_in_right_operators() {
    let is_nightly = env::var_os("KUBEWRIGHT_NIGHTLY").is_some();
    let (operators, pairs) = if is_nightly {
        (sim::right::ALL.len(), 10_000)
    } else {
        (1, 0)
    };
    for (name, register) in &sim::right::ALL[..operators] {
        let began = Instant::now();
        let report = sim::explore(*register, pairs);
        println!("{name}: {} runs in {:?}", report.runs, began.elapsed());
        assert!(report.failure.is_none(), "{name}\n{}", report.text());
        assert_eq!(report.differs, None, "{name}");
    }
}

#[test]
fn an_invariant_of_the_author_sees_samples_and_children() {
    let (_, register) = sim::right::ALL[0];
    let simulation = sim::simulation(register).invariant("few objects", |objects| match objects {
        [_] => Ok(()),
        more => Err(format!("there are {}", more.len())),
    });
    let report = simulation.explore(sim::objects(), 1, 0).unwrap();
    let finding = report.failure.unwrap().finding;
    assert_eq!(finding.oracle, Oracle::Invariant);
    assert_eq!(finding.lines, ["few objects: there are 2"]);
}
