//! The exact text of a scrape: dashboards and alerts depend on it.

use std::time::Duration;

use tokio::time::{Instant, advance};

use super::*;
use crate::priority::Priority;

/// The lines of a scrape with this prefix, without the comments.
fn lines(metrics: &Metrics, start: &str) -> Vec<String> {
    metrics
        .encode()
        .lines()
        .filter(|line| line.starts_with(start))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_controllers_metrics_are_all_exposed_from_the_start() {
    let metrics = Metrics::new();
    let _controller = metrics.controller("foobar", 4);
    let text = metrics.encode();
    let without_buckets: Vec<_> = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.contains("_bucket"))
        .collect();
    let expected = r#"
controller_runtime_active_workers{controller="foobar"} 0
controller_runtime_max_concurrent_reconciles{controller="foobar"} 4
controller_runtime_reconcile_errors_total{controller="foobar"} 0
controller_runtime_reconcile_panics_total{controller="foobar"} 0
controller_runtime_reconcile_time_seconds_sum{controller="foobar"} 0
controller_runtime_reconcile_time_seconds_count{controller="foobar"} 0
controller_runtime_reconcile_timeouts_total{controller="foobar"} 0
controller_runtime_reconcile_total{controller="foobar",result="error"} 0
controller_runtime_reconcile_total{controller="foobar",result="requeue"} 0
controller_runtime_reconcile_total{controller="foobar",result="requeue_after"} 0
controller_runtime_reconcile_total{controller="foobar",result="success"} 0
controller_runtime_terminal_reconcile_errors_total{controller="foobar"} 0"#;
    assert_eq!(without_buckets, expected.trim().lines().collect::<Vec<_>>());
    assert!(text.contains("# TYPE controller_runtime_reconcile_total counter\n"));
    assert!(text.contains("# TYPE controller_runtime_active_workers gauge\n"));
    assert!(text.contains("# TYPE controller_runtime_reconcile_time_seconds histogram\n"));
    assert!(!text.contains("_total_total"));
    let start = "controller_runtime_reconcile_time_seconds_bucket";
    let bounds = lines(&metrics, start);
    assert_eq!(bounds.len(), 41);
    assert_eq!(bounds[0], format!(r#"{start}{{controller="foobar",le="0.005"}} 0"#));
    assert_eq!(bounds[17], format!(r#"{start}{{controller="foobar",le="1"}} 0"#));
    assert_eq!(bounds[40], format!(r#"{start}{{controller="foobar",le="+Inf"}} 0"#));
}

#[test]
fn reconciles_are_counted_by_outcome_and_duration() {
    let metrics = Metrics::new();
    let controller = metrics.controller("c", 1);
    let active = [controller.active(), controller.active()];
    controller.reconciled(Outcome::Success, Duration::from_millis(5));
    controller.reconciled(Outcome::Requeue, Duration::from_millis(6));
    controller.reconciled(Outcome::RequeueAfter, Duration::from_secs(61));
    controller.reconciled(Outcome::Error, Duration::ZERO);
    controller.terminal();
    controller.panicked();
    controller.timed_out();
    let text = metrics.encode();
    for line in [
        r#"controller_runtime_active_workers{controller="c"} 2"#,
        r#"controller_runtime_reconcile_total{controller="c",result="error"} 1"#,
        r#"controller_runtime_reconcile_total{controller="c",result="requeue_after"} 1"#,
        r#"controller_runtime_reconcile_errors_total{controller="c"} 1"#,
        r#"controller_runtime_terminal_reconcile_errors_total{controller="c"} 1"#,
        r#"controller_runtime_reconcile_panics_total{controller="c"} 1"#,
        r#"controller_runtime_reconcile_timeouts_total{controller="c"} 1"#,
        // Bounds are inclusive, and buckets are cumulative.
        r#"controller_runtime_reconcile_time_seconds_bucket{controller="c",le="0.005"} 2"#,
        r#"controller_runtime_reconcile_time_seconds_bucket{controller="c",le="0.01"} 3"#,
        r#"controller_runtime_reconcile_time_seconds_bucket{controller="c",le="60"} 3"#,
        r#"controller_runtime_reconcile_time_seconds_bucket{controller="c",le="+Inf"} 4"#,
        r#"controller_runtime_reconcile_time_seconds_count{controller="c"} 4"#,
    ] {
        assert!(text.lines().any(|l| l == line), "{line}\n{text}");
    }
    drop(active);
    assert!(
        metrics
            .encode()
            .contains("controller_runtime_active_workers{controller=\"c\"} 0\n")
    );
}

#[tokio::test(start_paused = true)]
async fn a_queues_metrics_have_both_labels_and_include_held_keys() {
    let metrics = Metrics::new();
    let queue = metrics.queue("q");
    queue.added();
    queue.depth(Priority::Low, 2);
    queue.depth(Priority::Normal, 1);
    queue.depth(Priority::Normal, -1);
    queue.started(Duration::from_millis(1));
    queue.done(Duration::from_nanos(5));
    queue.retried();
    queue.held(1, Some(Instant::now()));
    advance(Duration::from_secs(3)).await;
    queue.held(2, Some(Instant::now()));
    advance(Duration::from_secs(2)).await;
    let shown = lines(&metrics, "workqueue_");
    let without_buckets: Vec<_> = shown.iter().filter(|line| !line.contains("_bucket")).collect();
    let expected = r#"
workqueue_adds_total{controller="q",name="q"} 1
workqueue_depth{controller="q",name="q",priority="-100"} 2
workqueue_depth{controller="q",name="q",priority="0"} 0
workqueue_depth{controller="q",name="q",priority="100"} 0
workqueue_longest_running_processor_seconds{controller="q",name="q"} 5
workqueue_queue_duration_seconds_sum{controller="q",name="q"} 0.001
workqueue_queue_duration_seconds_count{controller="q",name="q"} 1
workqueue_retries_total{controller="q",name="q"} 1
workqueue_unfinished_work_seconds{controller="q",name="q"} 7
workqueue_work_duration_seconds_sum{controller="q",name="q"} 5e-09
workqueue_work_duration_seconds_count{controller="q",name="q"} 1"#;
    assert_eq!(without_buckets, expected.trim().lines().collect::<Vec<_>>());
    // The bounds of every controller-runtime operator, including Go's rounding.
    let bounds: Vec<_> = lines(&metrics, "workqueue_queue_duration_seconds_bucket")
        .iter()
        .map(|line| line.split('"').nth(5).unwrap().to_owned())
        .collect();
    let go = "1e-08 1e-07 1e-06 9.999999999999999e-06 9.999999999999999e-05 0.001 0.01 0.1 1 10 100 1000 +Inf";
    assert_eq!(bounds.join(" "), go);
    queue.held(1, None);
    queue.held(2, None);
    assert!(
        metrics
            .encode()
            .contains("workqueue_longest_running_processor_seconds{controller=\"q\",name=\"q\"} 0\n")
    );
}

#[test]
fn requests_are_counted_by_status_code_and_timed_by_verb() {
    let metrics = Metrics::new();
    let rest = metrics.rest();
    rest.requested("GET", "10.0.0.1:443", Some(200), Duration::from_millis(20));
    rest.requested("GET", "10.0.0.1:443", None, Duration::from_secs(30));
    let shown = lines(&metrics, "rest_client_");
    assert_eq!(
        shown
            .iter()
            .filter(|line| line.starts_with("rest_client_request_duration_seconds_bucket"))
            .count(),
        13
    );
    assert!(shown.contains(&r#"rest_client_requests_total{code="200",host="10.0.0.1:443",method="GET"} 1"#.to_owned()));
    assert!(
        shown.contains(&r#"rest_client_requests_total{code="<error>",host="10.0.0.1:443",method="GET"} 1"#.to_owned())
    );
    let bucket = r#"rest_client_request_duration_seconds_bucket{host="10.0.0.1:443",verb="GET",le="0.025"} 1"#;
    assert!(shown.contains(&bucket.to_owned()), "{shown:?}");
}

#[test]
fn an_operators_own_metrics_keep_their_names_and_escape_their_labels() {
    let metrics = Metrics::new();
    let labels = [("path", "C:\\new \"folder\"\n")];
    metrics
        .counter(
            "widgets",
            "Without _total, as it was named.\nTwo lines \\ one.",
            &labels,
        )
        .inc();
    metrics.counter("widgets", "", &labels).add(2);
    metrics.gauge("temperature", "Now.", &[]).set(-0.5);
    metrics.computed("answer", "Asked for.", &[], || 42.0);
    let text = metrics.encode();
    let expected = r##"# HELP answer Asked for.
# TYPE answer gauge
answer 42
# HELP temperature Now.
# TYPE temperature gauge
temperature -0.5
# HELP widgets Without _total, as it was named.\nTwo lines \\ one.
# TYPE widgets counter
widgets{path="C:\\new \"folder\"\n"} 3
"##;
    assert_eq!(text, expected);
    let histogram = metrics.histogram("sizes", "", &[], &[10.0, 1.0, 10.0]);
    for value in [f64::NAN, 1.0, 11.0] {
        histogram.observe(value);
    }
    assert_eq!((histogram.count(), histogram.sum()), (2, 12.0));
}

#[test]
fn many_threads_count_without_losing_anything() {
    let metrics = Metrics::new();
    let controller = metrics.controller("c", 8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    let _active = controller.active();
                    controller.reconciled(Outcome::Success, Duration::from_millis(250));
                }
            });
        }
    });
    let shown = lines(&metrics, "controller_runtime_");
    for line in [
        r#"controller_runtime_reconcile_total{controller="c",result="success"} 8000"#,
        r#"controller_runtime_reconcile_time_seconds_sum{controller="c"} 2000"#,
        r#"controller_runtime_active_workers{controller="c"} 0"#,
    ] {
        assert!(shown.iter().any(|l| l == line), "{line}\n{shown:?}");
    }
}
