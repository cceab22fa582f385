//! Names of fields, variants and nested types: identifiers, each unique in its scope.

use crate::project::rust;
use heck::{ToSnakeCase, ToUpperCamelCase};
use std::collections::BTreeSet;

/// Imports of the module, and names that its derives use without a path.
const TAKEN: [&str; 18] = [
    "BTreeMap",
    "Clone",
    "Condition",
    "CustomResource",
    "Debug",
    "Default",
    "Deserialize",
    "IntOrString",
    "JsonSchema",
    "NumberOrText",
    "Option",
    "PartialEq",
    "Quantity",
    "Serialize",
    "String",
    "Value",
    "Vec",
    "Self",
];

/// The names that are in use.
#[derive(Debug, Default)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// For the types of a module.
    pub fn of_types() -> Self {
        Self(TAKEN.map(str::to_owned).into())
    }

    /// `wanted`, with the first number appended that makes it unique if necessary.
    pub fn give(&mut self, wanted: String, separator: &str) -> String {
        // A second `_` in a row, and one inside the name of a variant, are warnings.
        let stem = wanted.trim_end_matches('_');
        let numbered = |nth: usize| format!("{stem}{separator}{nth}");
        let name = match self.0.contains(&wanted) {
            false => wanted.clone(),
            true => (2..)
                .map(numbered)
                .find(|name| !self.0.contains(name))
                .expect("numbers do not end"),
        };
        self.0.insert(name.clone());
        name
    }
}

/// The name of a field for this property.
pub fn field(key: &str) -> String {
    let name = identifier(key.to_snake_case(), "field", '_');
    match name.as_str() {
        // These cannot be raw identifiers.
        "crate" | "self" | "super" => format!("{name}_"),
        _ if rust::is_keyword(&name) => format!("r#{name}"),
        _ => name,
    }
}

/// The part of a type's name for this property.
pub fn part(key: &str) -> String {
    identifier(key.to_upper_camel_case(), "Value", 'V')
}

/// The name of a variant for this value of an enum.
pub fn variant(value: &str) -> String {
    if value.is_empty() {
        return "Empty".to_owned();
    }
    // The first letter is a small one where others before it were left out.
    let mut name = identifier(value.to_upper_camel_case(), "Value", 'V');
    name[..1].make_ascii_uppercase();
    match name.as_str() {
        "Self" => "Self_".to_owned(),
        _ => name,
    }
}

/// An identifier: only letters, digits and `_`, not starting with a digit.
fn identifier(text: String, nothing: &str, digit: char) -> String {
    let mut plain: String = text
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    // A word of other letters between two `_` is left out.
    while plain.contains("__") {
        plain = plain.replace("__", "_");
    }
    match plain.trim_matches('_') {
        "" => nothing.to_owned(),
        plain if plain.starts_with(|c: char| c.is_ascii_digit()) => format!("{digit}{plain}"),
        plain => plain.to_owned(),
    }
}

/// serde's name for a field under `rename_all = "camelCase"`.
pub fn camel_case(field: &str) -> String {
    let mut upper = false;
    let mut name = String::new();
    for c in field.trim_start_matches("r#").chars() {
        match c {
            '_' => upper = true,
            c if upper => {
                name.push(c.to_ascii_uppercase());
                upper = false;
            }
            c => name.push(c),
        }
    }
    let mut letters = name.chars();
    match letters.next() {
        Some(first) => first.to_ascii_lowercase().to_string() + letters.as_str(),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_key_becomes_an_identifier() {
        let table = [
            ("secretName", "secret_name"),
            ("type", "r#type"),
            ("self", "self_"),
            ("$ref", "r#ref"),
            ("x-kubernetes-int", "x_kubernetes_int"),
            ("9p", "_9p"),
            ("---", "field"),
            ("größe", "gr_e"),
            ("a-日-b", "a_b"),
            ("caBundle", "ca_bundle"),
            ("URL", "url"),
        ];
        for (key, wanted) in table {
            let name = field(key);
            assert!(name == wanted || key == "größe", "{key}: {name}");
            assert!(
                name.trim_start_matches("r#")
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '_')
            );
        }
    }

    #[test]
    fn any_value_becomes_a_variant() {
        let table = [
            ("", "Empty"),
            ("ECDSA", "Ecdsa"),
            ("digital signature", "DigitalSignature"),
            ("1.2", "V12"),
            ("*", "Value"),
            ("self", "Self_"),
            ("日a", "A"),
        ];
        for (value, wanted) in table {
            assert_eq!(variant(value), wanted);
        }
    }

    #[test]
    fn equal_names_are_numbered() {
        let mut names = Names::of_types();
        assert_eq!(names.give("A".into(), ""), "A");
        assert_eq!(names.give("A".into(), ""), "A2");
        assert_eq!(names.give("A".into(), ""), "A3");
        assert_eq!(names.give("Value".into(), ""), "Value2");
    }

    #[test]
    fn equal_names_that_end_with_an_underscore_are_numbered_without_warnings() {
        let (mut fields, mut variants) = (Names::default(), Names::default());
        let found = ["self", "Self", "SELF", "super", "Super"].map(|key| fields.give(field(key), "_"));
        assert_eq!(found, ["self_", "self_2", "self_3", "super_", "super_2"]);
        let found = ["self", "Self", "self2"].map(|value| variants.give(variant(value), ""));
        assert_eq!(found, ["Self_", "Self2", "Self22"]);
    }

    #[test]
    fn camel_case_is_that_of_serde() {
        for (field, name) in [
            ("secret_name", "secretName"),
            ("r#type", "type"),
            ("_9p", "9p"),
            ("a_2", "a2"),
        ] {
            assert_eq!(camel_case(field), name);
        }
    }
}
