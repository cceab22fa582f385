//! Workers shared between namespaces.

use std::time::Duration;

use kubewright_runtime::{Held, ObjectKey, Priority, WorkQueue};
use tokio::time::{Instant, advance};

use crate::{queue, ready};

const PATIENCE: Duration = Duration::from_millis(500);

fn add(queue: &WorkQueue, namespace: &str, names: &[&str]) {
    for name in names {
        queue.add(ObjectKey::new(Some(namespace), name), Priority::Normal);
    }
}

fn take(queue: &WorkQueue) -> Vec<Held> {
    std::iter::from_fn(|| ready(queue)).collect()
}

fn keys(held: &[Held]) -> Vec<String> {
    held.iter().map(|held| held.key().to_string()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_namespace_alone_gets_all_workers_and_no_more() {
    let queue = queue().shared_by(3);
    add(&queue, "a", &["1", "2", "3", "4", "5"]);
    let held = take(&queue);
    assert_eq!(keys(&held), ["a/1", "a/2", "a/3"]);
    advance(100 * PATIENCE).await;
    assert!(ready(&queue).is_none());
    drop(held);
    assert_eq!(keys(&take(&queue)), ["a/4", "a/5"]);
}

#[tokio::test(start_paused = true)]
async fn the_namespace_that_holds_the_fewest_workers_is_next() {
    let queue = queue().shared_by(6);
    add(&queue, "a", &["1", "2", "3", "4", "5", "6"]);
    let mut held = vec![ready(&queue).unwrap(), ready(&queue).unwrap()];
    add(&queue, "b", &["1", "2", "3", "4"]);
    held.extend(take(&queue));
    assert_eq!(keys(&held), ["a/1", "a/2", "b/1", "b/2", "a/3", "b/3"]);
}

#[tokio::test(start_paused = true)]
async fn a_namespace_without_a_worker_gets_an_additional_one_after_half_a_second() {
    let queue = queue().shared_by(2);
    add(&queue, "a", &["1", "2", "3"]);
    let mut held = take(&queue);
    add(&queue, "b", &["1", "2"]);
    assert!(ready(&queue).is_none());
    let asked = Instant::now();
    held.push(queue.next().await.unwrap());
    assert_eq!(
        (asked.elapsed(), held[2].key().to_string()),
        (PATIENCE, "b/1".to_owned())
    );

    add(&queue, "c", &["1"]);
    advance(100 * PATIENCE).await;
    assert!(
        ready(&queue).is_none(),
        "as many namespaces hold a worker as there are workers"
    );
    held.pop();
    let next = ready(&queue).expect("all workers have been busy for long enough");
    assert_eq!(next.key().to_string(), "c/1");
    drop(next);
    assert_eq!(ready(&queue).map(|held| held.key().to_string()).as_deref(), Some("b/2"));
    assert!(ready(&queue).is_none(), "the first namespace has its share");
}

#[tokio::test(start_paused = true)]
async fn with_one_worker_at_most_one_key_is_held() {
    let queue = queue().shared_by(1);
    add(&queue, "a", &["1"]);
    let _held = take(&queue);
    add(&queue, "b", &["1"]);
    advance(100 * PATIENCE).await;
    assert!(ready(&queue).is_none());
}

/// Live changes of one namespace keep all workers busy, and another namespace only has keys of the initial list.
#[tokio::test(start_paused = true)]
async fn the_higher_priority_of_one_namespace_does_not_starve_another() {
    let queue = queue().shared_by(2);
    add(&queue, "a", &["1", "2", "3"]);
    queue.add(ObjectKey::new(Some("b"), "listed"), Priority::Low);
    let mut held = take(&queue);
    let asked = Instant::now();
    while asked.elapsed() < 2 * PATIENCE {
        advance(Duration::from_millis(10)).await;
        let done = held.remove(0);
        let name = done.key().name().to_owned();
        drop(done);
        add(&queue, "a", &[&name]);
        held.extend(take(&queue));
        if keys(&held).contains(&"b/listed".to_owned()) {
            assert_eq!(asked.elapsed(), PATIENCE);
            return;
        }
    }
    panic!("the key was never handed out");
}

#[tokio::test(start_paused = true)]
async fn objects_without_a_namespace_are_handed_out_in_arrival_order() {
    let queue = queue().shared_by(8);
    for name in ["c", "a", "b"] {
        queue.add(ObjectKey::new(None, name), Priority::Normal);
    }
    assert_eq!(keys(&take(&queue)), ["c", "a", "b"]);
}
