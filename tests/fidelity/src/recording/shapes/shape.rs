//! Definitions as compact text. Any part of an OpenAPI document that the format cannot represent is an error, so that
//! nothing is omitted unnoticed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

/// The first line of a file whose release describes items without defaults: Kubernetes 1.37 and later.
const PLAIN: &str = "# items have no defaults\n";

/// All definitions that are reachable from `roots`.
pub fn write(definitions: &BTreeMap<String, Value>, roots: &BTreeSet<String>, go: &Value) -> Result<String> {
    let plain = !items(definitions).any(|item| item.get("default").is_some());
    let (mut todo, mut done): (Vec<String>, BTreeMap<String, String>) =
        (roots.iter().cloned().collect(), BTreeMap::new());
    while let Some(name) = todo.pop() {
        if done.contains_key(&name) {
            continue;
        }
        let schema = definitions
            .get(&name)
            .with_context(|| format!("no definition {name}"))?;
        let mut writer = Writer { todo: &mut todo, plain };
        let text = writer
            .definition(&name, schema, &go[&name])
            .with_context(|| name.clone())?;
        done.insert(name, text);
    }
    let head = if plain { PLAIN } else { "" };
    Ok(head.to_owned() + &done.into_values().collect::<String>())
}

/// The items of all lists and the values of all maps.
fn items(definitions: &BTreeMap<String, Value>) -> impl Iterator<Item = &Value> {
    let properties = definitions
        .values()
        .filter_map(|schema| schema["properties"].as_object())
        .flat_map(|properties| properties.values());
    properties.flat_map(|property| {
        ["items", "additionalProperties"]
            .into_iter()
            .filter_map(|key| property.get(key))
    })
}

/// Writes definitions.
struct Writer<'a> {
    /// Definitions that are referred to.
    todo: &'a mut Vec<String>,
    /// Whether items have no defaults.
    plain: bool,
}

impl Writer<'_> {
    fn definition(&mut self, name: &str, schema: &Value, go: &Value) -> Result<String> {
        let mut out = short(name);
        for (key, value) in schema.as_object().context("not an object")? {
            match key.as_str() {
                "description" | "properties" | "required" => {}
                "type" => write!(out, " t={}", value.as_str().unwrap_or_default())?,
                "format" => write!(out, " f={}", value.as_str().unwrap_or_default())?,
                "oneOf" => write!(out, " o={}", words(value, "type"))?,
                "x-kubernetes-map-type" => write!(out, " m={}", value.as_str().unwrap_or_default())?,
                "x-kubernetes-group-version-kind" => {
                    for kind in value.as_array().into_iter().flatten() {
                        let part = |field: &str| kind[field].as_str().unwrap_or_default().to_owned();
                        write!(out, " k={}/{}/{}", part("group"), part("version"), part("kind"))?;
                    }
                }
                "x-kubernetes-unions" => write!(out, " u={}", serde_json::to_string(value)?)?,
                other => bail!("`{other}` is unknown"),
            }
        }
        out.push('\n');
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for (field, property) in schema["properties"].as_object().into_iter().flatten() {
            let line = self
                .property_line(field, property, &go[field])
                .with_context(|| field.clone())?;
            let mark = if required.contains(&json!(field)) { " !" } else { "" };
            writeln!(out, " {field} {line}{mark}")?;
        }
        Ok(out)
    }

    fn property_line(&mut self, field: &str, property: &Value, go: &Value) -> Result<String> {
        ensure!(go.is_object(), "Go has no field `{field}`");
        let mut out = String::new();
        for (flag, sign) in [("pointer", '*'), ("omitempty", 'o'), ("omitzero", 'z')] {
            if go[flag] == true {
                out.push(sign);
            }
        }
        if out.is_empty() {
            out.push('-');
        }
        let r#type = self.type_of(property)?;
        let go_type = go["type"].as_str().context("no Go type")?.trim_start_matches('*');
        write!(out, " {type}")?;
        if go_type != derived(&r#type) {
            write!(out, " g={go_type}")?;
        }
        if let Some(via) = go["via"].as_str().filter(|via| !via.is_empty() && *via != "TypeMeta.") {
            write!(out, " v={via}")?;
        }
        if let Some(number) = go["number"].as_str().filter(|number| !number.is_empty()) {
            write!(out, " b={number}")?;
        }
        for (key, value) in property.as_object().context("not an object")? {
            let text = value.as_str().unwrap_or_default();
            match key.as_str() {
                "description" | "type" | "format" | "$ref" | "allOf" | "items" | "additionalProperties" => {}
                "default" => write!(out, " d={}", serde_json::to_string(value)?)?,
                "enum" => write!(out, " e={}", list(value, "|"))?,
                "x-kubernetes-list-type" => write!(out, " l={text}")?,
                "x-kubernetes-list-map-keys" => write!(out, " lk={}", list(value, ","))?,
                "x-kubernetes-map-type" => write!(out, " m={text}")?,
                "x-kubernetes-patch-strategy" => write!(out, " p={text}")?,
                "x-kubernetes-patch-merge-key" => write!(out, " pk={text}")?,
                other => bail!("`{other}` is unknown"),
            }
        }
        if let Some(values) = property.pointer("/items/enum") {
            write!(out, " ie={}", list(values, "|"))?;
        }
        Ok(out)
    }

    /// `str`, `i32`, `&Definition`, `[str]`, `{str}`.
    fn type_of(&mut self, schema: &Value) -> Result<String> {
        if let Some(reference) = schema["$ref"].as_str() {
            return Ok(format!("${}", self.target(reference)?));
        }
        if let Some(reference) = schema.pointer("/allOf/0/$ref").and_then(Value::as_str) {
            return Ok(format!("&{}", self.target(reference)?));
        }
        let format = schema["format"].as_str();
        Ok(match (schema["type"].as_str().context("no type")?, format) {
            ("string", None) => "str".to_owned(),
            ("string", Some(format)) => format!("str:{format}"),
            ("boolean", None) => "bool".to_owned(),
            ("integer", Some("int32")) => "i32".to_owned(),
            ("integer", Some("int64")) => "i64".to_owned(),
            ("number", Some("double")) => "f64".to_owned(),
            ("array", None) => format!("[{}]", self.inner(&schema["items"])?),
            ("object", None) => format!("{{{}}}", self.inner(&schema["additionalProperties"])?),
            other => bail!("{other:?} is unknown"),
        })
    }

    /// The type of items, which implies their defaults unless the release has none.
    fn inner(&mut self, schema: &Value) -> Result<String> {
        let name = self.type_of(schema)?;
        let implied = match name.as_bytes().first() {
            _ if self.plain => Value::Null,
            Some(b'&') => json!({}),
            Some(b's') if name == "str" => json!(""),
            Some(b'i') => json!(0),
            Some(b'b') => json!(false),
            _ => Value::Null,
        };
        ensure!(schema["default"] == implied, "unexpected default of items: {schema}");
        let known = [
            "default",
            "type",
            "format",
            "$ref",
            "allOf",
            "items",
            "additionalProperties",
            "enum",
        ];
        for key in schema.as_object().into_iter().flatten().map(|(key, _)| key) {
            ensure!(known.contains(&key.as_str()), "`{key}` is unknown in items");
        }
        Ok(name)
    }

    fn target(&mut self, reference: &str) -> Result<String> {
        let name = reference
            .strip_prefix("#/components/schemas/")
            .context("a reference elsewhere")?;
        self.todo.push(name.to_owned());
        Ok(short(name))
    }
}

