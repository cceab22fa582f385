//! Memory for requests in flight: one budget for all servers of the process, derived from the limit of its container. What
//! requests are about is known elsewhere.

use std::{
    collections::HashMap,
    fs,
    net::IpAddr,
    sync::{Arc, LazyLock, Mutex, PoisonError, Weak},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// The assumed limit of a process without one.
const UNLIMITED: usize = 1 << 30;
/// The files with the memory limit of a container on Linux: cgroup v2, cgroup v1.
const LIMITS: [&str; 2] = [
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
];
/// The time that a request waits for memory that other requests use.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of a permit: a semaphore has at most 2^29 permits on 32-bit machines.
const UNIT: usize = 1 << 10;

/// The heap bytes of a map: a node of `BTreeMap<String, Value>` has room for eleven entries.
const MAP: usize = 656;
/// The bytes of a value or a name besides its text.
const VALUE: usize = 64;

static SHARED: LazyLock<Budget> = LazyLock::new(|| Budget::of(limit()));

/// The memory that requests may use.
///
/// # Guarantees
///
/// Of the container's limit, an eighth is for bodies of requests, of which one peer gets at most three quarters, half for
/// decoding them, and an eighth for responses until they are sent. The rest is for the operator itself.
pub(crate) struct Budget {
    bodies: Arc<Semaphore>,
    /// Permits of one peer.
    share: usize,
    peers: Mutex<HashMap<IpAddr, Weak<Semaphore>>>,
    work: Arc<Semaphore>,
    most_work: usize,
    answers: Arc<Semaphore>,
    most_answers: usize,
}

/// A part of the budget, which is given back on drop.
pub(crate) struct Reserved {
    _permits: Vec<OwnedSemaphorePermit>,
}

/// The reservations for the body of one request.
pub(crate) struct Body<'a> {
    budget: &'a Budget,
    peer: Arc<Semaphore>,
    reserved: Reserved,
}

impl Budget {
    /// The budget of this process.
    pub(crate) fn shared() -> &'static Self {
        &SHARED
    }

    pub(super) fn of(limit: usize) -> Self {
        let permits = |bytes: usize| (bytes / UNIT).min(Semaphore::MAX_PERMITS);
        let [bodies, work, answers] = [permits(limit / 8), permits(limit / 2), permits(limit / 8)];
        Self {
            bodies: Arc::new(Semaphore::new(bodies)),
            share: bodies / 4 * 3,
            peers: Mutex::default(),
            work: Arc::new(Semaphore::new(work)),
            most_work: work * UNIT,
            answers: Arc::new(Semaphore::new(answers)),
            most_answers: answers * UNIT,
        }
    }

    /// The longest body in bytes.
    pub(super) fn longest_body(&self) -> usize {
        self.share * UNIT
    }

    /// For a body from this peer, of which nothing has arrived yet.
    pub(super) fn body(&self, peer: IpAddr) -> Body<'_> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|_, share| share.strong_count() > 0);
        let known = peers.get(&peer).and_then(Weak::upgrade);
        let peer = known.unwrap_or_else(|| {
            let share = Arc::new(Semaphore::new(self.share));
            peers.insert(peer, Arc::downgrade(&share));
            share
        });
        Body {
            budget: self,
            peer,
            reserved: Reserved { _permits: Vec::new() },
        }
    }

    /// Memory for work on this JSON, as [`cost`](Self::cost) says. Waits until others give it back.
    ///
    /// # Errors
    ///
    /// As for [`cost`](Self::cost).
    pub(super) async fn work(&self, json: &[u8], copies: usize) -> Result<Reserved, String> {
        let bytes = self.cost([json], copies)?;
        Ok(self.scratch(bytes).await)
    }

    /// The bytes that work on these texts of JSON takes, as [`decoded`] estimates it, with this many copies.
    ///
    /// # Errors
    ///
    /// The work needs more than all of the memory; the message says how much.
    pub(crate) fn cost<'a>(&self, json: impl IntoIterator<Item = &'a [u8]>, copies: usize) -> Result<usize, String> {
        let (mut length, mut bytes) = (0_usize, 0_usize);
        for text in json {
            (length, bytes) = (length.saturating_add(text.len()), bytes.saturating_add(decoded(text)));
        }
        let bytes = bytes.saturating_mul(copies);
        if bytes <= self.most_work {
            return Ok(bytes);
        }
        Err(format!(
            "to decode {length} bytes of JSON with so many values takes {} MiB of memory, and the operator has {} MiB for it\n\n\
             hint: raise the memory limit of the container",
            bytes >> 20,
            self.most_work >> 20
        ))
    }

    /// Memory for work that takes this many bytes, or all that there is. Waits until others give it back.
    pub(crate) async fn scratch(&self, bytes: usize) -> Reserved {
        let permit = acquire(&self.work, bytes.min(self.most_work)).await;
        Reserved {
            _permits: permit.into_iter().collect(),
        }
    }

    /// Memory for this many bytes of a response, besides that which it has. Waits some seconds until others give it back.
    ///
    /// # Errors
    ///
    /// There is not enough; the message says how much there is.
    pub(crate) async fn answer(&self, bytes: usize) -> Result<Reserved, String> {
        let permit = match bytes > self.most_answers {
            true => None,
            false => timeout(PATIENCE, acquire(&self.answers, bytes)).await.ok().flatten(),
        };
        let permit = permit.ok_or_else(|| {
            format!(
                "the responses to this request and to others take more than {} MiB of memory\n\n\
                 hint: raise the memory limit of the container",
                self.most_answers >> 20
            )
        })?;
        Ok(Reserved { _permits: vec![permit] })
    }

    /// As [`scratch`](Self::scratch), without waiting; `None` if there is not enough.
    pub(crate) fn try_scratch(&self, bytes: usize) -> Option<Reserved> {
        try_acquire(&self.work, bytes)
    }

    /// As [`answer`](Self::answer), without waiting; `None` if there is not enough.
    pub(crate) fn try_answer(&self, bytes: usize) -> Option<Reserved> {
        try_acquire(&self.answers, bytes)
    }
}

