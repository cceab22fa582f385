//! What a patch made, read as the kind that it should be. What is wrong is the patch's fault, and said so.

use kubewright_schema::cause::Path;
use serde_json::Value;

use super::{
    body::{self, WrongType},
    options::Validation,
    patch::Format,
    strict,
    work::Work,
};
use crate::{meta, patch::Patched, status::Status};

/// Reads a patched document.
///
/// # Errors
/// 422 for one that is not of the kind, quoting it; under [`Validation::Strict`] also for strange fields.
pub(super) fn decode(
    work: &mut Work,
    mut patched: Patched,
    (format, validation): (Format, Validation),
) -> Result<Value, Status> {
    let resource = work.resource();
    let mut object = std::mem::take(&mut patched.object);
    if let Err(why) = body::check_type(work, &mut object) {
        return Err(wrong_type(work, &object, (why, &patched)));
    }
    let beginning = format!("{}: ", body::cannot(&object, resource));
    let mut strange = std::mem::take(&mut patched.strange);
    let read = match format {
        Format::Strategic => body::converted,
        _ => body::typed,
    };
    match read(resource, &mut object) {
        Ok(unknown) => strange.extend(unknown),
        Err(status) if status.code == 400 => {
            let why = status.message.strip_prefix(&beginning).unwrap_or(&status.message);
            return Err(patched.refuse(why));
        }
        Err(status) => return Err(status),
    }
    strict::judge(work, validation, strange, |sentence| patched.refuse(&sentence))?;
    resource.strategy.default(&mut object);
    Ok(object)
}

fn wrong_type(work: &Work, object: &Value, (why, patched): (WrongType, &Patched)) -> Status {
    match why {
        WrongType::Scheme(why) => patched.refuse(&why),
        WrongType::Missing("apiVersion") => {
            Status::internal("Object 'apiVersion' is missing in 'object has no apiVersion field'")
        }
        WrongType::Missing(what) => {
            let shown = kubewright_schema::go::json(object);
            patched.refuse(&format!("Object '{what}' is missing in '{shown}'"))
        }
        WrongType::Version(version) => {
            let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
            let rule = format!("must be {}", work.resource().api_version());
            let cause = Path::new("apiVersion").invalid(version.as_str(), &rule);
            let group = meta::owners::group_version(&version).0;
            Status::invalid((group, kind), meta::text(object, "name"), &[cause])
        }
    }
}
