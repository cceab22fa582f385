//! The informer under random histories: after any faults, the store finally equals the server's state, and so does the
//! sum of the deltas that a subscriber got.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::{
    cases::cases,
    server::{FooBar, Running, Server, key, namespaces, settle},
};
use kubewright_runtime::{Delta, Informer, InformerConfig, Scope};
use proptest::prelude::*;
use serde_json::Value;
use tokio::time::sleep;

#[derive(Debug, Clone)]
enum Step {
    /// A write by another client, or by us: then the response is observed after so many further steps.
    Put(u8, Option<usize>),
    PutBroken(u8),
    Delete(u8),
    Disconnect,
    Compact,
    SetDown(bool),
    HoldEvents(bool),
    HoldLists(bool),
    Pass(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = || 0_u8..4;
    let step = prop_oneof![
        4 => name().prop_map(|name| Step::Put(name, None)),
        6 => (name(), 0_usize..6).prop_map(|(name, delay)| Step::Put(name, Some(delay))),
        2 => name().prop_map(Step::PutBroken),
        4 => name().prop_map(Step::Delete),
        1 => Just(Step::Disconnect),
        2 => Just(Step::Compact),
        2 => any::<bool>().prop_map(Step::SetDown),
        2 => any::<bool>().prop_map(Step::HoldEvents),
        2 => any::<bool>().prop_map(Step::HoldLists),
        6 => prop_oneof![Just(10_u64), Just(1_000), Just(40_000)].prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 1..40)
}

/// The sum of a subscriber's deltas: the version of each object that was delivered and not deleted.
#[derive(Clone, Default)]
struct Sum(Arc<Mutex<Delivered>>);

#[derive(Default)]
struct Delivered {
    objects: BTreeMap<String, (String, u64)>,
    nonsense: Vec<String>,
}

impl Sum {
    fn take_in(&self, delta: &Delta<FooBar>) {
        let mut delivered = self.0.lock().expect("not poisoned");
        let name = delta.key().name().to_owned();
        let known = delivered.objects.get(&name).cloned();
        let identity = delta.object().map(identity_of);
        let sensible = match (delta, &known, &identity) {
            (Delta::Added { .. }, None, _) | (Delta::Resync(_), Some(_), _) | (Delta::Invalid { .. }, ..) => true,
            (Delta::Updated { old, .. }, Some(known), Some(new)) => {
                *known == identity_of(old) && known.0 == new.0 && known.1 < new.1
            }
            (Delta::Deleted(_), Some(known), Some(gone)) => known == gone,
            // After an object has become undecodable, its deletion may be delivered.
            (Delta::Deleted(_), None, _) => true,
            _ => false,
        };
        if !sensible {
            delivered.nonsense.push(format!("{delta:?} after {known:?}"));
        }
        match (delta, identity) {
            (Delta::Added { .. } | Delta::Updated { .. }, Some(identity)) => {
                _ = delivered.objects.insert(name, identity)
            }
            (Delta::Deleted(_) | Delta::Invalid { .. }, _) => _ = delivered.objects.remove(&name),
            _ => {}
        }
    }
}

fn identity(object: &FooBar) -> (String, u64) {
    let version = object.metadata.resource_version.as_deref().unwrap_or_default();
    (
        object.metadata.uid.clone().unwrap_or_default(),
        version.parse().expect("a number"),
    )
}

fn identity_of(object: &Arc<FooBar>) -> (String, u64) {
    identity(object)
}

/// The server's state: the decodable objects, and the number of others.
fn truth(server: &Server) -> (BTreeMap<String, (String, u64)>, usize) {
    let list = server.list();
    let items: Vec<Value> = list["items"].as_array().cloned().unwrap_or_default();
    let valid: Vec<FooBar> = items
        .iter()
        .filter_map(|item| serde_json::from_value(item.clone()).ok())
        .collect();
    let broken = items.len() - valid.len();
    (
        valid
            .iter()
            .map(|object| (object.metadata.name.clone().unwrap_or_default(), identity(object)))
            .collect(),
        broken,
    )
}

async fn run(scope: Scope, steps: Vec<Step>) -> Result<(), TestCaseError> {
    let server = Server::new();
    let informer = server.informer(InformerConfig {
        scope,
        page_size: 2,
        ..Default::default()
    });
    let (sum, running) = (Sum::default(), Running::start(&informer));
    informer.subscribe({
        let sum = sum.clone();
        move |delta| sum.take_in(delta)
    });
    let mut answers: Vec<(usize, FooBar)> = Vec::new();
    for (at, step) in steps.into_iter().enumerate() {
        let (due, later) = answers.into_iter().partition(|(due, _)| *due <= at);
        answers = later;
        observe(&informer, due);
        match step {
            Step::Put(name, ours) => {
                let answer = server.put("a", &name.to_string(), "x");
                answers.extend(ours.map(|delay| (at + delay, answer)));
            }
            Step::PutBroken(name) => server.put_broken("a", &name.to_string()),
            Step::Delete(name) if server.has("a", &name.to_string()) => server.delete("a", &name.to_string()),
            Step::Delete(_) => {}
            Step::Disconnect => server.line().cut(),
            Step::Compact => server.compact(),
            Step::SetDown(down) => server.line().set_down(down),
            Step::HoldEvents(hold) => server.line().hold_events(hold),
            Step::HoldLists(hold) => server.line().hold_lists(hold),
            Step::Pass(ms) => sleep(Duration::from_millis(ms)).await,
        }
    }
    observe(&informer, answers);
    server.line().hold_events(false);
    server.line().hold_lists(false);
    server.line().set_down(false);
    // The longest backoff, a list, and the time until an unseen write causes a list.
    sleep(Duration::from_secs(120)).await;
    settle().await;
    let (objects, broken) = truth(&server);
    let store = informer.store();
    let stored: BTreeMap<_, _> = store
        .list()
        .iter()
        .map(|object| (object.metadata.name.clone().unwrap_or_default(), identity(object)))
        .collect();
    prop_assert_eq!(&stored, &objects);
    prop_assert_eq!(store.invalid_len(), broken);
    prop_assert!(objects.keys().all(|name| store.invalid(&key("a", name)).is_none()));
    prop_assert_eq!(informer.last_error(), None);
    {
        let delivered = sum.0.lock().expect("not poisoned");
        prop_assert_eq!(&delivered.objects, &objects);
        prop_assert!(delivered.nonsense.is_empty(), "{:?}", delivered.nonsense);
    }
    running.stop().await;
    Ok(())
}

fn observe(informer: &Informer<FooBar>, answers: Vec<(usize, FooBar)>) {
    answers
        .into_iter()
        .for_each(|(_, answer)| _ = informer.observe_write(answer, None));
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn after_any_faults_the_store_equals_the_server(steps in steps(), scoped in any::<bool>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
        let scope = if scoped { namespaces(&["a", "b"]) } else { Scope::Cluster };
        runtime.block_on(run(scope, steps))?;
    }
}
