//! Owners that lose their children again and again. The cache shows an owner for a while after its deletion, if its watch is
//! late or waits after failures; the garbage collector deletes what such an owner creates, and each deletion wakes it.

use std::{collections::HashMap, sync::Mutex, time::Duration};

use kube::core::{Status, response::StatusDetails};
use tokio::time::Instant;

use super::Context;
use crate::{
    error::{Error, Result},
    isolate::lock,
    key::ObjectKey,
    kind::Kind,
    object::AnyObject,
};

/// A deleted child counts for this long: longer than an informer waits before it tries a watch again, which is 30 s at most.
const REMEMBERED: Duration = Duration::from_secs(60);

/// From this many deleted children on, the owner is read before it gets another one. A single one, which a user deletes, costs no
/// additional request.
const MANY: usize = 2;

/// The deleted children of one controller's owners.
#[derive(Default)]
pub(crate) struct Losses(Mutex<HashMap<ObjectKey, Loss>>);

struct Loss {
    children: usize,
    last: Instant,
}

impl Losses {
    /// Records that a child of this owner was deleted.
    pub(crate) fn add(&self, owner: &ObjectKey) {
        let (mut losses, now) = (lock(&self.0), Instant::now());
        if losses.len() == losses.capacity() {
            losses.retain(|_, loss| loss.is_recent(now));
        }
        let none = Loss { children: 0, last: now };
        let loss = losses.entry(owner.clone()).or_insert(none);
        let before = if loss.is_recent(now) { loss.children } else { 0 };
        (loss.children, loss.last) = (before + 1, now);
    }

    fn are_many(&self, owner: &ObjectKey) -> bool {
        let losses = lock(&self.0);
        let loss = losses.get(owner);
        loss.is_some_and(|loss| loss.children >= MANY && loss.is_recent(Instant::now()))
    }

    /// Removes the record of an owner that exists, or that the cache no longer shows.
    pub(crate) fn forget_owner(&self, owner: &ObjectKey) {
        lock(&self.0).remove(owner);
    }
}

impl Loss {
    fn is_recent(&self, now: Instant) -> bool {
        now.duration_since(self.last) < REMEMBERED
    }
}

impl<K: AnyObject> Context<K> {
    /// Before a child is created: reads this object from the API server if its children vanish. If it is gone, returns the error
    /// of a request for it, so that this run ends, and nothing is retried.
    pub(super) async fn check_losses(&self) -> Result<()> {
        let losses = &self.shared.state.losses;
        if !losses.are_many(&self.key) {
            return Ok(());
        }
        if Box::pin(self.live()).await?.is_none() {
            return Err(not_found(self.shared.kind(), self.key.name()));
        }
        losses.forget_owner(&self.key);
        Ok(())
    }
}

/// The API server's answer to a request for an object that does not exist.
fn not_found<K>(kind: &Kind<K>, name: &str) -> Error {
    let message = format!("{}.{} \"{name}\" not found", kind.plural(), kind.group());
    let details = StatusDetails {
        name: name.to_owned(),
        group: kind.group().to_owned(),
        kind: kind.plural().to_owned(),
        uid: String::new(),
        causes: Vec::new(),
        retry_after_seconds: 0,
    };
    let status = Status::failure(&message, "NotFound")
        .with_code(404)
        .with_details(details);
    kube::Error::Api(Box::new(status)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn losses_within_a_minute_are_counted_and_old_ones_are_forgotten() {
        let losses = Losses::default();
        let [one, two] = ["one", "two"].map(|name| ObjectKey::new(None, name));
        losses.add(&one);
        losses.add(&two);
        assert!(!losses.are_many(&one));
        losses.add(&one);
        assert!(losses.are_many(&one) && !losses.are_many(&two));

        tokio::time::advance(REMEMBERED).await;
        assert!(!losses.are_many(&one), "its losses are old");
        losses.add(&one);
        assert!(!losses.are_many(&one));
        losses.add(&one);
        assert!(losses.are_many(&one));
        losses.forget_owner(&one);
        losses.add(&one);
        assert!(!losses.are_many(&one));
    }

    #[tokio::test(start_paused = true)]
    async fn owners_of_old_losses_take_no_memory() {
        let losses = Losses::default();
        for batch in 0..5 {
            for n in 0..100 {
                losses.add(&ObjectKey::new(None, &format!("{batch}-{n}")));
            }
            tokio::time::advance(REMEMBERED).await;
        }
        assert!(lock(&losses.0).len() <= 224, "{}", lock(&losses.0).len());
    }
}
