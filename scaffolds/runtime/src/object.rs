//! The bound on every kind that the runtime works with.

use std::fmt::Debug;

use serde::{Serialize, de::DeserializeOwned};

/// A kind whose Rust type is known: a type of k8s-openapi or of `#[derive(CustomResource)]`.
pub trait Object:
    kube::Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Serialize + Send + Sync + 'static
{
}

impl<K> Object for K where
    K: kube::Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Serialize + Send + Sync + 'static
{
}
