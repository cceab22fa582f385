//! Reproducible random numbers.

/// xorshift64*.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number less than `bound`.
    pub fn roll(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound.max(1)
    }

    /// True in this percentage of cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.roll(100) < percent
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.roll(from.len())]
    }

    /// Some of the items in random order, without repetition.
    pub fn some<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> Vec<&'a T> {
        let mut left = from.to_vec();
        let count = self.roll(from.len() + 1);
        (0..count).map(|_| left.remove(self.roll(left.len()))).collect()
    }
}
