//! Right operators pass.

use std::{env, time::Instant};

use kubewright_apiserver::dev::sim::Oracle;
use sim::{
    eventful::{self, Children},
    right::Right,
};

/// Faults of one run. If an operator watches two kinds, the last three are faults of the phases in which users change, recreate and
/// delete the samples.
const FAULTS: &str = "p0:clock-ahead+p1:events-doubled+p3:events-doubled+p4:events-doubled+p6:events-doubled+k2:events-late+k13:events-late+k14:events-late";

#[test]
fn nothing_is_found_in_right_operators() {
    let is_nightly = env::var_os("KUBEWRIGHT_NIGHTLY").is_some();
    // The first one with all faults, the others with some; RIGHT selects operators by their names, for all faults.
    let only = env::var("RIGHT").ok();
    let seed = env::var("SEED").map_or(1, |seed| seed.parse().expect("SEED is a number"));
    let mut alarms = Vec::new();
    for (
        n,
        Right {
            name,
            register,
            objects,
        },
    ) in sim::right::ALL.iter().enumerate()
    {
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let began = Instant::now();
        let simulation = sim::simulation(*register);
        if n > 0 && !is_nightly && only.is_none() {
            let found = simulation.repeat(objects(), 1, FAULTS, 1).unwrap();
            alarms.extend(found.map(|found| format!("{name}: {found}")));
            continue;
        }
        let (pairs, random) = if is_nightly { (360, 100) } else { (0, 0) };
        let report = simulation.random_runs(random).explore(objects(), seed, pairs).unwrap();
        let [_, pairs] = report.pairs;
        println!("{name}: {} runs in {:?}, {pairs} pairs", report.runs, began.elapsed());
        if report.failure.is_some() || report.differs.is_some() {
            alarms.push(format!("{name}: {}", report.text()));
        }
    }
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
}

#[test]
fn nothing_is_found_in_an_operator_that_reads_its_children_on_the_api_server() {
    let simulation = eventful::generating_names(Children::Live);
    let report = simulation.explore(sim::objects(), 1, 0).unwrap();
    assert!(
        report.failure.is_none() && report.differs.is_none(),
        "{}",
        report.text()
    );
}

#[test]
fn an_invariant_of_the_author_sees_samples_and_children() {
    let register = sim::right::ALL[0].register;
    let simulation = sim::simulation(register).invariant("few objects", |objects| match objects {
        [_] => Ok(()),
        more => Err(format!("there are {}", more.len())),
    });
    let report = simulation.explore(sim::objects(), 1, 0).unwrap();
    let finding = report.failure.unwrap().finding;
    assert_eq!(finding.oracle, Oracle::Invariant);
    assert_eq!(finding.lines, ["few objects: there are 2"]);
}
