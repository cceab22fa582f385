//! One child process: its log, its signals, its end.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use tokio::time::{Instant, sleep};

use crate::{PERIOD, guardian};

/// The number of log lines in an error.
const TAIL: usize = 25;
/// Linux counts CPU time in hundredths of a second, independently of the kernel's own clock.
const TICKS: f64 = 100.0;

/// A running program; killed on drop.
pub(crate) struct Program {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Program {
    /// Starts it with both outputs appended to the file `log`.
    pub(crate) fn spawn(name: &str, command: &mut Command, log: &Path) -> Result<Self> {
        let output = File::options()
            .create(true)
            .append(true)
            .open(log)
            .context("cannot open its log")?;
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let child = command
            .spawn()
            .with_context(|| format!("cannot run `{}`", command.get_program().display()))?;
        let program = Self {
            name: name.to_owned(),
            child,
            log: log.to_owned(),
        };
        guardian::watch(program.pid())?;
        Ok(program)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The CPU time used so far, in seconds.
    pub(crate) fn cpu(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid())).context("no /proc")?;
        // The name in parentheses may contain any character; user and system time are the 12th and 13th field after it.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks = fields.skip(11).take(2).map(|field| field.parse::<f64>().unwrap_or(0.0));
        Ok(ticks.sum::<f64>() / TICKS)
    }

    /// Its exit status, if it has ended.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.child
            .try_wait()
            .with_context(|| format!("cannot ask for the state of `{}`", self.name))
    }

    /// Returns an error, with the end of the log, if it has ended.
    pub(crate) fn check(&mut self) -> Result<()> {
        match self.ended()? {
            None => Ok(()),
            Some(status) => bail!(self.failure(&format!("ended with {status}"))),
        }
    }

    /// An error with the end of the log.
    pub(crate) fn failure(&self, what: &str) -> String {
        format!("`{}` {what}; the end of its log:\n{}", self.name, self.log_end())
    }

    pub(crate) fn log(&self) -> &Path {
        &self.log
    }

    pub(crate) fn log_end(&self) -> String {
        // 64 KiB contain the last lines of any log; the whole log may be very large.
        let text = read_end(&self.log, 64 << 10).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(TAIL)..].join("\n")
    }

    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        kill_process(self.process()?, signal).with_context(|| format!("cannot signal `{}`", self.name))
    }

    /// Sends SIGSTOP, and waits until no thread of it runs: a signal only asks for that, and a thread on another core still
    /// answers a request that comes at once.
    pub(crate) fn pause(&self) -> Result<()> {
        self.signal(Signal::STOP)?;
        waitid(WaitId::Pid(self.process()?), WaitIdOptions::STOPPED)
            .with_context(|| format!("cannot wait until `{}` is stopped", self.name))?;
        Ok(())
    }

    fn process(&self) -> Result<Pid> {
        i32::try_from(self.pid())
            .ok()
            .and_then(Pid::from_raw)
            .context("not a process id")
    }

    /// Sends SIGKILL, and waits for the end.
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.child
            .kill()
            .and_then(|()| self.child.wait())
            .with_context(|| format!("cannot kill `{}`", self.name))?;
        Ok(())
    }

    /// Waits until it ends by itself.
    pub(crate) async fn wait(&mut self, patience: Duration) -> Result<ExitStatus> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            if Instant::now() >= deadline {
                bail!(self.failure(&format!("has not ended within {} s", patience.as_secs())));
            }
            sleep(PERIOD).await;
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // These fail only if the process or the guardian has ended already.
        _ = self.child.kill();
        _ = self.child.wait();
        _ = guardian::forget(self.pid());
    }
}

fn read_end(path: &Path, bytes: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(fs::metadata(path)?.len().saturating_sub(bytes)))?;
    let mut end = Vec::new();
    file.read_to_end(&mut end)?;
    Ok(String::from_utf8_lossy(&end).into_owned())
}
