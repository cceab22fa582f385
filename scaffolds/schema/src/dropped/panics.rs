//! Finds the enums that make kube-derive panic. The panic's message names no field, and is about the first of them only.

use serde_json::{Map, Value};

/// The reason of a panic.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Cause {
    /// Variants describe the property of this name differently.
    Shared {
        name: String,
        /// It has the name of the variant.
        is_tag: bool,
    },
    /// The variant of this name has no fields, and others have some.
    Mixed(String),
}

impl Cause {
    /// By the panic's message; `None` if it is about something else.
    pub(crate) fn of(panic: &str) -> Option<Self> {
        if panic.starts_with("Property") && panic.contains("was already defined as") {
            return Some(Self::Shared {
                name: quoted(panic)?,
                is_tag: panic.matches("enum_values: Some([").count() >= 2,
            });
        }
        let values = panic.strip_prefix("Enum variant set [")?;
        Some(Self::Mixed(quoted(values)?))
    }

    /// Message and remedy.
    pub(crate) fn words(&self) -> (String, &'static str) {
        match self {
            Self::Shared { name, is_tag: true } => (
                format!(
                    "an enum stores its variant's name in the property `{name}` (`#[serde(tag = \"{name}\")]`); \
                     kube-derive cannot make a structural schema for internally or adjacently tagged enums"
                ),
                "remove `#[serde(tag = …)]`, so that each variant becomes a separate property; or keep it, and put \
                 `#[schemars(with = \"…\")]` on the field, with a struct of the same fields and the markers of a union",
            ),
            Self::Shared { name, is_tag: false } => (
                format!(
                    "the variants of an enum share the property `{name}` but describe it differently; type, constraints and \
                     doc comment must be the same in all of them"
                ),
                "use one type for the shared field in every variant, with the same doc comment, or rename one of them",
            ),
            Self::Mixed(name) => (
                format!(
                    "an enum has the variant {name} without fields and variants with fields, which a structural schema cannot express"
                ),
                "give fields to every variant (an empty struct variant is enough: `Name {}`), or to none",
            ),
        }
    }
}

/// All reasons in a schema, with their fields.
pub(crate) fn causes(schema: &Value) -> Vec<(String, Cause)> {
    let mut found: Vec<(String, Cause)> = Vec::new();
    super::walk(schema, String::new(), &mut |node, field| {
        if let Some(cause) = cause(node) {
            found.push((field.to_owned(), cause));
        }
    });
    found
}

/// The field whose variants have different types; empty if there is none.
pub(crate) fn place(schema: &Value) -> String {
    let mut found = None;
    super::walk(schema, String::new(), &mut |node, field| {
        if found.is_none() && mixes(node) {
            found = Some(field.to_owned());
        }
    });
    found.unwrap_or_default()
}

fn cause(node: &Map<String, Value>) -> Option<Cause> {
    let variants: Vec<&Value> = branches(node).collect();
    let has_fields = variants.iter().any(|variant| variant["properties"].is_object());
    let unit = variants.iter().find_map(|variant| {
        let name = variant["enum"].get(0).unwrap_or(&variant["const"]);
        name.as_str().filter(|_| variant["type"] == "string")
    });
    if let Some(name) = unit.filter(|_| has_fields) {
        return Some(Cause::Mixed(name.to_owned()));
    }
    let mut names = variants
        .iter()
        .filter_map(|variant| variant["properties"].as_object())
        .flat_map(Map::keys);
    let name = names.find(|name| shares(node, name))?;
    let tags = variants.iter().map(|variant| &variant["properties"][name.as_str()]);
    let is_tag = |tag: &Value| tag["enum"].is_array() || tag["const"].is_string();
    Some(Cause::Shared {
        name: name.clone(),
        is_tag: tags.filter(|tag| !tag.is_null()).all(is_tag),
    })
}

fn branches(node: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    ["oneOf", "anyOf"]
        .into_iter()
        .flat_map(|key| super::one_or_many(node.get(key)))
}

/// Whether two variants describe a property differently.
fn shares(node: &Map<String, Value>, property: &str) -> bool {
    let mut all = branches(node).filter_map(|branch| branch["properties"].get(property));
    let own = node.get("properties").and_then(|own| own.get(property));
    let Some(first) = own.or_else(|| all.next()) else {
        return false;
    };
    all.any(|other| other != first)
}

/// Whether the variants and the schema that holds them have different types.
fn mixes(node: &Map<String, Value>) -> bool {
    let mut types = branches(node)
        .filter_map(|branch| branch.get("type"))
        .chain(node.get("type"));
    let Some(first) = types.next() else { return false };
    types.any(|other| other != first)
}

/// The first string in quotes.
fn quoted(text: &str) -> Option<String> {
    text.split('"').nth(1).map(str::to_owned)
}
