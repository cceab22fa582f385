//! Shells: objects that a version cannot show, with nothing but their metadata (and empty required fields, while they are being
//! deleted). They are shown, so that a list does not fail, and
//! written with the other fields of the stored object. HTTP is known elsewhere.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::{Value, json, value::RawValue};

use super::{
    convert::{Converter, Outcome},
    marks::Marks,
};

/// The metadata that a shell has, but for `managedFields`, which are as deep as the object. API servers restore all but labels and
/// annotations.
const METADATA: [&str; 13] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "uid",
];

/// An object that cannot be converted: its type and metadata, which are read however deep the rest is, and take no memory until they
/// are shown.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shell<'a> {
    #[serde(borrow)]
    api_version: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    metadata: ShellMetadata<'a>,
}

struct ShellMetadata<'a>(BTreeMap<&'static str, &'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for ShellMetadata<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(KnownFields)
    }
}

struct KnownFields;

impl<'de> Visitor<'de> for KnownFields {
    type Value = ShellMetadata<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("metadata")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<ShellMetadata<'de>, A::Error> {
        let mut metadata = BTreeMap::new();
        while let Some(name) = fields.next_key::<Cow<'de, str>>()? {
            match METADATA.iter().find(|known| **known == name) {
                Some(known) => _ = metadata.insert(*known, fields.next_value()?),
                None => _ = fields.next_value::<IgnoredAny>()?,
            }
        }
        Ok(ShellMetadata(metadata))
    }
}

impl<'a> Shell<'a> {
    pub(super) fn of(object: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str(object)
    }

    pub(super) fn api_version(&self) -> &str {
        &self.api_version
    }

    /// The JSON of the fields of metadata.
    pub(super) fn fields(&self) -> impl Iterator<Item = &'a [u8]> {
        self.metadata.0.values().map(|text| text.get().as_bytes())
    }

    /// The object as another version shows it, with nothing but its metadata, and its mark; `None` if the metadata is too deep.
    fn shown_in(&self, api_version: &str) -> Option<(Value, Marks)> {
        let metadata = serde_json::to_value(&self.metadata.0).ok()?;
        let object = json!({"apiVersion": api_version, "kind": self.kind, "metadata": metadata});
        Some((object, Marks::of_a_shell(format!("{}-only", self.api_version))))
    }

    fn text(&self, field: &str) -> String {
        let text = self.metadata.0.get(field).map_or("", |text| text.get());
        serde_json::from_str(text).unwrap_or_default()
    }
}

impl fmt::Display for Shell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [namespace, name] = ["namespace", "name"].map(|field| self.text(field));
        let slash = if namespace.is_empty() { "" } else { "/" };
        write!(f, "{} {namespace}{slash}{name}", self.kind)
    }
}

/// The stored object (its JSON) with the metadata of its shell.
///
/// # Errors
///
/// The stored object is another one.
pub(super) fn filled(stored: &str, shell: &Value) -> Result<String, String> {
    let same = |stored: &Shell<'_>| Some(stored.text("uid").as_str()) == shell["metadata"]["uid"].as_str();
    if !Shell::of(stored).is_ok_and(|stored| same(&stored)) {
        return Err("the object has been replaced by another one".to_owned());
    }
    let decoded = |error: serde_json::Error| error.to_string();
    let mut fields: BTreeMap<&str, &RawValue> = serde_json::from_str(stored).map_err(decoded)?;
    let metadata = serde_json::value::to_raw_value(&shell["metadata"]).map_err(decoded)?;
    fields.insert("metadata", &metadata);
    serde_json::to_string(&fields).map_err(decoded)
}

impl Converter {
    /// The shell of an object, as a version shows it; `None` if its metadata is too deep.
    pub(super) fn shown(&self, shell: &Shell<'_>, api_version: &str) -> Option<Value> {
        let (mut object, marks) = shell.shown_in(api_version)?;
        self.complete(&mut object);
        Some(self.marked(object, marks))
    }

    /// Adds required fields, which are empty, to the shell of an object that is being deleted. Otherwise its schema would refuse
    /// each change of its finalizers.
    fn complete(&self, shell: &mut Value) {
        let api_version = shell["apiVersion"].as_str().unwrap_or_default();
        if !shell["metadata"]["deletionTimestamp"].is_null()
            && let Some((_, version)) = api_version.rsplit_once('/')
            && let Some(required) = self.assembled().required.get(version)
        {
            required.fill_root(shell);
        }
    }

    /// A shell in another version.
    ///
    /// # Errors
    ///
    /// The marks are made up, because the object has other fields than metadata; or it must not be written.
    pub(super) fn shell(&self, mut object: Value, marks: Marks, api_version: &str) -> Result<Outcome, String> {
        let decoded = self.as_decoded(&object);
        if let Some(fields) = object.as_object_mut() {
            fields.retain(|name, _| ["apiVersion", "kind", "metadata"].contains(&name.as_str()));
        }
        // Its version may have defaults; and it may have been shown before it was deleted.
        let mut completed = object.clone();
        self.complete(&mut completed);
        if ![&object, &completed]
            .iter()
            .any(|shell| self.as_decoded(shell) == decoded)
        {
            return Err(marks.refusal());
        }
        if self.is_stored(api_version) {
            marks.permit_write(&object, &self.fingerprint(&object))?;
            let labels = object.pointer("/metadata/labels").and_then(Value::as_object);
            if labels.is_some_and(serde_json::Map::is_empty)
                && let Some(Value::Object(metadata)) = object.get_mut("metadata")
            {
                metadata.remove("labels");
            }
            return Ok(Outcome::Shell(object));
        }
        object["apiVersion"] = json!(api_version);
        Ok(Outcome::Whole(self.marked(object, marks)))
    }
}
