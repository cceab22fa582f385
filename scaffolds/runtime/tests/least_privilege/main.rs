//! Least privilege: the whole life of an object with exactly the role that the operator generates for itself, and then
//! without each single verb of it: something must fail, and the log must name the permission. The failures are a table
//! of the book: `KUBEWRIGHT_BLESS=1 cargo test -p kubewright-runtime --test least_privilege` writes it.

mod account;
mod declared;
mod role;
mod story;
#[path = "../support/mod.rs"]
mod support;

use std::{collections::BTreeSet, fmt::Write};

use account::Scope;
use role::Grant;
use story::{Life, Operator, live};
use support::kinds::seconds;

const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reference/rbac.md");
const FROM: &str = "<!-- Written by scaffolds/runtime/tests/least_privilege: KUBEWRIGHT_BLESS=1 cargo test -p kubewright-runtime --test least_privilege -->\n";
const TO: &str = "\n<!-- Up to here. -->\n";

/// Grants that this life does not use, and why they are granted. The test checks that each is unused.
const UNUSED: [(&str, &str, &str); 7] = [
    ("get", "pods", READ),
    ("get", "podtemplates", READ),
    ("get", "serviceaccounts", READ),
    ("get", "secrets", READ),
    ("get", "foobars/status", STATUS),
    ("update", "foobars/status", STATUS),
    (
        "update",
        "foobars/finalizers",
        "nothing, but children are refused if the admission plugin OwnerReferencesPermissionEnforcement is enabled, as on OpenShift",
    ),
];
const READ: &str = "nothing, unless your reconciler reads without the cache: an account that may list may also read";
const STATUS: &str =
    "nothing: the runtime patches; granted as in kubebuilder, for a reconciler that writes the status itself";

fn why_unused(grant: &Grant) -> Option<&'static str> {
    let found = UNUSED
        .iter()
        .find(|(verb, resource, _)| grant.verb == *verb && grant.resource == *resource);
    found.map(|(_, _, why)| *why)
}

/// Runs without each of these grants in turn: something fails, and the API server's message is in the log.
async fn without_each(of: impl Fn(&&Grant) -> bool, scope: &Scope) -> Vec<(Grant, Life)> {
    let all = &*role::ALL;
    let whole = live(all, scope).await;
    assert_eq!(
        (whole.missed, whole.refusals),
        (None, BTreeSet::new()),
        "{scope:?}: {}",
        whole.log
    );
    let mut lives = Vec::new();
    for missing in all.iter().filter(of) {
        let others: Vec<_> = all.iter().filter(|grant| *grant != missing).cloned().collect();
        let life = live(&others, scope).await;
        check(missing, &life);
        lives.push((missing.clone(), life));
    }
    lives
}

fn check(missing: &Grant, life: &Life) {
    let Life {
        missed, refusals, log, ..
    } = life;
    if why_unused(missing).is_some() {
        assert_eq!((*missed, refusals), (None, &BTreeSet::new()), "{missing:?} is used");
        return;
    }
    assert!(missed.is_some(), "without {missing:?} nothing fails: {refusals:?}");
    let words = missing.refusal();
    assert!(
        !refusals.is_empty() && refusals.iter().all(|said| said.contains(&words)),
        "without {missing:?} ({missed:?}) is refused: {refusals:?}"
    );
    // The role of the lease is not written from declarations.
    let rule = (!missing.is_of_the_lease()).then(|| missing.declaration());
    let said = |line: &str| {
        line.contains("WARN") && line.contains(&words) && rule.as_deref().is_none_or(|rule| line.contains(rule))
    };
    assert!(
        log.lines().any(said),
        "without {missing:?} ({missed:?}) the log does not say so:\n{log}"
    );
}

/// A row for each verb and effect, with the resources of both.
fn table(lives: &[(Grant, Life)]) -> String {
    let mut rows: Vec<([&str; 3], Vec<&str>)> = Vec::new();
    for (grant, life) in lives {
        let reported = match (&life.missed, &life.condition) {
            (None, _) => "",
            (_, Some(_)) => "`Ready`, log",
            _ => "log",
        };
        let effect = life.missed.or_else(|| why_unused(grant)).unwrap_or_default();
        let row = [grant.verb.as_str(), effect, reported];
        match rows.iter_mut().find(|(known, _)| *known == row) {
            Some((_, resources)) => resources.push(&grant.resource),
            None => rows.push((row, vec![&grant.resource])),
        }
    }
    let mut table = String::from("| without | first effect | reported in |\n|---|---|---|\n");
    for ([verb, effect, reported], resources) in rows {
        _ = writeln!(table, "| `{verb}` {} | {effect} | {reported} |", resources.join(", "));
    }
    table
}

#[tokio::test(start_paused = true)]
async fn the_generated_role_is_sufficient_and_the_log_names_each_missing_verb() {
    let lives = without_each(|_| true, &Scope::Everywhere).await;
    let book = std::fs::read_to_string(BOOK).unwrap();
    let (before, rest) = book.split_once(FROM).expect("the table has a place in the book");
    let (committed, after) = rest.split_once(TO).expect("the table has an end in the book");
    let table = table(&lives);
    if std::env::var_os("KUBEWRIGHT_BLESS").is_some() {
        std::fs::write(BOOK, [before, FROM, table.trim_end(), TO, after].concat()).unwrap();
        return;
    }
    assert_eq!(committed, table.trim_end(), "KUBEWRIGHT_BLESS=1 writes the table");
}

#[tokio::test(start_paused = true)]
async fn a_role_in_each_namespace_is_sufficient_and_minimal() {
    let scope = Scope::Namespaces(vec!["default", "other"]);
    for (missing, life) in without_each(|grant| grant.resource == "foobars", &scope).await {
        let everywhere = |said: &String| said.contains("at the cluster scope");
        assert!(
            !life.refusals.iter().any(everywhere),
            "{missing:?}: {:?}",
            life.refusals
        );
    }
}

#[tokio::test(start_paused = true)]
async fn without_the_role_in_a_namespace_the_operator_names_it_and_does_not_start() {
    let scope = Scope::Unbound {
        bound: "default",
        unbound: "other",
    };
    let operator = Operator::start(&role::ALL, &scope);
    seconds(600).await;
    assert!(
        operator.running.is_finished(),
        "it does not end:\n{}",
        operator.page.text()
    );
    let error = operator.running.await.unwrap().unwrap_err().to_string();
    let named = ["cannot list resource", "in the namespace \"other\""];
    assert!(named.iter().all(|words| error.contains(words)), "{error}");
    let refusals = operator.refusals.lock().unwrap().clone();
    assert!(refusals.iter().all(|said| said.ends_with(named[1])), "{refusals:?}");
}
