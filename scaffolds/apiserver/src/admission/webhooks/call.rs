//! Calls one webhook.

use std::sync::Arc;

use bytes::Bytes;
use kubewright_machinery::go::{self, quote};
use serde_json::Value;

use super::{
    matching::Asked,
    review::{self, Answer, ExpectedAdmission, Unfit},
    verdict::{Refused, denied, not_called},
    version::{Patched, Versioned},
};
use crate::{
    meta::generate,
    patch::{self, Unpatched},
    state::Core,
    status::Status,
    webhooks::{Failure, Hook, Posted, SideEffects},
};

/// The result of a webhook call that did not reject the request.
pub(super) enum Called {
    /// The object is not changed.
    Allowed,
    /// The object is patched.
    Patched(Patched),
}

/// Calls a mutating webhook; `None` if that failed and failures are ignored.
///
/// # Errors
/// Its refusal; or 500 if it cannot be called and failures are not ignored.
pub(super) async fn mutating(
    core: &Core,
    asked: &Asked<'_>,
    hook: &Hook,
    seen: &Versioned,
) -> Result<Option<Called>, Status> {
    let called = async {
        let answer = call(
            core,
            asked,
            hook,
            Sending {
                seen,
                is_mutating: true,
            },
        )
        .await?;
        match patched(hook, seen, &answer)? {
            None => Ok(Called::Allowed),
            Some(object) => seen
                .read(core, asked, object, false)
                .map(Called::Patched)
                .map_err(Refused::Told),
        }
    };
    judge(hook, called.await)
}

/// Calls a validating webhook.
///
/// # Errors
/// As for [`mutating`].
pub(super) async fn validating(core: &Core, asked: &Asked<'_>, hook: &Hook, seen: &Versioned) -> Result<(), Status> {
    let answer = call(
        core,
        asked,
        hook,
        Sending {
            seen,
            is_mutating: false,
        },
    )
    .await;
    judge(hook, answer).map(drop)
}

fn judge<T>(hook: &Hook, outcome: Result<T, Refused>) -> Result<Option<T>, Status> {
    match outcome {
        Ok(called) => Ok(Some(called)),
        Err(Refused::NotCalled(_)) if hook.ignores_failures => Ok(None),
        Err(Refused::NotCalled(why)) => Err(not_called(&hook.name, &why)),
        Err(Refused::Told(status)) => Err(status),
    }
}

/// The review that is sent, and whether the answer may have a patch.
#[derive(Clone, Copy)]
struct Sending<'a> {
    seen: &'a Versioned,
    is_mutating: bool,
}

/// The answer of a webhook that allows the request.
async fn call(core: &Core, asked: &Asked<'_>, hook: &Hook, sending: Sending<'_>) -> Result<Answer, Refused> {
    if asked.attributes.dry_run {
        match hook.side_effects {
            SideEffects::None => {}
            SideEffects::Missing => return Err(Refused::NotCalled("Webhook SideEffects is nil".to_owned())),
            SideEffects::Some => {
                let message = format!("admission webhook {} does not support dry run", quote(&hook.name));
                return Err(Refused::Told(Status::bad_request(message)));
            }
        }
    }
    let version = hook.reviews.iter().find(|it| ["v1", "v1beta1"].contains(&it.as_str()));
    let version = version.ok_or_else(|| {
        let why =
            "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)";
        Refused::NotCalled(why.to_owned())
    })?;
    let target = hook
        .target
        .as_ref()
        .map_err(|why| Refused::NotCalled(format!("could not get REST client: {why}")))?;
    let uid = generate::uid();
    let review = review::sent(asked, sending.seen, version, &uid);
    let posted = Posted {
        target: Arc::clone(target),
        timeout: hook.timeout,
        body: Bytes::from(go::json(&review)),
    };
    let failed = |why: String| Refused::NotCalled(format!("failed to call webhook: {why}"));
    let received = core.webhooks.post(&core.store, posted).await;
    let received = received.map_err(|failure| match failure {
        Failure::Call(why) => failed(why),
        #[cfg(not(feature = "webhooks"))]
        Failure::Missing => Refused::Told(Status::not_implemented(&format!(
            "calling webhook {} without the feature `webhooks` of kubewright-apiserver",
            quote(&hook.name)
        ))),
    })?;
    let expected = ExpectedAdmission {
        version,
        uid: &uid,
        is_mutating: sending.is_mutating,
    };
    let answer = expected.read(&received).map_err(|unfit| match unfit {
        Unfit::Undecodable(why) => failed(why),
        Unfit::Invalid(why) => Refused::NotCalled(format!("received invalid webhook response: {why}")),
    })?;
    for warning in answer.warnings.iter().filter(|warning| !warning.is_empty()) {
        asked.attributes.call.warnings.add(warning.clone());
    }
    if !answer.is_allowed {
        return Err(Refused::Told(denied(&hook.name, &answer.result)));
    }
    Ok(answer)
}

/// The object with the patch of an answer; `None` if there is no patch.
fn patched(hook: &Hook, seen: &Versioned, answer: &Answer) -> Result<Option<Value>, Refused> {
    if answer.patch.is_empty() {
        return Ok(None);
    }
    let name = quote(&hook.name);
    let patched = patch::by_webhook(seen.new.as_ref(), &answer.patch).map_err(|unpatched| match unpatched {
        Unpatched::Undecodable(why) => {
            Refused::NotCalled(format!("received undecodable patch in webhook response: {why}"))
        }
        Unpatched::Nothing => Refused::Told(Status::internal(&format!(
            "admission webhook {name} attempted to modify the object, which is not supported for this operation"
        ))),
        Unpatched::Failed(why) => Refused::Told(Status::internal(&why)),
    })?;
    if patched.is_some() && answer.patch_type != "JSONPatch" {
        let kind = quote(&answer.patch_type);
        return Err(Refused::NotCalled(format!("unsupported patch type {kind}")));
    }
    Ok(patched)
}