/// Go's name of a type, as far as it can be derived.
fn derived(r#type: &str) -> String {
    match r#type {
        "str" => "string".to_owned(),
        "i32" => "int32".to_owned(),
        "i64" => "int64".to_owned(),
        "f64" => "float64".to_owned(),
        "str:byte" => "[]uint8".to_owned(),
        other => match other.as_bytes().first() {
            Some(b'&' | b'$') => other[1..]
                .rsplitn(3, '.')
                .take(2)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect::<Vec<_>>()
                .join("."),
            Some(b'[') => format!("[]{}", derived(&other[1..other.len() - 1])),
            Some(b'{') => format!("map[string]{}", derived(&other[1..other.len() - 1])),
            _ => other.to_owned(),
        },
    }
}

fn short(name: &str) -> String {
    match name.strip_prefix("io.k8s.api.") {
        Some(rest) => rest.to_owned(),
        None => name.replace("io.k8s.apimachinery.pkg.", "~"),
    }
}

fn list(value: &Value, between: &str) -> String {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        // Blanks separate attributes.
        .map(|text| text.replace(' ', "%20"))
        .collect::<Vec<_>>()
        .join(between)
}

fn words(value: &Value, field: &str) -> String {
    let items = value.as_array().into_iter().flatten();
    items
        .filter_map(|item| item[field].as_str())
        .collect::<Vec<_>>()
        .join("|")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(a: &Value, b: &Value) -> Result<String> {
        let list = |items: &Value| json!({"type": "array", "items": items});
        let name = "io.k8s.api.apps.v1.Things".to_owned();
        let schema = json!({"type": "object", "properties": {"a": list(a), "b": list(b)}});
        let other = ("io.k8s.api.apps.v1.Thing".to_owned(), json!({"type": "object"}));
        let go = json!({&name: {"a": {"type": "[]string"}, "b": {"type": "[]v1.Thing"}}});
        let roots = BTreeSet::from([name.clone()]);
        write(&BTreeMap::from([(name, schema), other]), &roots, &go)
    }

    #[test]
    fn either_all_items_have_defaults_or_none() {
        let reference = "#/components/schemas/io.k8s.api.apps.v1.Thing";
        let [text, thing] = [
            json!({"type": "string", "default": ""}),
            json!({"allOf": [{"$ref": reference}], "default": {}}),
        ];
        let until_1_36 = written(&text, &thing).unwrap();
        assert!(until_1_36.starts_with("apps.v1.Thing t=object\n"), "{until_1_36}");
        assert!(
            until_1_36.ends_with(" a - [str]\n b - [&apps.v1.Thing]\n"),
            "{until_1_36}"
        );
        let [plain_text, plain_thing] = [json!({"type": "string"}), json!({"$ref": reference})];
        let from_1_37 = written(&plain_text, &plain_thing).unwrap();
        assert!(from_1_37.starts_with(PLAIN), "{from_1_37}");
        assert!(
            from_1_37.ends_with(" a - [str]\n b - [$apps.v1.Thing]\n"),
            "{from_1_37}"
        );
        let mixed = written(&plain_text, &thing).unwrap_err();
        assert!(
            format!("{mixed:#}").contains("unexpected default of items"),
            "{mixed:#}"
        );
    }
}
