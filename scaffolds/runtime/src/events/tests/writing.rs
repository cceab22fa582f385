//! Writes of recorded events: series, retries, limits.

use super::*;
use crate::{
    error::NotLeader,
    events::writer::{FLUSH, WRITES},
};

#[tokio::test(start_paused = true)]
async fn equal_events_become_one_with_a_count() {
    let server = Server::default();
    let running = Running::on(&server);
    for _ in 0..10 {
        running.event("a", "made b");
        sleep(Duration::from_secs(1)).await;
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 2, "{seen:?}");
    let (method, path, event) = &seen[0];
    assert_eq!(
        (method, path.as_str()),
        (&Method::POST, "/apis/events.k8s.io/v1/namespaces/ns/events")
    );
    assert_eq!(event["regarding"]["kind"], "FooBar");
    assert_eq!(
        (&event["type"], &event["reason"], &event["note"]),
        (&json!("Normal"), &json!("Applied"), &json!("made b"))
    );
    assert_eq!(event["reportingController"], "foobar-operator/foobar");
    assert!(
        event["reportingInstance"]
            .as_str()
            .unwrap()
            .starts_with("foobar-operator-")
    );
    let (method, path, patch) = &seen[1];
    let name = event["metadata"]["name"].as_str().unwrap();
    assert_eq!(
        (method, path),
        (
            &Method::PATCH,
            &format!("/apis/events.k8s.io/v1/namespaces/ns/events/{name}")
        )
    );
    assert_eq!(patch["series"]["count"], 2);
    assert_eq!(patch.as_object().unwrap().len(), 1, "all other fields are immutable");

    running.stop().await;
    assert_eq!(
        server.seen()[2].2["series"]["count"],
        10,
        "the last count is written when the process ends"
    );
}

#[tokio::test(start_paused = true)]
async fn events_about_cluster_scoped_objects_go_to_the_namespace_default() {
    let server = Server::default();
    let running = Running::on(&server);
    let regarding = ObjectReference {
        name: Some("x".to_owned()),
        ..ObjectReference::default()
    };
    running.recorder.event(&regarding, EventType::Warning, "R", "A", "n");
    running.stop().await;
    assert!(server.seen()[0].1.contains("/namespaces/default/"));
}

