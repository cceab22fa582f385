//! An object as the JSON in which the API server sent it: a half or a third of the memory that the decoded object takes, whose
//! maps have room for eleven entries each, and whose fields have room for all that could be set.

use std::ops::Range;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::Resource;
use serde::de::DeserializeOwned;

use super::scan::Scan;

/// The longest text that takes the place of an object, in bytes. To decode longer ones at each read takes time, and they are mostly
/// long strings, which take as much memory when they are decoded.
const MOST: usize = 16 << 10;

/// The text of an object that was decoded from it once.
#[derive(Debug)]
pub(crate) struct Text {
    /// Without its `managedFields`.
    object: Box<str>,
    /// Those that are kept, as JSON.
    records: Option<Box<str>>,
    /// Where the resource version is in the text.
    version: Range<u32>,
}

impl Text {
    /// The text of an object whose `managedFields` are these. `None` if the decoded object is to be stored.
    pub(crate) fn new(object: Box<str>, records: Option<&Vec<ManagedFieldsEntry>>) -> Option<Self> {
        if object.len() > MOST {
            return None;
        }
        let version = version(&object)?;
        let records = records.map(serde_json::to_string).transpose().ok()?;
        Some(Self {
            object,
            records: records.map(String::into_boxed_str),
            version,
        })
    }

    /// The object, as it was when it was decoded first.
    ///
    /// # Panics
    /// If the type cannot be decoded from the same text twice.
    pub(super) fn decode<K: Resource + DeserializeOwned>(&self) -> K {
        let decode = || {
            let mut object: K = serde_json::from_str(&self.object)?;
            let records = self.records.as_deref().map(serde_json::from_str).transpose()?;
            object.meta_mut().managed_fields = records;
            serde_json::Result::Ok(object)
        };
        decode().unwrap_or_else(|error| panic!("an object that was decoded before cannot be decoded any more: {error}"))
    }

    pub(super) fn version(&self) -> Option<&str> {
        self.object.get(self.version.start as usize..self.version.end as usize)
    }

    pub(super) fn has_records(&self) -> bool {
        self.records.is_some()
    }
}

/// The position of `metadata.resourceVersion`, without its quotes.
fn version(object: &str) -> Option<Range<u32>> {
    let mut scan = Scan::new(object);
    scan.enter("metadata")?;
    scan.enter("resourceVersion")?;
    let quoted = scan.value()?;
    // Otherwise it is null, or a number.
    object[quoted.clone()].starts_with('"').then_some(())?;
    let inner = quoted.start + 1..quoted.end - 1;
    let is_plain = !object.get(inner.clone())?.contains('\\');
    is_plain.then_some(u32::try_from(inner.start).ok()?..u32::try_from(inner.end).ok()?)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_is_decoded_to_the_object_with_the_records_that_are_kept() {
        let record = json!({"manager": "ours/foobar", "operation": "Apply", "fieldsV1": "{\"f:data\":{}}"});
        let kept: ConfigMap = serde_json::from_value(json!({
            "metadata": {"name": "a", "resourceVersion": "7", "managedFields": [record, {}]}, "data": {"b": "ä\n"}
        }))
        .unwrap();
        let sent = r#"{"kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"7","managedFields":null},"data":{"b":"ä\n"}}"#;
        let text = Text::new(sent.into(), kept.metadata.managed_fields.as_ref()).unwrap();
        assert_eq!((text.version(), text.has_records()), (Some("7"), true));
        assert_eq!(text.decode::<ConfigMap>(), kept);
        let text = Text::new(sent.into(), None).unwrap();
        assert!(!text.has_records());
        assert_eq!(text.decode::<ConfigMap>().metadata.managed_fields, None);
    }

    #[test]
    fn an_object_without_a_version_and_a_long_one_are_stored_as_they_are() {
        assert!(Text::new(r#"{"metadata":{"name":"a"}}"#.into(), None).is_none());
        assert!(Text::new(r#"{"metadata":{"name":"a","resourceVersion":null}}"#.into(), None).is_none());
        let long = json!({"metadata": {"resourceVersion": "7"}, "data": {"a": "x".repeat(MOST)}}).to_string();
        assert!(Text::new(long.into(), None).is_none());
    }
}
