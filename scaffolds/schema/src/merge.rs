//! Merges the CRDs of Rust types that are versions of one kind.

use crate::describe::Described;
use crate::{finding::Finding, version};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One kind: its CRD with all versions, and which Rust type each version comes from.
pub(crate) struct Kind {
    pub crd: Value,
    /// Version name to type name.
    pub types: BTreeMap<String, String>,
}

/// Merges the CRDs of the same resource (plural and group). CRDs that cannot be merged are left out, with findings.
pub(crate) fn versions(described: Vec<Described>) -> (Vec<Kind>, Vec<Finding>) {
    let mut groups: BTreeMap<String, Vec<Described>> = BTreeMap::new();
    for one in described {
        let text = |path: &str| one.crd.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let name = format!("{}.{}", text("/spec/names/plural"), text("/spec/group"));
        groups.entry(name).or_default().push(one);
    }
    let mut kinds = Vec::new();
    let mut findings = Vec::new();
    for (_, group) in groups {
        match merge(group) {
            Ok(kind) => kinds.push(kind),
            Err(refused) => findings.extend(refused),
        }
    }
    findings.extend(shared_names(&kinds));
    (kinds, findings)
}

fn merge(group: Vec<Described>) -> Result<Kind, Vec<Finding>> {
    let mut findings = Vec::new();
    let mut types = BTreeMap::new();
    let mut all = Vec::new();
    let mut group = group.into_iter();
    // `versions` never passes an empty group.
    let Some(first) = group.next() else {
        return Err(findings);
    };
    let (base_name, mut crd) = (first.type_name, first.crd);
    take_versions(&base_name, &mut crd, &mut all, &mut types, &mut findings);
    for Described {
        type_name,
        crd: mut other,
    } in group
    {
        take_versions(&type_name, &mut other, &mut all, &mut types, &mut findings);
        for path in [
            "/spec/group",
            "/spec/names/kind",
            "/spec/names/plural",
            "/spec/names/singular",
            "/spec/scope",
        ] {
            if crd.pointer(path) != other.pointer(path) {
                findings.push(mismatch(&type_name, &base_name, path, &crd, &other));
            }
        }
        for path in ["/spec/names/shortNames", "/spec/names/categories"] {
            unite_lists(&mut crd, &other, path);
        }
        for path in ["/metadata/labels", "/metadata/annotations"] {
            if let Some(key) = unite_maps(&mut crd, &other, path) {
                // The escapes of a JSON pointer, RFC 6901, section 3.
                let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                findings.push(mismatch(&type_name, &base_name, &path, &crd, &other));
            }
        }
    }
    all.sort_by(|a, b| version::priority(name(a), name(b)));
    findings.extend(storage(&all, &types));
    if let Some(spec) = crd.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("versions".into(), Value::Array(all));
    }
    if findings.is_empty() {
        Ok(Kind { crd, types })
    } else {
        Err(findings)
    }
}

fn name(version: &Value) -> &str {
    version["name"].as_str().unwrap_or_default()
}

fn take_versions(
    type_name: &str,
    crd: &mut Value,
    all: &mut Vec<Value>,
    types: &mut BTreeMap<String, String>,
    findings: &mut Vec<Finding>,
) {
    let Some(Value::Array(versions)) = crd.pointer_mut("/spec/versions").map(Value::take) else {
        return;
    };
    for version in versions {
        if let Some(earlier) = types.insert(name(&version).to_owned(), type_name.to_owned()) {
            findings.push(Finding {
                type_name: type_name.to_owned(),
                field: String::new(),
                message: format!("has the same resource and version `{}` as `{earlier}`", name(&version)),
                remedy: Some("give one of them another `version = \"…\"` or another `plural = \"…\"`".to_owned()),
            });
        } else {
            all.push(version);
        }
    }
}

fn mismatch(type_name: &str, base_name: &str, path: &str, base: &Value, other: &Value) -> Finding {
    let show = |crd: &Value| crd.pointer(path).map_or("nothing".to_owned(), Value::to_string);
    Finding {
        type_name: type_name.to_owned(),
        field: path
            .trim_start_matches('/')
            .replace('/', ".")
            .replace("~1", "/")
            .replace("~0", "~"),
        message: format!(
            "is {} here and {} in `{base_name}`, though both are versions of one resource",
            show(other),
            show(base)
        ),
        remedy: Some("write the same `#[kube(…)]` attribute on every version".to_owned()),
    }
}

