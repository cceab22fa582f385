//! The operator under test: one process that runs through all faults, or two of which one leads, which are killed and
//! restarted as a Deployment would.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use control_plane::{Operator, Usage, free_ports, get};
use fastrand::Rng;

const READY: Duration = Duration::from_secs(120);

/// The command and settings for starting a process.
#[derive(Clone)]
pub struct Start {
    pub binary: PathBuf,
    pub kubeconfig: PathBuf,
    pub folder: PathBuf,
}

/// One process and its metrics.
struct Member {
    operator: Operator,
    metrics: u16,
}

pub struct Crew {
    start: Start,
    members: Vec<Member>,
    /// A single process that must not end.
    lone: bool,
    /// Processes that were started after the first ones.
    pub replaced: u64,
    logs: Vec<PathBuf>,
}

impl Crew {
    pub async fn lone(start: Start) -> Result<Self> {
        Self::of(start, 1, true).await
    }

    pub async fn pair(start: Start) -> Result<Self> {
        Self::of(start, 2, false).await
    }

    async fn of(start: Start, size: usize, lone: bool) -> Result<Self> {
        let mut crew = Self {
            start,
            members: Vec::new(),
            lone,
            replaced: 0,
            logs: Vec::new(),
        };
        for _ in 0..size {
            crew.join()?;
        }
        for member in &mut crew.members {
            member.operator.ready(READY).await?;
        }
        Ok(crew)
    }

    pub fn is_lone(&self) -> bool {
        self.lone
    }

    fn join(&mut self) -> Result<()> {
        let [metrics] = free_ports()?;
        let address = format!("--metrics-bind-address=127.0.0.1:{metrics}");
        let mut arguments = vec![
            address.as_str(),
            "--metrics-secure=false",
            "--max-concurrent-reconciles=4",
        ];
        if !self.lone {
            arguments.extend([
                "--leader-elect",
                "--leader-elect-lease-duration=6s",
                "--leader-elect-renew-deadline=4s",
                "--leader-elect-retry-period=500ms",
            ]);
        }
        let Start {
            binary,
            kubeconfig,
            folder,
        } = &self.start;
        let operator = Operator::start(binary, &arguments, kubeconfig, folder)?;
        self.logs.push(operator.log());
        self.members.push(Member { operator, metrics });
        Ok(())
    }

    /// Restarts processes that have ended; a single process must not have ended.
    pub fn supervise(&mut self) -> Result<()> {
        let before = self.members.len();
        if self.lone {
            return self.members.iter_mut().try_for_each(|member| member.operator.check());
        }
        let mut ended = Vec::new();
        self.members.retain_mut(|member| match member.operator.ended() {
            Ok(None) => true,
            status => {
                ended.push((status, member.operator.log_end()));
                false
            }
        });
        for (status, log) in ended {
            let status = status?.context("it runs")?;
            // A lost lease; any other end, such as a panic, must not be hidden by a restart.
            ensure!(
                status.code() == Some(1),
                "a process ended with {status}; the end of its log:\n{log}"
            );
        }
        for _ in self.members.len()..before {
            self.join()?;
            self.replaced += 1;
        }
        Ok(())
    }

    /// Kills all of them, without replacement.
    pub fn dismiss(&mut self) {
        self.members.clear();
    }

    /// Kills one of them (SIGKILL), and starts another one.
    pub fn kill_one(&mut self, chance: &mut Rng) -> Result<()> {
        let at = chance.usize(..self.members.len());
        self.members.swap_remove(at).operator.kill()?;
        self.replaced += 1;
        self.join()
    }

    /// Terminates one of them (SIGTERM), which has to exit with 0 or, if its lease is lost by then, with 1; and starts
    /// another one.
    pub async fn terminate_one(&mut self, chance: &mut Rng) -> Result<()> {
        let at = chance.usize(..self.members.len());
        let ended = self
            .members
            .swap_remove(at)
            .operator
            .terminate(Duration::from_secs(60))
            .await?;
        ensure!(
            matches!(ended.code(), Some(0 | 1)),
            "after SIGTERM it ended with {ended}"
        );
        self.replaced += 1;
        self.join()
    }

    /// Stops one of them (SIGSTOP) for a while.
    pub async fn stop_one(&mut self, chance: &mut Rng, time: Duration) -> Result<()> {
        let at = chance.usize(..self.members.len());
        self.members[at].operator.pause()?;
        tokio::time::sleep(time).await;
        self.members[at].operator.resume()
    }

    /// The sum of a metric over its labels, from the active process.
    pub async fn metric(&self, name: &str) -> Result<f64> {
        for member in &self.members {
            let page = get(member.metrics, "/metrics").await?;
            if self.lone || sum(&page, "leader_election_master_status") == 1.0 {
                return Ok(sum(&page, name));
            }
        }
        bail!("no process leads")
    }

    /// The resource usage of the single process.
    pub fn usage(&self) -> Result<Usage> {
        self.members.first().context("there is no process")?.operator.usage()
    }

    /// The last lines of all logs that contain `what`.
    pub fn log_lines(&self, what: &str) -> String {
        let mut log_lines = Vec::new();
        for log in &self.logs {
            let text = std::fs::read_to_string(log).unwrap_or_default();
            log_lines.extend(text.lines().filter(|line| line.contains(what)).map(str::to_owned));
        }
        log_lines[log_lines.len().saturating_sub(15)..].join("\n")
    }
}

fn sum(page: &str, name: &str) -> f64 {
    let lines = page.lines().filter(|line| {
        let rest = line.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(['{', ' ']))
    });
    lines
        .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
        .sum()
}
