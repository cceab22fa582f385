//! Owners that wait for an object that they do not own: woken by the watch where the cache shows the object, else by
//! polling.

use std::{
    any::TypeId,
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
    object::Object,
    priority::Priority,
    queue::WorkQueue,
};

/// When an object that no cache shows is asked for the first time, from when it was found in the way.
const FIRST: Duration = Duration::from_secs(1);
/// The longest time between two requests for one object. It doubles from [`FIRST`], so whoever clears the way is noticed in about
/// the time that the object has been in it.
const LONGEST: Duration = Duration::from_secs(300);
/// The shortest time between any two requests: at most ten a second, however many objects are in the way.
const SPACING: Duration = Duration::from_millis(100);

/// A child's kind and name.
type Slot = (TypeId, ObjectKey);
/// Whose the object is by now, as [`owner_name`] says it; `None` where it is gone.
type Ask = Arc<dyn Fn() -> BoxFuture<'static, Result<Option<Option<String>>>> + Send + Sync>;

/// Owners that wait for an object which is not theirs to change or go, by that object's name.
#[derive(Default)]
pub(crate) struct Blocked {
    waits: Mutex<HashMap<Slot, Wait>>,
    changed: Notify,
}

#[derive(Default)]
struct Wait {
    owners: Vec<ObjectKey>,
    /// Absent where a watch shows the object.
    poll: Option<Poll>,
}

struct Poll {
    ask: Ask,
    /// Whose the object was when it was found in the way.
    owner: Option<String>,
    delay: Duration,
    due: Instant,
}

impl Blocked {
    /// Waits for a watch event of this object.
    pub(super) fn wait<C: 'static>(&self, child: &ObjectKey, owner: &ObjectKey) {
        let mut waits = self.lock();
        let wait = waits.entry((TypeId::of::<C>(), child.clone())).or_default();
        if !wait.owners.contains(owner) {
            wait.owners.push(owner.clone());
        }
    }

    /// Asks for the object now and then, beside [`wait`](Self::wait): no watch shows it.
    pub(super) fn ask<C: Object>(&self, client: &Client, found: &NotOwned) {
        let mut waits = self.lock();
        let Some(wait) = waits.get_mut(&(TypeId::of::<C>(), found.key.clone())) else {
            return;
        };
        if wait.poll.as_ref().is_some_and(|poll| poll.owner == found.owner) {
            return;
        }
        let (client, key) = (client.clone(), found.key.clone());
        let ask: Ask = Arc::new(move || {
            let (client, key) = (client.clone(), key.clone());
            Box::pin(async move {
                let requests = Requests::<C>::beside(&client, &key);
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

    /// Those who wait for this object, who do so no longer.
    pub(crate) fn wake<C: 'static>(&self, child: &ObjectKey) -> Vec<ObjectKey> {
        let mut waits = self.lock();
        if waits.is_empty() {
            return Vec::new();
        }
        let wait = waits.remove(&(TypeId::of::<C>(), child.clone()));
        wait.map(|wait| wait.owners).unwrap_or_default()
    }

    /// The owner is gone: it waits for nothing.
    pub(crate) fn forget_owner(&self, owner: &ObjectKey) {
        self.lock().retain(|_, wait| {
            wait.owners.retain(|waiting| waiting != owner);
            !wait.owners.is_empty()
        });
    }

    /// Asks for what no watch shows, for as long as the controller runs, and wakes those whose object has gone or changed hands.
    ///
    /// One request at a time, each for the metadata of one object. An object is asked for 1 s after it was found in the way,
    /// then with delays that double up to 5 minutes, with up to 10 % jitter; at most ten requests are sent in a second.
    pub(crate) async fn poll(self: Arc<Self>, queue: WorkQueue) {
        let mut jitter = Jitter::random();
        loop {
            let Some((slot, due)) = self.next() else {
                self.changed.notified().await;
                continue;
            };
            tokio::select! {
                () = sleep_until(due) => {}
                // A new one may be due earlier.
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

    /// The object that is asked for next.
    fn next(&self) -> Option<(Slot, Instant)> {
        let waits = self.lock();
        let polls = waits
            .iter()
            .filter_map(|(slot, wait)| Some((slot, wait.poll.as_ref()?.due)));
        polls.min_by_key(|(_, due)| *due).map(|(slot, due)| (slot.clone(), due))
    }

    /// Takes the request that is due, and puts off the next one.
    fn begin(&self, slot: &Slot, jitter: &mut Jitter) -> Option<Ask> {
        let mut waits = self.lock();
        let poll = waits.get_mut(slot)?.poll.as_mut()?;
        poll.delay = (poll.delay * 2).min(LONGEST);
        poll.due = Instant::now() + jitter.scale(poll.delay, 1.0, 1.1);
        Some(poll.ask.clone())
    }

    /// Whom an answer wakes.
    fn settle(&self, slot: &Slot, answer: Result<Option<Option<String>>>) -> Vec<ObjectKey> {
        let mut waits = self.lock();
        let stands = |poll: &Poll| match &answer {
            Ok(found) => found.as_ref() == Some(&poll.owner),
            // It is asked again.
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
