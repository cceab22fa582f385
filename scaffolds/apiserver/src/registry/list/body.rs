//! The text of a list, assembled from the texts of its objects.

use std::{borrow::Cow, fmt, sync::Arc};

use bytes::Bytes;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{json, value::RawValue};

use super::super::record;
use crate::{resource::Resource, status::Status, store::Record};

/// The `metadata` of a list.
pub(super) struct ListMetadata {
    pub revision: u64,
    /// The continue token of the next page, if there is one.
    pub token: Option<String>,
    /// The number of objects after this page, if it is reported.
    pub remaining: Option<usize>,
}

/// The text of the list of these objects.
///
/// # Errors
/// 500 for a record that is not JSON.
pub(super) fn write(resource: &Resource, metadata: &ListMetadata, records: &[Arc<Record>]) -> Result<Bytes, Status> {
    let size: usize = records.iter().map(|record| record.object.len() + 1).sum();
    let mut text = Vec::with_capacity(size + 256);
    let head = format!(
        r#"{{"apiVersion":{},"kind":{},"metadata":{},"items":["#,
        json!(resource.api_version()),
        json!(resource.names.list_kind),
        metadata.value(resource.is_typed()),
    );
    text.extend_from_slice(head.as_bytes());
    // Lists of built-in kinds are lists of structs upstream, whose items have no `apiVersion` and `kind`.
    let typed = resource.is_typed();
    for (index, record) in records.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        let object = record::present(resource, record)?;
        match typed {
            true => untyped(&object, &mut text)?,
            false => text.extend_from_slice(&object),
        }
    }
    text.extend_from_slice(b"]}");
    Ok(text.into())
}

impl ListMetadata {
    /// Lists of custom kinds always have a token, which may be empty.
    fn value(&self, typed: bool) -> serde_json::Value {
        let mut metadata = json!({"resourceVersion": self.revision.to_string()});
        if self.token.is_some() || !typed {
            metadata["continue"] = self.token.as_deref().unwrap_or_default().into();
        }
        if let Some(remaining) = self.remaining {
            metadata["remainingItemCount"] = remaining.into();
        }
        metadata
    }
}

/// Writes an object without `apiVersion` and `kind`; its other fields are copied unchanged.
fn untyped(object: &[u8], text: &mut Vec<u8>) -> Result<(), Status> {
    let Fields(fields) = serde_json::from_slice(object)?;
    let kept = fields
        .iter()
        .filter(|(name, _)| !matches!(name.as_ref(), "apiVersion" | "kind"));
    text.push(b'{');
    for (index, (name, value)) in kept.enumerate() {
        if index > 0 {
            text.push(b',');
        }
        text.extend_from_slice(json!(name).to_string().as_bytes());
        text.push(b':');
        text.extend_from_slice(value.get().as_bytes());
    }
    text.push(b'}');
    Ok(())
}

/// The fields of an object, in their order, not decoded.
struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Read)
    }
}
