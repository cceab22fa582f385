//! Memory for requests in flight: one budget for all servers of the process, derived from the limit of its container. What
//! requests are about is known elsewhere.

use std::{
    collections::HashMap,
    fs,
    net::IpAddr,
    sync::{Arc, LazyLock, Mutex, PoisonError, Weak},
    thread::available_parallelism,
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

/// The memory that requests may use, in all and for each peer.
///
/// # Guarantees
///
/// Of the container's limit, an eighth is for bodies of requests, half for decoding them, and an eighth for responses until
/// they are sent. One peer gets at most three quarters of each, but for decoding one request, which may take all. The rest is
/// for the operator itself.
pub(crate) struct Budget {
    bodies: Pool,
    work: Pool,
    answers: Pool,
    peers: Mutex<HashMap<IpAddr, Weak<Share>>>,
}

/// Memory for one purpose.
struct Pool {
    all: Arc<Semaphore>,
    most: usize,
}

/// The part of the budget that one peer may use. Requests of a peer that has used its part wait for each other, before they
/// wait for the requests of others.
pub(crate) struct Share {
    bodies: Part,
    work: Part,
    answers: Part,
    turns: Arc<Semaphore>,
}

/// The part of a pool that one peer may use.
struct Part {
    own: Arc<Semaphore>,
    all: Arc<Semaphore>,
    /// Permits of `own`, and of `all`.
    most: [usize; 2],
}

/// A part of the budget, which is given back on drop.
pub(crate) struct Reserved {
    _permits: Vec<OwnedSemaphorePermit>,
    /// Another request of the peer finds it while this is held.
    _share: Arc<Share>,
}

/// The reservations for the body of one request.
pub(crate) struct Body {
    share: Arc<Share>,
    reserved: Vec<Reserved>,
}

impl Pool {
    fn of(bytes: usize) -> Self {
        let most = (bytes / UNIT).min(Semaphore::MAX_PERMITS);
        let all = Arc::new(Semaphore::new(most));
        Self { all, most }
    }

    fn part(&self) -> Part {
        let most = self.most / 4 * 3;
        Part {
            own: Arc::new(Semaphore::new(most)),
            all: Arc::clone(&self.all),
            most: [most, self.most],
        }
    }
}

impl Part {
    /// Waits until the peer, and then the others, give back so much. What is more than the part takes all of it.
    async fn acquire(&self, bytes: usize) -> Vec<OwnedSemaphorePermit> {
        let mut permits = Vec::new();
        for (semaphore, most) in [&self.own, &self.all].into_iter().zip(self.most) {
            let wanted = u32::try_from(bytes.div_ceil(UNIT).min(most)).unwrap_or(u32::MAX);
            // `None` if the semaphore has been closed, which none of these is.
            permits.extend(Arc::clone(semaphore).acquire_many_owned(wanted).await.ok());
        }
        permits
    }

    fn try_acquire(&self, bytes: usize) -> Option<Vec<OwnedSemaphorePermit>> {
        let wanted = u32::try_from(bytes.div_ceil(UNIT)).ok()?;
        let [own, all] = [&self.own, &self.all].map(|it| Arc::clone(it).try_acquire_many_owned(wanted));
        Some(vec![own.ok()?, all.ok()?])
    }

    /// The most bytes for one peer.
    fn longest(&self) -> usize {
        self.most[0] * UNIT
    }
}

impl Budget {
    /// The budget of this process.
    pub(crate) fn shared() -> &'static Self {
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
    pub(crate) fn share(&self, peer: IpAddr) -> Arc<Share> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|_, share| share.strong_count() > 0);
        if let Some(known) = peers.get(&peer).and_then(Weak::upgrade) {
            return known;
        }
        let share = Arc::new(Share {
            bodies: self.bodies.part(),
            work: self.work.part(),
            answers: self.answers.part(),
            turns: Arc::new(Semaphore::new(available_parallelism().map_or(1, usize::from))),
        });
        peers.insert(peer, Arc::downgrade(&share));
        share
    }
}

