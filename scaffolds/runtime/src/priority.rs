//! How urgent a key of a work queue is.

/// How urgent a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// −100: the objects of the initial list and of a resync, as in controller-runtime.
    Low,
    /// 0: all other changes.
    Normal,
}

impl Priority {
    /// All priorities, the lowest first.
    pub const ALL: [Self; 2] = [Self::Low, Self::Normal];

    /// The number controller-runtime gives to this priority; the `priority` label of `workqueue_depth`.
    pub fn number(self) -> i32 {
        match self {
            Self::Low => -100,
            Self::Normal => 0,
        }
    }

    /// Smaller ranks are handed out first.
    pub(crate) fn rank(self) -> usize {
        match self {
            Self::Normal => 0,
            Self::Low => 1,
        }
    }
}
