//! Keywords that do not apply to the type of their field. The API server accepts them, but they have no effect.

use super::remedy::walk;
use serde_json::Value;

/// Keywords, the values to which they apply, and the types that these values have.
const ABOUT: [(&[&str], &str, &[&str]); 4] = [
    (&["minLength", "maxLength", "pattern"], "strings", &["string"]),
    (&["minItems", "maxItems", "uniqueItems"], "lists", &["array"]),
    (&["minProperties", "maxProperties"], "objects", &["object"]),
    (
        &[
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
        ],
        "numbers",
        &["integer", "number"],
    ),
];

/// Field, message and remedy of each.
pub(super) fn findings(schema: &Value) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    walk(schema, String::new(), &mut |schema, field| {
        let Some(kind) = schema
            .get("type")
            .and_then(Value::as_str)
            .filter(|kind| !kind.is_empty())
        else {
            return;
        };
        for (keywords, subject, types) in ABOUT {
            for keyword in keywords.iter().filter(|_| !types.contains(&kind)) {
                if schema
                    .get(*keyword)
                    .is_some_and(|value| !value.is_null() && *value != Value::Bool(false))
                {
                    found.push((
                        field.to_owned(),
                        format!("`{keyword}` applies to {subject}, so it has no effect on type {kind}"),
                        format!("look for `{keyword}` in `#[schemars(extend(…))]`, and remove it or move it to the right type"),
                    ));
                }
            }
        }
    });
    found
}
