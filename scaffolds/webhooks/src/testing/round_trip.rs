//! Whether a conversion loses nothing and makes valid objects: thousands of objects are converted back and forth.

use std::{collections::BTreeMap, fmt};

use kube::CustomResourceExt;
use kubewright_runtime::{Error, Object, Result};
use kubewright_schema::examples::{Dice, Examples, count};
use kubewright_schema::{Options, assemble, value::Structural};
use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::conversion::{Converter, Hub, annotation, hidden};

/// The number of objects of each version that are converted to each other version.
const OBJECTS: usize = 1_000;
/// The number of values in all these objects together, after which no more objects are made: objects with a Pod template have thousands.
const VALUES: usize = 30_000;

/// The result of [`round_trips`].
#[derive(Debug)]
pub struct RoundTrips {
    /// The number of objects that were converted back and forth.
    pub objects: usize,
    /// Fields that a version alone can hold, each with the shortest object that has a value there.
    only: BTreeMap<String, BTreeMap<String, String>>,
}

impl RoundTrips {
    /// The fields that this version alone can hold, as `spec.tries`, sorted: those that were kept in an annotation. A field
    /// that the functions forget is among them. Fields in items of lists are not.
    pub fn only(&self, version: &str) -> Vec<&str> {
        let fields = self.only.get(version);
        fields.into_iter().flatten().map(|(field, _)| field.as_str()).collect()
    }
}

/// Converts a thousand objects of each version to each other version and back, unchanged and changed in between; fewer if
/// they have more than 30,000 values together. The objects are made up, the same ones each time, and valid under the
/// schema of their version. [`RoundTrips`] prints an object for each field that one version alone can hold.
///
/// ```
/// # mod v1 {
/// #     #[derive(Clone, Debug, kube::CustomResource, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
/// #     #[kube(group = "test.example.com", version = "v1", kind = "FooBar", namespaced)]
/// #     pub struct FooBarSpec { pub target: String }
/// # }
/// # mod v2 {
/// #     #[derive(Clone, Debug, kube::CustomResource, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
/// #     #[kube(group = "test.example.com", version = "v2", kind = "FooBar", namespaced, storage = false)]
/// #     pub struct FooBarSpec { pub target: String, pub tries: Option<u8> }
/// # }
/// # use kubewright_runtime::Result;
/// # use kubewright_webhooks::{Hub, testing::round_trips};
/// # fn to_hub(it: v2::FooBar) -> Result<v1::FooBar> {
/// #     Ok(v1::FooBar { metadata: it.metadata, spec: v1::FooBarSpec { target: it.spec.target } })
/// # }
/// # fn from_hub(it: v1::FooBar) -> Result<v2::FooBar> {
/// #     Ok(v2::FooBar { metadata: it.metadata, spec: v2::FooBarSpec { target: it.spec.target, tries: None } })
/// # }
/// let found = round_trips(Hub::<v1::FooBar>::new().spoke(to_hub, from_hub)).unwrap();
/// assert_eq!(found.only("v2"), ["spec.tries"]);
/// assert!(found.only("v1").is_empty());
/// ```
///
/// # Guarantees
///
/// If it succeeds, none of these conversions failed or panicked, each result was valid under the schema of its version,
/// which no API server checks, and each object that came back was what it had been.
///
/// # Errors
///
/// [`Error::Setup`] with the object, the versions and the reason; or if no valid object can be made up for a version,
/// because of a pattern or a rule.
pub fn round_trips<H: Object + CustomResourceExt + JsonSchema>(hub: Hub<H>) -> Result<RoundTrips> {
    let converter = hub.converter()?;
    let group = converter.group().to_owned();
    let mut found = RoundTrips {
        objects: 0,
        only: BTreeMap::new(),
    };
    let versions = versions(&converter)?;
    for from in &versions {
        for to in versions.iter().filter(|to| to.name != from.name) {
            let trip = Trip {
                converter: &converter,
                group: &group,
                from,
                to,
            };
            let (mut dice, mut values) = (Dice::default(), 0);
            for number in 0..OBJECTS {
                let object = from.object(&mut dice, number)?;
                let only = found.only.entry(from.name.clone()).or_default();
                let hidden = trip.there_and_back(&object, &mut dice)?;
                let text = if hidden.is_empty() {
                    String::new()
                } else {
                    object.to_string()
                };
                for field in hidden {
                    let shortest = only.entry(field).or_insert_with(|| text.clone());
                    if text.len() < shortest.len() {
                        shortest.clone_from(&text);
                    }
                }
                found.objects += 1;
                values += count(&object);
                if values > VALUES {
                    break;
                }
            }
        }
    }
    Ok(found)
}

