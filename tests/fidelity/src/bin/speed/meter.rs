//! What requests that are sent one at a time take the processes of a server.

use anyhow::Result;
use bytes::Bytes;
use kube::Config;
use std::time::{Duration, Instant};
use tokio::time::sleep;

use crate::{
    cpu,
    wire::{Sent, Wire},
};

/// How long a server has for what follows from requests, such as the work of its controllers.
const REST: Duration = Duration::from_millis(500);
/// How long a server is watched while nobody asks it for anything.
const IDLE: Duration = Duration::from_secs(3);
/// Requests under way while objects are made that are not measured.
const AT_ONCE: usize = 16;

/// A server and its processes.
pub struct Meter {
    config: Config,
    wire: Wire,
    pids: Vec<u32>,
    /// CPUs that the processes use without any request.
    idle: f64,
}

/// What some requests took.
pub struct Taken {
    /// Microseconds of CPU for each of them, what follows from them included.
    pub cpu: f64,
    /// Milliseconds until each was answered.
    pub wall: Vec<f64>,
    pub answers: Vec<Bytes>,
}

impl Meter {
    pub async fn on(config: &Config, pids: &[u32]) -> Result<Self> {
        Ok(Self {
            config: config.clone(),
            wire: Wire::open(config, 1).await?,
            pids: pids.to_vec(),
            idle: 0.0,
        })
    }

    /// Sends requests that are not measured, many at a time, on connections of their own; returns what is answered.
    pub async fn fill(&self, requests: Vec<Sent>) -> Result<Vec<Bytes>> {
        Wire::open(&self.config, AT_ONCE).await?.ask(requests).await
    }

    /// Sends one request that is not measured.
    pub async fn one(&mut self, request: Sent) -> Result<Bytes> {
        self.wire.one(request).await
    }

    /// Waits until the server has done what follows from earlier requests.
    pub async fn settle(&self) {
        let mut before = cpu::seconds(&self.pids);
        loop {
            sleep(REST).await;
            let now = cpu::seconds(&self.pids);
            if now - before < REST.as_secs_f64() / 5.0 {
                return;
            }
            before = now;
        }
    }

    /// Measures what the server uses now without any request: that is not counted from here on. The connection is opened
    /// anew, because the server may have closed it while it was idle.
    pub async fn look_idle(&mut self) -> Result<()> {
        let (before, began) = (cpu::seconds(&self.pids), Instant::now());
        sleep(IDLE).await;
        self.idle = (cpu::seconds(&self.pids) - before) / began.elapsed().as_secs_f64();
        self.wire = Wire::open(&self.config, 1).await?;
        Ok(())
    }

    /// Sends the requests one after the other.
    pub async fn each(&mut self, requests: Vec<Sent>) -> Result<Taken> {
        let count = requests.len() as f64;
        let (before, began) = (cpu::seconds(&self.pids), Instant::now());
        let (mut wall, mut answers) = (Vec::new(), Vec::new());
        for request in requests {
            let sent = Instant::now();
            answers.push(self.wire.one(request).await?);
            wall.push(sent.elapsed().as_secs_f64() * 1e3);
        }
        sleep(REST).await;
        let taken = cpu::seconds(&self.pids) - before - self.idle * began.elapsed().as_secs_f64();
        Ok(Taken {
            cpu: taken * 1e6 / count,
            wall,
            answers,
        })
    }
}
