//! Decodes each object of a list or a watch separately, so that an object that does not fit its type affects no other;
//! and leaves `managedFields` undecoded, which would cost more than the rest of the object.

use std::{borrow::Cow, collections::BTreeMap, fmt::Debug};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Resource,
    core::{DynamicResourceScope, ObjectList, PartialObjectMeta, PartialObjectMetaExt},
};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{echo, managed};
use crate::{isolate::isolated, kind::Kind, object::AnyObject};

/// The beginning of the value of a label, `GROUP/VERSION-only`, of an object that could not be converted from that version: it has nothing but
/// its metadata, and must not be taken for an object with an empty spec.
pub const NOT_CONVERTIBLE: &str = "not-convertible";

/// The longest error text that is kept; serde quotes invalid values in full.
const MAX_ERROR: usize = 512;

/// An object from the API server, decoded as `K` or not.
///
/// Takes the object's JSON text from the response and parses it once as `K`. `managedFields` are a text of their own, which
/// [`managed::records`] reads on request; of an undecodable object, the identifying metadata is parsed once more, and of an
/// [`Echo`](Self::Echo) nothing else. Works with `serde_json` only, and not inside a buffering container (a flattened or untagged
/// one): kube reads lists and watch events directly into their items, because the API server writes `type` before
/// `object`.
#[derive(Debug, Clone)]
pub(super) enum Decoded<K> {
    Valid {
        object: K,
        /// The text from which it was decoded, without `managedFields`.
        text: Box<str>,
        records: Option<Box<str>>,
    },
    /// The event of an own write that is stored: see `echo`.
    Echo {
        metadata: Box<ObjectMeta>,
        text: Box<str>,
        records: Option<Box<str>>,
    },
    Invalid {
        metadata: Box<ObjectMeta>,
        error: String,
    },
}

impl<K: DeserializeOwned> Decoded<K> {
    /// Decodes an object without its `managedFields`.
    pub(super) fn of(text: Box<str>, records: Option<Box<str>>) -> Self {
        let decoded = isolated(|| match unconverted(&text) {
            Some(label) => Err(format!(
                "it could not be converted: it has the label `{label}: {NOT_CONVERTIBLE}`"
            )),
            None => serde_json::from_str(&text).map_err(|error| error.to_string()),
        });
        match decoded.unwrap_or_else(|panic| Err(format!("its decoder panicked: {panic}"))) {
            Ok(object) => Self::Valid { object, text, records },
            Err(error) => Self::Invalid {
                metadata: Box::new(identity(&text)),
                error: shorten(error),
            },
        }
    }
}

impl<'de, K: DeserializeOwned> Deserialize<'de> for Decoded<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        let (rest, records) = split(json.get());
        let (text, records): (Box<str>, _) = (rest.into(), records.map(Into::into));
        Ok(match echo::awaited(|| identity(&text)) {
            Some(metadata) => Self::Echo {
                metadata,
                text,
                records,
            },
            None => Self::of(text, records),
        })
    }
}

/// Decodes the response to a write: its `managedFields` are packed.
pub(crate) fn answer<K: Resource + DeserializeOwned>(json: &str) -> serde_json::Result<K> {
    let (rest, records) = split(json);
    let mut object: K = serde_json::from_str(&rest)?;
    object.meta_mut().managed_fields = records.and_then(|text| managed::records(text, |_| true));
    Ok(object)
}

/// Decodes one object. Its `managedFields` are packed if they nest too deep for a decoder, as those of an object with deep fields do.
pub(crate) fn one<K: Resource + DeserializeOwned>(json: &str) -> serde_json::Result<K> {
    serde_json::from_str(json).or_else(|_| answer(json))
}

/// Decodes the metadata of one object, without those entries of `managedFields` that nest too deep for a decoder.
pub(crate) fn metadata<K: AnyObject>(json: &str) -> serde_json::Result<PartialObjectMeta<K>> {
    let (rest, records) = split(json);
    let mut object: PartialObjectMeta<K> = serde_json::from_str(&rest)?;
    let records: Option<Vec<&RawValue>> = records.map(serde_json::from_str).transpose()?.flatten();
    let entries = records.into_iter().flatten();
    let decoded: Vec<_> = entries
        .filter_map(|entry| serde_json::from_str(entry.get()).ok())
        .collect();
    object.metadata.managed_fields = (!decoded.is_empty()).then_some(decoded);
    Ok(object)
}

