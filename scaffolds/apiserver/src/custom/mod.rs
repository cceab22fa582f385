//! CustomResourceDefinitions and the kinds that they define: the definition's own kind, its accepted names, its
//! resources, and the strategy of custom objects.

mod age;
mod approval;
mod conditions;
pub(crate) mod definition;
mod groups;
mod instances;
mod kind;
mod lifecycle;
mod names;
mod path;
mod resources;

pub(crate) use lifecycle::Definitions;