/// A version with its schema and examples.
struct VersionSchema {
    name: String,
    api_version: String,
    kind: String,
    schema: Structural,
    examples: Examples,
}

/// All versions, with the schemas that `make manifests` writes.
fn versions(converter: &Converter) -> Result<Vec<VersionSchema>> {
    let definitions = assemble(&converter.described(), &Options::default()).map_err(|findings| {
        let lines: Vec<_> = findings.iter().map(ToString::to_string).collect();
        Error::Setup(lines.join("\n"))
    })?;
    let spec = definitions.first().map(|it| it["spec"].clone()).unwrap_or_default();
    let of = |version: &Value| {
        let name = version["name"].as_str().unwrap_or_default().to_owned();
        let schema = &version["schema"]["openAPIV3Schema"];
        VersionSchema {
            api_version: format!("{}/{name}", converter.group()),
            kind: spec["names"]["kind"].as_str().unwrap_or_default().to_owned(),
            schema: Structural::compile(schema),
            examples: Examples::typical(schema),
            name,
        }
    };
    Ok(spec["versions"].as_array().into_iter().flatten().map(of).collect())
}

impl VersionSchema {
    /// A valid object.
    fn object(&self, dice: &mut Dice, number: usize) -> Result<Value> {
        const TRIES: usize = 200;
        let mut cause = "a required field has a pattern that none of the values at hand matches".to_owned();
        for _ in 0..TRIES {
            let Some(mut object) = self.examples.object(dice) else {
                continue;
            };
            object["apiVersion"] = json!(self.api_version);
            object["kind"] = json!(self.kind);
            object["metadata"] = json!({"name": format!("a-{number}"), "namespace": "default", "uid": "u"});
            if dice.below(2) == 0 {
                object["metadata"]["labels"] = json!({"app": "a"});
                object["metadata"]["annotations"] = json!({"note": "b"});
            }
            self.schema.default(&mut object);
            match self.schema.validate(&object).first() {
                None => return Ok(object),
                Some(first) => cause = first.to_string(),
            }
        }
        let version = &self.name;
        Err(Error::Setup(format!(
            "no valid object of {version} can be made up: {cause}"
        )))
    }

    /// As an API server returns an object of this version that was converted and stored.
    ///
    /// # Errors
    ///
    /// The reason, if it would refuse the object.
    fn stored(&self, object: &Value) -> Result<Value, String> {
        let mut stored = object.clone();
        let unknown = self.schema.prune(&mut stored);
        if !unknown.is_empty() {
            return Err(format!("its schema does not know {}", unknown.join(", ")));
        }
        self.schema.default(&mut stored);
        let causes: Vec<_> = self.schema.validate(&stored).iter().map(ToString::to_string).collect();
        match causes.is_empty() {
            true => Ok(stored),
            false => Err(causes.join("; ")),
        }
    }
}

/// From a version to another one and back.
struct Trip<'a> {
    converter: &'a Converter,
    group: &'a str,
    from: &'a VersionSchema,
    to: &'a VersionSchema,
}

