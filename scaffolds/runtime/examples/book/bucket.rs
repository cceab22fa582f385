//! A system outside of Kubernetes, as the examples need one: a place that stores buckets. It does nothing.

use std::fmt;

/// A client of that system.
#[derive(Clone, Debug, Default)]
pub struct Buckets {
    /// Where it is.
    pub url: String,
}

/// How a bucket stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bucket {
    /// It is being made, or being emptied.
    Busy,
    /// It is there.
    Ready,
}

/// What such a system says when it does not do what it is asked.
#[derive(Clone, Debug)]
pub enum BucketError {
    /// The name is none that it could ever accept.
    BadName(String),
    /// It cannot be reached.
    Unreachable,
    /// It has too much to do.
    Busy,
}

impl fmt::Display for BucketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadName(name) => write!(f, "`{name}` cannot be the name of a bucket"),
            Self::Unreachable => f.write_str("the bucket store cannot be reached"),
            Self::Busy => f.write_str("the bucket store is busy"),
        }
    }
}

impl std::error::Error for BucketError {}

impl Buckets {
    /// Makes a bucket unless it is there.
    ///
    /// # Errors
    ///
    /// [`BucketError`].
    pub async fn ensure(&self, _name: &str) -> Result<Bucket, BucketError> {
        Ok(Bucket::Ready)
    }

    /// Namespace and name of the FooBars whose buckets somebody has changed since this was asked last.
    pub async fn changed(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Removes a bucket; `None` once it is gone. Asked again about one that is gone, it says so again.
    ///
    /// # Errors
    ///
    /// [`BucketError`].
    pub async fn remove(&self, _name: &str) -> Result<Option<Bucket>, BucketError> {
        Ok(None)
    }
}
