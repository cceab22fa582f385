//! Samples the stacks of all threads that use the CPU, by the signal SIGPROF, and names their functions.

mod encode;

use std::{
    collections::HashMap,
    time::{Duration, SystemTime},
};

use pprof::{Frames, ProfilerGuard, ProfilerGuardBuilder, Report, Symbol};

use self::encode::{Function, Profile, Stack};

/// Samples per second of CPU time. Not 100, which Go uses: periodic work of 10 ms would be in all samples or in none.
const FREQUENCY: i32 = 99;
/// Libraries whose code is not sampled: the unwinder may wait for a lock that the interrupted code holds (the
/// documentation of the crate `pprof`).
const NOT_SAMPLED: [&str; 4] = ["libc", "libgcc", "pthread", "vdso"];

/// Takes samples until it is dropped. There can be only one.
pub(super) struct Sampler {
    guard: ProfilerGuard<'static>,
    began: SystemTime,
}

impl Sampler {
    pub(super) fn start() -> Result<Self, String> {
        let builder = ProfilerGuardBuilder::default()
            .frequency(FREQUENCY)
            .blocklist(&NOT_SAMPLED);
        let guard = builder.build().map_err(|error| error.to_string())?;
        let began = SystemTime::now();
        Ok(Self { guard, began })
    }

    /// The encoded samples, which were taken for this long.
    pub(super) fn profile(self, length: Duration) -> Result<Vec<u8>, String> {
        let report = self.guard.report().build().map_err(|error| error.to_string())?;
        let profile = Profile {
            began: self.began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default(),
            length,
            period: Duration::from_secs(1) / FREQUENCY.unsigned_abs(),
            stacks: stacks(&report),
        };
        Ok(profile.encode())
    }
}

/// The stacks, with the time of each thread of a name summed.
fn stacks(report: &Report) -> Vec<Stack> {
    let mut counts = HashMap::<(Vec<Vec<Function>>, String), u64>::new();
    for (frames, count) in &report.data {
        let key = (named(frames), frames.thread_name.clone());
        *counts.entry(key).or_default() += u64::try_from(*count).unwrap_or_default();
    }
    let stack = |((frames, thread), count)| Stack { frames, thread, count };
    counts.into_iter().map(stack).collect()
}

/// The functions of a stack, from the innermost on; a frame has several where functions are inlined.
fn named(frames: &Frames) -> Vec<Vec<Function>> {
    let function = |symbol: &Symbol| Function {
        name: symbol.name(),
        system_name: symbol.sys_name().into_owned(),
        file: symbol
            .filename
            .as_ref()
            .map(|file| file.to_string_lossy().into_owned())
            .unwrap_or_default(),
        line: symbol.lineno.unwrap_or_default(),
    };
    let frames = frames.frames.iter();
    let frames = frames.skip_while(|inlined| inlined.iter().all(is_of_sampler));
    frames.map(|inlined| inlined.iter().map(function).collect()).collect()
}

/// Whether a function walks the stack: those are the innermost ones of each stack, unless they are inlined.
fn is_of_sampler(symbol: &Symbol) -> bool {
    let name = symbol.name();
    let path = name.trim_start_matches('<');
    ["backtrace::", "pprof::"].iter().any(|module| path.starts_with(module))
}
