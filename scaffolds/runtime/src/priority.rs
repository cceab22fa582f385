//! The urgency of a key of a work queue.

use crate::key::ObjectKey;

/// The urgency of a key: of two ready keys, the more urgent one is reconciled first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// −100: the objects of the initial list and of a resync, as in controller-runtime.
    Low,
    /// 0: all other changes.
    Normal,
    /// 100: only if the operator's author chooses it.
    High,
}

impl Priority {
    /// All priorities, the lowest first.
    pub const ALL: [Self; 3] = [Self::Low, Self::Normal, Self::High];

    /// The number of this priority, as controller-runtime counts; the `priority` label of `workqueue_depth`.
    pub fn number(self) -> i32 {
        match self {
            Self::Low => -100,
            Self::Normal => 0,
            Self::High => 100,
        }
    }

    /// Smaller ranks are handed out first.
    pub(crate) fn rank(self) -> usize {
        match self {
            Self::High => 0,
            Self::Normal => 1,
            Self::Low => 2,
        }
    }
}

/// A request to reconcile an object. A key alone has the priority of what causes the request, which is
/// [`Priority::Normal`] but for initial lists and resyncs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wake {
    pub(crate) key: ObjectKey,
    pub(crate) priority: Option<Priority>,
}

impl Wake {
    /// This key with this priority.
    pub fn new(key: ObjectKey, priority: Priority) -> Self {
        let priority = Some(priority);
        Self { key, priority }
    }
}

impl From<ObjectKey> for Wake {
    fn from(key: ObjectKey) -> Self {
        Self { key, priority: None }
    }
}