/// Checks that exactly one version is the storage version. By default every derive marks its version as stored, so with several versions
/// the author has to choose: a choice made here could store objects in another version without notice.
fn storage(versions: &[Value], types: &BTreeMap<String, String>) -> Vec<Finding> {
    let stored: Vec<&str> = versions
        .iter()
        .filter(|version| version["storage"] == true)
        .map(name)
        .collect();
    let type_of = |version: &str| types.get(version).cloned().unwrap_or_default();
    match stored.as_slice() {
        [_] => Vec::new(),
        [] => versions
            .first()
            .map(|version| Finding {
                type_name: type_of(name(version)),
                field: String::new(),
                message: "no version is marked as the storage version".to_owned(),
                remedy: Some("remove `storage = false` from the version that should be stored".to_owned()),
            })
            .into_iter()
            .collect(),
        [_, others @ ..] => others
            .iter()
            .map(|version| Finding {
                type_name: type_of(version),
                field: String::new(),
                message: format!("versions {} are all marked as the storage version", stored.join(", ")),
                remedy: Some("write `#[kube(storage = false)]` on all versions except the storage version".to_owned()),
            })
            .collect(),
    }
}

fn unite_lists(base: &mut Value, other: &Value, path: &str) {
    let Some(Value::Array(more)) = other.pointer(path) else {
        return;
    };
    let slot = at(base, path).map(|slot| slot.or_insert_with(|| Value::Array(Vec::new())));
    let Some(Value::Array(list)) = slot else { return };
    for item in more {
        if !list.contains(item) {
            list.push(item.clone());
        }
    }
}

/// Adds the entries of `other`; returns a key that already has another value, if any.
fn unite_maps(base: &mut Value, other: &Value, path: &str) -> Option<String> {
    let Some(Value::Object(more)) = other.pointer(path) else {
        return None;
    };
    let Value::Object(map) = at(base, path)?.or_insert_with(|| Value::Object(Map::new())) else {
        return None;
    };
    for (key, value) in more {
        if map.get(key).is_some_and(|present| present != value) {
            return Some(key.clone());
        }
        map.insert(key.clone(), value.clone());
    }
    None
}

/// The entry at a path of two or three names; all but the last must exist.
fn at<'a>(crd: &'a mut Value, path: &str) -> Option<serde_json::map::Entry<'a>> {
    let (parent, key) = path.rsplit_once('/')?;
    Some(crd.pointer_mut(parent)?.as_object_mut()?.entry(key))
}

/// Resources of one group must not share a name, nor a kind: the API server would establish only the first. Short names are names as well, and
/// kinds of lists are kinds.
fn shared_names(kinds: &[Kind]) -> Vec<Finding> {
    let mut seen: BTreeMap<(&str, bool, String), &Kind> = BTreeMap::new();
    let mut findings = Vec::new();
    for kind in kinds {
        let group = text(kind, "/spec/group");
        let key = |field: &str, name: &str| (group, ["kind", "listKind"].contains(&field), name.to_owned());
        let names = names(kind);
        let mut shared = names
            .iter()
            .filter_map(|(field, name)| Some((*field, name, *seen.get(&key(field, name))?)));
        if let Some((field, name, earlier)) = shared.next() {
            let [plural, other] = [kind, earlier].map(|it| text(it, "/spec/names/plural"));
            let (field, message, remedy) = if field == "kind" && *name == text(earlier, "/spec/names/kind") {
                let message = format!("the kind `{name}` has two plurals, `{other}` and `{plural}`");
                ("plural", message, "write the same `plural = \"…\"` on every version")
            } else {
                let message = format!(
                    "`{name}` is also a name of `{}` in the same group: API servers would not serve one of them",
                    type_name(earlier)
                );
                (
                    field,
                    message,
                    "give one of them another name in `#[kube(kind = …, plural = …, singular = …, shortname = …)]`",
                )
            };
            findings.push(Finding {
                type_name: type_name(kind).to_owned(),
                field: format!("spec.names.{field}"),
                message,
                remedy: Some(remedy.to_owned()),
            });
        }
        for (field, name) in &names {
            seen.entry(key(field, name)).or_insert(kind);
        }
    }
    findings
}

fn text<'k>(kind: &'k Kind, path: &str) -> &'k str {
    kind.crd.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

fn type_name(kind: &Kind) -> &str {
    kind.types.values().next().map_or("", String::as_str)
}

/// The names of a resource by their fields, with those that API servers add.
fn names(kind: &Kind) -> Vec<(&'static str, String)> {
    let own = text(kind, "/spec/names/kind");
    let or = |path: &str, default: String| match text(kind, path) {
        "" => default,
        name => name.to_owned(),
    };
    let mut names = vec![
        ("kind", own.to_owned()),
        ("listKind", or("/spec/names/listKind", format!("{own}List"))),
        ("plural", text(kind, "/spec/names/plural").to_owned()),
        ("singular", or("/spec/names/singular", own.to_lowercase())),
    ];
    let short = kind.crd["spec"]["names"]["shortNames"].as_array().into_iter().flatten();
    names.extend(
        short
            .filter_map(Value::as_str)
            .map(|name| ("shortNames", name.to_owned())),
    );
    names
}
