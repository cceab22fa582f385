//! Converts one occurrence into an object of `events.k8s.io/v1`.

use std::{
    hash::{BuildHasher, RandomState},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use k8s_openapi::{
    api::{core::v1::ObjectReference, events::v1::Event},
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta},
    jiff::Timestamp,
};

use crate::status::cut;

/// The most bytes that the API server accepts for the note, and for each of reason, action and reporting instance
/// (Kubernetes, `pkg/apis/core/validation/events.go`).
pub(super) const NOTE: usize = 1024;
pub(super) const WORD: usize = 128;

/// The severity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// Everything is as expected.
    Normal,
    /// Something is wrong, and somebody should look at it.
    Warning,
}

impl EventType {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

/// The reporting component of an event.
#[derive(Debug)]
pub(super) struct EventSource {
    pub(super) controller: String,
    pub(super) instance: String,
}

impl EventSource {
    /// The reporting controller must be a qualified name: a DNS name, a slash, and up to 63 letters, digits, `-`, `_`,
    /// `.`.
    pub(super) fn new(operator: &str, controller: &str) -> Self {
        let host = hostname::get()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let controller = format!("{}/{}", dns_name(operator, 253), qualified(controller));
        Self {
            controller,
            instance: cut(format!("{operator}-{host}"), WORD),
        }
    }
}

/// One occurrence, as a controller records it.
#[derive(Clone, Debug)]
pub(super) struct Occurrence {
    pub(super) source: Arc<EventSource>,
    pub(super) regarding: ObjectReference,
    pub(super) type_: EventType,
    pub(super) reason: String,
    pub(super) action: String,
    pub(super) note: String,
    pub(super) at: Timestamp,
}

impl Occurrence {
    /// A name for its event that no other event has.
    pub(super) fn unique_name(&self) -> String {
        unique_name(self.regarding.name.as_deref().unwrap_or_default())
    }

    /// The event with this name, as it is created. Events about cluster-scoped objects are in the namespace `default`.
    pub(super) fn event(&self, name: &str) -> Event {
        let namespace = self
            .regarding
            .namespace
            .clone()
            .filter(|namespace| !namespace.is_empty());
        let metadata = ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(namespace.unwrap_or_else(|| "default".to_owned())),
            ..ObjectMeta::default()
        };
        Event {
            metadata,
            action: Some(or_unknown(&self.action)),
            event_time: Some(MicroTime(self.at)),
            note: Some(self.note.clone()),
            reason: Some(or_unknown(&self.reason)),
            regarding: Some(self.regarding.clone()),
            reporting_controller: Some(self.source.controller.clone()),
            reporting_instance: Some(self.source.instance.clone()),
            type_: Some(self.type_.as_str().to_owned()),
            ..Event::default()
        }
    }
}

/// `<name>.<16 random hex digits>`, always unique: client-go uses the time alone, so that two events in one nanosecond,
/// or of two processes, collide.
fn unique_name(name: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = RandomState::new().hash_one((NEXT.fetch_add(1, Ordering::Relaxed), Timestamp::now().as_nanosecond()));
    format!("{}.{number:016x}", dns_name(name, 253 - 17))
}

/// `name` as part of a DNS name: the names of some objects, such as roles, are not DNS names.
fn dns_name(name: &str, max: usize) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '.' {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let name: String = name.chars().map(plain).take(max).collect();
    let labels: Vec<_> = name
        .split('.')
        .map(|label| label.trim_matches('-'))
        .filter(|label| !label.is_empty())
        .collect();
    if labels.is_empty() {
        "unnamed".to_owned()
    } else {
        labels.join(".")
    }
}

fn qualified(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '-'
        }
    };
    let name: String = name.chars().map(plain).take(63).collect();
    let name = name.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    if name.is_empty() {
        "unnamed".to_owned()
    } else {
        name.to_owned()
    }
}

fn or_unknown(word: &str) -> String {
    if word.is_empty() { "Unknown" } else { word }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_names_are_valid_and_unique() {
        let names: std::collections::HashSet<_> = (0..10_000).map(|_| unique_name("web")).collect();
        assert_eq!(names.len(), 10_000);
        for name in ["system:node-1", "-a-.-b-", "", "Ümlaut", &"x".repeat(300)] {
            let name = unique_name(name);
            let valid = |label: &str| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-');
            assert!(name.len() <= 253 && name.split('.').all(valid), "{name}");
        }
        assert_eq!(
            EventSource::new("foobar-operator", "a/b").controller,
            "foobar-operator/a-b"
        );
    }
}
