//! Memory for requests in flight: one budget for all servers of the process, derived from the limit of its container. What
//! requests are about is known elsewhere.

mod pool;

use std::{
    collections::HashMap,
    fs,
    net::IpAddr,
    sync::{Arc, LazyLock, Mutex, PoisonError, Weak},
    thread::available_parallelism,
    time::Duration,
};

use tokio::{sync::Semaphore, time::timeout};

pub use self::pool::Reserved;
use self::pool::{Part, Pool};

/// The assumed limit of a process without one.
const UNLIMITED: usize = 1 << 30;
/// The files with the memory limit of a container on Linux: cgroup v2, cgroup v1.
const LIMITS: [&str; 2] = [
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
];
/// The time that a request waits for memory that other requests use.
const PATIENCE: Duration = Duration::from_secs(5);

/// The heap bytes of a map: a node of `BTreeMap<String, Value>` has room for eleven entries.
const MAP: usize = 656;
/// The bytes of a value or a name besides its text.
const VALUE: usize = 64;

static SHARED: LazyLock<Budget> = LazyLock::new(|| Budget::of(limit()));

/// The memory that requests may use, in all and for each peer.
///
/// # Guarantees
///
/// Of the container's limit, an eighth is for bodies of requests, half for decoding them, and an eighth for responses until
/// they are sent. One peer gets at most three quarters of the memory that the others leave, and a smaller part of it where three or more
/// have some, so that `n` of them leave at least `1/16(n - 1)` of it for the next one; but for decoding, a request that needs more may take all while no other peer uses any or waits
/// for some. The rest is for the operator itself.
pub(crate) struct Budget {
    bodies: Arc<Pool>,
    work: Arc<Pool>,
    answers: Arc<Pool>,
    peers: Mutex<HashMap<IpAddr, Weak<Share>>>,
}

/// The part of the budget that one peer may use. Its requests wait for each other, in their order, and delay no request of
/// others.
pub struct Share {
    bodies: Part,
    work: Part,
    answers: Part,
    turns: Arc<Semaphore>,
}

/// The reservations for the body of one request.
pub(crate) struct Body {
    share: Arc<Share>,
    reserved: Vec<Reserved>,
}

impl Budget {
    /// The budget of this process.
    pub(super) fn shared() -> &'static Self {
        &SHARED
    }

    pub(super) fn of(limit: usize) -> Self {
        Self {
            bodies: Pool::of(limit / 8),
            work: Pool::of(limit / 2),
            answers: Pool::of(limit / 8),
            peers: Mutex::default(),
        }
    }

    /// The part of this peer. All of its requests have it in common.
    pub(super) fn share(&self, peer: IpAddr) -> Arc<Share> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|_, share| share.strong_count() > 0);
        if let Some(known) = peers.get(&peer).and_then(Weak::upgrade) {
            return known;
        }
        let share = Arc::new(Share {
            bodies: self.bodies.part(peer),
            work: self.work.part(peer),
            answers: self.answers.part(peer),
            turns: Arc::new(Semaphore::new(available_parallelism().map_or(1, usize::from))),
        });
        peers.insert(peer, Arc::downgrade(&share));
        share
    }
}

impl Share {
    /// The part of this peer in the budget of this process.
    pub fn of(peer: IpAddr) -> Arc<Self> {
        Budget::shared().share(peer)
    }

    /// The longest body in bytes.
    pub(super) fn longest_body(&self) -> usize {
        self.bodies.pool.longest()
    }

    /// For a body of which nothing has arrived yet.
    pub(super) fn body(self: &Arc<Self>) -> Body {
        Body {
            share: Arc::clone(self),
            reserved: Vec::new(),
        }
    }

    /// Memory for work on this JSON, as [`cost`](Self::cost) says. Waits until others give it back.
    ///
    /// # Errors
    ///
    /// As for [`cost`](Self::cost).
    pub async fn work(self: &Arc<Self>, json: &[u8], copies: usize) -> Result<Reserved, String> {
        let bytes = self.cost([json], copies)?;
        Ok(self.scratch(bytes).await)
    }

