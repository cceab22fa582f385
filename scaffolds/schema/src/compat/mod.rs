//! Finds what a change of CRDs would break: stored objects, and clients that read and write them.
//!
//! Compares the published CRDs with the current ones.

mod bounds;
mod consequence;
pub(crate) mod conversion;
mod names;
mod schema;

use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// One breaking change.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Break {
    /// The name of the CRD, `foobars.test.example.com`.
    pub crd: String,
    /// The version that it breaks; empty for the kind as a whole.
    pub version: String,
    /// The field inside a custom resource (`spec.items[].name`; `{}` stands for any key of a map); empty where it is not
    /// about a field.
    pub field: String,
    /// The change.
    pub change: String,
    /// The consequence for clients or objects.
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

/// All breaking changes from `old` to `new`, sorted. CRDs are matched by their names.
///
/// # Guarantees
/// Additions that do not affect old objects and old clients are not breaking: optional fields, wider types and bounds, more
/// enum values, more versions. So are constraints that `make manifests` adds to types that decode nothing else: the patterns of dates, times,
/// UUIDs, addresses and quantities, and the limits of `IntOrString`. Constraints that cannot be compared without evaluating them are breaking
/// when they are new or changed: other patterns, `oneOf`/`not`, more branches of `allOf`, fewer of `anyOf`, rules of
/// `x-kubernetes-validations`.
///
/// The consequences follow API servers, which keep stored values that a new schema refuses while nobody changes them.
///
/// # Caveats
/// For a version that was removed, the removal is the only break; its schema is not compared. It is not known here in which versions the objects of
/// a cluster are stored; the former storage version is assumed to be one of them, and so are those of `status.storedVersions`, if the former CRD has
/// a status.
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
            None => found.push(kind("the kind is gone".to_owned(), "all its objects are deleted")),
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
    let stored = before["status"]["storedVersions"].as_array();
    let is_stored = |version: &str| stored.is_some_and(|stored| stored.iter().any(|it| it == version));
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
            None if was["storage"] == true || is_stored(version) => {
                add(
                    String::new(),
                    "the version is gone".to_owned(),
                    "objects are stored in it; keep the version with `served: false` until `make migrate-storage` has run on every cluster",
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
