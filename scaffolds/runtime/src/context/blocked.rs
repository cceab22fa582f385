//! Owners that wait for an object of another owner to change or go: notified by the watch if the object is cached, else
//! by polling.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::BoxFuture;
use kube::Client;
use tokio::{
    sync::Notify,
    time::{Instant, sleep, sleep_until},
};

use crate::{
    api::Requests,
    child::owner_name,
    error::{NotOwned, Result},
    jitter::Jitter,
    key::ObjectKey,
    kind::{Kind, KindId},
    object::AnyObject,
    priority::Priority,
    queue::WorkQueue,
};

/// The delay before an object that no cache contains is requested for the first time.
const FIRST: Duration = Duration::from_millis(100);
/// The longest time between two requests for one object. The delay starts at [`FIRST`] and doubles, so a change is
/// noticed after about as long as the object has been in the way.
const LONGEST: Duration = Duration::from_secs(300);
/// The shortest time between any two requests: at most ten a second, for any number of objects.
const SPACING: Duration = Duration::from_millis(100);

/// A child's kind and name.
type Slot = (KindId, ObjectKey);
/// Reads the object's current owner, in the form of [`owner_name`]; `None` if the object is gone.
type Ask = Arc<dyn Fn() -> BoxFuture<'static, Result<Option<Option<String>>>> + Send + Sync>;

/// Owners that wait for another owner's object to change or go, by the name of that object.
#[derive(Default)]
pub(crate) struct Blocked {
    waits: Mutex<HashMap<Slot, Wait>>,
    changed: Notify,
}

#[derive(Default)]
struct Wait {
    owners: Vec<ObjectKey>,
    /// `None` if a watch shows the object.
    poll: Option<Poll>,
}

struct Poll {
    ask: Ask,
    /// The object's owner when it was found in the way.
    owner: Option<String>,
    delay: Duration,
    due: Instant,
}

impl Blocked {
    /// Waits for a watch event of this object.
    pub(super) fn wait(&self, kind: &KindId, child: &ObjectKey, owner: &ObjectKey) {
        let mut waits = self.lock();
        let wait = waits.entry((kind.clone(), child.clone())).or_default();
        if !wait.owners.contains(owner) {
            wait.owners.push(owner.clone());
        }
    }

    /// Polls the object, in addition to [`wait`](Self::wait): no watch shows it.
    pub(super) fn ask<C: AnyObject>(&self, client: &Client, kind: &Kind<C>, found: &NotOwned) {
        let mut waits = self.lock();
        let Some(wait) = waits.get_mut(&(kind.id().clone(), found.key.clone())) else {
            return;
        };
        if wait.poll.as_ref().is_some_and(|poll| poll.owner == found.owner) {
            return;
        }
        let (client, kind, key) = (client.clone(), kind.clone(), found.key.clone());
        let ask: Ask = Arc::new(move || {
            let (client, kind, key) = (client.clone(), kind.clone(), key.clone());
            Box::pin(async move {
                let requests = Requests::beside(&client, &kind, &key);
                let found = requests.get_metadata(key.name()).await?;
                Ok(found.as_ref().map(owner_name))
            })
        });
        wait.poll = Some(Poll {
            ask,
            owner: found.owner.clone(),
            delay: FIRST,
            due: Instant::now() + FIRST,
        });
        drop(waits);
        self.changed.notify_one();
    }

    /// Removes and returns the owners that wait for this object.
    pub(crate) fn wake(&self, kind: &KindId, child: &ObjectKey) -> Vec<ObjectKey> {
        let mut waits = self.lock();
        if waits.is_empty() {
            return Vec::new();
        }
        let wait = waits.remove(&(kind.clone(), child.clone()));
        wait.map(|wait| wait.owners).unwrap_or_default()
    }

    /// Removes an owner that is gone.
    pub(crate) fn forget_owner(&self, owner: &ObjectKey) {
        self.lock().retain(|_, wait| {
            wait.owners.retain(|waiting| waiting != owner);
            !wait.owners.is_empty()
        });
    }

    /// Polls the objects that no watch shows, for as long as the controller runs, and requeues the owners whose object
    /// is gone or has another owner.
    ///
    /// One request at a time, each for the metadata of one object. An object is requested 100 ms after it was found in
    /// the way, then with delays that double up to 5 minutes, with up to 10 % jitter; at most ten requests are sent in a
    /// second.
    pub(crate) async fn poll(&self, queue: &WorkQueue) {
        let mut jitter = Jitter::random();
        loop {
            let Some((slot, due)) = self.next() else {
                self.changed.notified().await;
                continue;
            };
            tokio::select! {
                () = sleep_until(due) => {}
                // A new entry may be due earlier.
                () = self.changed.notified() => continue,
            }
            let ask = self.begin(&slot, &mut jitter);
            if let Some(ask) = ask {
                let answer = ask().await;
                for owner in self.settle(&slot, answer) {
                    queue.add(owner, Priority::Normal);
                }
                sleep(SPACING).await;
            }
        }
    }

    /// The object to be requested next.
    fn next(&self) -> Option<(Slot, Instant)> {
        let waits = self.lock();
        let polls = waits
            .iter()
            .filter_map(|(slot, wait)| Some((slot, wait.poll.as_ref()?.due)));
        polls.min_by_key(|(_, due)| *due).map(|(slot, due)| (slot.clone(), due))
    }

    /// Takes the request that is due, and schedules the next one.
    fn begin(&self, slot: &Slot, jitter: &mut Jitter) -> Option<Ask> {
        let mut waits = self.lock();
        let poll = waits.get_mut(slot)?.poll.as_mut()?;
        poll.delay = (poll.delay * 2).min(LONGEST);
        poll.due = Instant::now() + jitter.scale(poll.delay, 1.0, 1.1);
        Some(poll.ask.clone())
    }

    /// The owners that a response wakes.
    fn settle(&self, slot: &Slot, answer: Result<Option<Option<String>>>) -> Vec<ObjectKey> {
        let mut waits = self.lock();
        let stands = |poll: &Poll| match &answer {
            Ok(found) => found.as_ref() == Some(&poll.owner),
            // It is requested again.
            Err(_) => true,
        };
        if waits.get(slot).and_then(|wait| wait.poll.as_ref()).is_none_or(stands) {
            return Vec::new();
        }
        waits.remove(slot).map(|wait| wait.owners).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Slot, Wait>> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
