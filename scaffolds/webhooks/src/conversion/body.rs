//! The two parts of an object: its metadata, which stays, and its body, which is converted: all other fields, with the
//! labels and annotations, which a conversion may change.

use std::{collections::BTreeMap, mem};

use serde_json::{Map, Value, json};

/// The limit on the annotations of one object, names and values (apimachinery, `pkg/api/validation/objectmeta.go`,
/// `TotalAnnotationSizeLimitB`).
const MOST: usize = 256 << 10;
/// The metadata that a conversion may change.
const CHANGEABLE: [&str; 2] = ["labels", "annotations"];
/// By these an object is known.
const IDENTITY: [&str; 3] = ["name", "namespace", "uid"];

/// An object that is being converted.
pub(super) struct Parts {
    kind: Value,
    /// Without labels and annotations.
    metadata: Map<String, Value>,
    /// The annotations of the runtime itself.
    pub(super) kept: BTreeMap<String, String>,
    pub(super) body: Value,
}

impl Parts {
    /// Takes an object apart. `own` are the names of the runtime's annotations.
    ///
    /// # Errors
    ///
    /// If it is no object with metadata.
    pub(super) fn of(mut object: Value, own: &[String]) -> Result<Self, String> {
        let Some(Value::Object(metadata)) = object.get_mut("metadata").map(Value::take) else {
            return Err("it has no metadata".to_owned());
        };
        let kind = object["kind"].take();
        let (metadata, mut body) = split(object, metadata);
        let mut kept = BTreeMap::new();
        if let Some(Value::Object(annotations)) = body.pointer_mut("/metadata/annotations") {
            for name in own {
                if let Some(Value::String(text)) = annotations.remove(name) {
                    kept.insert(name.clone(), text);
                }
            }
        }
        Ok(Self {
            kind,
            metadata,
            kept,
            body,
        })
    }

    /// The object with a body of this version, as authors' functions get it: without `managedFields`, which is large.
    pub(super) fn object(&self, body: &Value, api_version: &str) -> Value {
        let mut object = body.clone();
        let metadata = object["metadata"].take();
        object["metadata"] = Value::Object(self.whole(metadata));
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("managedFields");
        }
        object["kind"] = self.kind.clone();
        object["apiVersion"] = json!(api_version);
        object
    }

    /// The body of what a function has returned.
    ///
    /// # Errors
    ///
    /// If it is another object.
    pub(super) fn body_of(&self, mut object: Value) -> Result<Value, String> {
        let metadata = object.get_mut("metadata").map(Value::take);
        let Some(Value::Object(metadata)) = metadata else {
            return Err("the conversion returned an object without metadata".to_owned());
        };
        let same = |name: &&str| {
            let of = |map: &Map<String, Value>| map.get(*name).filter(|value| !value.is_null()).cloned();
            of(&metadata) == of(&self.metadata)
        };
        if let Some(name) = IDENTITY.iter().find(|name| !same(name)) {
            return Err(format!(
                "the conversion changed metadata.{name}\n\nhint: pass the metadata of its argument on"
            ));
        }
        Ok(without_nulls(split(object, metadata).1))
    }

    /// The metadata with these labels and annotations.
    fn whole(&self, changeable: Value) -> Map<String, Value> {
        let mut metadata = self.metadata.clone();
        if let Value::Object(changeable) = changeable {
            let filled = changeable
                .into_iter()
                .filter(|(_, value)| value.as_object().is_none_or(|map| !map.is_empty()));
            metadata.extend(filled);
        }
        metadata
    }
}

/// The metadata without labels and annotations, and the body.
fn split(mut object: Value, mut metadata: Map<String, Value>) -> (Map<String, Value>, Value) {
    let changeable = CHANGEABLE.map(|name| {
        let value = metadata.remove(name).filter(|value| !value.is_null());
        (name.to_owned(), value.unwrap_or_else(|| json!({})))
    });
    if let Some(fields) = object.as_object_mut() {
        fields.remove("apiVersion");
        fields.remove("kind");
        fields.insert("metadata".to_owned(), Value::Object(changeable.into_iter().collect()));
    }
    (metadata, object)
}

/// An `Option` without a value is encoded as null, which API servers drop from a field that is not nullable.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(fields.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        leaf => leaf,
    }
}

/// The object in another version, without the annotations of the runtime if there is no room for them.
///
/// # Errors
///
/// The object, and how many bytes of annotations are missing.
pub(super) fn join(mut parts: Parts, mut body: Value, api_version: &str) -> Result<Value, (Value, String)> {
    let mut missing = None;
    if let Some(Value::Object(annotations)) = body.pointer_mut("/metadata/annotations") {
        let kept = mem::take(&mut parts.kept);
        let ours: usize = kept.iter().map(|(name, text)| name.len() + text.len()).sum();
        let theirs = annotations.iter();
        let theirs: usize = theirs
            .map(|(name, text)| name.len() + text.as_str().map_or(0, str::len))
            .sum();
        if ours > 0 && ours + theirs > MOST {
            missing = Some(format!(
                "the fields that this version does not have need {ours} bytes of annotations, besides {theirs} of other \
                 annotations: the limit is {MOST}"
            ));
        } else {
            annotations.extend(kept.into_iter().map(|(name, text)| (name, Value::String(text))));
        }
    }
    let changeable = body["metadata"].take();
    body["metadata"] = Value::Object(parts.whole(changeable));
    body["apiVersion"] = json!(api_version);
    body["kind"] = parts.kind;
    match missing {
        None => Ok(body),
        Some(why) => Err((body, why)),
    }
}
