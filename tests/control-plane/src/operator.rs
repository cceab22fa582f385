//! An operator under test or measurement: the real program as a child process.

use std::{
    fs::{self, DirEntry},
    io,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, sleep},
};

use crate::{PERIOD, program::Program};

/// A running operator, killed on drop.
pub struct Operator {
    program: Program,
    probes: u16,
}

/// The resource usage of a process so far.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// User and system time together, in seconds.
    pub cpu: f64,
    /// Resident memory now, in MiB.
    pub resident: f64,
    /// The part of it that is the process's own data, not pages of files, in MiB.
    pub anonymous: f64,
    /// The most resident memory since its start, in MiB.
    pub peak: f64,
    /// The names of the threads now, sorted.
    pub threads: Vec<String>,
    /// Open files and connections now.
    pub files: usize,
}

impl Operator {
    /// Starts `binary` with a free port for its probes, and returns at once.
    ///
    /// `folder` is for its log, `kubeconfig` has its user and, as the default namespace, its own namespace.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start(binary: &Path, arguments: &[&str], kubeconfig: &Path, folder: &Path) -> Result<Self> {
        let [probes] = free_ports()?;
        let name = binary
            .file_name()
            .context("a binary has a name")?
            .to_string_lossy()
            .into_owned();
        let log = folder.join(format!("{name}-{probes}.log"));
        let mut command = Command::new(binary);
        command
            .arg(format!("--health-probe-bind-address=127.0.0.1:{probes}"))
            .args(arguments);
        command
            .env("KUBECONFIG", kubeconfig)
            .env_remove("WATCH_NAMESPACE")
            .env_remove("RUST_LOG")
            .env("NO_COLOR", "1");
        Ok(Self {
            program: Program::spawn(&name, &mut command, &log)?,
            probes,
        })
    }

    /// Waits until its readiness probe succeeds.
    ///
    /// # Errors
    ///
    /// With the end of its log, if it ends or is not ready in time.
    pub async fn ready(&mut self, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        loop {
            self.program.check()?;
            if get(self.probes, "/readyz").await.is_ok() {
                return Ok(());
            }
            if Instant::now() >= deadline {
                bail!(
                    self.program
                        .failure(&format!("was not ready after {} s", patience.as_secs()))
                );
            }
            sleep(PERIOD).await;
        }
    }

    /// SIGKILL.
    ///
    /// # Errors
    ///
    /// If it cannot be signalled.
    pub fn kill(mut self) -> Result<()> {
        self.program.kill()
    }

    /// Sends SIGTERM, and returns its exit status.
    ///
    /// # Errors
    ///
    /// With the end of its log, if it has not ended after `patience`.
    pub async fn terminate(mut self, patience: Duration) -> Result<ExitStatus> {
        self.program.signal(Signal::TERM)?;
        self.program.wait(patience).await
    }

    /// Stops it (SIGSTOP).
    ///
    /// # Errors
    ///
    /// If it cannot be signalled.
    pub fn pause(&self) -> Result<()> {
        self.program.pause()
    }

    /// Continues it after a [`pause`](Self::pause).
    ///
    /// # Errors
    ///
    /// If it cannot be signalled.
    pub fn resume(&self) -> Result<()> {
        self.program.signal(Signal::CONT)
    }

    /// Whether one of its probes, such as `/readyz`, succeeds.
    pub async fn probe(&self, path: &str) -> bool {
        get(self.probes, path).await.is_ok()
    }

    /// Waits for it to end by itself.
    ///
    /// # Errors
    ///
    /// With the end of its log, if it has not ended after `patience`.
    pub async fn wait(&mut self, patience: Duration) -> Result<ExitStatus> {
        self.program.wait(patience).await
    }

    /// Returns an error, with the end of its log, if it has ended.
    ///
    /// # Errors
    ///
    /// See above.
    pub fn check(&mut self) -> Result<()> {
        self.program.check()
    }

    /// Its exit status, if it has ended.
    ///
    /// # Errors
    ///
    /// If the system cannot report it.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.program.ended()
    }

    /// The path of its log.
    pub fn log(&self) -> PathBuf {
        self.program.log().to_owned()
    }

    /// The last lines of its log.
    pub fn log_end(&self) -> String {
        self.program.log_end()
    }

    /// Its resource usage, from /proc.
    ///
    /// # Errors
    ///
    /// If there is no /proc, or the process has ended.
    pub fn usage(&self) -> Result<Usage> {
        let proc = PathBuf::from(format!("/proc/{}", self.program.pid()));
        let status = fs::read_to_string(proc.join("status")).context("no /proc")?;
        let kib = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok())
                .unwrap_or(0.0)
        };
        // A thread that ends meanwhile has no name any more.
        let name = |thread: io::Result<DirEntry>| fs::read_to_string(thread.ok()?.path().join("comm")).ok();
        let mut threads: Vec<_> = fs::read_dir(proc.join("task"))
            .context("no /proc")?
            .filter_map(name)
            .map(|name| name.trim_end().to_owned())
            .collect();
        threads.sort();
        Ok(Usage {
            cpu: self.program.cpu()?,
            resident: kib("VmRSS:") / 1024.0,
            anonymous: kib("RssAnon:") / 1024.0,
            peak: kib("VmHWM:") / 1024.0,
            threads,
            files: fs::read_dir(proc.join("fd")).context("no /proc")?.count(),
        })
    }
}

/// Requests `path` from a plain HTTP server on loopback; returns the body of a 200.
///
/// # Errors
///
/// If there is no response, or any other status.
pub async fn get(port: u16, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    // HTTP/1.0: the response ends with the connection.
    stream
        .write_all(format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").as_bytes())
        .await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no HTTP answer")?;
    let status = head.lines().next().unwrap_or_default();
    if !status.contains(" 200 ") {
        bail!("`{path}`: {status}");
    }
    Ok(body.to_owned())
}

/// Free ports of 127.0.0.1, none of them twice in a process.
///
/// They are below those that the kernel gives to outgoing connections (on Linux from 32768), one of which could take a port
/// between this call and the start of the program that listens on it.
///
/// # Errors
///
/// If there are none left.
pub fn free_ports<const N: usize>() -> Result<[u16; N]> {
    const FIRST: u32 = 20_000;
    const COUNT: u32 = 12_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Programs of tests that run at the same time begin far from each other.
    let start = std::process::id().wrapping_mul(997);
    let mut ports = [0; N];
    for port in &mut ports {
        let candidates = (0..COUNT).map(|_| {
            let number = start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
            u16::try_from(FIRST + number % COUNT).expect("below 32,000")
        });
        let mut free = candidates.filter(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok());
        *port = free.next().context("no free port")?;
    }
    Ok(ports)
}
