//! The case file: a kind and its base object, then lines of edits.

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The namespace of namespaced objects.
pub const NAMESPACE: &str = "kinds";

/// A request that creates an object, and perhaps one that changes it.
pub struct Case {
    /// The line.
    pub text: String,
    /// `apps/v1 Deployment`.
    pub kind: String,
    /// The path of all objects of the kind.
    pub collection: String,
    /// For an update: the edits of the object that the server returned.
    pub change: Option<String>,
    /// The subresource of the change.
    pub subresource: String,
    /// The body of the first request.
    pub sent: Value,
}

impl Case {
    /// The object's name.
    pub fn name(&self) -> Result<&str> {
        self.sent["metadata"]["name"].as_str().context("no name")
    }
}

/// All cases of a file.
pub fn read(text: &str) -> Result<Vec<Case>> {
    let (mut out, mut kind, mut collection, mut base) = (Vec::new(), String::new(), String::new(), Value::Null);
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(head) = line.strip_prefix("= ") {
            let parts: Vec<&str> = head.splitn(4, ' ').collect();
            let [version, name, plural, object] = parts.as_slice() else {
                bail!("`{line}` does not have four words")
            };
            kind = format!("{version} {name}");
            base = serde_json::from_str(object).with_context(|| line.to_owned())?;
            base["apiVersion"] = (*version).into();
            base["kind"] = (*name).into();
            collection = place(version, plural);
            continue;
        }
        let case = case(line, &base).with_context(|| line.to_owned())?;
        out.push(Case {
            kind: kind.clone(),
            collection: collection.clone(),
            ..case
        });
    }
    Ok(out)
}

fn place(version: &str, plural: &str) -> String {
    let root = if version.contains('/') { "apis" } else { "api" };
    match plural.strip_prefix('!') {
        Some(plural) => format!("/{root}/{version}/{plural}"),
        None => format!("/{root}/{version}/namespaces/{NAMESPACE}/{plural}"),
    }
}

fn case(line: &str, base: &Value) -> Result<Case> {
    let (first, second) = match line.split_once(" => ") {
        Some((first, second)) => (first, Some(second)),
        None => (line, None),
    };
    let mut sent = base.clone();
    edit(&mut sent, first)?;
    let mut case = Case {
        text: line.to_owned(),
        kind: String::new(),
        collection: String::new(),
        change: None,
        subresource: String::new(),
        sent,
    };
    if let Some(second) = second {
        let edits = match second.strip_prefix('@') {
            Some(rest) => {
                let (subresource, edits) = rest.split_once(' ').context("no edits after the subresource")?;
                subresource.clone_into(&mut case.subresource);
                edits
            }
            None => second,
        };
        case.change = Some(edits.to_owned());
    }
    Ok(case)
}

/// Applies edits: `path = value` sets, `- path` removes; paths are JSON pointers without the first slash.
pub fn edit(object: &mut Value, edits: &str) -> Result<()> {
    for edit in edits.split(" && ").filter(|edit| *edit != ".") {
        match edit.strip_prefix("- ") {
            Some(path) => remove(object, path),
            None => {
                let (path, value) = edit.split_once(" = ").context("an edit is not `path = value`")?;
                let value = serde_json::from_str(value).with_context(|| value.to_owned())?;
                set(object, path, value)?;
            }
        }
    }
    Ok(())
}

fn remove(object: &mut Value, path: &str) {
    let (outer, name) = path.rsplit_once('/').unwrap_or(("", path));
    let pointer = if outer.is_empty() {
        String::new()
    } else {
        format!("/{outer}")
    };
    match object.pointer_mut(&pointer) {
        Some(Value::Object(fields)) => _ = fields.remove(name),
        Some(Value::Array(items)) => _ = name.parse::<usize>().map(|index| items.remove(index)),
        _ => {}
    }
}

fn set(object: &mut Value, path: &str, value: Value) -> Result<()> {
    let mut at = object;
    for part in path.split('/') {
        let part = part.replace("~1", "/");
        at = match at {
            Value::Array(items) => {
                let index: usize = part.parse()?;
                if index == items.len() {
                    items.push(Value::Null);
                }
                items.get_mut(index).context("the list has no such item")?
            }
            other => &mut other[part],
        };
    }
    *at = value;
    Ok(())
}