impl Body<'_> {
    /// Reserves memory for bytes that arrive.
    ///
    /// # Errors
    ///
    /// Other requests have used it for too long.
    pub(super) async fn grow(&mut self, bytes: usize) -> Result<(), ()> {
        for semaphore in [&self.peer, &self.budget.bodies] {
            let permit = timeout(PATIENCE, acquire(semaphore, bytes)).await.map_err(|_| ())?;
            self.reserved._permits.extend(permit);
        }
        Ok(())
    }

    pub(super) fn into_reserved(self) -> Reserved {
        self.reserved
    }
}

/// `None` if the semaphore has been closed, which none of these is.
async fn acquire(semaphore: &Arc<Semaphore>, bytes: usize) -> Option<OwnedSemaphorePermit> {
    let permits = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
    Arc::clone(semaphore).acquire_many_owned(permits).await.ok()
}

fn try_acquire(semaphore: &Arc<Semaphore>, bytes: usize) -> Option<Reserved> {
    let permits = u32::try_from(bytes.div_ceil(UNIT)).ok()?;
    let permit = Arc::clone(semaphore).try_acquire_many_owned(permits).ok()?;
    Some(Reserved { _permits: vec![permit] })
}

/// About how many bytes the decoded form of this JSON takes. It counts the values and maps without decoding them.
fn decoded(json: &[u8]) -> usize {
    let (mut bytes, mut in_text, mut escaped) = (json.len(), false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' if !in_text => bytes = bytes.saturating_add(MAP),
            b',' | b'[' | b':' if !in_text => bytes = bytes.saturating_add(VALUE),
            _ => {}
        }
    }
    bytes
}

/// The memory limit of this process in bytes: that of its container, or of its address space or its data if that is lower.
fn limit() -> usize {
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let container = LIMITS.iter().find_map(|path| number(&fs::read_to_string(path).ok()?));
    let own = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let own = ["Max address space", "Max data size"].map(|name| {
        let rest = own.lines().find_map(|line| line.strip_prefix(name))?;
        number(rest.split_whitespace().next()?)
    });
    container
        .into_iter()
        .chain(own.into_iter().flatten())
        .fold(UNLIMITED, usize::min)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::BROADCAST);

    #[tokio::test(start_paused = true)]
    async fn one_peer_leaves_memory_for_the_others_and_waits_for_its_own() {
        let budget = Budget::of(128 << 20);
        assert_eq!(budget.longest_body(), 12 << 20);
        let mut hostile = budget.body(PEER);
        hostile.grow(12 << 20).await.unwrap();
        budget.body(PEER).grow(1).await.unwrap_err();
        budget.body(OTHER).grow(3 << 20).await.unwrap();
        drop(hostile.into_reserved());
        budget.body(PEER).grow(1).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn responses_are_counted_until_they_are_sent() {
        let budget = Budget::of(128 << 20);
        let first = budget.answer(12 << 20).await.unwrap();
        assert!(budget.try_answer(4 << 20).is_some());
        assert!(budget.try_answer(5 << 20).is_none());
        let why = budget.answer(5 << 20).await.err().unwrap();
        assert!(why.contains("take more than 16 MiB of memory"), "{why}");
        drop(first);
        budget.answer(16 << 20).await.unwrap();
        assert!(budget.answer(17 << 20).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn work_is_estimated_by_the_values_and_waits_for_other_work() {
        let budget = Budget::of(128 << 20);
        let dense = format!("[{}{{}}]", "{},".repeat(40_000));
        let text = format!("[\"{}\"]", "{},".repeat(40_000));
        assert!(decoded(dense.as_bytes()) > 40_000 * MAP);
        assert!(decoded(text.as_bytes()) < 2 * text.len());
        let first = budget.work(dense.as_bytes(), 2).await.unwrap();
        let second = budget.work(dense.as_bytes(), 2);
        assert!(timeout(Duration::from_secs(60), second).await.is_err());
        drop(first);
        budget.work(dense.as_bytes(), 2).await.unwrap();
        let why = budget.work(dense.as_bytes(), 4).await.err().unwrap();
        assert!(
            why.contains("takes 110 MiB of memory, and the operator has 64 MiB"),
            "{why}"
        );
    }
}
