//! The open connections of one server. A new connection is always accepted: at a limit, a peer with the most connections loses
//! the one that has been idle for longest.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    task::AbortHandle,
    time::{Duration, Instant, sleep},
};

use super::answer_body::AnswerBody;

/// The maximum of connections that are open at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    pub(super) all: usize,
    /// The limit for one address: one Pod cannot use up all connections.
    pub(super) of_one_peer: usize,
}

impl Most {
    /// The kubelet and two Prometheus need five.
    pub(super) const FEW: Self = Self {
        all: 128,
        of_one_peer: 16,
    };
    /// All requests of an API server come from one address, and its client (Go's `http.Transport`) opens as many
    /// connections as it has requests.
    pub(super) const OF_API_SERVERS: Self = Self {
        all: 1024,
        of_one_peer: 512,
    };
}

/// All open connections of one server. Clones share them.
#[derive(Clone)]
pub(super) struct Connections {
    most: Most,
    open: Arc<Mutex<Open>>,
}

#[derive(Default)]
struct Open {
    next: u64,
    by_id: BTreeMap<u64, Connection>,
}

struct Connection {
    peer: IpAddr,
    /// Whether one of its requests is being answered.
    busy: bool,
    /// Since when it is busy, or idle.
    since: Instant,
    task: Option<AbortHandle>,
}

/// The registration of one connection, which ends when it is dropped.
pub(super) struct ConnectionSlot {
    connections: Connections,
    id: u64,
}

impl Connections {
    pub(super) fn new(most: Most) -> Self {
        Self {
            most,
            open: Arc::default(),
        }
    }

    /// Registers a connection from `peer`, and closes another one if necessary.
    pub(super) fn admit(&self, peer: IpAddr) -> Arc<ConnectionSlot> {
        let mut open = self.lock();
        if open.by_id.values().filter(|one| one.peer == peer).count() >= self.most.of_one_peer {
            open.close_idlest(|one| one.peer == peer);
        }
        if open.by_id.len() >= self.most.all {
            open.close_one();
        }
        open.next += 1;
        let (id, since) = (open.next, Instant::now());
        let connection = Connection {
            peer,
            busy: false,
            since,
            task: None,
        };
        open.by_id.insert(id, connection);
        Arc::new(ConnectionSlot {
            connections: self.clone(),
            id,
        })
    }

    /// Sets the task that serves this connection, to be aborted if the connection has to be closed.
    pub(super) fn serve(&self, id: u64, task: AbortHandle) {
        if let Some(connection) = self.lock().by_id.get_mut(&id) {
            connection.task = Some(task);
        }
    }

    /// Closes one connection, if there is any: its file descriptor is needed.
    pub(super) fn close_one(&self) {
        self.lock().close_one();
    }

