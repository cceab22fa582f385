//! Where the real server keeps objects, in the words of answers that quote its etcd key.

use crate::{resource::Resource, store::Key};

/// The key that the real server has for an object. The names differ where they are older than the API; custom kinds and
/// CustomResourceDefinitions have their group in it.
pub fn quoted(resource: &Resource, key: &Key) -> String {
    let plural = resource.names.plural.as_str();
    let directory = match resource.rules().etcd_directory {
        Some(directory) => directory.to_owned(),
        None if resource.rules().is_built_in => plural.to_owned(),
        None => format!("{}/{plural}", resource.group),
    };
    match key.namespace.as_str() {
        "" => format!("/registry/{directory}/{}", key.name),
        namespace => format!("/registry/{directory}/{namespace}/{}", key.name),
    }
}
