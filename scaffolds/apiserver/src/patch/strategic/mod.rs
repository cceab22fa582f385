//! Strategic merge patch: a merge patch that merges lists where the schema says so, and has directives.

mod directives;
mod list;
mod order;

use kubewright_machinery::go::interface as go;
use kubewright_schema::typed::{Patch, Schema, Shape};
use serde_json::{Map, Value};

use self::directives::{
    DELETE_FROM, RETAIN_KEYS, SET_ORDER, discard_nulls, key_of, replace_or_delete, retain_keys, without_directives,
};
use super::{Patched, document, rejected};
use crate::{json, status::Status};

type Members = Map<String, Value>;

/// Applies a strategic merge patch to an object of a built-in kind; custom kinds do not support it (415).
///
/// # Errors
/// 400 for a malformed body or directive, 422 for lists of lists, 500 for all other mismatches, as upstream.
pub fn strategic(object: &Value, patch: &[u8], schema: &Schema, checked: bool) -> Result<Patched, Status> {
    let (patch, strict_errors) = document(patch)?;
    let mut patch = match patch {
        Value::Null => Members::new(),
        Value::Object(members) => members,
        other => {
            return Err(Status::bad_request(json::mismatch(
                &other,
                "value of type map[string]interface {}",
            )));
        }
    };
    let original = object.as_object().cloned().unwrap_or_default();
    let object = map(original, &mut patch, Some(schema.root())).map_err(Bad::status)?;
    let shown = go::plain(&Value::Object(patch));
    Ok(Patched {
        object: Value::Object(object),
        strict_errors: if checked { strict_errors } else { Vec::new() },
        shown: Some(shown),
    })
}

/// The reason that a patch cannot be applied.
enum Bad {
    /// A malformed directive: 400.
    Format(&'static str),
    /// Lists of lists: 422, without a reason.
    Rejected,
    /// Any other error: 500.
    Other(String),
}

type Merged<T> = Result<T, Bad>;

impl Bad {
    fn status(self) -> Status {
        match self {
            Self::Format(of) => Status::bad_request(format!("invalid patch format of {of}")),
            Self::Rejected => rejected(),
            Self::Other(message) => Status::new(500, "", message),
        }
    }

    fn wrong_type(expected: &'static str, actual: &Value) -> Self {
        Self::Other(format!(
            "expected a {expected}, but received a {}",
            go::type_name(actual)
        ))
    }

    fn no_key(item: &Members, key: &str) -> Self {
        let item = go::plain(&Value::Object(item.clone()));
        Self::Other(format!("map: {item} does not contain declared merge key: {key}"))
    }
}

const LIST: &str = "[]interface {}";
const MAP: &str = "map[string]interface {}";

/// Merges `patch` into `original`. Removes directives from the patch once they are processed; refusals show what is
/// left.
fn map(mut original: Members, patch: &mut Members, shape: Option<Shape<'_>>) -> Merged<Members> {
    if let Some(directive) = patch.get("$patch").cloned() {
        return replace_or_delete(&directive, patch);
    }
    if let Some(keys) = patch.remove(RETAIN_KEYS) {
        retain_keys(&mut original, &keys, patch)?;
    }
    order::ordered_lists(&mut original, patch, shape)?;
    for (name, value) in patch.iter_mut() {
        member(&mut original, name, value, shape)?;
    }
    Ok(original)
}

fn member(original: &mut Members, name: &str, value: &mut Value, shape: Option<Shape<'_>>) -> Merged<()> {
    let deletes = name.starts_with(DELETE_FROM);
    let name = if deletes { key_of(name, DELETE_FROM)? } else { name };
    if value.is_null() {
        original.remove(name);
        return Ok(());
    }
    let merged = match (original.get_mut(name), &mut *value) {
        (Some(Value::Object(before)), Value::Object(patch)) => {
            let (below, how) = field(shape, name)?;
            let before = std::mem::take(before);
            Some(Value::Object(if how.replace {
                patch.clone()
            } else {
                map(before, patch, Some(below))?
            }))
        }
        (Some(Value::Array(before)), Value::Array(items)) => {
            let of = list_field(shape, name)?;
            let before = std::mem::take(before);
            Some(Value::Array(list::merge(before, items, of, deletes)?))
        }
        _ if deletes => return Ok(()),
        _ => {
            discard_nulls(value);
            without_directives(value.clone())
        }
    };
    match merged {
        Some(merged) => drop(original.insert(name.to_owned(), merged)),
        None => drop(original.remove(name)),
    }
    Ok(())
}

/// A declared field of an object; only structs have fields that patches can merge.
fn field<'a>(shape: Option<Shape<'a>>, name: &str) -> Merged<(Shape<'a>, &'a Patch)> {
    let shape = shape.filter(|it| it.is_struct()).ok_or_else(|| {
        let kind = if shape.is_some_and(|it| it.list_type().is_some()) {
            "slice"
        } else {
            "map"
        };
        Bad::Other(format!(
            "merging an object in json but data type is not struct, instead is: {kind}"
        ))
    })?;
    let field = shape.field(name).ok_or_else(|| {
        let name = kubewright_machinery::go::quote(name);
        Bad::Other(format!(
            "unable to find api field in struct {} for the json field {name}",
            shape.name()
        ))
    })?;
    Ok((field.shape, field.patch))
}

/// The same for a list.
fn list_field<'a>(shape: Option<Shape<'a>>, name: &str) -> Merged<list::Items<'a>> {
    let (list, how) = field(shape, name)?;
    match list.list_type() {
        Some(_) => Ok(list::Items {
            shape: list.items(),
            how,
        }),
        None => Err(Bad::Other("expected slice or array type, but got: struct".to_owned())),
    }
}
