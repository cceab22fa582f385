//! The CPU time of this process.

use std::{fs, time::Duration};

/// Milliseconds of a tick of `/proc/self/stat`: `USER_HZ` is 100 for all programs on Linux.
const TICK: u64 = 10;

/// The fields of `/proc/self/stat` (proc_pid_stat(5)), counted from the third, the first after the name.
const USER_TIME: usize = 14 - 3;
const SYSTEM_TIME: usize = 15 - 3;

/// The CPU time of all threads so far, on Linux.
pub(super) fn used() -> Option<Duration> {
    of_stat(&fs::read_to_string("/proc/self/stat").ok()?)
}

fn of_stat(text: &str) -> Option<Duration> {
    // The process name may contain any character, parentheses too.
    let (_, fields) = text.rsplit_once(')')?;
    let fields: Vec<_> = fields.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field)?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks(USER_TIME)? + ticks(SYSTEM_TIME)?) * TICK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_system_time_are_read() {
        let text = "7 (a) b) R 1 2 3 4 5 6 7 8 9 10 123 45 6 7 8";
        assert_eq!(of_stat(text), Some(Duration::from_millis(1680)));
        assert_eq!(of_stat("7 (a) R 1"), None);
    }
}
