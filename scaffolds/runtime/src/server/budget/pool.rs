//! Memory for one purpose, of which each peer gets a part: what it gets, and in which order. The purposes are above.

use std::{
    collections::HashMap,
    net::IpAddr,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// Memory for one purpose.
pub(super) struct Pool {
    /// In bytes.
    pub(super) most: usize,
    used: Mutex<Used>,
    /// Some of it was given back.
    returned: Notify,
}

/// The bytes in use.
#[derive(Default)]
struct Used {
    all: usize,
    by_peer: HashMap<IpAddr, usize>,
    /// Peers that wait for their part.
    waiting: usize,
}

/// A peer that waits for its part, until this is dropped.
struct Waiting<'p>(&'p Pool);

/// The part of a pool that one peer may use.
pub(super) struct Part {
    pub(super) pool: Arc<Pool>,
    peer: IpAddr,
    /// The request of the peer that is next.
    next: tokio::sync::Mutex<()>,
}

/// A part of the budget, which is given back on drop.
pub struct Reserved {
    pool: Arc<Pool>,
    peer: IpAddr,
    bytes: usize,
}

impl Pool {
    pub(super) fn of(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            used: Mutex::default(),
            returned: Notify::new(),
        })
    }

    pub(super) fn part(self: &Arc<Self>, peer: IpAddr) -> Part {
        Part {
            pool: Arc::clone(self),
            peer,
            next: tokio::sync::Mutex::default(),
        }
    }

    /// The most bytes for one peer.
    pub(super) fn longest(&self) -> usize {
        self.most / 4 * 3
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes so much for this peer, if it may have it now.
    fn take(self: &Arc<Self>, peer: IpAddr, bytes: usize) -> Option<Reserved> {
        let mut used = self.used();
        let own = used.by_peer.get(&peer).copied().unwrap_or_default();
        let others = used.all - own;
        let is_alone = others == 0 && used.waiting == 0 && own <= self.most / 4;
        let bytes = if bytes > self.longest() && is_alone {
            bytes.min(self.most - own)
        } else if own.saturating_add(bytes) <= used.part(peer, self.most - others) {
            bytes
        } else {
            return None;
        };
        used.all += bytes;
        used.by_peer.insert(peer, own + bytes);
        Some(Reserved {
            pool: Arc::clone(self),
            peer,
            bytes,
        })
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let mut used = self.pool.used();
        used.all -= self.bytes;
        if let Some(own) = used.by_peer.get_mut(&self.peer) {
            *own -= self.bytes;
            if *own == 0 {
                used.by_peer.remove(&self.peer);
            }
        }
        drop(used);
        self.pool.returned.notify_waiters();
    }
}

impl Used {
    /// Of the bytes that others leave, those that this peer may have: three quarters, while at most one other has some. From there on a part
    /// that is smaller with each of the others, because they may be hostile: the next of `n` gets the `n`th part, which leaves 1/16(n - 1)
    /// of all. With three quarters each it would be 1/4^n.
    fn part(&self, peer: IpAddr, left: usize) -> usize {
        match self.by_peer.len() - usize::from(self.by_peer.contains_key(&peer)) {
            0 | 1 => left / 4 * 3,
            others => left / others,
        }
    }
}

impl<'p> Waiting<'p> {
    fn on(pool: &'p Pool) -> Self {
        pool.used().waiting += 1;
        Self(pool)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.used().waiting -= 1;
        self.0.returned.notify_waiters();
    }
}

impl Part {
    /// Waits until the earlier requests of the peer have got theirs, and so much is given back.
    pub(super) async fn acquire(&self, bytes: usize) -> Reserved {
        let _next = self.next.lock().await;
        let mut waiting = None;
        loop {
            let mut returned = pin!(self.pool.returned.notified());
            // From here on, returned memory wakes this task.
            returned.as_mut().enable();
            if let Some(reserved) = self.pool.take(self.peer, bytes) {
                return reserved;
            }
            // A request for all of the memory comes after requests that wait for a part of it.
            if waiting.is_none() && bytes <= self.pool.longest() {
                waiting = Some(Waiting::on(&self.pool));
            }
            returned.await;
        }
    }

