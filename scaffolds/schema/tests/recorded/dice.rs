//! A random number generator with the same numbers on every platform.

/// xorshift64*: enough for a test.
pub struct Dice(u64);

impl Dice {
    /// The generator for a seed.
    pub fn of(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            dice.below(2);
        }
        dice
    }

    pub fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % sides
    }

    /// True with the probability `1 / throws`.
    pub fn once_in(&mut self, throws: usize) -> bool {
        self.below(throws) == 0
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

/// The number in an environment variable such as CASES or SEED.
pub fn number(name: &str, otherwise: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.and_then(|it| it.parse().ok()).unwrap_or(otherwise)
}
