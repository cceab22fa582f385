//! The fields of a schema, in the order of their paths.

use super::markdown::{code, prose};
use super::{list, text, types};
use serde_json::Value;

/// One field.
#[derive(Debug)]
pub struct Row {
    /// Its path: `[]` for each item of a list, `.*` for each value of a map.
    pub path: String,
    pub kind: String,
    pub rules: Vec<String>,
    pub description: String,
}

/// The fields of an object with that schema. If a field of `spec` or `status` has more than `most` fields below it, they are left
/// out, and its row contains the command that lists them: `explain` with the field's path after a dot.
pub fn rows(schema: &Value, explain: &str, most: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, field) in properties(schema) {
        // The server's own fields are the same for all kinds.
        if !matches!(name, "apiVersion" | "kind" | "metadata") {
            let place = Place {
                path: name.to_owned(),
                explain: format!("{explain}.{name}"),
                is_top: true,
            };
            walk(&mut rows, place, field, is_required(schema, name), most);
        }
    }
    rows
}

/// The place of a field.
struct Place {
    path: String,
    explain: String,
    is_top: bool,
}

fn walk(rows: &mut Vec<Row>, place: Place, schema: &Value, required: bool, most: usize) {
    let mut rules = types::checks(schema);
    if required {
        rules.insert(0, "required".to_owned());
    }
    let below = count(schema);
    let listed = place.is_top || below <= most;
    if !listed {
        rules.push(format!("{below} fields: {}", code(&place.explain)));
    }
    rows.push(Row {
        path: place.path.clone(),
        kind: types::name(schema),
        rules,
        description: prose(text(schema, "/description")),
    });
    if listed {
        let (object, suffix) = innermost(schema);
        for (name, field) in properties(object) {
            let inner = Place {
                path: format!("{}{suffix}.{name}", place.path),
                explain: format!("{}.{name}", place.explain),
                is_top: false,
            };
            walk(rows, inner, field, is_required(object, name), most);
        }
    }
}

/// The schema of what a list or a map holds in the end, and what that adds to the path.
fn innermost(schema: &Value) -> (&Value, String) {
    let (mut schema, mut suffix) = (schema, String::new());
    loop {
        let (inner, step) = match (schema.get("items"), schema.get("additionalProperties")) {
            (Some(items), _) => (items, "[]"),
            (_, Some(values)) if values.is_object() => (values, ".*"),
            _ => return (schema, suffix),
        };
        schema = inner;
        suffix.push_str(step);
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, field)| (name.as_str(), field))
}

fn is_required(schema: &Value, name: &str) -> bool {
    list(schema, "/required").any(|it| it.as_str() == Some(name))
}

/// The number of fields below this one. Recursion is as deep as the types of the project.
fn count(schema: &Value) -> usize {
    properties(innermost(schema).0).map(|(_, field)| 1 + count(field)).sum()
}
