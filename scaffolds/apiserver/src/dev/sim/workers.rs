//! Work on all cores. Each run has one thread; the results do not depend on the number of threads.

use std::{
    num::NonZero,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

/// The result of a piece of work, and whether no later piece counts.
pub(super) struct Piece<T> {
    pub result: T,
    pub is_last: bool,
}

/// Does these pieces of work, by their numbers, and returns the results in their order, up to the first that is the last one.
/// `progress` gets the number of finished pieces.
pub(super) fn until_last<T: Send>(
    number: usize,
    work: impl Fn(usize) -> Piece<T> + Sync,
    progress: &mut dyn FnMut(usize),
) -> Vec<T> {
    let (next, last) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let (sender, ended) = mpsc::channel();
    let work = &|sender: mpsc::Sender<(usize, T)>| {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            if n >= number || n > last.load(Ordering::Relaxed) {
                return;
            }
            let piece = work(n);
            if piece.is_last {
                last.fetch_min(n, Ordering::Relaxed);
            }
            // The receiver waits for all.
            let _ = sender.send((n, piece.result));
        }
    };
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        for sender in std::iter::repeat_n(sender, cores.min(number)) {
            scope.spawn(move || work(sender));
        }
        let mut results = Vec::with_capacity(number);
        for (done, result) in ended.iter().enumerate() {
            progress(done + 1);
            results.push(result);
        }
        results.sort_unstable_by_key(|(n, _)| *n);
        let until = last.load(Ordering::Relaxed);
        let counted = results.into_iter().take_while(|(n, _)| *n <= until);
        counted.map(|(_, result)| result).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_end_with_the_first_last_one_whatever_threads_do() {
        let work = |n| Piece {
            result: n,
            is_last: n == 5 || n == 9,
        };
        for _ in 0..50 {
            assert_eq!(until_last(20, work, &mut |_| {}), [0, 1, 2, 3, 4, 5]);
        }
        let mut most = 0;
        let all = until_last(4, work, &mut |done| most = done);
        assert_eq!((all.len(), most), (4, 4));
    }
}
