//! Random factors for delays, from a small seedable generator, so that a test can state the delays it expects.
//! Not for anything that must be unpredictable.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

#[cfg(feature = "testing")]
thread_local! {
    /// Seeds of the streams of this thread, once they are chosen.
    static SEEDS: std::cell::RefCell<Option<Jitter>> = const { std::cell::RefCell::new(None) };
}

/// From now on the random parts of delays on this thread, such as those between retries, depend on this seed alone. For
/// simulations, which repeat a run exactly.
#[cfg(feature = "testing")]
pub fn seed_delays(seed: u64) {
    SEEDS.set(Some(Jitter::seeded(seed)));
}

/// A stream of random factors; the same seed gives the same stream.
#[derive(Debug, Clone)]
pub(crate) struct Jitter {
    state: u64,
}

impl Jitter {
    /// The stream of this `seed`.
    pub(crate) fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A stream that no other process shares: the standard library's hasher is keyed by the operating system's entropy.
    pub(crate) fn random() -> Self {
        #[cfg(feature = "testing")]
        if let Some(seed) = SEEDS.with_borrow_mut(|seeds| seeds.as_mut().map(|seeds| seeds.unit().to_bits())) {
            return Self::seeded(seed);
        }
        Self::seeded(RandomState::new().hash_one(0_u64))
    }

    /// `delay` times a factor evenly distributed over `[low, high)`.
    pub(crate) fn scale(&mut self, delay: Duration, low: f64, high: f64) -> Duration {
        delay.mul_f64(low + (high - low) * self.unit())
    }

    /// The next number in `[0, 1)`: SplitMix64 (Steele, Lea, Flood 2014), its upper 53 bits.
    fn unit(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_stay_in_range_and_repeat_with_their_seed() {
        let (mut one, mut two) = (Jitter::seeded(7), Jitter::seeded(7));
        for _ in 0..10_000 {
            let delay = one.scale(Duration::from_secs(10), 0.9, 1.1);
            assert!((9.0..11.0).contains(&delay.as_secs_f64()));
            assert_eq!(delay, two.scale(Duration::from_secs(10), 0.9, 1.1));
        }
    }

    #[test]
    fn two_processes_have_different_factors() {
        let delays = [(); 2].map(|()| Jitter::random().scale(Duration::from_secs(1), 0.0, 1.0));
        assert_ne!(delays[0], delays[1]);
    }
}
