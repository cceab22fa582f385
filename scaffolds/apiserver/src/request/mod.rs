//! Parses requests: the path, the query, the media types and the body.

pub mod accept;
pub mod body;
pub mod duration;
mod mime;
pub mod path;
pub mod query;
pub mod scalar;
pub mod yaml;

pub use path::Info;
pub use query::Query;
