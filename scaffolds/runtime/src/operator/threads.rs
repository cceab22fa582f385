//! The number of an operator's threads.

use std::{env, thread::available_parallelism};

use tokio::runtime;

/// The threads of everything but the servers and the lease. An operator spends far more time waiting for the API server
/// than computing, and each wake-up across threads costs a system call.
pub(super) fn several() -> runtime::Builder {
    let mut threads = runtime::Builder::new_multi_thread();
    if env::var_os("TOKIO_WORKER_THREADS").is_none() {
        threads.worker_threads(half(available_parallelism().map_or(1, usize::from)));
    }
    threads
}

fn half(cores: usize) -> usize {
    cores.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_two_cores_have_one_thread() {
        assert_eq!([1, 2, 3, 4, 64].map(half), [1, 1, 2, 2, 32]);
    }
}
