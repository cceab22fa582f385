//! Numbers that look random and are the same each time, so that a failure can be repeated.

/// Marsaglia's xorshift64*.
#[derive(Debug)]
pub struct Dice(u64);

impl Default for Dice {
    fn default() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }
}

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    /// A number from 0 to below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        // The remainder is smaller than `end`.
        (self.next() % end as u64) as usize
    }

    /// One of these, of which there is at least one.
    pub fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}
