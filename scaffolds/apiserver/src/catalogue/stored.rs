//! Objects from the store in the version of a resource, where a webhook converts.

use serde_json::Value;

use crate::{conversion::Conversion, meta, resource::Resource, status::Status};

/// A stored object in the version of a resource. As upstream, which has it elsewhere, the webhook does not see the
/// resourceVersion.
///
/// # Errors
/// 500 when it cannot be converted.
pub async fn bring(conversion: &Conversion, resource: &Resource, mut object: Value) -> Result<Value, Status> {
    resource.strategy.read_stored(&mut object);
    let version = resource.api_version();
    if object.get("apiVersion").and_then(Value::as_str) == Some(&version) {
        return Ok(object);
    }
    let revision = meta::of_mut(&mut object).remove("resourceVersion");
    let mut object = conversion.convert(object, &version).await?;
    resource.strategy.read_converted(&mut object)?;
    meta::set(&mut object, "resourceVersion", revision);
    Ok(object)
}
