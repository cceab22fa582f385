//! Field selectors, for example `metadata.name=a,spec.nodeName!=b`: their grammar, and the fields that a kind supports.

use serde_json::Value;

use crate::{
    resource::Resource,
    store::{Key, Range},
};

/// A field selector: terms that must all match. The default has none and matches every object.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FieldSelector {
    /// Sorted by their text, as upstream.
    pub terms: Vec<Term>,
}

/// One term.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Term {
    /// The path of the field.
    pub field: String,
    /// Whether the field must equal the value, or differ from it.
    pub equal: bool,
    /// The value, without escapes.
    pub value: String,
}

/// The fields that all kinds support, which are read from an object's key.
const NAME: &str = "metadata.name";
const NAMESPACE: &str = "metadata.namespace";

impl FieldSelector {
    /// Parses a selector.
    ///
    /// # Errors
    /// The message of the server's 400.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = split(text);
        parts.sort_unstable();
        let terms = parts
            .into_iter()
            .filter(|part| !part.is_empty())
            .map(|part| term(text, part));
        Ok(Self {
            terms: terms.collect::<Result<_, _>>()?,
        })
    }

    /// The selector for the object of this name.
    pub fn of_name(name: &str) -> Self {
        let (field, value) = (NAME.to_owned(), name.to_owned());
        Self {
            terms: vec![Term {
                field,
                equal: true,
                value,
            }],
        }
    }

    /// Checks that a kind supports all fields of the selector.
    ///
    /// # Errors
    /// The message of the server's 400.
    pub fn check(&self, resource: &Resource) -> Result<(), String> {
        let unknown = |term: &&Term| match term.field.as_str() {
            NAME => false,
            // Upstream forgot the namespace of this kind.
            NAMESPACE if resource.names.plural == "podcertificaterequests" => resource.is_typed(),
            NAMESPACE => !resource.namespaced && has_own_fields(resource),
            field => resource.strategy.field(&Value::Null, field).is_none(),
        };
        self.terms
            .iter()
            .find(unknown)
            .map_or(Ok(()), |term| Err(unsupported(resource, &term.field)))
    }

    /// Whether an object matches; `value` returns its other fields.
    pub fn matches<V: AsRef<str>>(&self, key: &Key, value: impl Fn(&str) -> V) -> bool {
        let is_of_key = |term: &&Term| matches!(term.field.as_str(), NAME | NAMESPACE);
        let of_key = |term: &Term| if term.field == NAME { &key.name } else { &key.namespace };
        let (mut by_key, mut by_object) = (
            self.terms.iter().filter(is_of_key),
            self.terms.iter().filter(|it| !is_of_key(it)),
        );
        by_key.all(|term| (*of_key(term) == term.value) == term.equal)
            && by_object.all(|term| (value(&term.field).as_ref() == term.value) == term.equal)
    }

    /// The name that the selector requires, if any.
    pub fn name(&self) -> Option<&str> {
        self.terms
            .iter()
            .find(|term| term.field == NAME && term.equal)
            .map(|term| term.value.as_str())
    }

    /// Restricts a range to the objects that can match.
    #[must_use]
    pub fn narrow(&self, range: Range) -> Range {
        match self.name() {
            Some(name) => range.named(name),
            None => range,
        }
    }

    /// Whether every object matches.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// Kinds that convert fields themselves, with messages of their own for unsupported ones. Recorded.
fn has_own_fields(resource: &Resource) -> bool {
    let built_in = matches!(
        (resource.group.as_str(), resource.names.plural.as_str()),
        (
            "",
            "pods" | "namespaces" | "nodes" | "secrets" | "services" | "events" | "replicationcontrollers"
        ) | ("events.k8s.io", "events")
            | ("certificates.k8s.io", _)
            | ("resource.k8s.io", "resourceslices")
    );
    built_in || !resource.is_typed()
}

fn unsupported(resource: &Resource, field: &str) -> String {
    let quoted = kubewright_machinery::go::quote(field);
    if (resource.group.as_str(), resource.names.plural.as_str()) == ("batch", "jobs") {
        return format!("field label {quoted} not supported for Job");
    }
    if (resource.group.as_str(), resource.names.plural.as_str()) == ("resource.k8s.io", "resourceslices") {
        let (version, kind) = (resource.api_version(), &resource.names.kind);
        return format!("field label not supported for {version}, Kind={kind}: {field}");
    }
    if has_own_fields(resource) {
        return format!("field label not supported: {field}");
    }
    format!("{quoted} is not a known field selector: only \"{NAME}\", \"{NAMESPACE}\"")
}

/// Splits at the commas that no backslash precedes.
fn split(text: &str) -> Vec<&str> {
    let mut escaped = false;
    let at_comma = |found: char| {
        let splits = found == ',' && !escaped;
        escaped = found == '\\' && !escaped;
        splits
    };
    text.split(at_comma).collect()
}

fn term(whole: &str, text: &str) -> Result<Term, String> {
    let sign = text
        .find('=')
        .map(|at| match text.get(..at).and_then(|before| before.strip_suffix('!')) {
            Some(field) => (field, false, text.get(at + 1..)),
            None => (text.get(..at).unwrap_or_default(), true, text.get(at + 1..)),
        });
    let Some((field, equal, Some(value))) = sign else {
        return Err(format!("invalid selector: '{whole}'; can't understand '{text}'"));
    };
    let value = if equal {
        value.strip_prefix('=').unwrap_or(value)
    } else {
        value
    };
    let value = unescape(value).map_err(|why| format!("invalid field selector: {why}"))?;
    Ok(Term {
        field: field.to_owned(),
        equal,
        value,
    })
}

fn unescape(text: &str) -> Result<String, String> {
    let mut value = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(found) = rest.next() {
        match found {
            '\\' => match rest.next() {
                Some(escaped @ ('\\' | ',' | '=')) => value.push(escaped),
                Some(other) => return Err(format!("invalid escape sequence: \\{other}")),
                None => return Err("invalid escape sequence: \\".to_owned()),
            },
            ',' | '=' => return Err(format!("unescaped character in value: {}", u32::from(found))),
            plain => value.push(plain),
        }
    }
    Ok(value)
}
