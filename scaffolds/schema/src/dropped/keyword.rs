//! The keywords of CustomResourceDefinition schemas, and the types of their values.

use serde_json::Value;

/// The type of a keyword's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    Text,
    Texts,
    Flag,
    Count,
    Number,
    Any,
    AnyList,
    /// A schema.
    Schema,
    Schemas,
    /// A map from names to schemas.
    Named,
    /// `true`, `false` or a schema.
    SchemaOrFlag,
    /// A schema, or a list of schemas, which the API server refuses with its own message.
    Items,
    /// `externalDocs`.
    Docs,
    /// `x-kubernetes-validations`.
    Rules,
    /// `k8s:unionMember`.
    Member,
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

/// Markers that become rules.
const MARKERS: [(&str, Shape); 2] = [(super::DISCRIMINATOR, Shape::Flag), (super::MEMBER, Shape::Member)];

/// Other keywords that schemars writes. They constrain nothing, so they may be dropped.
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

/// The fields of a validation rule.
pub(super) const RULE: [(&str, Shape); 6] = [
    ("fieldPath", Shape::Text),
    ("message", Shape::Text),
    ("messageExpression", Shape::Text),
    ("optionalOldSelf", Shape::Flag),
    ("reason", Shape::Text),
    ("rule", Shape::Text),
];

pub(super) const DOCS: [(&str, Shape); 2] = [("description", Shape::Text), ("url", Shape::Text)];

/// The fields of the marker of a member of a union.
pub(super) const MEMBERS: [(&str, Shape); 2] = [("memberName", Shape::Text), ("optional", Shape::Flag)];

/// The shape of a keyword; `None` when there is no such keyword.
pub(super) fn shape(keyword: &str) -> Option<Shape> {
    if REMARKS.contains(&keyword) {
        return Some(Shape::Any);
    }
    // kube-derive misspells this key; `normalise` corrects it.
    let keyword = if keyword == super::STRUCT_TYPE {
        "x-kubernetes-map-type"
    } else {
        keyword
    };
    KEYWORDS
        .iter()
        .chain(&MARKERS)
        .find(|(known, _)| *known == keyword)
        .map(|(_, shape)| *shape)
}

impl Shape {
    /// A description of the expected value, if `value` is something else.
    pub(super) fn missed_by(self, value: &Value) -> Option<&'static str> {
        let all = |test: fn(&Value) -> bool| value.as_array().is_some_and(|list| list.iter().all(test));
        let (fits, wanted) = match self {
            Shape::Any => (true, ""),
            Shape::Text => (value.is_string(), "a string"),
            Shape::Texts => (all(Value::is_string), "a list of strings"),
            Shape::Flag => (value.is_boolean(), "true or false"),
            Shape::Count => (value.is_u64(), "a non-negative integer"),
            Shape::Number => (value.is_number(), "a number"),
            Shape::AnyList => (value.is_array(), "a list"),
            Shape::Schema => (value.is_object(), "a schema"),
            Shape::Schemas => (all(Value::is_object), "a list of schemas"),
            Shape::Named => (
                value.as_object().is_some_and(|map| map.values().all(Value::is_object)),
                "a map from names to schemas",
            ),
            Shape::SchemaOrFlag => (value.is_object() || value.is_boolean(), "a schema, true or false"),
            Shape::Items => (value.is_object() || value.is_array(), "a schema"),
            Shape::Docs => (value.is_object(), "an object with `url` and `description`"),
            Shape::Rules => (all(Value::is_object), "a list of validation rules"),
            Shape::Member => (
                value.is_object() || value.is_boolean(),
                "true, or an object with `memberName` and `optional`",
            ),
        };
        (!fits).then_some(wanted)
    }
}

/// The keyword that the author probably meant.
pub(super) fn nearest(misspelt: &str) -> Option<&'static str> {
    near(misspelt, KEYWORDS.iter().chain(&MARKERS).map(|(known, _)| *known))
}

/// The most similar name, if one is similar enough.
pub(super) fn near<'n>(misspelt: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let longest = (misspelt.len() / 4).max(2);
    let far = names.map(|name| (distance(&misspelt.to_lowercase(), &name.to_lowercase()), name));
    far.filter(|(far, _)| *far <= longest).min().map(|(_, name)| name)
}

/// The Levenshtein distance: how many letters have to be inserted, deleted or replaced.
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
    fn a_typo_suggests_the_keyword_and_an_unrelated_word_suggests_none() {
        assert_eq!(nearest("x-kubernetes-lst-type"), Some("x-kubernetes-list-type"));
        assert_eq!(nearest("x-kubernetes-listType"), Some("x-kubernetes-list-type"));
        assert_eq!(nearest("maxlength"), Some("maxLength"));
        assert_eq!(nearest("k8s:unionMembers"), Some("k8s:unionMember"));
        assert_eq!(nearest("x-acme-owner"), None);
    }
}
