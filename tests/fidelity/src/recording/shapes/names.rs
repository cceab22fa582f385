//! Names, scopes, verbs and subresources, one line each, from a discovery document.

use std::{collections::BTreeMap, fmt::Write};

use anyhow::{Context, Result};
use serde_json::Value;

/// The wanted resources that can be listed, without their subresources.
pub fn plurals<'a>(list: &'a Value, wanted: &str) -> Result<Vec<&'a str>> {
    let listed = |resource: &&Value| {
        resource["verbs"]
            .as_array()
            .is_some_and(|it| it.contains(&"list".into()))
    };
    let names = wanted_of(list, wanted)?
        .into_iter()
        .filter(listed)
        .map(|resource| text(resource, "name"));
    Ok(names.filter(|name| !name.contains('/')).collect())
}

/// Appends one line for each wanted resource and indented lines for its columns and subresources.
pub fn write(list: &Value, wanted: &str, tables: &BTreeMap<String, Value>, out: &mut String) -> Result<()> {
    let group_version = text(list, "groupVersion");
    for resource in wanted_of(list, wanted)? {
        let name = text(resource, "name");
        let (verbs, kind) = (joined(resource, "verbs"), text(resource, "kind"));
        if let Some((_, subresource)) = name.split_once('/') {
            let speaks = match (text(resource, "group"), text(resource, "version")) {
                ("", "") => group_version.to_owned(),
                (group, version) => format!("{group}/{version}"),
            };
            writeln!(out, " {subresource} {speaks} {kind} {verbs}")?;
            continue;
        }
        let scope = if resource["namespaced"] == true {
            "namespaced"
        } else {
            "cluster"
        };
        let singular = text(resource, "singularName");
        write!(out, "{group_version} {kind} {name} {singular} {scope} {verbs}")?;
        for (mark, value) in [
            ("short", joined(resource, "shortNames")),
            ("categories", joined(resource, "categories")),
            ("hash", text(resource, "storageVersionHash").to_owned()),
        ] {
            if !value.is_empty() {
                write!(out, " {mark}={value}")?;
            }
        }
        writeln!(out)?;
        // Reviews cannot be listed.
        if let Some(table) = tables.get(name) {
            writeln!(out, " |{}", columns(table))?;
        }
    }
    Ok(())
}

/// Name, type, format and priority of each column.
fn columns(table: &Value) -> String {
    let columns = table["columnDefinitions"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let each = columns.iter().map(|column| {
        let priority = column["priority"].as_i64().unwrap_or_default();
        format!(
            "{}:{}:{}:{priority}",
            text(column, "name"),
            text(column, "type"),
            text(column, "format")
        )
    });
    each.collect::<Vec<_>>().join("|")
}

/// The definitions of the wanted kinds, and those of their subresources if the same document has them.
pub fn kinds(list: &Value, wanted: &str, schemas: &BTreeMap<String, Value>) -> Vec<String> {
    let kinds: Vec<&str> = wanted_of(list, wanted)
        .unwrap_or_default()
        .iter()
        .map(|r| text(r, "kind"))
        .collect();
    schemas
        .iter()
        .filter(|(name, schema)| {
            let kind = name.rsplit('.').next().unwrap_or_default();
            let item = kind.strip_suffix("List").unwrap_or(kind);
            (kinds.contains(&kind) || kinds.contains(&item)) && schema.get("x-kubernetes-group-version-kind").is_some()
        })
        .map(|(name, _)| name.clone())
        .collect()
}

fn wanted_of<'a>(list: &'a Value, wanted: &str) -> Result<Vec<&'a Value>> {
    let resources = list["resources"].as_array().context("no resources")?;
    let is_wanted = |resource: &&Value| {
        let plural = text(resource, "name").split('/').next().unwrap_or_default();
        wanted == "*" || wanted.split_whitespace().any(|name| name == plural)
    };
    Ok(resources.iter().filter(is_wanted).collect())
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn joined(value: &Value, field: &str) -> String {
    let items = value[field].as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",")
}