    pub(super) fn try_acquire(&self, bytes: usize) -> Option<Reserved> {
        let _next = self.next.try_lock().ok()?;
        self.pool.take(self.peer, bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::{net::Ipv4Addr, time::Duration};

    use tokio::time::timeout;

    use super::{super::Budget, *};

    const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::BROADCAST);

    /// The last byte of an address.
    fn hostile(n: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, n).into()
    }

    #[tokio::test(start_paused = true)]
    async fn peers_that_take_all_they_get_leave_a_part_of_what_is_left_to_the_next_one() {
        let budget = Budget::of(128 << 20);
        let (mut taken, mut tasks, all) = (Vec::new(), Vec::new(), 64 << 20);
        for n in 1..=20 {
            let share = budget.share(hostile(n));
            while let Some(reserved) = share.try_scratch(1 << 10) {
                taken.push(reserved);
            }
            let left = match usize::from(n) {
                1 => all / 4,
                n => all / 16 / (n - 1),
            };
            // Requests that wait for what nobody has, and one for all of the memory.
            for bytes in [1 << 10, left, all] {
                let share = Arc::clone(&share);
                tasks.push(tokio::spawn(async move { drop(share.scratch(bytes).await) }));
            }
            tokio::task::yield_now().await;
            assert!(budget.work.most - budget.work.used().all >= left, "{n}");
            // A part of it is for the next one, at once.
            let part = left / usize::from(n).max(2);
            let honest = timeout(Duration::ZERO, budget.share(OTHER).work(&vec![b'1'; part / 4], 3)).await;
            honest.unwrap().unwrap();
        }
        assert!(tasks.iter().all(|task| !task.is_finished()));
        drop(taken);
        for task in tasks {
            timeout(Duration::from_secs(1), task).await.unwrap().unwrap();
        }
        assert_eq!(budget.work.used().all, 0);
        assert!(budget.work.used().by_peer.is_empty(), "no peer is remembered");
    }

    #[tokio::test(start_paused = true)]
    async fn requests_that_take_all_of_the_memory_come_after_those_of_others() {
        let budget = Budget::of(128 << 20);
        let mut all = budget.share(hostile(1)).scratch(64 << 20).await;
        for _ in 0..20 {
            let mut large = [1, 2, 3].map(|n| budget.share(hostile(n)));
            let mut large: Vec<_> = large
                .iter_mut()
                .map(|share| Box::pin(share.scratch(64 << 20)))
                .collect();
            for large in &mut large {
                assert!(timeout(Duration::ZERO, large).await.is_err());
            }
            let honest = budget.share(OTHER);
            let mut honest = Box::pin(honest.scratch(1));
            assert!(timeout(Duration::ZERO, &mut honest).await.is_err());
            drop(all);
            for large in &mut large {
                assert!(timeout(Duration::ZERO, large).await.is_err());
            }
            drop(timeout(Duration::ZERO, honest).await.unwrap());
            all = timeout(Duration::ZERO, &mut large[0]).await.unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn requests_of_one_peer_get_memory_in_their_order_and_a_cancelled_one_is_forgotten() {
        let budget = Budget::of(128 << 20);
        let share = budget.share(PEER);
        let first = share.scratch(40 << 20).await;
        let mut large = Box::pin(share.scratch(30 << 20));
        assert!(timeout(Duration::from_secs(1), &mut large).await.is_err());
        assert!(
            share.try_scratch(1).is_none(),
            "it would be served before the large one"
        );
        let mut small = Box::pin(share.scratch(1));
        assert!(timeout(Duration::from_secs(1), &mut small).await.is_err());
        drop(large);
        timeout(Duration::from_secs(1), small).await.unwrap();
        drop(first);
        assert_eq!(budget.work.used().all, 0);
    }
}
