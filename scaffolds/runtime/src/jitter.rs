//! Random factors for delays, from a small seedable generator, so that a test can state the delays it expects.
//! Not for anything that must be unpredictable, for which there are bytes of the operating system.

use std::{
    fs::File,
    hash::{BuildHasher, RandomState},
    io::{self, Read},
    time::Duration,
};

#[cfg(feature = "testing")]
thread_local! {
    /// Seeds of the streams of this thread, once they are chosen.
    static SEEDS: std::cell::RefCell<Option<Jitter>> = const { std::cell::RefCell::new(None) };
    /// The seed that was chosen.
    static SEED: std::cell::Cell<Option<u64>> = const { std::cell::Cell::new(None) };
}

/// From now on the random parts of delays on this thread, such as those between retries, and the bytes of
/// [`Context::random`](crate::Context::random) depend on this seed alone. For simulations, which repeat a run exactly.
#[cfg(feature = "testing")]
pub fn seed_delays(seed: u64) {
    SEEDS.set(Some(Jitter::seeded(seed)));
    SEED.set(Some(seed));
}

/// Unpredictable bytes; after [`seed_delays`], which only a simulation calls, they depend on its seed and on `purpose`.
pub(crate) fn bytes<const N: usize>(purpose: &str) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    #[cfg(feature = "testing")]
    if let Some(seed) = SEED.get() {
        let mut stream = Jitter::seeded(purpose.bytes().fold(seed, |hash, byte| {
            Jitter::seeded(hash ^ u64::from(byte)).unit().to_bits()
        }));
        bytes.fill_with(|| (stream.unit() * 256.0) as u8);
        return Ok(bytes);
    }
    let _ = purpose;
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
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
    fn bytes_are_random_and_in_a_simulation_depend_on_its_seed_and_their_purpose() {
        let random = |purpose| bytes::<16>(purpose).unwrap();
        assert_ne!(random("a"), random("a"));
        let simulated = |seed, purpose| {
            let thread = std::thread::spawn(move || {
                seed_delays(seed);
                bytes::<16>(purpose).unwrap()
            });
            thread.join().unwrap()
        };
        assert_eq!(simulated(1, "a"), simulated(1, "a"));
        assert_ne!(simulated(1, "a"), simulated(1, "b"));
        assert_ne!(simulated(1, "a"), simulated(2, "a"));
    }

    #[test]
    fn two_processes_have_different_factors() {
        let delays = [(); 2].map(|()| Jitter::random().scale(Duration::from_secs(1), 0.0, 1.0));
        assert_ne!(delays[0], delays[1]);
    }
}
