//! CPU time of processes, as fine as the kernel counts it.

use std::fs;

/// Seconds on a CPU of all threads that these processes have now, user and system together. 0 where there is no /proc.
pub fn seconds(pids: &[u32]) -> f64 {
    pids.iter().map(|pid| of(&pid.to_string())).sum()
}

/// The same of this process.
pub fn own() -> f64 {
    of("self")
}

fn of(pid: &str) -> f64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let nanoseconds = threads.filter_map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    });
    nanoseconds.sum::<f64>() / 1e9
}