/// Decodes a list of the metadata of objects, each separately, and with packed `managedFields`: those of an object whose fields nest
/// too deep for a decoder do, too. Of an object whose metadata cannot be decoded, its name, namespace, uid and version.
pub(crate) fn metadata_of_each<K: AnyObject>(json: &str) -> serde_json::Result<ObjectList<PartialObjectMeta<K>>> {
    let list: ObjectList<Decoded<PartialObjectMeta<K>>> = serde_json::from_str(json)?;
    let object = |decoded: Decoded<PartialObjectMeta<K>>| match decoded {
        Decoded::Valid {
            mut object, records, ..
        } => {
            object.metadata.managed_fields = records.and_then(|text| managed::records(&text, |_| true));
            object
        }
        Decoded::Echo { metadata, .. } | Decoded::Invalid { metadata, .. } => metadata.into_response_partial(),
    };
    Ok(ObjectList {
        types: list.types,
        metadata: list.metadata,
        items: list.items.into_iter().map(object).collect(),
    })
}

/// The text of an object without its `managedFields`, and theirs.
fn split(json: &str) -> (Cow<'_, str>, Option<&str>) {
    match managed::find(json) {
        None => (json.into(), None),
        Some(records) => {
            let rest = [&json[..records.start], "null", &json[records.end..]].concat();
            (rest.into(), Some(&json[records]))
        }
    }
}

/// The label of an object that could not be converted. Whoever may write an object may write its labels, so the label counts only
/// where the runtime itself writes it: on a custom object with nothing but its metadata, as the name of another version of its group;
/// and on one that is being deleted, which has empty required fields. Who may write that may also remove its finalizers.
pub fn unconverted(json: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct LabelledMetadata {
        #[serde(default)]
        labels: BTreeMap<String, String>,
        #[serde(rename = "deletionTimestamp")]
        deleted: Option<String>,
    }
    // Nearly every object ends here.
    if !json.contains(NOT_CONVERTIBLE) {
        return None;
    }
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(json).ok()?;
    let known = |name: &String| ["apiVersion", "kind", "metadata"].contains(&name.as_str());
    let api_version: String = serde_json::from_str(fields.get("apiVersion")?.get()).ok()?;
    let (group, version) = api_version.rsplit_once('/')?;
    let LabelledMetadata { labels, deleted } = serde_json::from_str(fields.get("metadata")?.get()).ok()?;
    if deleted.is_none() && !fields.keys().all(known) {
        return None;
    }
    let is_mark = |name: &str, value: &str| {
        let of = name.strip_suffix("-only").and_then(|name| name.rsplit_once('/'));
        of.is_some_and(|(of, other)| of == group && other != version) && value.starts_with(NOT_CONVERTIBLE)
    };
    let mut labels = labels.into_iter();
    labels.find(|(name, value)| is_mark(name, value)).map(|(name, _)| name)
}

