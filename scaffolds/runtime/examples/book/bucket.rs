//! A system outside of Kubernetes for the examples: a bucket store. It does nothing.

use std::fmt;

/// A client of that system.
#[derive(Clone, Debug, Default)]
pub struct Buckets {
    /// The URL of the store.
    pub url: String,
}

/// The state of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bucket {
    /// It is being created or emptied.
    Busy,
    /// It exists.
    Ready,
}

/// Errors of the bucket store.
#[derive(Clone, Debug)]
pub enum BucketError {
    /// The name is invalid.
    BadName(String),
    /// It cannot be reached.
    Unreachable,
    /// It is overloaded.
    Busy,
}

impl fmt::Display for BucketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadName(name) => write!(f, "`{name}` is not a valid name of a bucket"),
            Self::Unreachable => f.write_str("the bucket store cannot be reached"),
            Self::Busy => f.write_str("the bucket store is busy"),
        }
    }
}

impl std::error::Error for BucketError {}

impl Buckets {
    /// Creates a bucket unless it exists.
    ///
    /// # Errors
    ///
    /// [`BucketError`].
    pub async fn ensure(&self, _name: &str) -> Result<Bucket, BucketError> {
        Ok(Bucket::Ready)
    }

    /// Namespace and name of the FooBars whose buckets have changed since the last call.
    pub async fn changed(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Removes a bucket; `None` once it is gone, also if it is called again.
    ///
    /// # Errors
    ///
    /// [`BucketError`].
    pub async fn remove(&self, _name: &str) -> Result<Option<Bucket>, BucketError> {
        Ok(None)
    }
}
