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
/// Of the container's limit, an eighth is for bodies of requests, of which one peer gets at most three quarters, and half for
/// decoding and answering them. The rest is for the operator itself, and for responses.
pub(crate) struct Budget {
    bodies: Arc<Semaphore>,
    /// Permits of one peer.
    share: usize,
    peers: Mutex<HashMap<IpAddr, Weak<Semaphore>>>,
    work: Arc<Semaphore>,
    most_work: usize,
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

    fn of(limit: usize) -> Self {
        let permits = |bytes: usize| (bytes / UNIT).min(Semaphore::MAX_PERMITS);
        let [bodies, work] = [permits(limit / 8), permits(limit / 2)];
        Self {
            bodies: Arc::new(Semaphore::new(bodies)),
            share: bodies / 4 * 3,
            peers: Mutex::default(),
            work: Arc::new(Semaphore::new(work)),
            most_work: work * UNIT,
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

    /// Memory for work on these bytes of JSON, as [`decoded`] estimates it, with this many copies. Waits until others give it back.
    ///
    /// # Errors
    ///
    /// The work needs more than all of the memory; the message says how much.
    pub(crate) async fn work(&self, json: &[u8], copies: usize) -> Result<Reserved, String> {
        let bytes = decoded(json).saturating_mul(copies);
        if bytes > self.most_work {
            return Err(format!(
                "to decode {} bytes of JSON with so many values takes {} MiB of memory, and the operator has {} MiB for it\n\n\
                 hint: raise the memory limit of the container",
                json.len(),
                bytes >> 20,
                self.most_work >> 20
            ));
        }
        Ok(Reserved {
            _permits: acquire(&self.work, bytes).await.into_iter().collect(),
        })
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

/// The memory limit of this process in bytes: that of its container, or of its address space if that is lower.
fn limit() -> usize {
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let container = LIMITS.iter().find_map(|path| number(&fs::read_to_string(path).ok()?));
    let own = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let own = own.lines().find_map(|line| line.strip_prefix("Max address space"));
    let own = own.and_then(|rest| number(rest.split_whitespace().next()?));
    [container, own].into_iter().flatten().fold(UNLIMITED, usize::min)
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
