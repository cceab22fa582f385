//! The bounds on the Rust types of objects.

use std::fmt::Debug;

use serde::{Serialize, de::DeserializeOwned};

/// An object of any kind: of a kind with a Rust type, or a [`DynamicObject`](kube::core::DynamicObject), whose
/// [`Kind`](crate::Kind) is a value.
pub trait AnyObject: kube::Resource + Clone + Debug + DeserializeOwned + Serialize + Send + Sync + 'static {}

impl<K> AnyObject for K where K: kube::Resource + Clone + Debug + DeserializeOwned + Serialize + Send + Sync + 'static {}

/// An object of a kind that has a Rust type: a type of k8s-openapi or of `#[derive(CustomResource)]`.
pub trait Object: AnyObject + kube::Resource<DynamicType = ()> {}

impl<K> Object for K where K: AnyObject + kube::Resource<DynamicType = ()> {}