    /// The bytes that work on these texts of JSON takes, estimated by their values, with this many copies.
    ///
    /// # Errors
    ///
    /// The work needs more than all of the memory; the message contains the amount.
    pub fn cost<'a>(&self, json: impl IntoIterator<Item = &'a [u8]>, copies: usize) -> Result<usize, String> {
        let (mut length, mut bytes) = (0_usize, 0_usize);
        for text in json {
            (length, bytes) = (length.saturating_add(text.len()), bytes.saturating_add(decoded(text)));
        }
        let (bytes, most) = (bytes.saturating_mul(copies), self.work.pool.most);
        if bytes <= most {
            return Ok(bytes);
        }
        Err(format!(
            "to decode {length} bytes of JSON with so many values takes {} MiB of memory, and the operator has {} MiB for it\n\n\
             hint: raise the memory limit of the container",
            bytes >> 20,
            most >> 20
        ))
    }

    /// Memory for work that takes this many bytes, or all that there is. Waits until others give it back.
    pub async fn scratch(self: &Arc<Self>, bytes: usize) -> Reserved {
        self.work.acquire(bytes).await
    }

    /// Memory for this many bytes of a response, besides that which it has. Waits some seconds until others give it back.
    ///
    /// # Errors
    ///
    /// There is not enough memory; the message contains the amount.
    pub async fn answer(self: &Arc<Self>, bytes: usize) -> Result<Reserved, String> {
        let most = self.answers.pool.longest();
        let reserved = match bytes > most {
            true => None,
            false => timeout(PATIENCE, self.answers.acquire(bytes)).await.ok(),
        };
        reserved.ok_or_else(|| {
            format!(
                "the responses to this request and to others take more than the {} MiB of memory that one client gets\n\n\
                 hint: raise the memory limit of the container",
                most >> 20
            )
        })
    }

    /// As [`scratch`](Self::scratch), without waiting; `None` if there is not enough.
    pub fn try_scratch(self: &Arc<Self>, bytes: usize) -> Option<Reserved> {
        self.work.try_acquire(bytes)
    }

    /// As [`answer`](Self::answer), without waiting; `None` if there is not enough.
    pub fn try_answer(self: &Arc<Self>, bytes: usize) -> Option<Reserved> {
        if bytes > self.answers.pool.longest() {
            return None;
        }
        self.answers.try_acquire(bytes)
    }

    /// Waits until fewer requests of this peer than there are processors work or wait for one: whoever waits behind it then waits
    /// for few of its requests, however many it has sent.
    pub async fn turn(self: &Arc<Self>) -> impl Send + use<> {
        // Another request of the peer finds its share while this is held.
        (Arc::clone(&self.turns).acquire_owned().await, Arc::clone(self))
    }
}

impl Body {
    /// Reserves memory for bytes that arrive.
    ///
    /// # Errors
    ///
    /// Other requests have used it for too long.
    pub(super) async fn grow(&mut self, bytes: usize) -> Result<(), ()> {
        let reserved = timeout(PATIENCE, self.share.bodies.acquire(bytes)).await;
        self.reserved.push(reserved.map_err(|_| ())?);
        Ok(())
    }

    pub(super) fn into_reserved(self) -> Vec<Reserved> {
        self.reserved
    }
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

/// The memory limit of this process in bytes: the lowest limit of its container, its address space and its data.
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
        assert_eq!(budget.share(PEER).longest_body(), 12 << 20);
        let mut hostile = budget.share(PEER).body();
        hostile.grow(12 << 20).await.unwrap();
        let hostile = hostile.into_reserved();
        budget.share(PEER).body().grow(1).await.unwrap_err();
        budget.share(OTHER).body().grow(3 << 20).await.unwrap();
        drop(hostile);
        budget.share(PEER).body().grow(1).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn responses_are_counted_until_they_are_sent_and_one_peer_leaves_memory_for_those_of_others() {
        let budget = Budget::of(128 << 20);
        // The connection that sends it has no share any more.
        let first = budget.share(PEER).answer(8 << 20).await.unwrap();
        let (peer, other) = (budget.share(PEER), budget.share(OTHER));
        assert!(peer.try_answer(4 << 20).is_some());
        assert!(peer.try_answer(5 << 20).is_none());
        let why = budget.share(PEER).answer(5 << 20).await.err().unwrap();
        assert!(why.contains("take more than the 12 MiB of memory"), "{why}");
        let second = other.answer(6 << 20).await.unwrap();
        // Of the memory that the other one leaves, it has more than three quarters.
        assert!(peer.try_answer(1).is_none());
        drop((first, second));
        peer.answer(12 << 20).await.unwrap();
        assert!(peer.answer(13 << 20).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn work_of_one_peer_waits_behind_its_own_and_a_large_request_takes_all() {
        let budget = Budget::of(128 << 20);
        let (peer, other) = (budget.share(PEER), budget.share(OTHER));
        let large = peer.scratch(64 << 20).await;
        assert!(other.try_scratch(1).is_none());
        drop(large);
        let _working = peer.scratch(40 << 20).await;
        let mut waiting = Box::pin(peer.scratch(20 << 20));
        assert!(timeout(Duration::from_secs(1), &mut waiting).await.is_err());
        // It waits for its peer alone, and no other request waits behind it.
        timeout(Duration::from_secs(1), other.scratch(18 << 20)).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn turns_of_one_peer_are_as_many_as_processors() {
        let budget = Budget::of(128 << 20);
        let (peer, other) = (budget.share(PEER), budget.share(OTHER));
        let mut turns = Vec::new();
        while let Ok(turn) = timeout(Duration::from_secs(1), peer.turn()).await {
            turns.push(turn);
        }
        assert_eq!(turns.len(), available_parallelism().unwrap().get());
        timeout(Duration::from_secs(1), other.turn()).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn work_is_estimated_by_the_values_and_waits_for_other_work() {
        let share = Budget::of(128 << 20).share(PEER);
        let dense = format!("[{}{{}}]", "{},".repeat(40_000));
        let text = format!("[\"{}\"]", "{},".repeat(40_000));
        assert!(decoded(dense.as_bytes()) > 40_000 * MAP);
        assert!(decoded(text.as_bytes()) < 2 * text.len());
        let first = share.work(dense.as_bytes(), 2).await.unwrap();
        let second = share.work(dense.as_bytes(), 2);
        assert!(timeout(Duration::from_secs(60), second).await.is_err());
        drop(first);
        share.work(dense.as_bytes(), 2).await.unwrap();
        let why = share.work(dense.as_bytes(), 4).await.err().unwrap();
        assert!(
            why.contains("takes 110 MiB of memory, and the operator has 64 MiB"),
            "{why}"
        );
    }
}
