//! Measures the CPU time of a server's processes for requests that are sent one at a time.

use anyhow::Result;
use bytes::Bytes;
use kube::Config;
use std::time::{Duration, Instant};
use tokio::time::sleep;

use crate::{
    cpu,
    wire::{Sent, Wire},
};

/// The time for a server to finish the effects of requests, such as the work of its controllers.
const REST: Duration = Duration::from_millis(500);
/// The time for which an idle server is measured.
const IDLE: Duration = Duration::from_secs(3);
/// Concurrent requests while unmeasured objects are created.
const AT_ONCE: usize = 16;

/// A server and its processes.
pub struct Meter {
    config: Config,
    wire: Wire,
    pids: Vec<u32>,
    /// The number of CPUs that the processes use without requests.
    idle: f64,
}

/// The measurements of some requests.
pub struct Taken {
    /// Microseconds of CPU time per request, including its effects.
    pub cpu: f64,
    /// Milliseconds until each request was answered.
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

    /// Sends unmeasured requests concurrently, on connections of their own; returns the answers.
    pub async fn fill(&self, requests: Vec<Sent>) -> Result<Vec<Bytes>> {
        Wire::open(&self.config, AT_ONCE).await?.ask(requests).await
    }

    /// Sends one unmeasured request.
    pub async fn one(&mut self, request: Sent) -> Result<Bytes> {
        self.wire.one(request).await
    }

    /// Waits until the server has completed the effects of earlier requests.
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

    /// Measures the present CPU use without requests, which later measurements subtract. Opens a new connection,
    /// because the server may have closed the idle one.
    pub async fn look_idle(&mut self) -> Result<()> {
        let (before, began) = (cpu::seconds(&self.pids), Instant::now());
        sleep(IDLE).await;
        self.idle = (cpu::seconds(&self.pids) - before) / began.elapsed().as_secs_f64();
        self.wire = Wire::open(&self.config, 1).await?;
        Ok(())
    }

    /// Sends the requests one after the other, and measures them.
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
