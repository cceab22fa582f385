//! The rules for series and spam, on a simulated clock.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ObjectReference;

use super::{
    super::event::{EventSource, EventType},
    *,
};

fn occurrence(name: &str, note: &str) -> Occurrence {
    Occurrence {
        source: Arc::new(EventSource::new("op", "foobar")),
        regarding: ObjectReference {
            name: Some(name.to_owned()),
            ..ObjectReference::default()
        },
        type_: EventType::Normal,
        reason: "Applied".to_owned(),
        action: "Reconcile".to_owned(),
        note: note.to_owned(),
        at: Timestamp::now(),
    }
}

/// Writes the series and returns its count; `None` if there is nothing to write.
fn write(correlator: &mut Correlator, key: &Key, now: Instant) -> Option<i32> {
    let count = match correlator.begin(key)? {
        Write::Create(event) | Write::Series(event) => event.series.map_or(1, |series| series.count),
    };
    correlator.end(*key, Written::Stored, now);
    Some(count)
}

fn due(seen: Seen) -> Key {
    let Seen::Due(key) = seen else { panic!("{seen:?}") };
    key
}

#[test]
fn a_series_is_written_at_its_first_and_second_event_every_half_hour_and_at_its_end() {
    let (mut correlator, mut now) = (Correlator::default(), Instant::now());
    let key = due(correlator.see(occurrence("a", "x"), now));
    assert_eq!(write(&mut correlator, &key, now), Some(1));
    let key = due(correlator.see(occurrence("a", "x"), now));
    assert_eq!(write(&mut correlator, &key, now), Some(2));
    for _ in 0..30 {
        assert_eq!(correlator.see(occurrence("a", "x"), now), Seen::Counted);
        assert_eq!(correlator.tick(now), Vec::<Key>::new());
        now += Duration::from_secs(60);
    }
    assert_eq!(correlator.tick(now), std::slice::from_ref(&key), "refreshed");
    assert_eq!(write(&mut correlator, &key, now), Some(32));
    assert_eq!(correlator.see(occurrence("a", "x"), now), Seen::Counted);
    now += FINISH;
    assert_eq!(correlator.tick(now), std::slice::from_ref(&key), "finished");
    assert_eq!(write(&mut correlator, &key, now), Some(33));
    assert!(correlator.series.is_empty());
}

#[test]
fn a_stored_event_is_kept_in_memory_again_when_it_recurs() {
    let (mut correlator, now) = (Correlator::default(), Instant::now());
    let key = due(correlator.see(occurrence("a", "x"), now));
    write(&mut correlator, &key, now);
    assert!(correlator.series[&key].first.is_none());
    let again = due(correlator.see(occurrence("a", "x"), now));
    let Some(Write::Series(event)) = correlator.begin(&again) else {
        panic!("the API server has the series")
    };
    // If the API server has deleted the event, it is created again from this.
    assert_eq!(
        (event.note.as_deref(), event.regarding.and_then(|it| it.name).as_deref()),
        (Some("x"), Some("a"))
    );
}

#[test]
fn a_different_note_is_a_different_event() {
    let (mut correlator, now) = (Correlator::default(), Instant::now());
    assert_ne!(
        due(correlator.see(occurrence("a", "x"), now)),
        due(correlator.see(occurrence("a", "y"), now))
    );
}

#[test]
fn equal_events_are_written_once_with_their_count_if_none_is_written_yet() {
    let (mut correlator, now) = (Correlator::default(), Instant::now());
    let key = due(correlator.see(occurrence("a", "x"), now));
    for _ in 0..9 {
        assert_eq!(correlator.see(occurrence("a", "x"), now), Seen::Counted);
    }
    assert_eq!(write(&mut correlator, &key, now), Some(10));
    assert_eq!(correlator.unwritten(), Vec::<Key>::new());
}

#[test]
fn a_second_event_during_the_first_write_is_written_after_it() {
    let (mut correlator, now) = (Correlator::default(), Instant::now());
    let key = due(correlator.see(occurrence("a", "x"), now));
    assert!(matches!(correlator.begin(&key), Some(Write::Create(_))));
    assert_eq!(correlator.see(occurrence("a", "x"), now), Seen::Counted);
    assert!(correlator.begin(&key).is_none(), "one write at a time");
    assert_eq!(correlator.end(key, Written::Stored, now), Ended::Again(key));
    assert!(matches!(correlator.begin(&key), Some(Write::Series(event)) if event.series.as_ref().unwrap().count == 2));
}

#[test]
fn after_25_writes_one_is_allowed_every_five_minutes() {
    let (mut correlator, mut now) = (Correlator::default(), Instant::now());
    let mut see = |name: &str, note: u32, now| correlator.see(occurrence(name, &note.to_string()), now);
    for note in 0..25 {
        due(see("a", note, now));
    }
    assert_eq!(see("a", 25, now), Seen::Spam);
    due(see("b", 0, now));
    now += Duration::from_secs(299);
    assert_eq!(see("a", 25, now), Seen::Spam);
    now += Duration::from_secs(2);
    due(see("a", 25, now));
    assert_eq!(see("a", 26, now), Seen::Spam);
}

#[test]
fn a_series_whose_write_failed_starts_again() {
    let (mut correlator, now) = (Correlator::default(), Instant::now());
    let key = due(correlator.see(occurrence("a", "x"), now));
    correlator.begin(&key);
    assert_eq!(correlator.end(key, Written::Failed, now), Ended::Dropped);
    due(correlator.see(occurrence("a", "x"), now));
}

#[test]
fn a_refused_series_is_due_again_until_it_is_over() {
    let (mut correlator, mut now) = (Correlator::default(), Instant::now());
    let key = due(correlator.see(occurrence("a", "x"), now));
    let mut tries = 0;
    loop {
        tries += 1;
        assert!(
            matches!(correlator.begin(&key), Some(Write::Create(_))),
            "it is not stored"
        );
        if correlator.end(key, Written::Refused, now) == Ended::Dropped {
            break;
        }
        now += Duration::from_secs(60);
        assert_eq!(correlator.tick(now), [key]);
    }
    assert_eq!(tries, 7, "at once, and each minute for six minutes");
    assert!(correlator.series.is_empty());
}

#[test]
fn memory_is_bounded_if_all_events_are_refused() {
    let (mut correlator, mut now) = (Correlator::default(), Instant::now());
    for number in 0..2 * REMEMBERED {
        now += Duration::from_millis(1);
        let key = due(correlator.see(occurrence(&number.to_string(), "x"), now));
        correlator.begin(&key);
        correlator.end(key, Written::Refused, now);
        assert!(correlator.series.len() <= REMEMBERED + 1);
    }
}

#[test]
fn memory_is_bounded_for_any_number_of_objects() {
    let (mut correlator, mut now) = (Correlator::default(), Instant::now());
    for number in 0..3 * REMEMBERED {
        now += Duration::from_millis(1);
        let key = due(correlator.see(occurrence(&number.to_string(), "x"), now));
        write(&mut correlator, &key, now);
        assert!(correlator.series.len() <= REMEMBERED + 1 && correlator.buckets.len() <= REMEMBERED + 1);
    }
    assert!(correlator.series.len() >= REMEMBERED / 2);
    correlator.tick(now + Duration::from_secs(3600 * 24));
    assert!(correlator.series.is_empty() && correlator.buckets.is_empty());
}