impl Share {
    /// The part of this machine.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn local() -> Arc<Self> {
        Budget::shared().share(std::net::Ipv4Addr::LOCALHOST.into())
    }

    fn reserved(self: &Arc<Self>, permits: Vec<OwnedSemaphorePermit>) -> Reserved {
        Reserved {
            _permits: permits,
            _share: Arc::clone(self),
        }
    }

    /// The longest body in bytes.
    pub(super) fn longest_body(&self) -> usize {
        self.bodies.longest()
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
    pub(super) async fn work(self: &Arc<Self>, json: &[u8], copies: usize) -> Result<Reserved, String> {
        let bytes = self.cost([json], copies)?;
        Ok(self.scratch(bytes).await)
    }

    /// The bytes that work on these texts of JSON takes, as [`decoded`] estimates it, with this many copies.
    ///
    /// # Errors
    ///
    /// The work needs more than all of the memory; the message contains the amount.
    pub(crate) fn cost<'a>(&self, json: impl IntoIterator<Item = &'a [u8]>, copies: usize) -> Result<usize, String> {
        let (mut length, mut bytes) = (0_usize, 0_usize);
        for text in json {
            (length, bytes) = (length.saturating_add(text.len()), bytes.saturating_add(decoded(text)));
        }
        let (bytes, most) = (bytes.saturating_mul(copies), self.work.most[1] * UNIT);
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
    pub(crate) async fn scratch(self: &Arc<Self>, bytes: usize) -> Reserved {
        self.reserved(self.work.acquire(bytes).await)
    }

    /// Memory for this many bytes of a response, besides that which it has. Waits some seconds until others give it back.
    ///
    /// # Errors
    ///
    /// There is not enough memory; the message contains the amount.
    pub(crate) async fn answer(self: &Arc<Self>, bytes: usize) -> Result<Reserved, String> {
        let most = self.answers.longest();
        let permits = match bytes > most {
            true => None,
            false => timeout(PATIENCE, self.answers.acquire(bytes)).await.ok(),
        };
        let reserved = permits.map(|permits| self.reserved(permits));
        reserved.ok_or_else(|| {
            format!(
                "the responses to this request and to others take more than the {} MiB of memory that one client gets\n\n\
                 hint: raise the memory limit of the container",
                most >> 20
            )
        })
    }

    /// As [`scratch`](Self::scratch), without waiting; `None` if there is not enough.
    pub(crate) fn try_scratch(self: &Arc<Self>, bytes: usize) -> Option<Reserved> {
        Some(self.reserved(self.work.try_acquire(bytes)?))
    }

    /// As [`answer`](Self::answer), without waiting; `None` if there is not enough.
    pub(crate) fn try_answer(self: &Arc<Self>, bytes: usize) -> Option<Reserved> {
        Some(self.reserved(self.answers.try_acquire(bytes)?))
    }

    /// Waits until fewer requests of this peer than there are processors work or wait for one: whoever waits behind it then waits
    /// for few of its requests, however many it has sent.
    pub(crate) async fn turn(self: &Arc<Self>) -> Reserved {
        let permit = Arc::clone(&self.turns).acquire_owned().await;
        self.reserved(permit.into_iter().collect())
    }
}

impl Body {
    /// Reserves memory for bytes that arrive.
    ///
    /// # Errors
    ///
    /// Other requests have used it for too long.
    pub(super) async fn grow(&mut self, bytes: usize) -> Result<(), ()> {
        let permits = timeout(PATIENCE, self.share.bodies.acquire(bytes))
            .await
            .map_err(|_| ())?;
        self.reserved.push(self.share.reserved(permits));
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
        let second = other.answer(8 << 20).await.unwrap();
        // Not even in its own part is more left than what the other one has not taken.
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
        timeout(Duration::from_secs(1), other.scratch(20 << 20)).await.unwrap();
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
