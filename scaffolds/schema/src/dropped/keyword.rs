//! The keywords that the schema of a CustomResourceDefinition has, and what their values look like.

use serde_json::Value;

/// What the value of a keyword has to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    Text,
    Texts,
    Flag,
    Count,
    Number,
    Any,
    AnyList,
    /// A schema of its own.
    Schema,
    Schemas,
    /// Schemas by name.
    Named,
    /// `true`, `false` or a schema.
    SchemaOrFlag,
    /// One schema; the API server refuses the list, in words of its own.
    Items,
    /// `externalDocs`.
    Docs,
    /// `x-kubernetes-validations`.
    Rules,
}

/// The fields of `JSONSchemaProps` in apiextensions.k8s.io/v1.
const KEYWORDS: [(&str, Shape); 44] = [
    ("$ref", Shape::Text),
    ("$schema", Shape::Text),
    ("additionalItems", Shape::SchemaOrFlag),
    ("additionalProperties", Shape::SchemaOrFlag),
    ("allOf", Shape::Schemas),
    ("anyOf", Shape::Schemas),
    ("default", Shape::Any),
    ("definitions", Shape::Named),
    ("dependencies", Shape::Any),
    ("description", Shape::Text),
    ("enum", Shape::AnyList),
    ("example", Shape::Any),
    ("exclusiveMaximum", Shape::Flag),
    ("exclusiveMinimum", Shape::Flag),
    ("externalDocs", Shape::Docs),
    ("format", Shape::Text),
    ("id", Shape::Text),
    ("items", Shape::Items),
    ("maxItems", Shape::Count),
    ("maxLength", Shape::Count),
    ("maxProperties", Shape::Count),
    ("maximum", Shape::Number),
    ("minItems", Shape::Count),
    ("minLength", Shape::Count),
    ("minProperties", Shape::Count),
    ("minimum", Shape::Number),
    ("multipleOf", Shape::Number),
    ("not", Shape::Schema),
    ("nullable", Shape::Flag),
    ("oneOf", Shape::Schemas),
    ("pattern", Shape::Text),
    ("patternProperties", Shape::Named),
    ("properties", Shape::Named),
    ("required", Shape::Texts),
    ("title", Shape::Text),
    ("type", Shape::Text),
    ("uniqueItems", Shape::Flag),
    ("x-kubernetes-embedded-resource", Shape::Flag),
    ("x-kubernetes-int-or-string", Shape::Flag),
    ("x-kubernetes-list-map-keys", Shape::Texts),
    ("x-kubernetes-list-type", Shape::Text),
    ("x-kubernetes-map-type", Shape::Text),
    ("x-kubernetes-preserve-unknown-fields", Shape::Flag),
    ("x-kubernetes-validations", Shape::Rules),
];

/// What schemars writes beside them. It constrains nothing, so nothing is lost with it.
const REMARKS: [&str; 9] = [
    "$comment",
    "$defs",
    "components",
    "contentEncoding",
    "contentMediaType",
    "deprecated",
    "examples",
    "readOnly",
    "writeOnly",
];

/// The fields of a rule.
pub(super) const RULE: [(&str, Shape); 6] = [
    ("fieldPath", Shape::Text),
    ("message", Shape::Text),
    ("messageExpression", Shape::Text),
    ("optionalOldSelf", Shape::Flag),
    ("reason", Shape::Text),
    ("rule", Shape::Text),
];

pub(super) const DOCS: [(&str, Shape); 2] = [("description", Shape::Text), ("url", Shape::Text)];

/// The shape of a keyword; `None` when there is no such keyword.
pub(super) fn shape(keyword: &str) -> Option<Shape> {
    if REMARKS.contains(&keyword) {
        return Some(Shape::Any);
    }
    // kube-derive's own misspelling, which `normalise` puts right.
    let keyword = if keyword == super::STRUCT_TYPE {
        "x-kubernetes-map-type"
    } else {
        keyword
    };
    KEYWORDS
        .iter()
        .find(|(known, _)| *known == keyword)
        .map(|(_, shape)| *shape)
}

impl Shape {
    /// What the value should be, unless it is.
    pub(super) fn missed_by(self, value: &Value) -> Option<&'static str> {
        let all = |test: fn(&Value) -> bool| value.as_array().is_some_and(|list| list.iter().all(test));
        let (fits, wanted) = match self {
            Shape::Any => (true, ""),
            Shape::Text => (value.is_string(), "a string"),
            Shape::Texts => (all(Value::is_string), "a list of strings"),
            Shape::Flag => (value.is_boolean(), "true or false"),
            Shape::Count => (value.is_u64(), "a whole number, not negative"),
            Shape::Number => (value.is_number(), "a number"),
            Shape::AnyList => (value.is_array(), "a list"),
            Shape::Schema => (value.is_object(), "a schema"),
            Shape::Schemas => (all(Value::is_object), "a list of schemas"),
            Shape::Named => (
                value.as_object().is_some_and(|map| map.values().all(Value::is_object)),
                "schemas by name",
            ),
            Shape::SchemaOrFlag => (value.is_object() || value.is_boolean(), "a schema, true or false"),
            Shape::Items => (value.is_object() || value.is_array(), "a schema"),
            Shape::Docs => (value.is_object(), "an object with `url` and `description`"),
            Shape::Rules => (all(Value::is_object), "a list of rules"),
        };
        (!fits).then_some(wanted)
    }
}

/// The keyword that was probably meant.
pub(super) fn nearest(misspelt: &str) -> Option<&'static str> {
    near(misspelt, KEYWORDS.iter().map(|(known, _)| *known))
}

/// Of some names the one that is nearest, when it is near.
pub(super) fn near<'n>(misspelt: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let longest = (misspelt.len() / 4).max(2);
    let far = names.map(|name| (distance(&misspelt.to_lowercase(), &name.to_lowercase()), name));
    far.filter(|(far, _)| *far <= longest).min().map(|(_, name)| name)
}

/// How many letters are to be put in, taken out or changed (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for column in 1..=to.len() {
            let changed = diagonal + usize::from(to[column - 1] != letter);
            diagonal = row[column];
            row[column] = changed.min(row[column] + 1).min(row[column - 1] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_pen_finds_the_keyword_and_another_word_none() {
        assert_eq!(nearest("x-kubernetes-lst-type"), Some("x-kubernetes-list-type"));
        assert_eq!(nearest("x-kubernetes-listType"), Some("x-kubernetes-list-type"));
        assert_eq!(nearest("maxlength"), Some("maxLength"));
        assert_eq!(nearest("x-acme-owner"), None);
    }
}
