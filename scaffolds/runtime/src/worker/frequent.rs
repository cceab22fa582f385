//! Finds the object that one worker runs far more often than any change of it could require.

use std::time::Duration;

use tokio::time::Instant;

use crate::key::ObjectKey;

/// So many runs of one object within [`WINDOW`] are named in the log: fifty each second.
pub(super) const MANY: u32 = 500;
pub(super) const WINDOW: Duration = Duration::from_secs(10);
/// The number of objects that are counted at a time.
const COUNTED: usize = 8;

/// The runs of the objects that a worker runs most often in the current window. The memory is bounded: an object without a
/// counter takes one from each of the others (the algorithm of Misra and Gries), so an object that has a large part of
/// all runs keeps its counter.
#[derive(Default)]
pub(super) struct Frequent {
    began: Option<Instant>,
    runs: Vec<(ObjectKey, u32)>,
}

impl Frequent {
    /// Counts a run; returns whether this object has had [`MANY`] in the current window with it.
    pub(super) fn count(&mut self, key: &ObjectKey, now: Instant) -> bool {
        if self.began.is_none_or(|began| now.duration_since(began) > WINDOW) {
            (self.began, self.runs) = (Some(now), Vec::new());
        }
        if let Some((_, runs)) = self.runs.iter_mut().find(|(known, _)| known == key) {
            *runs += 1;
            return *runs == MANY;
        }
        if self.runs.len() < COUNTED {
            self.runs.push((key.clone(), 1));
        } else {
            self.runs.iter_mut().for_each(|(_, runs)| *runs -= 1);
            self.runs.retain(|(_, runs)| *runs > 0);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_object_that_runs_all_the_time_is_found_among_many_and_one_that_runs_now_and_then_is_not() {
        let (mut frequent, mut found) = (Frequent::default(), 0);
        let key = |name: &str| ObjectKey::new(None, name);
        for n in 0..2000 {
            found += u32::from(frequent.count(&key("hot"), Instant::now()));
            assert!(!frequent.count(&key(&format!("other-{n}")), Instant::now()));
        }
        assert_eq!(found, 1);
        for _ in 0..2000 {
            assert!(!frequent.count(&key("hot"), Instant::now()), "named once in a window");
            tokio::time::advance(WINDOW / 400).await;
        }
    }
}
