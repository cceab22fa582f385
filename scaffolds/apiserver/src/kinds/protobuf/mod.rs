//! Objects of built-in kinds in Protobuf, as kubectl and client-go send and accept them: an envelope that names the type, and in it a
//! message whose field numbers are in the recorded shapes.

mod read;
pub(crate) mod wire;
mod write;

pub use read::read;
#[cfg(feature = "testing")]
pub use read::read_events;
pub use write::{event, stored, write};

/// The media type.
pub const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";
/// The first bytes of every body.
const MAGIC: &[u8] = b"k8s\0";
/// The definitions of the schemas in CustomResourceDefinitions.
const SCHEMAS: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.";
const PROPERTIES: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";
