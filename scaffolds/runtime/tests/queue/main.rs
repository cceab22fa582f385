//! The work queue as workers use it: on a paused clock, and on several threads. Its rules under random interleavings
//! are tested in `model.rs`.

mod backoff;
#[path = "../support/cases.rs"]
mod cases;
mod model;
mod namespaces;
mod order;
mod workers;

use std::time::Duration;

use futures::FutureExt;
use kubewright_runtime::{Backoff, Held, Metrics, ObjectKey, Priority, WorkQueue};
use tokio::time::advance;

const SECOND: Duration = Duration::from_secs(1);

fn queue() -> WorkQueue {
    WorkQueue::new(
        Backoff {
            jitter: 0.0,
            ..Backoff::default()
        },
        Metrics::new().queue("test"),
    )
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new(Some("default"), name)
}

/// The next key, if one is ready.
fn ready(queue: &WorkQueue) -> Option<Held> {
    queue.next().now_or_never().flatten()
}

fn names(held: &[Held]) -> Vec<&str> {
    held.iter().map(|held| held.key().name()).collect()
}

#[tokio::test(start_paused = true)]
async fn metrics_follow_the_keys() {
    let metrics = Metrics::new();
    let queue = WorkQueue::new(
        Backoff {
            jitter: 0.0,
            ..Backoff::default()
        },
        metrics.queue("foobar"),
    );
    queue.add(key("a"), Priority::Low);
    queue.add(key("a"), Priority::Normal);
    queue.add(key("b"), Priority::Low);
    advance(2 * SECOND).await;
    let held = ready(&queue).expect("a");
    advance(3 * SECOND).await;
    let labels = r#"controller="foobar",name="foobar""#;
    let value = |name: &str| {
        let text = metrics.encode();
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{name}{{")) && line.contains(labels));
        line.and_then(|line| line.rsplit(' ').next())
            .and_then(|value| value.parse::<f64>().ok())
    };
    assert_eq!(value("workqueue_adds_total"), Some(2.0));
    assert_eq!(value("workqueue_queue_duration_seconds_sum"), Some(2.0));
    assert_eq!(value("workqueue_unfinished_work_seconds"), Some(3.0));
    assert_eq!(value("workqueue_longest_running_processor_seconds"), Some(3.0));
    assert!(
        metrics
            .encode()
            .lines()
            .any(|line| line.starts_with("workqueue_depth") && line.contains("\"-100\"") && line.ends_with(" 1"))
    );
    queue.add_rate_limited(key("a"), Priority::Normal);
    drop(held);
    assert_eq!(value("workqueue_retries_total"), Some(1.0));
    assert_eq!(value("workqueue_work_duration_seconds_sum"), Some(3.0));
    assert_eq!(value("workqueue_unfinished_work_seconds"), Some(0.0));
    queue.shut_down();
    let depth: Vec<String> = metrics
        .encode()
        .lines()
        .filter(|line| line.starts_with("workqueue_depth"))
        .map(str::to_owned)
        .collect();
    assert!(
        depth.len() == 3 && depth.iter().all(|line| line.ends_with(" 0")),
        "{depth:?}"
    );
}
