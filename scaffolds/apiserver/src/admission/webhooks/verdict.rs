//! The responses to clients when a webhook refuses a request, or cannot be called.

use std::borrow::Cow;

use kubewright_machinery::go::quote;
use serde_json::{Map, Value};

use crate::status::{Details, Status};

/// The reason that a request does not go on.
#[derive(Debug)]
pub(super) enum Refused {
    /// The webhook was not called, or its answer is not one. Whether that matters is the webhook's policy.
    NotCalled(String),
    /// It matters in any case.
    Told(Status),
}

/// 500 for a webhook that was not called.
pub(super) fn not_called(name: &str, why: &str) -> Status {
    Status::internal(&format!("failed calling webhook {}: {why}", quote(name)))
}

/// The refusal by a webhook, which gives code, reason, message and details.
pub(super) fn denied(name: &str, result: &Map<String, Value>) -> Status {
    let text = |field: &str| result.get(field).and_then(Value::as_str).unwrap_or_default();
    let by = format!("admission webhook {} denied the request", quote(name));
    let message = match (text("message"), text("reason")) {
        ("", "") => format!("{by} without explanation"),
        ("", why) | (why, _) => format!("{by}: {why}"),
    };
    let code = result.get("code").and_then(Value::as_u64).unwrap_or_default();
    let code = u16::try_from(code).unwrap_or(400).clamp(400, 599);
    Status {
        reason: Cow::Owned(text("reason").to_owned()),
        details: result.get("details").and_then(Value::as_object).map(details),
        ..Status::new(code, "", message)
    }
}

fn details(details: &Map<String, Value>) -> Box<Details> {
    let text = |field: &str| {
        details
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let seconds = details.get("retryAfterSeconds").and_then(Value::as_u64);
    let causes = details.get("causes").and_then(Value::as_array);
    Box::new(Details {
        name: text("name"),
        group: text("group"),
        uid: text("uid"),
        kind: text("kind"),
        causes: causes.cloned().unwrap_or_default(),
        retry_after_seconds: seconds.and_then(|it| u32::try_from(it).ok()).unwrap_or_default(),
    })
}
