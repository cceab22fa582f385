//! What the metadata of any object must be, in the words of the server: names, labels, annotations, finalizers, owners.

pub mod finalizers;
pub mod labels;
pub mod names;
pub mod owners;
