//! Ranges of sizes and costs; sums and products saturate.

/// The cost of reading a string once, for each of its characters (cel-go's StringTraversalCostFactor).
pub(in super::super) const TRAVERSAL: f64 = 0.1;

/// The cost of a regular expression, for each of its characters (cel-go's RegexStringLengthCostFactor).
pub(in super::super) const REGEX: f64 = 0.25;

/// A minimum and a maximum.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Range {
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Range {
    pub(super) const ZERO: Self = Self::exactly(0);
    pub(super) const UNKNOWN: Self = Self { min: 0, max: u64::MAX };

    pub(super) const fn exactly(number: u64) -> Self {
        Self {
            min: number,
            max: number,
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    /// Rounded up.
    pub(super) fn scaled(self, factor: f64) -> Self {
        Self {
            min: scaled(self.min, factor),
            max: scaled(self.max, factor),
        }
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

/// The product, rounded up; the conversion saturates.
pub(in super::super) fn scaled(number: u64, factor: f64) -> u64 {
    (number as f64 * factor).ceil() as u64
}
