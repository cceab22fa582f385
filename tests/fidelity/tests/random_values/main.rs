//! Random schemas, and random values of them: a real kube-apiserver and the schema crate say the same. CASES is the number of schemas,
//! SEED the first seed.

#[path = "../../../../scaffolds/schema/tests/recorded/dice.rs"]
mod dice;
#[path = "../../../../scaffolds/schema/tests/recorded/values/outcome.rs"]
mod outcome;
mod random;
mod rich;

use std::{collections::BTreeSet, fmt::Write};

use fidelity::normal::without_made_up_types;
use fidelity::recording::{Real, values};
use kubewright_schema::lint;
use outcome::{Case, Keyed, Outcomes, Place, Try, different, report};
use recordings::Exchange;
use serde_json::{Value, json};

/// The number of further requests about a case with another outcome.
const AGAIN: usize = 12;

/// The differences for the random cases of `make`.
async fn disagreements(make: fn(u64) -> Vec<Case>, default: u64) -> String {
    let real = Real::start().await.unwrap();
    let cases = usize::try_from(dice::number("CASES", default)).unwrap();
    // Some seeds make several cases.
    let all = (dice::number("SEED", 1000)..).flat_map(make).take(cases);
    let lines = all
        .enumerate()
        .map(|(at, case)| json!({"key": format!("c{at}"), "case": case}));
    let answered = values::ask(&real, lines.collect()).await.unwrap();
    let (mut report, mut accepted) = (String::new(), 0);
    for line in answered {
        let recorded = typed(line);
        accepted += u32::from(recorded.answered.definition.is_empty());
        report.push_str(&lasting(&real, &recorded).await);
    }
    println!("{accepted} of {cases} schemas were accepted");
    report
}

fn typed(Exchange { asked, answered }: Exchange<Value, Value>) -> Exchange<Keyed, Outcomes> {
    Exchange {
        asked: serde_json::from_value(asked).unwrap(),
        answered: serde_json::from_value(answered).unwrap(),
    }
}

/// The differences that remain when the server is asked again. Go visits the fields of maps in random order: it stops at the first that
/// differs or cannot be compared, and of equally expensive rules it names any. Where the outcome depends on that, the server
/// contradicts itself, and ours has to be one of its outcomes.
async fn lasting(real: &Real, recorded: &Exchange<Keyed, Outcomes>) -> String {
    let (mut of_schema, mut values) = (of_schema(recorded), different(recorded));
    if of_schema.is_empty() && values.is_empty() {
        return String::new();
    }
    let Keyed { key, case } = &recorded.asked;
    let again: Vec<Value> = vec![json!({"key": key, "case": case}); AGAIN];
    for line in values::ask(real, again).await.unwrap() {
        let other = typed(line);
        if !of_schema.is_empty() && self::of_schema(&other).is_empty() {
            println!("{}: the server contradicts itself about the schema", case.name);
            of_schema.clear();
        }
        let differs = different(&other);
        for at in values.extract_if(.., |at| !differs.contains(at)) {
            println!("{}, value {at}: the server contradicts itself", case.name);
        }
    }
    of_schema + &report(recorded, &values)
}

/// The linter's different opinion of the schema.
fn of_schema(recorded: &Exchange<Keyed, Outcomes>) -> String {
    let Keyed { key, case } = &recorded.asked;
    let mut report = String::new();
    let ours = lint::causes(&values::definition(&case.whole(key))).into_iter();
    let ours: BTreeSet<_> = ours
        .map(|it| (it.reason.to_owned(), it.field, without_made_up_types(&it.message)))
        .collect();
    let theirs = &recorded.answered.definition;
    if ours != *theirs {
        let Case { name, schema, .. } = case;
        _ = writeln!(report, "{name}: {schema}\n  server {theirs:?}\n  ours   {ours:?}");
    }
    report
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs KUBEBUILDER_ASSETS; takes a minute"]
async fn random_values_have_the_same_outcome_as_on_the_server() {
    let report = disagreements(|seed| vec![random::case(seed)], 500).await;
    assert!(report.is_empty(), "\n{report}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs KUBEBUILDER_ASSETS; takes a minute"]
async fn random_values_with_rules_have_the_same_outcome_as_on_the_server() {
    let report = disagreements(|seed| vec![rich::case(seed)], 500).await;
    assert!(report.is_empty(), "\n{report}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs KUBEBUILDER_ASSETS"]
async fn random_texts_match_the_same_formats_as_on_the_server() {
    let report = disagreements(random::formats, 140).await;
    assert!(report.is_empty(), "\n{report}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs KUBEBUILDER_ASSETS"]
async fn random_patterns_match_the_same_texts_as_on_the_server() {
    let report = disagreements(|seed| vec![random::pattern(seed)], 300).await;
    assert!(report.is_empty(), "\n{report}");
}