impl Trip<'_> {
    /// Returns the fields that the other version cannot hold.
    fn there_and_back(&self, object: &Value, dice: &mut Dice) -> Result<Vec<String>> {
        let failed = |why: &dyn fmt::Display| {
            let (from, to) = (&self.from.name, &self.to.name);
            Error::Setup(format!(
                "an object of {from}, converted to {to} and back: {why}\n{object:#}"
            ))
        };
        let there = self.converter.convert(object.clone(), &self.to.api_version);
        let there = there.map_err(|error| failed(&error))?;
        let hidden = hidden(&there, &annotation(self.group, &self.from.name));
        let stored = self
            .to
            .stored(&there)
            .map_err(|why| failed(&format!("in {}: {why}", self.to.name)))?;
        let back = self.back(&there).map_err(|why| failed(&why))?;
        if back != *object {
            return Err(failed(&format!("it comes back as\n{back:#}")));
        }
        // The other version may have defaults of its own.
        self.back(&stored).map_err(|why| failed(&why))?;
        self.changed(stored, dice).map_err(|why| failed(&why))?;
        Ok(hidden)
    }

    fn back(&self, object: &Value) -> Result<Value, String> {
        let back = self.converter.convert(object.clone(), &self.from.api_version);
        back.map_err(|error| error.to_string())
    }

    /// Without the annotations of the runtime itself.
    fn bare(&self, mut object: Value) -> Value {
        if let Some(Value::Object(annotations)) = object.pointer_mut("/metadata/annotations") {
            for version in [self.from, self.to] {
                annotations.remove(&annotation(self.group, &version.name));
            }
            let is_empty = annotations.is_empty();
            if let Some(metadata) = object["metadata"].as_object_mut().filter(|_| is_empty) {
                metadata.remove("annotations");
            }
        }
        object
    }

    /// Changes a field of the spec of an object in the other version, as a client does, and converts it back: the change
    /// has to survive.
    ///
    /// # Errors
    ///
    /// A description of a change that did not survive.
    fn changed(&self, mut object: Value, dice: &mut Dice) -> Result<(), String> {
        let other = self.to.object(dice, 0).map_err(|error| error.to_string())?;
        let Some(fields) = other["spec"].as_object().filter(|fields| !fields.is_empty()) else {
            return Ok(());
        };
        let (name, value) = dice.pick(&fields.iter().collect::<Vec<_>>());
        object["spec"][name.as_str()] = (*value).clone();
        if !self.to.schema.validate(&object).is_empty() {
            // Together they are not what a client could write.
            return Ok(());
        }
        let changed = format!("after spec.{name} was changed to {value}");
        let back = self.back(&object).map_err(|why| format!("{changed}: {why}"))?;
        self.from
            .stored(&back)
            .map_err(|why| format!("{changed}, in {}: {why}", self.from.name))?;
        let again = self.converter.convert(back, &self.to.api_version);
        let again = again.map_err(|why| format!("{changed}: {why}"))?;
        match self.bare(again.clone()) == self.bare(object) {
            true => Ok(()),
            false => Err(format!("{changed}, it is\n{again:#}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversion::tests::kinds::{to_v1, to_v2, v1, v2};

    #[test]
    fn the_fields_that_one_version_alone_has_are_found() {
        let from_hub = |mut hub: v1::FooBar| {
            if to_v2(hub.clone()).is_err() {
                hub.spec.target = "a:1".to_owned();
            }
            to_v2(hub)
        };
        let found = round_trips(Hub::new().spoke(to_v1, from_hub)).unwrap();
        assert_eq!(found.objects, 2 * OBJECTS);
        assert_eq!(found.only("v1"), ["spec.colour"]);
        assert_eq!(found.only("v2"), ["spec.tries"]);
        let printed = format!("{found:?}");
        assert!(
            printed.contains(r#""spec.tries": "{\"apiVersion\":\"test.example.com/v2"#),
            "{printed}"
        );
    }

    #[test]
    fn a_function_that_fails_for_some_objects_is_found_with_the_object() {
        let to_hub = |_: v2::FooBar| Err::<v1::FooBar, _>("no way");
        let from_hub = |old: v1::FooBar| match old.spec.colour {
            Some(_) => Err("coloured".to_owned()),
            None => to_v2(old),
        };
        let error = round_trips(Hub::new().spoke(to_hub, from_hub)).unwrap_err().to_string();
        assert!(error.starts_with("an object of v"), "{error}");
        assert!(error.contains("no way") || error.contains("coloured"), "{error}");
        assert!(error.contains("\"apiVersion\": \"test.example.com/v"), "{error}");
    }

    /// Two versions with a whole Pod template.
    mod pods {
        use k8s_openapi::api::core::v1::PodTemplateSpec;
        use kube::CustomResource;
        use schemars::JsonSchema;
        use serde::{Deserialize, Serialize};

        pub mod v1 {
            use super::*;

            #[derive(CustomResource, Clone, Debug, Deserialize, JsonSchema, Serialize)]
            #[kube(group = "test.example.com", version = "v1", kind = "Pods", namespaced)]
            pub struct PodsSpec {
                pub template: PodTemplateSpec,
            }
        }

        pub mod v2 {
            use super::*;

            #[derive(CustomResource, Clone, Debug, Deserialize, JsonSchema, Serialize)]
            #[kube(
                group = "test.example.com",
                version = "v2",
                kind = "Pods",
                namespaced,
                storage = false
            )]
            pub struct PodsSpec {
                pub pod: PodTemplateSpec,
            }
        }
    }

    #[test]
    fn of_large_objects_there_are_fewer() {
        use pods::{v1, v2};
        let to_hub = |it: v2::Pods| {
            let spec = v1::PodsSpec { template: it.spec.pod };
            Ok::<_, String>(v1::Pods {
                metadata: it.metadata,
                spec,
            })
        };
        let from_hub = |it: v1::Pods| {
            let spec = v2::PodsSpec { pod: it.spec.template };
            Ok::<_, String>(v2::Pods {
                metadata: it.metadata,
                spec,
            })
        };
        let found = round_trips(Hub::new().spoke(to_hub, from_hub)).unwrap();
        assert!((200..OBJECTS).contains(&found.objects), "{found:?}");
        assert!(found.only("v1").is_empty() && found.only("v2").is_empty(), "{found:?}");
    }
}
