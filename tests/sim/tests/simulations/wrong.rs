//! Each wrong operator is found by the default run, and by the right oracle. Without KUBEWRIGHT_NIGHTLY a test tries only the
//! first operator for each oracle.

use std::{
    collections::BTreeSet,
    env,
    time::{Duration, Instant},
};

use kubewright_apiserver::dev::sim::{FailedRun, Oracle};
use sim::{
    careless,
    eventful::{self, Children},
    inconsiderate, misled,
    wrong::{self, Wrong},
};

fn assert_found(operators: impl IntoIterator<Item = Wrong>) {
    let is_nightly = env::var_os("KUBEWRIGHT_NIGHTLY").is_some();
    // WRONG selects operators by their names.
    let selected = env::var("WRONG").ok();
    let (mut missed, mut tried, mut runs) = (Vec::new(), 0, 0);
    let (all_began, mut longest) = (Instant::now(), Duration::ZERO);
    let mut oracles = BTreeSet::new();
    for Wrong { name, register, oracle } in operators {
        if selected.as_ref().is_some_and(|part| !name.contains(part.as_str()))
            || (!oracles.insert(oracle.name()) && !is_nightly)
        {
            continue;
        }
        let began = Instant::now();
        let report = sim::explore(register, 50);
        let found = report.failure.as_ref().map(|failure| failure.finding.oracle);
        let only = report.failure.as_ref().map(FailedRun::only).unwrap_or_default();
        println!(
            "{name}: {found:?} after {} runs, {:?}, {only}",
            report.runs,
            began.elapsed()
        );
        (tried, runs, longest) = (tried + 1, runs + report.runs, longest.max(began.elapsed()));
        if found != Some(oracle) {
            missed.push(format!("{name}: {found:?} and not {oracle:?}\n{}", report.text()));
        }
    }
    println!(
        "{tried} operators, {runs} runs, {:?}, at most {longest:?} for one",
        all_began.elapsed()
    );
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn each_mistake_is_found_and_named() {
    assert_found(wrong::ALL);
}

#[test]
fn each_mistake_about_memory_children_and_others_is_found() {
    assert_found(careless::ALL);
}

#[test]
fn each_mistake_about_permissions_clocks_and_labels_is_found() {
    assert_found(misled::ALL);
}

#[test]
fn each_mistake_about_siblings_optional_values_and_marks_of_others_is_found() {
    assert_found(inconsiderate::ALL);
}

fn named(name: &str) -> sim::Register {
    let mut operators = inconsiderate::ALL.into_iter();
    operators.find(|wrong| wrong.name == name).unwrap().register
}

#[test]
fn each_value_of_a_spec_is_changed_alone() {
    let register = named("looks at the presence of an optional value, and not at the value");
    let report = sim::explore(register, 0);
    let text = report.text();
    let failure = report.failure.unwrap_or_else(|| panic!("{text}"));
    assert_eq!(failure.only(), "none");
    assert_eq!(failure.finding.lines.len(), 1, "{text}");
    assert!(text.contains("-- users change the samples: `/type`"), "{text}");
    assert!(text.contains("`/data/type` is \"greeting\", and should be "), "{text}");
}

#[test]
fn an_optional_value_that_the_sample_lacks_is_set_and_removed() {
    let register = named("keeps what an optional value has asked for");
    let mut objects = sim::objects();
    objects.samples[0]["spec"].as_object_mut().unwrap().remove("type");
    let report = sim::simulation(register).explore(objects, 1, 0).unwrap();
    let text = report.text();
    let failure = report.failure.unwrap_or_else(|| panic!("{text}"));
    assert_eq!(failure.only(), "none");
    assert!(text.contains("`/data/type` is \"x\", and should not exist"), "{text}");
}

#[test]
fn an_operator_that_expects_one_event_for_each_deletion_fails_only_when_events_are_doubled() {
    let report = eventful::expecting_one_deletion().explore(sim::objects(), 1, 50);
    let failure = report.unwrap().failure.unwrap();
    let only = failure.only();
    assert!(only.ends_with(":events-doubled"), "{only}: {:?}", failure.finding);
    assert_eq!(failure.finding.oracle, Oracle::Panic);
}

#[test]
fn an_operator_that_trusts_its_cache_of_one_kind_fails_only_when_the_events_of_that_kind_are_late() {
    let simulation = eventful::generating_names(Children::Cached);
    let report = simulation.explore(sim::objects(), 1, 0).unwrap();
    let text = report.text();
    let failure = report.failure.unwrap_or_else(|| panic!("{text}"));
    let only = failure.only();
    assert!(only.starts_with('k') && only.ends_with(":events-late"), "{text}");
    assert_eq!(failure.finding.oracle, Oracle::State);
    assert!(
        text.contains("FAULT: watches of configmaps deliver everything 5 s late"),
        "{text}"
    );
}

#[test]
fn the_page_of_hazards_names_wrong_operators_that_exist() {
    let page = include_str!("../../../../docs/src/contributing/hazards.md");
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| K") && line.contains('"'));
    let named: Vec<_> = rows.flat_map(|row| row.split('"').skip(1).step_by(2)).collect();
    let operators = wrong::ALL.into_iter().chain(careless::ALL).chain(misled::ALL);
    let operators = operators.chain(inconsiderate::ALL);
    let mut names: BTreeSet<_> = operators.map(|wrong| wrong.name).collect();
    names.insert(eventful::TRUSTS_ITS_CACHE);
    assert!(named.len() > 8);
    for name in named {
        assert!(names.contains(name), "there is no wrong operator `{name}`");
    }
}

#[test]
fn a_request_that_no_role_grants_is_named_with_the_rule_that_does() {
    let register = sim::right::ALL[0].register;
    let objects = sim::Objects {
        roles: sim::roles(&["create", "get", "list", "watch"]),
        ..sim::objects()
    };
    let report = sim::simulation(register).explore(objects, 1, 0).unwrap();
    let finding = report.failure.unwrap().finding;
    assert_eq!(finding.oracle, Oracle::Permission);
    let line = &finding.lines[0];
    assert!(line.starts_with("the operator may not `patch configmaps`"), "{line}");
    let hint = r#"hint: add `.rule(&[""], &["configmaps"], &["patch"])` to the controller, and run `make sim` again"#;
    assert!(line.contains(hint), "{line}");
}

#[test]
fn the_same_seed_finds_the_same_failure_on_any_number_of_cores() {
    // It is found under a fault, among many schedules.
    let Wrong { register, name, .. } = wrong::ALL[2];
    assert_eq!(name, "writes the status before the work");
    let [first, second] = [(); 2].map(|()| sim::explore(register, 50));
    assert!(first.failure.is_some());
    assert_eq!(first.text(), second.text());
}
