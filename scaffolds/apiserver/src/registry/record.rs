//! Converts between records of the store and objects in the version of a request. Records of kinds that a webhook
//! converts come from [`convert`](super::convert), in that version already.

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use crate::{encode, meta, resource::Resource, status::Status, store::Record};

/// The object of a record, in the version of `resource`.
///
/// # Errors
/// 500 for a record that is not JSON, which this server never writes.
pub(super) fn read(resource: &Resource, record: &Record) -> Result<Value, Status> {
    let mut object = record.read()?;
    if !is_final(resource, record) {
        resource.strategy.read(&mut object);
    }
    Ok(object)
}

/// Whether an object is read exactly as it is stored.
pub(super) fn is_as_stored(resource: &Resource, record: &Record) -> bool {
    let since = resource.rules().storage.verbatim_after;
    since.is_some_and(|since| record.revision > since)
}

/// Whether an object is read exactly as its record has it: it is stored that way, or was converted by a webhook.
pub(super) fn is_final(resource: &Resource, record: &Record) -> bool {
    resource.rules().conversion().is_some() || is_as_stored(resource, record)
}

/// The JSON text of a record in the version of `resource`: the stored text itself wherever possible.
///
/// # Errors
/// As for [`read`].
pub fn present(resource: &Resource, record: &Record) -> Result<Bytes, Status> {
    let is_own = resource.version == resource.storage_version || resource.rules().conversion().is_some();
    if is_own && is_final(resource, record) {
        return Ok(record.object.clone());
    }
    read(resource, record).map(|object| text(&object))
}

/// Converts `object` to the form that its readers will get, and returns the object in the storage version if that is
/// another one.
pub(super) fn settle(resource: &Resource, object: &mut Value) -> Option<Value> {
    let is_stored_so = resource.rules().storage.name.is_none() && resource.version == resource.storage_version;
    if is_stored_so {
        resource.strategy.write(object);
        return None;
    }
    let mut stored = object.clone();
    resource.strategy.write(&mut stored);
    *object = stored.clone();
    resource.strategy.read(object);
    Some(stored)
}

/// An object after a write.
pub(super) struct Written {
    /// In the version of the request.
    pub object: Value,
    /// Its JSON text, if it is the stored text.
    pub text: Option<Bytes>,
}

/// The JSON text of an object with a gap for its revision, which is known only when the store is locked.
pub(super) struct Draft {
    text: Vec<u8>,
    gap: usize,
}

impl Draft {
    /// The draft of an object, which ignores its present resourceVersion.
    pub fn of(object: &Value) -> Self {
        let mut draft = Self {
            text: Vec::with_capacity(SIZE),
            gap: 0,
        };
        draft.object(object);
        draft
    }

    /// The text with a revision, without spare capacity, because the store keeps it.
    pub fn at(&self, revision: u64) -> Bytes {
        let revision = revision.to_string();
        let mut text = Vec::with_capacity(self.text.len() + revision.len());
        let (before, after) = self.text.split_at(self.gap);
        for part in [before, revision.as_bytes(), after] {
            text.extend_from_slice(part);
        }
        text.into()
    }

    /// The length of the text without a revision, in bytes.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// The length of the text that Go would store: without the resourceVersion, with a line feed, and with escapes where HTML
    /// needs them.
    pub fn len_in_go(&self) -> usize {
        const REVISION: usize = r#""resourceVersion":"","#.len();
        let escapes = self
            .text
            .iter()
            .filter(|byte| matches!(byte, b'<' | b'>' | b'&'))
            .count();
        self.text.len() - REVISION + 1 + escapes * r"u003c".len()
    }

    fn object(&mut self, object: &Value) {
        let (metadata, revision) = (meta::of(object), Value::from(""));
        let mut fields = vec![("metadata", None)];
        let others = object.as_object().into_iter().flatten();
        fields.extend(
            others
                .filter(|it| it.0 != "metadata")
                .map(|it| (it.0.as_str(), Some(it.1))),
        );
        fields.sort_unstable_by_key(|field| field.0);
        let mut inner = vec![("resourceVersion", &revision)];
        let others = metadata.iter().filter(|it| *it.0 != "resourceVersion");
        inner.extend(others.map(|it| (it.0.as_str(), it.1)));
        inner.sort_unstable_by_key(|field| field.0);
        for (index, (name, value)) in fields.into_iter().enumerate() {
            self.name(index, name);
            match value {
                Some(value) => self.value(value),
                None => self.metadata(&inner),
            }
        }
        self.text.push(b'}');
    }

    fn metadata(&mut self, fields: &[(&str, &Value)]) {
        for (index, (name, value)) in fields.iter().enumerate() {
            self.name(index, name);
            self.value(value);
            if *name == "resourceVersion" {
                self.gap = self.text.len() - 1;
            }
        }
        self.text.push(b'}');
    }

    fn name(&mut self, index: usize, name: &str) {
        self.text.push(if index == 0 { b'{' } else { b',' });
        self.value(name);
        self.text.push(b':');
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) {
        encode::append(&mut self.text, value);
    }
}

/// Initial capacity of an object's text, in bytes; most texts are shorter.
const SIZE: usize = 1024;

/// The JSON text of an object.
pub(super) fn text(object: &Value) -> Bytes {
    let mut text = Vec::with_capacity(SIZE);
    encode::append(&mut text, object);
    text.into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_draft_becomes_the_object_with_its_resource_version() {
        let objects = [
            json!({"kind": "A", "metadata": {"name": "a", "resourceVersion": "4", "uid": "u"}, "spec": {"x": [1, "\u{e9}"]}}),
            json!({"apiVersion": "v1", "metadata": {"zzz": null}}),
            json!({"zzz": 1}),
        ];
        for mut object in objects {
            let drafted = Draft::of(&object).at(1234);
            meta::set(&mut object, "resourceVersion", Some(json!("1234")));
            assert_eq!(drafted, object.to_string());
        }
    }

    #[test]
    fn a_stored_number_is_read_unchanged() {
        let object = json!({"metadata": {}, "spec": {"n": 4.333_333_333_333_333e64}});
        let stored: Value = serde_json::from_slice(&Draft::of(&object).at(1)).unwrap();
        assert_eq!(stored["spec"], object["spec"]);
    }
}
