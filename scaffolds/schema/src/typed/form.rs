//! Interprets values by their types: as a scalar, a list or a map, and with which keys a list's items.

use kubewright_machinery::go::{interface, quote};
use serde_json::Value;

use super::{
    element::Element,
    schema::{Id, List, ListType, Map, Scalar, Schema, Type},
};

/// Deeper values are refused, because the code recurses; the server's decoders refuse them anyway.
pub(super) const MAX_DEPTH: usize = 300;

/// The form of a value.
#[derive(Clone, Copy)]
pub enum Form<'a> {
    /// A scalar.
    Scalar(Scalar),
    /// A list.
    List(&'a List),
    /// A map or an object.
    Map(&'a Map),
}

impl Form<'_> {
    fn rank(self) -> u8 {
        match self {
            Self::Scalar(_) => 0,
            Self::List(_) => 1,
            Self::Map(_) => 2,
        }
    }
}

/// A form, and whether the value decided it because its type has several.
#[derive(Clone, Copy)]
pub struct Deduced<'a> {
    /// The form.
    pub form: Form<'a>,
    open: bool,
}

impl Deduced<'_> {
    /// Whether two values have the same form, decided in the same way.
    pub fn agrees(self, other: Deduced<'_>) -> bool {
        self.form.rank() == other.form.rank() && self.open == other.open
    }
}

impl Type {
    /// The form of a value. If the value matches no form of its type, it gets the first form, under which it is invalid.
    pub fn deduce(&self, value: Option<&Value>) -> Deduced<'_> {
        let fitting = match value {
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => self.scalar.map(Form::Scalar),
            Some(Value::Array(_)) => self.list.as_ref().map(Form::List),
            Some(Value::Object(_)) => self.map.as_ref().map(Form::Map),
            None | Some(Value::Null) => None,
        };
        let several = [self.scalar.is_some(), self.list.is_some(), self.map.is_some()]
            .iter()
            .filter(|it| **it)
            .count()
            > 1;
        match fitting {
            Some(form) => Deduced { form, open: false },
            None => Deduced {
                form: self.form(),
                open: several,
            },
        }
    }

    /// The first form of a type, in the order map, scalar, list.
    pub fn form(&self) -> Form<'_> {
        match self {
            Self { map: Some(map), .. } => Form::Map(map),
            Self {
                scalar: Some(scalar), ..
            } => Form::Scalar(*scalar),
            Self { list: Some(list), .. } => Form::List(list),
            Self { .. } => Form::Scalar(Scalar::Untyped),
        }
    }
}

impl Map {
    /// The type of the value under `name`.
    pub fn at(&self, name: &str) -> Option<Id> {
        self.fields.get(name).map(|it| it.id).or(self.element)
    }
}

/// A problem of a value, and its path.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The path: `.spec.ports[port=80]`.
    pub path: String,
    /// The error, in upstream's words.
    pub message: String,
}

/// All problems in one message.
pub fn describe(problems: &[Problem]) -> String {
    let lines: Vec<_> = problems
        .iter()
        .map(|it| {
            if it.path.is_empty() {
                it.message.clone()
            } else {
                format!("{}: {}", it.path, it.message)
            }
        })
        .collect();
    match lines.as_slice() {
        [only] => only.clone(),
        _ => format!("errors:\n  {}", lines.join("\n  ")),
    }
}

/// Checks the type of a scalar; an absent value and null always match.
///
/// # Errors
/// The error, in upstream's words.
pub fn check_scalar(scalar: Scalar, value: Option<&Value>) -> Result<(), String> {
    let Some(value) = value.filter(|it| !it.is_null()) else {
        return Ok(());
    };
    match scalar {
        Scalar::Numeric if !value.is_number() => Err(format!(
            "expected numeric (int or float), got {}",
            interface::type_name(value)
        )),
        Scalar::String if !value.is_string() => Err(format!(
            "expected string, got &value.valueUnstructured{{Value:{}}}",
            interface::source(value)
        )),
        Scalar::Boolean if !value.is_boolean() => {
            Err(format!("expected boolean, got &{{{}}}", interface::plain(value)))
        }
        Scalar::Untyped if value.is_array() || value.is_object() => {
            Err(format!("expected any scalar, got &{{{}}}", interface::plain(value)))
        }
        _ => Ok(()),
    }
}

/// The element that identifies an item of a mergeable list.
///
/// # Errors
/// The reason that the item has no identity, in upstream's words.
pub fn item(schema: &Schema, list: &List, item: &Value) -> Result<Element, String> {
    match &list.kind {
        ListType::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        ListType::Map(keys) if !keys.is_empty() => keyed(schema, list, keys, item),
        ListType::Map(_) | ListType::Set => match item {
            Value::Object(_) => Err("associative list without keys has an element that's a map type".to_owned()),
            Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
            Value::Null => Err("associative list without keys has an element that's an explicit null".to_owned()),
            scalar => Ok(Element::Item(scalar.clone())),
        },
    }
}

fn keyed(schema: &Schema, list: &List, keys: &[String], item: &Value) -> Result<Element, String> {
    let members = match item {
        Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
        Value::Object(members) => members,
        _ => return Err("associative list with keys may not have non-map elements".to_owned()),
    };
    let mut found = Vec::new();
    for key in keys {
        if let Some(it) = members.get(key) {
            found.push((key.clone(), it.clone()));
        } else if let Some(it) = default_of(schema, list, key)? {
            found.push((key.clone(), it.clone()));
        }
    }
    if found.is_empty() {
        let keys: Vec<_> = keys.iter().map(|it| quote(it)).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values \
             for any key fields)",
            keys.join(" ")
        ));
    }
    found.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(Element::Key(found))
}

fn default_of<'a>(schema: &'a Schema, list: &List, key: &str) -> Result<Option<&'a Value>, String> {
    let Some(map) = &schema.get(list.element).map else {
        return Err(format!(
            "couldn't find default value for {key}: associative list may not have non-map types"
        ));
    };
    Ok(map.fields.get(key).and_then(|field| field.default.as_ref()))
}
