//! CPU time of processes, in the kernel's resolution.

use std::fs;

/// The CPU time of all present threads of these processes, user and system together, in seconds; 0 without /proc.
pub fn seconds(pids: &[u32]) -> f64 {
    pids.iter().map(|pid| of(&pid.to_string())).sum()
}

/// The CPU time of this process.
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
