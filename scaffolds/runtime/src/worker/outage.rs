//! Keeps an outage from filling the log: each object would have a line for each of its attempts. Failures with the same cause
//! are one: the first is logged with its object, the others are counted, and the count is logged in each interval.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};
use tracing::{field::display, warn};

use crate::{error::Error, isolate::lock, key::ObjectKey};

/// The interval of the counts. A cause without a failure in it is forgotten: the next failure has a line of its own.
const INTERVAL: Duration = Duration::from_secs(10);
/// The number of objects that a count names.
const NAMED: usize = 3;
/// The number of causes that are told apart; all others are one.
const CAUSES: usize = 1000;

/// The failed reconciles of one controller, by their causes.
#[derive(Default)]
pub(crate) struct Outage {
    causes: Mutex<BTreeMap<String, Failures>>,
    /// The first cause was added.
    began: Notify,
}

/// The failures with one cause.
struct Failures {
    /// The time of the last line about them.
    logged: Instant,
    unlogged: Unlogged,
}

/// Failures without a line in the log.
#[derive(Debug, Default, PartialEq, Eq)]
struct Unlogged {
    count: u64,
    /// Some of the objects.
    objects: Vec<ObjectKey>,
    /// The text of the last error.
    error: String,
}

impl Outage {
    /// Returns whether the failure of an object is to be logged: the first one with its cause is. The others are counted.
    pub(super) fn is_first(&self, key: &ObjectKey, error: &Error) -> bool {
        let text = error.to_string();
        let mut causes = lock(&self.causes);
        let mut cause = cause(key, error, &text);
        if !causes.contains_key(&cause) && causes.len() >= CAUSES {
            cause.clear();
        }
        let Some(Failures { unlogged, .. }) = causes.get_mut(&cause) else {
            let (logged, unlogged) = (Instant::now(), Unlogged::default());
            causes.insert(cause, Failures { logged, unlogged });
            self.began.notify_one();
            return true;
        };
        unlogged.count += 1;
        unlogged.error = text;
        if unlogged.objects.len() < NAMED && !unlogged.objects.contains(key) {
            unlogged.objects.push(key.clone());
        }
        false
    }

    /// Logs the counts. Never ends.
    pub(crate) async fn report(self: Arc<Self>, controller: String) {
        loop {
            if lock(&self.causes).is_empty() {
                self.began.notified().await;
            }
            sleep(INTERVAL).await;
            for Unlogged { count, objects, error } in self.counted() {
                let objects: Vec<_> = objects.iter().map(ObjectKey::to_string).collect();
                let objects = display(objects.join(", "));
                warn!(
                    controller,
                    failures = count,
                    objects,
                    "reconciles failed again: {error}"
                );
            }
        }
    }

    /// The failures of the causes that have had no line for an interval, which they get now.
    fn counted(&self) -> Vec<Unlogged> {
        let (mut counted, now) = (Vec::new(), Instant::now());
        lock(&self.causes).retain(|_, failures| {
            if now.duration_since(failures.logged) < INTERVAL {
                return true;
            }
            failures.logged = now;
            let unlogged = std::mem::take(&mut failures.unlogged);
            let has_some = unlogged.count > 0;
            counted.extend(has_some.then_some(unlogged));
            has_some
        });
        counted
    }
}

/// The error's text without the names of the object. A terminal error is about one object.
fn cause(key: &ObjectKey, error: &Error, text: &str) -> String {
    if let Error::Terminal { .. } = error {
        return format!("{key}: {text}");
    }
    let text = without(text, key.name());
    key.namespace()
        .map_or_else(|| text.clone(), |namespace| without(&text, namespace))
}

/// The text without a name, where the name is a word or a part of a name with hyphens.
fn without(text: &str, name: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _) in text.match_indices(name) {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let is_word =
            !before.ends_with(|c: char| c.is_alphanumeric()) && !after.starts_with(|c: char| c.is_alphanumeric());
        if is_word {
            kept += &text[from..at];
            from = at + name.len();
        }
    }
    kept + &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> ObjectKey {
        ObjectKey::new(Some("shop"), name)
    }

    fn forbidden(name: &str) -> Error {
        Error::retry(format!(
            r#"configmaps "{name}-foobar" is forbidden in the namespace "shop""#
        ))
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_failure_of_a_cause_has_a_line_and_the_others_are_counted_in_each_interval() {
        let outage = Outage::default();
        assert!(outage.is_first(&key("a"), &forbidden("a")));
        for name in ["b", "a", "b", "d", "e"] {
            assert!(!outage.is_first(&key(name), &forbidden(name)), "{name}");
        }
        // A name that is a word of the text looks like another cause.
        assert!(outage.is_first(&key("is"), &forbidden("is")));
        assert!(outage.is_first(&key("e"), &Error::retry("another")));
        assert!(outage.counted().is_empty());

        tokio::time::advance(INTERVAL).await;
        let counted = outage.counted();
        assert_eq!(counted.len(), 1, "{counted:?}");
        assert_eq!(
            (counted[0].count, &*counted[0].error),
            (5, &*forbidden("e").to_string())
        );
        assert_eq!(counted[0].objects, ["b", "a", "d"].map(key));
        assert_eq!(
            lock(&outage.causes).len(),
            1,
            "causes without further failures are forgotten"
        );
        assert!(!outage.is_first(&key("c"), &forbidden("c")), "it is counted");
        tokio::time::advance(INTERVAL).await;
        assert_eq!(outage.counted().len(), 1);
        tokio::time::advance(INTERVAL).await;
        assert!(outage.counted().is_empty() && outage.is_first(&key("a"), &forbidden("a")));
    }

    #[tokio::test(start_paused = true)]
    async fn terminal_errors_name_each_object_and_causes_beyond_a_limit_are_one() {
        let outage = Outage::default();
        let terminal = Error::terminal("BadTarget", "no such target");
        for (name, logged) in [("a", true), ("b", true), ("a", false)] {
            assert_eq!(outage.is_first(&key(name), &terminal), logged, "{name}");
        }
        let numbers = (0..CAUSES * 2).map(|n| Error::retry(format!("number {n}")));
        let logged = numbers.filter(|error| outage.is_first(&key("a"), error));
        assert_eq!(
            logged.count(),
            CAUSES - 1,
            "two causes were known, and the last is for all others"
        );
    }
}