#[tokio::test(start_paused = true)]
async fn recording_never_waits_and_dropped_events_are_counted() {
    let server = Server::answering(&[0]);
    let running = Running::on(&server);
    let started = Instant::now();
    for number in 0..5000 {
        running.event(&number.to_string(), "x");
    }
    assert_eq!(started.elapsed(), Duration::ZERO);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(dropped(&running.metrics, "queue_full"), 5000 - 1000);
    assert_eq!(server.seen().len(), 1, "one write at a time");
    let stopping = Instant::now();
    running.stop().await;
    assert_eq!(server.seen().len(), WRITES, "concurrent writes at the end");
    assert!(
        stopping.elapsed() <= FLUSH,
        "the end waits no longer: {:?}",
        stopping.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn the_last_events_are_written_concurrently() {
    let server = Server::default();
    let running = Running::on(&server);
    for number in 0..200 {
        running.event(&number.to_string(), "x");
    }
    running.stop().await;
    assert_eq!(server.seen().len(), 200);
    assert_eq!(server.most_at_once.load(Ordering::SeqCst), WRITES);
}

/// Series that cannot be written wait once each, so that they leave room for new events.
#[tokio::test(start_paused = true)]
async fn series_that_cannot_be_written_for_hours_do_not_fill_the_queue() {
    let server = Server::answering(&[500]);
    let running = Running::on(&server);
    for number in 0..500 {
        running.event(&number.to_string(), "x");
    }
    sleep(Duration::from_secs(2 * 3600)).await;
    for number in 1000..1500 {
        running.event(&number.to_string(), "x");
    }
    sleep(Duration::from_secs(1)).await;
    assert_eq!(dropped(&running.metrics, "queue_full"), 0);
    *server.codes.lock().unwrap() = vec![201];
    sleep(Duration::from_secs(600)).await;
    let seen = server.seen();
    assert!(seen.iter().any(|(_, _, event)| event["regarding"]["name"] == "1499"));
}

#[tokio::test(start_paused = true)]
async fn a_write_to_an_unhealthy_api_server_is_tried_twelve_times() {
    let server = Server::answering(&[503, 429, 500, 201]);
    let running = Running::on(&server);
    running.event("a", "x");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(server.seen().len(), 4);
    running.event("a", "x");
    sleep(Duration::from_secs(1)).await;
    assert_eq!(server.seen()[4].0, Method::PATCH);

    let server = Server::answering(&[503]);
    let running = Running::on(&server);
    running.event("a", "x");
    sleep(Duration::from_secs(600)).await;
    assert_eq!(server.seen().len(), 12);
    assert_eq!(dropped(&running.metrics, "write_failed"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_refused_event_is_tried_each_minute_and_an_expired_one_is_created_again() {
    for code in [403, 409, 422] {
        let server = Server::answering(&[code, 201, 404, 201]);
        let running = Running::on(&server);
        running.event("a", "x");
        sleep(Duration::from_secs(59)).await;
        assert_eq!(server.seen().len(), 1);
        sleep(Duration::from_secs(2)).await;
        assert_eq!(server.seen().len(), 2, "{code}");
        assert_eq!(server.seen()[0].2, server.seen()[1].2);

        running.event("a", "x");
        sleep(Duration::from_secs(1)).await;
        let seen = server.seen();
        let methods: Vec<_> = seen[1..].iter().map(|(method, ..)| method.clone()).collect();
        assert_eq!(methods, [Method::POST, Method::PATCH, Method::POST]);
        assert_eq!(seen[3].2["series"]["count"], 2);
        assert_eq!(seen[3].2["metadata"]["name"], seen[1].2["metadata"]["name"]);
        assert_eq!(dropped(&running.metrics, "write_failed"), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_that_stays_refused_is_dropped_six_minutes_after_its_last_occurrence() {
    let server = Server::answering(&[403]);
    let running = Running::on(&server);
    running.event("a", "x");
    sleep(Duration::from_secs(3600)).await;
    assert_eq!((server.seen().len(), dropped(&running.metrics, "write_failed")), (7, 1));
}

#[tokio::test(start_paused = true)]
async fn the_last_events_are_written_although_the_api_server_is_unavailable_once() {
    for code in [503, 429, 0] {
        let server = Server::answering(&[503, code, 201]);
        let running = Running::on(&server);
        running.event("a", "x");
        sleep(Duration::from_secs(1)).await;
        running.event("b", "x");
        running.stop().await;
        let seen = server.seen();
        let stored = if code == 0 { 3 } else { 4 };
        assert_eq!(seen.len(), stored, "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_does_not_lead_records_nothing() {
    let server = Server::default();
    let running = Running::gated(&server, WriteGate::new(|| false));
    running.event("a", "x");
    sleep(Duration::from_secs(60)).await;
    assert!(server.seen().is_empty());
    assert_eq!(dropped(&running.metrics, "write_failed"), 1, "{NotLeader}");
}

#[tokio::test(start_paused = true)]
async fn spam_is_dropped_and_counted() {
    let server = Server::default();
    let running = Running::on(&server);
    for number in 0..100 {
        running.event("a", &number.to_string());
        running.event("b", "once");
    }
    let metrics = running.stop().await;
    assert_eq!(dropped(&metrics, "spam"), 75);
    let seen = server.seen();
    let of = |name: &str| {
        seen.iter()
            .filter(|(_, _, event)| event["regarding"]["name"] == name)
            .count()
    };
    assert_eq!((of("a"), of("b")), (25, 1), "the hundred events of b are one series");
    assert!(seen.iter().any(|(_, _, event)| event["series"]["count"] == 100));
}

/// The log output.
#[derive(Clone, Default)]
struct LogOutput(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for LogOutput {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn refused_events_are_logged_once_a_minute() {
    let page = LogOutput::default();
    let writer = page.clone();
    let log = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
    let guard = tracing::subscriber::set_default(log);
    let server = Server::answering(&[403]);
    let running = Running::on(&server);
    for (note, pause) in [("one", 1), ("two", 60), ("three", 1)] {
        running.event("web", note);
        sleep(Duration::from_secs(pause)).await;
    }
    running.stop().await;
    drop(guard);
    let text = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
    assert_eq!(text.matches("an event was refused: no (403)").count(), 2, "{text}");
}
