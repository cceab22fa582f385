//! What a change of CRDs would break: objects that are stored, and clients that read and write them.
//!
//! Compares CRDs as they were published with CRDs as they are now.

pub(crate) mod conversion;
mod names;
pub(crate) mod published;
mod schema;

use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// One promise that would be broken.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Break {
    /// The name of the CRD, `foobars.test.example.com`.
    pub crd: String,
    /// The version whose promise it is; empty for the kind as a whole.
    pub version: String,
    /// The field inside a custom resource (`spec.items[].name`; `{}` stands for any key of a map); empty where it is not
    /// about a field.
    pub field: String,
    /// What changed.
    pub change: String,
    /// Whom it hurts, and how.
    pub consequence: &'static str,
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.crd)?;
        for part in [&self.version, &self.field].into_iter().filter(|part| !part.is_empty()) {
            write!(f, ", `{part}`")?;
        }
        write!(f, ": {}: {}", self.change, self.consequence)
    }
}

/// Everything that `new` breaks of what `old` promised, sorted. CRDs are told apart by their names.
///
/// # Guarantees
/// Additions that old objects and old clients do not notice are no breaks: optional fields, wider types and bounds, more
/// enum values, more versions. What can only be decided by running it counts as a break when it is new or differs:
/// patterns, `allOf`/`anyOf`/`oneOf`/`not`, rules of `x-kubernetes-validations`.
///
/// # Caveats
/// A version that is gone is compared with nothing: that it went is the break. Which versions the objects of a
/// cluster are stored in is not known here; the former storage version counts as one.
pub fn breaking(old: &[Value], new: &[Value]) -> Vec<Break> {
    let mut found = Vec::new();
    for before in old {
        let name = text(before, "/metadata/name");
        let kind = |change: String, consequence| Break {
            crd: name.to_owned(),
            version: String::new(),
            field: String::new(),
            change,
            consequence,
        };
        match new.iter().find(|after| text(after, "/metadata/name") == name) {
            None => found.push(kind(
                "the kind is gone".to_owned(),
                "all its objects are deleted with it",
            )),
            Some(after) => {
                found.extend(names::changes(before, after).map(|(change, consequence)| kind(change, consequence)));
                found.extend(versions(name, before, after));
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

fn versions(crd: &str, before: &Value, after: &Value) -> Vec<Break> {
    let mut found = Vec::new();
    let now = by_name(after);
    for (version, was) in by_name(before) {
        let mut add = |field: String, change: String, consequence| {
            found.push(Break {
                crd: crd.to_owned(),
                version: version.to_owned(),
                field,
                change,
                consequence,
            });
        };
        let served = was["served"] == true;
        match now.get(version) {
            None if was["storage"] == true => {
                add(
                    String::new(),
                    "the version is gone".to_owned(),
                    "objects are stored in it; keep it unserved until they are migrated",
                );
            }
            None if served => add(
                String::new(),
                "the version is gone".to_owned(),
                "clients of it get a 404",
            ),
            None => {}
            Some(is) => {
                if served && is["served"] != true {
                    add(
                        String::new(),
                        "the version is not served".to_owned(),
                        "clients of it get a 404",
                    );
                }
                for (change, consequence) in names::of_version(was, is) {
                    add(String::new(), change, consequence);
                }
                for it in schema::changes(root(was), root(is)) {
                    add(it.field, it.change, it.consequence);
                }
            }
        }
    }
    found
}

fn by_name(crd: &Value) -> BTreeMap<&str, &Value> {
    let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
    versions.map(|version| (text(version, "/name"), version)).collect()
}

fn root(version: &Value) -> &Value {
    &version["schema"]["openAPIV3Schema"]
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
