//! The store compared with a model; its history, its watchers, and its persistence in a directory.

use bytes::Bytes;
use futures::{FutureExt, StreamExt};
use kubewright_apiserver::testing::store::{Change, ChangeKind, HISTORY_BYTES, Key, Range, Store};
use proptest::prelude::*;
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

fn text(revision: u64) -> Bytes {
    Bytes::from(format!(r#"{{"metadata":{{"resourceVersion":"{revision}"}}}}"#))
}

fn create(store: &Store, key: &Key) -> u64 {
    store.create(key, &text).unwrap().revision
}

/// A step of a random program, on one of a few objects in two namespaces of two resources.
#[derive(Clone, Debug)]
enum Step {
    Create(u8),
    Update(u8),
    Delete(u8),
    /// The number of revisions ago, and the namespace.
    Watch(u8, u8),
    /// The number of revisions ago, and the namespace.
    List(u8, u8),
    Compact(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..16_u8).prop_map(Step::Create),
        4 => (0..16_u8).prop_map(Step::Update),
        3 => (0..16_u8).prop_map(Step::Delete),
        2 => (0..20_u8, 0..3_u8).prop_map(|(ago, namespace)| Step::Watch(ago, namespace)),
        3 => (0..20_u8, 0..3_u8).prop_map(|(ago, namespace)| Step::List(ago, namespace)),
        1 => (0..20_u8).prop_map(Step::Compact),
    ]
}

fn key(number: u8) -> Key {
    let resource = ["/configmaps", "apps/deployments"][usize::from(number % 2)];
    let namespace = ["a", "a-b"][usize::from(number / 2 % 2)];
    Key::new(resource, namespace, &format!("object-{}", number / 4))
}

fn range(namespace: u8) -> Range {
    Range::new("/configmaps", ["", "a", "a-b"][usize::from(namespace)])
}

/// Every past state, and every change.
struct Model {
    states: BTreeMap<u64, BTreeMap<String, (Key, u64)>>,
    changes: Vec<(u64, ChangeKind, Key)>,
    watches: Vec<(Range, u64, futures::stream::BoxStream<'static, u64>)>,
    oldest: u64,
}

impl Model {
    fn now(&self) -> &BTreeMap<String, (Key, u64)> {
        self.states.last_key_value().unwrap().1
    }

    fn changed(&mut self, revision: u64, kind: ChangeKind, key: &Key) {
        let mut state = self.now().clone();
        match kind {
            ChangeKind::Deleted => drop(state.remove(&format!("{key:?}"))),
            _ => drop(state.insert(format!("{key:?}"), (key.clone(), revision))),
        }
        self.states.insert(revision, state);
        self.changes.push((revision, kind, key.clone()));
    }
}

fn holds(range: &Range, key: &Key) -> bool {
    key.resource == range.resource
        && range
            .namespace
            .as_ref()
            .is_none_or(|namespace| *namespace == key.namespace)
}

fn play(store: &Store, model: &mut Model, step: &Step) {
    let current = |model: &Model, key: &Key| model.now().get(&format!("{key:?}")).map(|(_, revision)| *revision);
    match step {
        Step::Create(number) => {
            let key = key(*number);
            match (store.create(&key, &text), current(model, &key)) {
                (Ok(record), None) => model.changed(record.revision, ChangeKind::Created, &key),
                (Err(_), Some(revision)) => assert_eq!(store.get(&key).unwrap().revision, revision),
                (got, wanted) => panic!("{got:?} {wanted:?}"),
            }
        }
        Step::Update(number) => {
            let key = key(*number);
            let expected = current(model, &key);
            match store.update(&key, expected.unwrap_or(1), &text) {
                Ok(record) => model.changed(record.revision, ChangeKind::Updated, &key),
                Err(_) => assert!(store.get(&key).is_none() && expected.is_none()),
            }
            assert!(store.update(&key, 0, &text).is_err());
        }
        Step::Delete(number) => {
            let key = key(*number);
            if let Ok(record) = store.delete(&key, current(model, &key).unwrap_or(1), &text) {
                model.changed(record.revision, ChangeKind::Deleted, &key);
            }
        }
        Step::Watch(ago, namespace) => {
            let after = store.revision().saturating_sub(u64::from(*ago));
            match store.watch(&range(*namespace), after) {
                Ok(watch) => {
                    let revisions = watch.filter_map(async |change| change.ok().map(|change| change.revision));
                    model.watches.push((range(*namespace), after, revisions.boxed()));
                }
                Err(compacted) => assert!(after < compacted.oldest && compacted.oldest >= model.oldest),
            }
        }
        Step::List(ago, namespace) => {
            let at = store.revision().saturating_sub(u64::from(*ago));
            let range = range(*namespace);
            let Ok(page) = store.list(&range, Some(at), None, 0) else {
                assert!(at < store.revision());
                return;
            };
            let mut wanted: Vec<_> = model.states[&at]
                .values()
                .filter(|(key, _)| holds(&range, key))
                .map(|(key, it)| (path(key), *it))
                .collect();
            wanted.sort();
            let got: Vec<_> = page.records.iter().map(|it| (path(&it.key), it.revision)).collect();
            assert_eq!((page.revision, got), (at, wanted));
        }
        Step::Compact(ago) => {
            let revision = store.revision().saturating_sub(u64::from(*ago));
            store.compact(revision);
            model.oldest = model.oldest.max(revision);
            assert!(store.list(&range(0), Some(revision.max(model.oldest)), None, 0).is_ok());
        }
    }
}

fn path(key: &Key) -> String {
    format!("{}/{}", key.namespace, key.name)
}

proptest! {
    #[test]
    fn watches_and_lists_of_past_revisions_agree_with_a_model(steps in prop::collection::vec(step(), 1..120)) {
        let store = Store::new(1_000);
        let states = BTreeMap::from([(1, BTreeMap::new())]);
        let mut model = Model { states, changes: Vec::new(), watches: Vec::new(), oldest: 1 };
        for step in &steps {
            play(&store, &mut model, step);
            // These watchers read after every step, so they never lose a change to compaction.
            for (_, _, watch) in &mut model.watches {
                let _ = watch.next().now_or_never();
            }
        }
        prop_assert_eq!(store.revision(), *model.states.last_key_value().unwrap().0);
    }

    #[test]
    fn every_watcher_sees_the_changes_of_its_range_in_order_and_once(steps in prop::collection::vec(step(), 1..120)) {
        let store = Store::new(1_000);
        let states = BTreeMap::from([(1, BTreeMap::new())]);
        let mut model = Model { states, changes: Vec::new(), watches: Vec::new(), oldest: 1 };
        for step in steps.iter().filter(|step| !matches!(step, Step::Compact(_))) {
            play(&store, &mut model, step);
        }
        for (range, after, mut watch) in std::mem::take(&mut model.watches) {
            let seen: Vec<u64> = std::iter::from_fn(|| watch.next().now_or_never().flatten()).collect();
            let wanted = model.changes.iter().filter(|(revision, _, key)| *revision > after && holds(&range, key));
            let wanted: Vec<u64> = wanted.map(|(revision, ..)| *revision).collect();
            prop_assert_eq!(seen, wanted);
        }
    }
}

#[test]
fn keys_are_in_etcds_order() {
    let store = Store::default();
    for (namespace, name) in [("a", "x"), ("a-b", "x"), ("a.b", "x"), ("ab", "x"), ("a", "b")] {
        create(&store, &Key::new("/pods", namespace, name));
    }
    let page = store.list(&Range::new("/pods", ""), None, None, 0).unwrap();
    let paths: Vec<String> = page.records.iter().map(|record| path(&record.key)).collect();
    assert_eq!(paths, ["a-b/x", "a.b/x", "a/b", "a/x", "ab/x"]);
}

#[test]
fn each_page_continues_after_the_last_one() {
    let store = Store::default();
    for number in 0..10 {
        create(&store, &Key::new("/pods", "a", &format!("p{number}")));
    }
    let range = Range::new("/pods", "a");
    let from = Key::new("/pods", "a", "p4");
    let page = store.list(&range, None, Some(&from), 3).unwrap();
    let names: Vec<&str> = page.records.iter().map(|record| record.key.name.as_str()).collect();
    assert_eq!((names, page.remaining), (vec!["p4", "p5", "p6"], 3));
}

#[test]
fn the_remaining_items_of_a_list_are_counted_at_any_revision() {
    let store = Store::default();
    let places = [
        ("a", "x"),
        ("a", "y"),
        ("a", "z"),
        ("a-b", "x"),
        ("a0", "x"),
        ("b", "x"),
    ];
    let created = places.map(|(namespace, name)| create(&store, &Key::new("/pods", namespace, name)));
    let revision = created[5];
    let left = |namespace: &str, at: Option<u64>, limit: usize| {
        let page = store.list(&Range::new("/pods", namespace), at, None, limit).unwrap();
        (page.records.len(), page.remaining)
    };
    for at in [None, Some(revision)] {
        assert_eq!(
            (left("", at, 2), left("a", at, 1), left("a", at, 0)),
            ((2, 4), (1, 2), (3, 0))
        );
        assert_eq!((left("a0", at, 1), left("none", at, 1)), ((1, 0), (0, 0)));
    }
    let gone = Key::new("/pods", "a", "z");
    store.delete(&gone, created[2], &|_| Bytes::new()).unwrap();
    assert_eq!((left("a", None, 1), left("a", Some(revision), 1)), ((1, 1), (1, 2)));
    // Starts after the range.
    let beyond = Key::new("/pods", "b", "x");
    let page = store.list(&Range::new("/pods", "a"), None, Some(&beyond), 1).unwrap();
    assert_eq!((page.records.len(), page.remaining), (0, 0));
}

#[test]
fn a_slow_watcher_expires_but_an_idle_one_does_not() {
    let store = Store::new(10);
    let mut slow = store.watch(&Range::new("/pods", ""), 1).unwrap();
    let mut idle = store.watch(&Range::new("/pods", "quiet"), 1).unwrap();
    for number in 0..50 {
        create(&store, &Key::new("/pods", "loud", &format!("p{number}")));
    }
    let expired = slow.next().now_or_never().unwrap().unwrap().unwrap_err();
    assert_eq!(expired.oldest, 41);
    assert!(slow.next().now_or_never().unwrap().is_none());
    let revision = create(&store, &Key::new("/pods", "quiet", "p"));
    let change: Arc<Change> = idle.next().now_or_never().unwrap().unwrap().unwrap();
    assert_eq!((change.revision, change.kind), (revision, ChangeKind::Created));
}

#[test]
fn fewer_changes_of_large_objects_are_kept() {
    let store = Store::new(10_000);
    // All objects share one text, but the history counts its size for each of them.
    let large = Bytes::from(vec![b' '; HISTORY_BYTES / 200]);
    let pods = Range::new("/pods", "");
    let kept = |store: &Store| {
        let oldest = store.watch(&pods, 0).err().map_or(1, |compacted| compacted.oldest);
        store.revision() - oldest
    };
    for number in 0..1_000 {
        let key = Key::new("/pods", "a", &number.to_string());
        store.create(&key, &|_| large.clone()).unwrap();
        assert!(kept(&store) <= 200);
    }
    assert_eq!(kept(&store), 200);
    let huge = Bytes::from(vec![b' '; HISTORY_BYTES / 10]);
    for number in 0..300 {
        let key = Key::new("/pods", "b", &number.to_string());
        store.create(&key, &|_| huge.clone()).unwrap();
    }
    assert_eq!(kept(&store), 100);
    for number in 0..300 {
        create(&store, &Key::new("/pods", "c", &number.to_string()));
    }
    assert!(kept(&store) >= 300, "small ones are kept again");
}

#[tokio::test]
async fn only_watchers_of_the_range_are_woken() {
    let store = Store::default();
    let wakes = |namespace: &str| {
        let mut watch = store.watch(&Range::new("/pods", namespace), store.revision()).unwrap();
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        tokio::spawn(futures::future::poll_fn(move |context| {
            counted.fetch_add(1, Relaxed);
            while watch.poll_next_unpin(context).is_ready() {}
            std::task::Poll::<()>::Pending
        }));
        count
    };
    let (here, there): (Vec<_>, Vec<_>) = (0..1_000).map(|_| (wakes("here"), wakes("there"))).unzip();
    let polls = |watchers: &[Arc<AtomicUsize>], wanted: usize| watchers.iter().all(|it| it.load(Relaxed) == wanted);
    while !(polls(&here, 1) && polls(&there, 1)) {
        tokio::task::yield_now().await;
    }
    create(&store, &Key::new("/pods", "here", "p"));
    while !polls(&here, 2) {
        tokio::task::yield_now().await;
    }
    assert!(polls(&there, 1));
}

#[tokio::test]
async fn writes_from_many_threads_have_one_order() {
    let store = Store::default();
    let watch = store.watch(&Range::new("/pods", ""), 1).unwrap();
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let store = store.clone();
            std::thread::spawn(move || {
                for number in 0..500 {
                    create(&store, &Key::new("/pods", "a", &format!("p{writer}-{number}")));
                }
            })
        })
        .collect();
    let seen: Vec<u64> = watch.take(4_000).map(|change| change.unwrap().revision).collect().await;
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    assert_eq!(seen, (2..=4_001).collect::<Vec<u64>>());
    store.settled().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_earlier_revision_can_be_listed_for_five_to_ten_minutes_after_a_newer_one() {
    let minutes = |count: u64| tokio::time::advance(std::time::Duration::from_secs(60 * count));
    let store = Store::default();
    let first = create(&store, &key(0));
    let can_list = |at: u64| store.list(&range(0), Some(at), None, 1).is_ok();
    minutes(4).await;
    let second = create(&store, &key(4));
    minutes(5).await;
    assert!(can_list(first), "four minutes are left");
    minutes(2).await;
    assert!(!can_list(first));
    assert!(can_list(second), "it is the present state");
    let third = create(&store, &key(8));
    minutes(60).await;
    assert!(!can_list(second));
    assert!(can_list(third));
}
