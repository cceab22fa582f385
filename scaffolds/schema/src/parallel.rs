//! Runs work on all cores. A project builds this crate without optimisation, and a kind with a Pod template then takes a fifth of a
//! second.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

/// The stack size of each thread, as large as the main thread's: schemas nest, and the code that walks them is not optimised.
const STACK: usize = 8 << 20;

/// Applies `work` to each item; the results are in the order of the items. Panics if `work` panics.
pub(crate) fn each<T: Send, R: Send + Sync>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let items: Vec<_> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let results: Vec<OnceLock<R>> = items.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let take = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return };
            let item = item.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(item) = item {
                _ = results[at].set(work(item));
            }
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    thread::scope(|scope| {
        for _ in 1..workers {
            // If the thread cannot be started there is one less; the calling thread works too.
            _ = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, take);
        }
        take();
    });
    results.into_iter().filter_map(OnceLock::into_inner).collect()
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        assert_eq!(
            each((0..200).collect(), |at| at * 2),
            (0..200).map(|at| at * 2).collect::<Vec<_>>()
        );
        assert!(each(Vec::new(), |at: u8| at).is_empty());
    }

    #[test]
    fn a_panic_on_any_thread_is_propagated() {
        let caught = std::panic::catch_unwind(|| each((0..20).collect(), |at: u8| assert_ne!(at, 7)));
        assert!(caught.is_err());
    }
}
