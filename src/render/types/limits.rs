//! Schemas that the types of a kind of the project cannot express: refused with the path, because `make manifests` would write
//! another schema.

use super::STANDARD;
use super::attributes::is_redundant;
use super::read::{self, requires};
use crate::project::printable::printable;
use anyhow::{Result, bail};
use serde_json::{Map, Value};

/// The keys of a branch that the derive leaves as they are: it takes types, fields and their descriptions out.
const IN_BRANCH: [&str; 16] = [
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "required",
    "uniqueItems",
];

/// Refuses a CRD whose names no attribute can say.
pub fn check_names(crd: &Value) -> Result<()> {
    let names = &crd["spec"]["names"];
    let kind = names["kind"].as_str().unwrap_or_default();
    if let Some(list) = names["listKind"].as_str().filter(|list| *list != format!("{kind}List")) {
        bail!(
            "`spec.names.listKind` is `{}`, but `make manifests` writes `{kind}List`\n\n\
             hint: the list kind of a served kind cannot be changed without a moment in which it is not served; \
             if no client names it, change it in the CRD first",
            printable(list)
        );
    }
    Ok(())
}

/// Refuses a version whose schema or endpoints the types could not express.
pub fn check(version: &Value) -> Result<()> {
    let schema = &version["schema"]["openAPIV3Schema"];
    let name = printable(version["name"].as_str().unwrap_or_default());
    let status = schema["properties"]["status"].is_object();
    match (status, version["subresources"]["status"].is_object()) {
        (true, false) => bail!(
            "version `{name}` has the field `status` without a status subresource, and the status of a kind of the project has one\n\n\
             hint: add `subresources: {{status: {{}}}}` to the version in the CRD first, and see who writes the status today"
        ),
        (false, true) => bail!(
            "version `{name}` has a status subresource, and its schema has no field `status`\n\n\
             hint: add `status: {{type: object}}` to the properties of the schema in the CRD first"
        ),
        _ => {}
    }
    if read::keeps(schema) && schema["properties"]["spec"]["type"] != "object" {
        bail!(
            "the root of the schema of version `{name}` preserves unknown fields, and no type of the project can hold them\n\n\
             hint: preserve them in a field, such as `spec`, in the CRD first"
        );
    }
    for key in STANDARD {
        let own = &schema["properties"][key];
        let more = own.as_object().into_iter().flat_map(Map::keys);
        if let Some(more) = more
            .into_iter()
            .find(|key| !["description", "type"].contains(&key.as_str()))
        {
            bail!(
                "`{key}` has `{}` in the schema of version `{name}`, and no type of the project can have it\n\n\
                 hint: express it by a validation rule at the root: `x-kubernetes-validations` beside `properties`",
                printable(more)
            );
        }
    }
    node(schema, &name)
}

fn node(schema: &Value, path: &str) -> Result<()> {
    let at = printable(path);
    if schema["additionalProperties"] == true {
        bail!(
            "`{at}` has `additionalProperties: true`, by which API servers keep a value and prune what is in it\n\n\
             hint: write `x-kubernetes-preserve-unknown-fields: true` in the CRD first"
        );
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        let branches = schema[key].as_array().map(Vec::as_slice).unwrap_or_default();
        if !schema.as_object().is_some_and(|schema| is_redundant(key, schema)) {
            branches.iter().try_for_each(|it| branch(it, key, &at))?;
        }
    }
    if !schema["not"].is_null() {
        branch(&schema["not"], "not", &at)?;
    }
    let text = schema["type"] == "string";
    let enumerates = schema["enum"].is_array();
    if enumerates && !text && schema["type"].is_null() {
        bail!("`{at}` has an `enum` without a type\n\nhint: add `type: string` to it in the CRD first");
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        node(property, &format!("{path}.{name}"))?;
    }
    for (key, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        if schema[key].is_object() {
            node(&schema[key], &format!("{path}{suffix}"))?;
        }
    }
    Ok(())
}

/// The path of the first optional field that may be null, which `make manifests` leaves out of a schema.
pub fn first_optional_null(crd: &Value) -> Option<String> {
    let mut versions = crd["spec"]["versions"].as_array()?.iter();
    versions.find_map(|version| {
        let name = version["name"].as_str().unwrap_or_default();
        optional_null(&version["schema"]["openAPIV3Schema"], &printable(name))
    })
}

