//! The roles and bindings that every cluster has from the beginning, as a real server created them (`bootstrap.txt`,
//! written by `fidelity record roles`): those for people, for all users and for delegated
//! authorization. Those for the cluster's own components are left out, because there are no such components here.

use bytes::Bytes;

use crate::{meta::generate, store::Key};

use super::policy::GROUP;

const RECORDED: &str = include_str!("bootstrap.txt");

/// One role or binding.
pub struct BootstrapObject {
    /// Its key in the store.
    pub key: Key,
    text: &'static str,
}

/// All of them, ordered by name.
pub fn objects() -> impl Iterator<Item = BootstrapObject> {
    RECORDED.lines().filter_map(|line| {
        let mut parts = line.splitn(4, ' ');
        let (plural, namespace, name, text) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        Some(BootstrapObject {
            key: Key::new(&format!("{GROUP}/{plural}"), namespace.trim_matches('-'), name),
            text,
        })
    })
}

impl BootstrapObject {
    /// The object as created at this time and revision.
    pub fn at(&self, time: &str, revision: u64) -> Bytes {
        let text = self.text.replace("<uid>", &generate::uid());
        let text = text.replace("<time>", time).replace("<rv>", &revision.to_string());
        Bytes::from(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn each_object_is_complete_and_has_the_key_of_its_metadata() {
        let mut count = 0;
        for object in objects() {
            let value: Value = serde_json::from_slice(&object.at("2026-01-02T03:04:05Z", 7)).unwrap();
            let metadata = &value["metadata"];
            assert_eq!(metadata["name"], object.key.name.as_str());
            assert_eq!(metadata["namespace"].as_str().unwrap_or_default(), object.key.namespace);
            assert_eq!(metadata["resourceVersion"], "7");
            assert!(!value.to_string().contains('<'), "{value}");
            count += 1;
        }
        assert!(count > 15, "{count}");
    }
}