    fn close(&self, id: u64) {
        let closed = self.lock().by_id.remove(&id);
        if let Some(task) = closed.and_then(|one| one.task) {
            task.abort();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Closes a connection of a peer that has the most of them: many connections of others close none of a peer with few.
    fn close_one(&mut self) {
        let mut by_peer = BTreeMap::<IpAddr, usize>::new();
        for connection in self.by_id.values() {
            *by_peer.entry(connection.peer).or_default() += 1;
        }
        let most = by_peer.values().copied().max();
        self.close_idlest(|one| by_peer.get(&one.peer).copied() == most);
    }

    /// Of the chosen connections, closes the one that has been idle for longest; if all are busy, the one that has been
    /// busy for longest.
    fn close_idlest(&mut self, chosen: impl Fn(&Connection) -> bool) {
        let chosen = self.by_id.iter().filter(|(_, one)| chosen(one));
        let idlest = chosen.min_by_key(|(_, one)| (one.busy, one.since)).map(|(id, _)| *id);
        let closed = idlest.and_then(|id| self.by_id.remove(&id));
        if let Some(task) = closed.and_then(|one| one.task) {
            task.abort();
        }
    }
}

impl ConnectionSlot {
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Closes the connection if the client has not read a response that takes memory by the end of this time.
    pub(super) fn close_unless_read(&self, body: &mut AnswerBody, limit: Duration) {
        let Some(in_use) = body.in_use() else { return };
        let (connections, id) = (self.connections.clone(), self.id);
        let watch = tokio::spawn(async move {
            sleep(limit).await;
            if in_use.upgrade().is_some() {
                connections.close(id);
            }
        });
        body.watched_by(watch.abort_handle());
    }

    /// Records that a request is being answered, or that none is any more.
    pub(super) fn set_busy(&self, busy: bool) {
        if let Some(connection) = self.connections.lock().by_id.get_mut(&self.id) {
            (connection.busy, connection.since) = (busy, Instant::now());
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connections.lock().by_id.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, net::Ipv4Addr};

    use tokio::{task::JoinHandle, time::advance};

    use super::*;

    fn address(n: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, n).into()
    }

    /// A connection that stays open until it is closed.
    async fn connect(connections: &Connections, peer: u8) -> (Arc<ConnectionSlot>, JoinHandle<()>) {
        let place = connections.admit(address(peer));
        let (id, held) = (place.id(), place.clone());
        let task = tokio::spawn(async move {
            let _held = held;
            pending().await
        });
        connections.serve(id, task.abort_handle());
        advance(Duration::from_millis(1)).await;
        (place, task)
    }

    #[tokio::test(start_paused = true)]
    async fn at_its_limit_a_peer_loses_its_own_idlest_connection() {
        let connections = Connections::new(Most::FEW);
        let (_other, kept) = connect(&connections, 1).await;
        let (busy, first) = connect(&connections, 2).await;
        busy.set_busy(true);
        let (_place, second) = connect(&connections, 2).await;
        for _ in 2..Most::FEW.of_one_peer {
            connect(&connections, 2).await;
        }
        assert!(!second.is_finished());
        let (_place, newest) = connect(&connections, 2).await;
        assert!(
            second.await.unwrap_err().is_cancelled(),
            "the connection that was idle for longest"
        );
        assert!(!kept.is_finished() && !first.is_finished() && !newest.is_finished());
    }

    #[tokio::test(start_paused = true)]
    async fn at_the_total_limit_the_idlest_connection_is_closed_or_else_the_longest_busy() {
        let connections = Connections::new(Most::FEW);
        let mut open = Vec::new();
        for n in 0..Most::FEW.all {
            let (place, task) = connect(&connections, u8::try_from(n / Most::FEW.of_one_peer).unwrap()).await;
            place.set_busy(n != 7);
            open.push((place, task));
        }
        connect(&connections, 200).await;
        assert!(open.remove(7).1.await.unwrap_err().is_cancelled());
        connect(&connections, 201).await.0.set_busy(true);
        connect(&connections, 202).await;
        assert_eq!(connections.lock().by_id.len(), Most::FEW.all);
    }

    #[tokio::test(start_paused = true)]
    async fn peers_with_many_connections_close_none_of_a_peer_with_few() {
        let most = Most {
            all: 64,
            of_one_peer: 32,
        };
        let connections = Connections::new(most);
        let mut open = vec![connect(&connections, 1).await];
        for n in 0..200 {
            let (place, task) = connect(&connections, 2 + n % 2).await;
            place.set_busy(true);
            open.push((place, task));
        }
        let (_honest, task) = &open[0];
        assert!(!task.is_finished(), "although it alone is idle");
        assert_eq!(open.iter().filter(|(_, task)| !task.is_finished()).count(), most.all);
    }

    #[tokio::test(start_paused = true)]
    async fn an_ended_connection_is_not_counted() {
        let connections = Connections::new(Most::FEW);
        let place = connections.admit(address(1));
        let id = place.id();
        drop(place);
        assert!(connections.lock().by_id.is_empty());
        // Its task may end before it is set.
        connections.serve(id, tokio::spawn(async {}).abort_handle());
        connections.close_one();
    }
}
