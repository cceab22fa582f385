//! Decodes the result of a patch as an object of its kind. Errors blame the patch.

use serde_json::Value;

use super::patch::{Format, document};
use crate::{
    patch::Patched,
    registry::{
        body::{self, Decoded, WrongType},
        options::Validation,
        strict,
        work::Work,
    },
    request,
    status::Status,
};

/// Patches an object, and decodes the result.
///
/// # Errors
/// The errors of the patch; 422, quoting the document, when it is not of the kind; under [`Validation::Strict`] also
/// for unknown or duplicate fields.
pub fn decode(work: &Work, live: &Value, format: Format, validation: Validation) -> Result<Decoded, Status> {
    let (call, resource) = (work.call, work.resource());
    let Patched {
        mut object,
        mut strict_errors,
        ..
    } = document(call, live, format, validation)?;
    // Refusals quote the document before decoding. They patch once more, so that successful patches keep no copy of it.
    let refuse = |why: &str| match document(call, live, format, validation) {
        Ok(patched) => patched.refuse(why),
        Err(status) => status,
    };
    if work.is_built_in() {
        match typed(work, &mut object, format) {
            Ok(Typed::Yes) => {}
            Ok(Typed::Internal) => {
                return Err(internal(work, validation, &object, &refuse));
            }
            Err(why) => return Err(refuse(&why)),
        }
    }
    match body::check_type(work, &mut object) {
        // Validation refuses another version of a custom kind.
        Ok(()) | Err(WrongType::Version(_)) => {}
        Err(why) => return Err(wrong_type(&object, why, &refuse)),
    }
    let read = match format {
        Format::Strategic => body::converted,
        _ => body::typed,
    };
    let has_empties = match read(work, &mut object) {
        Ok((unknown, has_empties)) => {
            strict_errors.extend(unknown);
            has_empties
        }
        Err(status) if status.code == 400 => {
            let beginning = format!("{}: ", body::cannot(&object, resource));
            let why = status.message.strip_prefix(&beginning).unwrap_or(&status.message);
            return Err(refuse(why));
        }
        Err(status) => return Err(status),
    };
    strict::judge(work, validation, strict_errors, |sentence| refuse(&sentence))?;
    work.default(&mut object);
    Ok(Decoded {
        object,
        has_empties,
        has_pruned: false,
    })
}

/// As what a patched object of a built-in kind is decoded.
enum Typed {
    /// As its kind, or as the one that the patch names.
    Yes,
    /// Without a version, as the internal struct of its kind, in which no field has a name.
    Internal,
}

/// Checks the types of `apiVersion` and `kind`. A strategic merge patch changes neither.
///
/// # Errors
/// The error of the decoder for a value that is no text.
fn typed(work: &Work, object: &mut Value, format: Format) -> Result<Typed, String> {
    if format != Format::Strategic {
        if let Some(why) = object.as_object().and_then(request::body::untyped) {
            return Err(why);
        }
        let version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        return Ok(if version.is_empty() {
            Typed::Internal
        } else {
            Typed::Yes
        });
    }
    let own = [
        ("apiVersion", work.resource().api_version()),
        ("kind", work.resource().names.kind.clone()),
    ];
    for (field, value) in own {
        match object.get(field) {
            None | Some(Value::Null | Value::String(_)) => object[field] = value.into(),
            Some(Value::Number(number)) if number.is_i64() => return Err("cannot convert int64 to string".to_owned()),
            Some(_) => return Err("unrecognized type: string".to_owned()),
        }
    }
    Ok(Typed::Yes)
}

/// The refusal of an object without a version. It has no name, because no field of it is known.
fn internal(work: &Work, validation: Validation, object: &Value, refuse: &dyn Fn(&str) -> Status) -> Status {
    let fields = object
        .as_object()
        .into_iter()
        .flatten()
        .map(|(field, _)| field.as_str());
    let unknown = fields.filter(|field| !["apiVersion", "kind"].contains(field));
    let unknown = unknown.map(|field| format!("unknown field {}", kubewright_machinery::go::quote(field)));
    match strict::judge(work, validation, unknown.collect(), |sentence| refuse(&sentence)) {
        Err(status) => status,
        Ok(()) => body::undeterminable(&work.call.name),
    }
}

fn wrong_type(object: &Value, why: WrongType, refuse: &dyn Fn(&str) -> Status) -> Status {
    match why {
        WrongType::Scheme(why) | WrongType::Sibling(_, why) => refuse(&why),
        WrongType::Malformed(version) | WrongType::Version(version) => {
            refuse(&format!("unexpected GroupVersion string: {version}"))
        }
        WrongType::Missing("apiVersion") => {
            Status::internal("Object 'apiVersion' is missing in 'object has no apiVersion field'")
        }
        WrongType::Missing(what) => {
            let shown = kubewright_machinery::go::json(object);
            refuse(&format!("Object '{what}' is missing in '{shown}'"))
        }
    }
}
