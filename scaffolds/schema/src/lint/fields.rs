//! The rules of paths to fields of a schema: selectable fields, and the `fieldPath` of validation rules.

use kubewright_machinery::cause::{Cause, Path};
use serde_json::{Map, Value};

type Schema = Map<String, Value>;

/// The server's limit of selectable fields (KEP-4358).
const MOST_SELECTABLE: usize = 8;

/// Checks the `selectableFields` of a version.
pub(super) fn selectable(fields: &[Value], root: &Schema, path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut seen: Vec<Vec<String>> = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let at = path.index(index).child("jsonPath");
        let json_path = field["jsonPath"].as_str().unwrap_or_default();
        if json_path.is_empty() {
            causes.push(at.required(""));
            continue;
        }
        let (steps, found) = match follow(json_path, root, false) {
            Ok(found) => found,
            Err(error) => {
                causes.push(at.invalid(json_path, &format!("is an invalid path: {error}")));
                continue;
            }
        };
        if steps.first().is_some_and(|first| first == "metadata") {
            causes.push(at.invalid(json_path, "must not point to fields in metadata"));
        }
        let kind = found.and_then(|schema| schema.get("type")).and_then(Value::as_str);
        if !matches!(kind, Some("string" | "boolean" | "integer")) {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings with \
                          formats are allowed.";
            causes.push(at.invalid(json_path, detail));
        }
        if seen.contains(&steps) {
            causes.push(at.duplicate(json_path));
        } else {
            seen.push(steps);
        }
    }
    if seen.len() > MOST_SELECTABLE {
        causes.push(path.too_many(seen.len(), MOST_SELECTABLE));
    }
    causes
}

/// Whether `field_path` leads to a field below `schema`.
pub(super) fn leads_somewhere(field_path: &str, schema: &Schema) -> bool {
    follow(field_path, schema, true).is_ok()
}

/// The steps of a path, and the schema at its end, if any. The error is the reason that the path is invalid.
fn follow<'a>(path: &str, root: &'a Schema, brackets: bool) -> Result<(Vec<String>, Option<&'a Schema>), String> {
    let mut tokens = tokens(path).into_iter();
    let mut steps = Vec::new();
    let mut schema = Some(root);
    const END: &str = "unexpected end of JSON path";
    while let Some(token) = tokens.next() {
        let name = match token {
            "[" if !brackets => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let token = tokens.next().ok_or(END)?;
                let inner = token.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
                let inner = inner.ok_or(format!("expected single quoted string but got {token}"))?;
                match tokens.next() {
                    Some("]") => {}
                    Some(other) => return Err(format!("expected ] but got {other}")),
                    None => return Err(END.to_owned()),
                }
                inner.replace("\\'", "'").replace("\\\\", "\\")
            }
            "." => tokens.next().ok_or(END)?.to_owned(),
            other => return Err(format!("expected [ or . but got: {other}")),
        };
        schema = schema
            .and_then(|schema| step(schema, &name))
            .ok_or("does not refer to a valid field")?;
        steps.push(name);
    }
    Ok((steps, schema))
}

/// The schema of a field: `None` if the field does not exist, `Some(None)` if `additionalProperties: true` allows it.
fn step<'a>(schema: &'a Schema, name: &str) -> Option<Option<&'a Schema>> {
    match schema
        .get("properties")
        .and_then(Value::as_object)
        .filter(|properties| !properties.is_empty())
    {
        Some(properties) => properties.get(name)?.as_object().map(Some),
        None => match schema.get("additionalProperties")? {
            Value::Bool(_) => Some(None),
            values => values.as_object().map(Some),
        },
    }
}

/// Splits a path into tokens: `.`, `[`, `]` and the text between them. Single quotes protect these characters.
fn tokens(path: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let end = if rest.starts_with('\'') {
            let close = rest
                .char_indices()
                .skip(1)
                .find(|(at, c)| *c == '\'' && !rest[..*at].ends_with('\\'));
            close.map_or(rest.len(), |(at, _)| at + 1)
        } else {
            rest.find(['.', '[', ']']).map_or(rest.len(), |at| at.max(1))
        };
        let (token, tail) = rest.split_at(end);
        tokens.push(token);
        rest = tail;
    }
    tokens
}
