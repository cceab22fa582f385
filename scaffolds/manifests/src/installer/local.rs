//! The objects for an operator on the developer's machine: no CRDs, no Deployment, and webhooks only at a URL that the cluster
//! reaches.

use crate::rendered::text;
use serde_json::Value;

/// Whether the cluster gets the object. If it is a configuration of webhooks, these get the URL.
pub(super) fn adapt(object: &mut Value, url: Option<&str>) -> bool {
    let is_operator = object["metadata"]["labels"]["control-plane"] == "controller-manager";
    if text(object, "/kind") == "CustomResourceDefinition" || is_operator {
        return false;
    }
    if !matches!(
        text(object, "/kind"),
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration"
    ) {
        return true;
    }
    let Some(url) = url else { return false };
    let webhooks = object.get_mut("webhooks").and_then(Value::as_array_mut);
    for webhook in webhooks.into_iter().flatten() {
        let config = webhook.get_mut("clientConfig").and_then(Value::as_object_mut);
        let Some(config) = config else { continue };
        if let Some(service) = config.remove("service") {
            let called = format!("{}{}", url.trim_end_matches('/'), text(&service, "/path"));
            config.insert("url".to_owned(), called.into());
        }
    }
    true
}
