//! Least privilege: the whole life of an object under exactly the role that the operator writes for itself, and then
//! without each verb of it in turn, which must be missed, and be named. What is missed is a table of the book:
//! `KUBEWRIGHT_BLESS=1 cargo test -p kubewright-runtime --test least_privilege` writes it.

mod account;
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

/// What is granted and not used in this life, and why it is granted. Each must be unused indeed.
const UNUSED: [(&str, &str, &str); 5] = [
    ("get", "pods", READ),
    ("get", "secrets", READ),
    ("get", "foobars/status", STATUS),
    ("update", "foobars/status", STATUS),
    (
        "update",
        "foobars/finalizers",
        "nothing, but children are refused where the admission plugin OwnerReferencesPermissionEnforcement is on, as on OpenShift",
    ),
];
const READ: &str = "nothing, unless your reconciler reads past the cache: whoever may list may read";
const STATUS: &str = "nothing: the runtime patches; for a status that your reconciler writes itself, as in kubebuilder";

fn why_unused(grant: &Grant) -> Option<&'static str> {
    let found = UNUSED
        .iter()
        .find(|(verb, resource, _)| grant.verb == *verb && grant.resource == *resource);
    found.map(|(_, _, why)| *why)
}

/// Without each of these grants in turn: that it is missed, and that the API server's words for it are in the log.
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
        assert_eq!(
            (*missed, refusals),
            (None, &BTreeSet::new()),
            "{missing:?} is used after all"
        );
        return;
    }
    assert!(missed.is_some(), "without {missing:?} all goes well: {refusals:?}");
    let words = missing.refusal();
    assert!(
        !refusals.is_empty() && refusals.iter().all(|said| said.contains(&words)),
        "without {missing:?} ({missed:?}) is refused: {refusals:?}"
    );
    let said = |line: &str| line.contains("WARN") && line.contains(&words);
    assert!(
        log.lines().any(said),
        "without {missing:?} ({missed:?}) nobody says so:\n{log}"
    );
}

fn table(lives: &[(Grant, Life)]) -> String {
    let mut table = String::from("| without | first of all | said in |\n|---|---|---|\n");
    for (Grant { resource, verb, .. }, life) in lives {
        let said = match (&life.missed, &life.condition) {
            (None, _) => "",
            (_, Some(_)) => "`Ready`, log",
            _ => "log",
        };
        let unused = || {
            UNUSED
                .iter()
                .find(|it| (it.0, it.1) == (verb, resource))
                .map_or("", |it| it.2)
        };
        let missed = life.missed.unwrap_or_else(unused);
        _ = writeln!(table, "| `{verb}` {resource} | {missed} | {said} |");
    }
    table
}

#[tokio::test(start_paused = true)]
async fn the_generated_role_is_enough_and_each_verb_of_it_is_missed_by_name() {
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
async fn a_role_in_each_namespace_is_as_good_and_as_tight() {
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
async fn a_namespace_without_the_role_is_named_and_the_operator_does_not_start_without_it() {
    let scope = Scope::Unbound {
        bound: "default",
        unbound: "other",
    };
    let operator = Operator::start(&role::ALL, &scope);
    seconds(600).await;
    assert!(
        operator.running.is_finished(),
        "it waits for ever:\n{}",
        operator.page.text()
    );
    let error = operator.running.await.unwrap().unwrap_err().to_string();
    let named = ["cannot list resource", "in the namespace \"other\""];
    assert!(named.iter().all(|words| error.contains(words)), "{error}");
    let refusals = operator.refusals.lock().unwrap().clone();
    assert!(refusals.iter().all(|said| said.ends_with(named[1])), "{refusals:?}");
}
