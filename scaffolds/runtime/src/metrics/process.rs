//! The metrics of the process, under the names of Prometheus' client libraries. They are read from `/proc/self`, so
//! only on Linux. And the number of tasks of its runtime, on every system.

use std::{
    fs,
    str::FromStr,
    sync::atomic::{AtomicU64, Ordering},
};

use tokio::runtime::Handle;

use super::Metrics;

/// Ticks per second of the times in `/proc/self/stat`: `USER_HZ`, which is 100 for all programs on Linux.
const TICKS: f64 = 100.0;

/// The fields of `/proc/self/stat` (proc_pid_stat(5)), counted from the third, the first after the name.
const USER_TIME: usize = 14 - 3;
const SYSTEM_TIME: usize = 15 - 3;
const STARTED: usize = 22 - 3;
const VIRTUAL_BYTES: usize = 23 - 3;

pub(super) fn register(metrics: &Metrics) {
    if let Ok(runtime) = Handle::try_current() {
        let help = "Tasks of the asynchronous runtime that have not ended.";
        metrics.computed("kubewright_alive_tasks", help, &[], move || {
            runtime.metrics().num_alive_tasks() as f64
        });
    }
    if stat(USER_TIME).is_none() {
        return;
    }
    let last = AtomicU64::default();
    metrics.computed_counter(
        "process_cpu_seconds_total",
        "Time that this process used processors, in seconds.",
        &[],
        // Without free file descriptors it cannot be read: a counter that falls would be taken for a restart.
        move || match used() {
            Some(seconds) => {
                last.store(seconds.to_bits(), Ordering::Relaxed);
                seconds
            }
            None => f64::from_bits(last.load(Ordering::Relaxed)),
        },
    );
    let gauge = |name, help, value: fn() -> Option<f64>| {
        metrics.computed(name, help, &[], move || value().unwrap_or(f64::NAN));
    };
    gauge("process_resident_memory_bytes", "Memory in use, in bytes.", resident);
    gauge(
        "kubewright_memory_limit_bytes",
        "Memory limit of the container, in bytes.",
        || memory_limit("/sys/fs/cgroup/memory.max"),
    );
    gauge(
        "process_virtual_memory_bytes",
        "Address space in use, in bytes.",
        || stat(VIRTUAL_BYTES),
    );
    gauge("process_open_fds", "Open files and sockets.", open_files);
    gauge("process_max_fds", "Files and sockets that may be open.", max_files);
    gauge(
        "process_start_time_seconds",
        "When this process was started, in seconds since 1970.",
        started,
    );
}

fn used() -> Option<f64> {
    Some((stat(USER_TIME)? + stat(SYSTEM_TIME)?) / TICKS)
}

fn stat(field: usize) -> Option<f64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // The process name may contain any character, parentheses too.
    let (_, fields) = text.rsplit_once(')')?;
    number(fields.split_whitespace().nth(field)?)
}

fn resident() -> Option<f64> {
    let kilobytes: f64 = line("/proc/self/status", "VmRSS:", 0)?;
    Some(kilobytes * 1024.0)
}

/// The limit in a file of cgroup v2; infinite without a limit.
fn memory_limit(file: &str) -> Option<f64> {
    let limit = fs::read_to_string(file).ok()?;
    number(limit.trim()).or(Some(f64::INFINITY))
}

/// Includes the directory that is open for this count.
fn open_files() -> Option<f64> {
    let open = fs::read_dir("/proc/self/fd").ok()?.count();
    Some(open.saturating_sub(1) as f64)
}

/// The soft limit; infinite without a limit.
fn max_files() -> Option<f64> {
    let limit: String = line("/proc/self/limits", "Max open files", 0)?;
    number(&limit).or(Some(f64::INFINITY))
}

fn started() -> Option<f64> {
    let booted: f64 = line("/proc/stat", "btime", 0)?;
    Some(booted + stat(STARTED)? / TICKS)
}

/// A word of the line that starts with `start`, counted after that prefix.
fn line<T: FromStr>(file: &str, start: &str, word: usize) -> Option<T> {
    let text = fs::read_to_string(file).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(start))?;
    rest.split_whitespace().nth(word)?.parse().ok()
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::{SystemTime, UNIX_EPOCH};

    use super::*;

    fn sample(metrics: &Metrics, name: &str) -> f64 {
        let text = metrics.encode();
        let value = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        value.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
    }

    #[test]
    fn process_metrics_match_the_kernels_values() {
        let metrics = Metrics::new();
        metrics.process();
        assert!(metrics.encode().contains("# TYPE process_cpu_seconds_total counter\n"));
        assert!(
            metrics
                .encode()
                .contains("# TYPE process_resident_memory_bytes gauge\n")
        );

        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        let started = sample(&metrics, "process_start_time_seconds");
        assert!(started > now - 86_400.0 && started < now + 60.0, "{started} at {now}");

        let resident = sample(&metrics, "process_resident_memory_bytes");
        assert!(resident > 100_000.0 && resident < sample(&metrics, "process_virtual_memory_bytes"));

        let before = sample(&metrics, "process_open_fds");
        // More files than other tests of this process may close meanwhile.
        let files: Vec<_> = (0..200).map(|_| fs::File::open("/proc/self/stat").unwrap()).collect();
        let during = sample(&metrics, "process_open_fds");
        assert!(during >= before + 100.0, "{before}, then {during}");
        assert!(during <= sample(&metrics, "process_max_fds"));
        drop(files);
    }

    #[test]
    fn the_memory_limit_is_a_number_or_infinite_and_unknown_without_cgroup_v2() {
        let file = std::env::temp_dir().join(format!("kubewright-memory-{}", std::process::id()));
        let read = |text: &str| {
            fs::write(&file, text).unwrap();
            memory_limit(file.to_str().unwrap())
        };
        assert_eq!(read("134217728\n"), Some(134_217_728.0));
        assert_eq!(read("max\n"), Some(f64::INFINITY));
        fs::remove_file(&file).unwrap();
        assert_eq!(memory_limit(file.to_str().unwrap()), None);
    }

    #[tokio::test]
    async fn tasks_count_until_they_end() {
        let metrics = Metrics::new();
        metrics.process();
        let before = sample(&metrics, "kubewright_alive_tasks");
        let tasks: Vec<_> = (0..3).map(|_| tokio::spawn(std::future::pending::<()>())).collect();
        assert_eq!(sample(&metrics, "kubewright_alive_tasks"), before + 3.0);
        for task in tasks {
            task.abort();
            _ = task.await;
        }
        assert_eq!(sample(&metrics, "kubewright_alive_tasks"), before);
    }

    #[test]
    fn processor_time_only_grows() {
        let metrics = Metrics::new();
        metrics.process();
        let before = sample(&metrics, "process_cpu_seconds_total");
        let mut sum = 0_u64;
        while sample(&metrics, "process_cpu_seconds_total") < before + 0.05 {
            sum = std::hint::black_box((0..100_000_u64).fold(sum, u64::wrapping_add));
        }
    }
}