/// Name, namespace, uid and version, even if nothing else can be decoded.
fn identity(json: &str) -> ObjectMeta {
    #[derive(Deserialize)]
    struct Object {
        metadata: NamedMetadata,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct NamedMetadata {
        name: Option<String>,
        namespace: Option<String>,
        uid: Option<String>,
        resource_version: Option<String>,
    }
    let Ok(Object {
        metadata:
            NamedMetadata {
                name,
                namespace,
                uid,
                resource_version,
            },
    }) = serde_json::from_str(json)
    else {
        return ObjectMeta::default();
    };
    ObjectMeta {
        name,
        namespace,
        uid,
        resource_version,
        ..ObjectMeta::default()
    }
}

fn shorten(mut error: String) -> String {
    if error.len() > MAX_ERROR {
        let end = (0..=MAX_ERROR)
            .rev()
            .find(|end| error.is_char_boundary(*end))
            .unwrap_or(0);
        error.truncate(end);
        error.push('…');
    }
    error
}

/// The same endpoints as `K`, in one namespace or in all of them.
impl<K: Resource + 'static> Resource for Decoded<K> {
    type DynamicType = Kind<K>;
    type Scope = DynamicResourceScope;

    fn kind(kind: &Kind<K>) -> Cow<'_, str> {
        kind.kind().into()
    }

    fn group(kind: &Kind<K>) -> Cow<'_, str> {
        kind.group().into()
    }

    fn version(kind: &Kind<K>) -> Cow<'_, str> {
        kind.version().into()
    }

    fn plural(kind: &Kind<K>) -> Cow<'_, str> {
        kind.plural().into()
    }

    /// True for `PartialObjectMeta`: such an informer requests metadata only.
    fn metadata_api() -> bool {
        K::metadata_api()
    }

    fn url_path(kind: &Kind<K>, namespace: Option<&str>) -> String {
        kind.path(namespace)
    }

    fn meta(&self) -> &ObjectMeta {
        match self {
            Self::Valid { object, .. } => object.meta(),
            Self::Echo { metadata, .. } | Self::Invalid { metadata, .. } => metadata,
        }
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        match self {
            Self::Valid { object, .. } => object.meta_mut(),
            Self::Echo { metadata, .. } | Self::Invalid { metadata, .. } => metadata,
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
    use kube::core::DynamicObject;

    use super::*;

    #[test]
    fn of_managed_fields_those_that_nest_too_deep_are_left_out() {
        let deep = "{\"f:a\":".repeat(200) + "{}" + &"}".repeat(200);
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a","managedFields":[
                {{"manager":"tenant","fieldsV1":{deep}}},{{"manager":"ours","subresource":"status","fieldsV1":{{"f:data":{{}}}}}}]}}}}"#
        );
        serde_json::from_str::<ConfigMap>(&text).unwrap_err();
        let managers = |entries: Option<Vec<ManagedFieldsEntry>>| -> Vec<String> {
            entries
                .into_iter()
                .flatten()
                .filter_map(|entry| entry.manager)
                .collect()
        };
        let read = metadata::<ConfigMap>(&text).unwrap();
        assert_eq!(read.metadata.name.as_deref(), Some("a"));
        assert_eq!(managers(read.metadata.managed_fields), ["ours"]);
        let read = one::<ConfigMap>(&text).unwrap();
        assert_eq!(managers(read.metadata.managed_fields), ["tenant"]);
        let none = metadata::<ConfigMap>(r#"{"metadata":{"name":"a","managedFields":null}}"#).unwrap();
        assert!(none.metadata.managed_fields.is_none());
    }

    fn labelled(label: &str, more: &str) -> Decoded<DynamicObject> {
        let metadata = format!(r#"{{"name":"a","labels":{{"{label}":"not-convertible.0a"}}}}"#);
        let text = format!(r#"{{"apiVersion":"test.example.com/v2","kind":"FooBar"{more},"metadata":{metadata}}}"#);
        Decoded::of(text.into(), None)
    }

    #[test]
    fn an_object_that_could_not_be_converted_is_set_aside_though_it_fits_its_type() {
        let Decoded::Invalid { metadata, error } = labelled("test.example.com/v1-only", "") else {
            panic!("it is taken for an empty object");
        };
        assert_eq!(metadata.name.as_deref(), Some("a"));
        let why = "it could not be converted: it has the label `test.example.com/v1-only: not-convertible`";
        assert_eq!(error, why);
    }

    #[test]
    fn an_object_is_not_set_aside_because_somebody_has_given_it_the_label() {
        let own = "test.example.com/v1-only";
        for (label, more) in [
            ("note", ""),
            ("x-only", ""),
            ("other.example.com/v1-only", ""),
            ("test.example.com/v2-only", ""),
            (own, r#","data":{}"#),
            (own, r#","spec":null"#),
        ] {
            assert!(matches!(labelled(label, more), Decoded::Valid { .. }), "{label} {more}");
        }
        // A kind of Kubernetes, whose objects no webhook converts.
        let text = format!(r#"{{"metadata":{{"name":"a","labels":{{"{own}":"not-convertible.0a"}}}}}}"#);
        assert!(matches!(
            Decoded::<ConfigMap>::of(text.into(), None),
            Decoded::Valid { .. }
        ));
    }
}