fn optional_null(schema: &Value, path: &str) -> Option<String> {
    let fields = schema["properties"].as_object().into_iter().flatten();
    let mut fields = fields.map(|(name, field)| (name, field, format!("{path}.{}", printable(name))));
    let of_field = |(name, field, path): (&String, &Value, String)| match field["nullable"] == true {
        true if !requires(schema, name) => Some(path),
        _ => optional_null(field, &path),
    };
    let inner = [("items", "[]"), ("additionalProperties", "{}")].into_iter();
    fields.find_map(of_field).or_else(|| {
        inner
            .filter(|(key, _)| schema[*key].is_object())
            .find_map(|(key, end)| optional_null(&schema[key], &format!("{path}{end}")))
    })
}

fn branch(schema: &Value, junctor: &str, at: &str) -> Result<()> {
    let keys = schema.as_object().into_iter().flat_map(Map::keys);
    let lost = |key: &&String| !IN_BRANCH.contains(&key.as_str()) || (junctor == "oneOf" && *key == "enum");
    match keys.into_iter().find(lost) {
        None => Ok(()),
        Some(key) => bail!(
            "`{at}` has `{junctor}` with `{}` in a branch, which no attribute of a type can express\n\n\
             hint: express it by a validation rule (`x-kubernetes-validations`) in the CRD first",
            printable(key)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refusal(schema: Value) -> String {
        let root = json!({"type": "object", "properties": {"spec": schema}});
        let version = json!({"name": "v1", "schema": {"openAPIV3Schema": root}});
        check(&version)
            .err()
            .map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn what_no_attribute_can_say_is_refused_with_its_path() {
        let list = |items: Value| json!({"type": "array", "items": {"type": "object", "properties": {"a": items}}});
        let cases = [
            (
                list(json!({"type": "object", "additionalProperties": true})),
                "`v1.spec[].a` has `additionalProperties: true`",
            ),
            (
                json!({"type": "object", "anyOf": [{"required": ["a"]}, {"properties": {"a": {"pattern": "b"}}}]}),
                "`v1.spec` has `anyOf` with `properties` in a branch",
            ),
            (
                list(json!({"type": "string", "oneOf": [{"enum": ["a"]}]})),
                "`v1.spec[].a` has `oneOf` with `enum`",
            ),
            (
                json!({"type": "object", "not": {"type": "string"}}),
                "`v1.spec` has `not` with `type`",
            ),
            (
                json!({"x-kubernetes-preserve-unknown-fields": true, "enum": [1]}),
                "`v1.spec` has an `enum` without a type",
            ),
        ];
        for (schema, words) in cases {
            let refused = refusal(schema);
            assert!(
                refused.starts_with(words) && refused.contains("hint: "),
                "{words}: {refused}"
            );
        }
        let both = json!([{"type": "integer"}, {"type": "string"}]);
        assert_eq!(refusal(json!({"x-kubernetes-int-or-string": true, "anyOf": both})), "");
        assert_eq!(
            refusal(json!({"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]})),
            ""
        );
    }

    #[test]
    fn a_status_and_its_endpoint_belong_together() {
        let version = |properties: Value, subresources: Value| {
            let schema = json!({"openAPIV3Schema": {"type": "object", "properties": properties}});
            check(&json!({"name": "v1", "schema": schema, "subresources": subresources}))
        };
        let (status, endpoint) = (json!({"status": {"type": "object"}}), json!({"status": {}}));
        assert!(version(status.clone(), endpoint.clone()).is_ok());
        assert!(
            version(status, json!({}))
                .unwrap_err()
                .to_string()
                .contains("without a status subresource")
        );
        assert!(
            version(json!({}), endpoint)
                .unwrap_err()
                .to_string()
                .contains("has no field `status`")
        );
        let metadata = json!({"metadata": {"type": "object", "properties": {"name": {"maxLength": 3}}}});
        assert!(
            version(metadata, json!({}))
                .unwrap_err()
                .to_string()
                .starts_with("`metadata` has `properties`")
        );
    }
}
