//! The changes that an informer delivers to its subscribers.

use std::sync::Arc;

use kube::Resource;

use crate::key::ObjectKey;

/// A change of one object. The store contains this version, or a newer one, before the change is delivered.
#[derive(Debug)]
pub enum Delta<K> {
    /// The object is new to the informer.
    Added {
        /// The object.
        object: Arc<K>,
        /// Whether it comes from the first list, or from the replay to a late subscriber, and not from a watch event.
        initial: bool,
    },
    /// The object has a new version.
    Updated {
        /// The version delivered last.
        old: Arc<K>,
        /// The version now.
        new: Arc<K>,
    },
    /// The object is gone; this is the version delivered last. Also delivered if the deletion itself was missed.
    Deleted(Arc<K>),
    /// The object has not changed: a periodic resync.
    Resync(Arc<K>),
    /// The object exists but cannot be decoded; delivered once per version. The object is not in the store: an earlier
    /// valid version is removed, without a [`Delta::Deleted`]. When it becomes valid again, [`Delta::Added`] is
    /// delivered; when it is deleted, [`Delta::Deleted`] is delivered if a valid version was delivered before.
    Invalid {
        /// The object.
        key: ObjectKey,
        /// The error of the decoder.
        error: Arc<str>,
    },
}

impl<K> Delta<K> {
    /// The current object, or the last version of a deleted one; `None` if it cannot be decoded.
    pub fn object(&self) -> Option<&Arc<K>> {
        match self {
            Self::Added { object, .. } | Self::Deleted(object) | Self::Resync(object) => Some(object),
            Self::Updated { new, .. } => Some(new),
            Self::Invalid { .. } => None,
        }
    }

    /// The version before an update.
    pub fn old(&self) -> Option<&Arc<K>> {
        match self {
            Self::Updated { old, .. } => Some(old),
            _ => None,
        }
    }

    /// Whether this belongs to the first list, a replay or a resync, which have a lower priority than live changes.
    pub fn is_routine(&self) -> bool {
        matches!(self, Self::Added { initial: true, .. } | Self::Resync(_))
    }
}

impl<K: Resource> Delta<K> {
    /// The key of the changed object.
    pub fn key(&self) -> ObjectKey {
        match self {
            Self::Invalid { key, .. } => key.clone(),
            Self::Added { object, .. } | Self::Updated { new: object, .. } => ObjectKey::of(&**object),
            Self::Deleted(object) | Self::Resync(object) => ObjectKey::of(&**object),
        }
    }
}

impl<K> Clone for Delta<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Added { object, initial } => Self::Added {
                object: object.clone(),
                initial: *initial,
            },
            Self::Updated { old, new } => Self::Updated {
                old: old.clone(),
                new: new.clone(),
            },
            Self::Deleted(object) => Self::Deleted(object.clone()),
            Self::Resync(object) => Self::Resync(object.clone()),
            Self::Invalid { key, error } => Self::Invalid {
                key: key.clone(),
                error: error.clone(),
            },
        }
    }
}
