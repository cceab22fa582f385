//! Conversion webhooks: what they are sent, what their answers mean, and which of them are kept. Which objects need them,
//! and when, is known below.

mod restore;
mod review;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use kubewright_machinery::{
    base64::{self, Encoding},
    go,
};
use serde_json::{Value, json};

use crate::{
    conversion::Conversion,
    meta::generate,
    status::Status,
    store::Store,
    webhooks::{Failure, Posted, Target, Webhooks},
};
use review::ExpectedConversion;

/// The time that a call may take: upstream's clients of conversion webhooks are not configured otherwise.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The versions of ConversionReview that are known.
const REVIEWS: [&str; 2] = ["v1", "v1beta1"];

/// The conversion webhook of a CustomResourceDefinition.
struct Converter {
    target: Arc<Target>,
    /// The version of ConversionReview that it is sent: the first known one that it accepts.
    review: Option<&'static str>,
    store: Store,
    webhooks: Arc<Webhooks>,
}

/// The conversion of the objects of a definition; `None` if its strategy is not `Webhook`.
pub fn of(crd: &Value, store: &Store, webhooks: &Arc<Webhooks>) -> Option<Conversion> {
    let conversion = crd.pointer("/spec/conversion")?;
    if conversion["strategy"] != "Webhook" {
        return None;
    }
    let webhook = &conversion["webhook"];
    let Ok(target) = Target::read(&without_blank_bundle(&webhook["clientConfig"])) else {
        return Some(Conversion::impossible());
    };
    let versions = webhook["conversionReviewVersions"].as_array().into_iter().flatten();
    let review = versions
        .filter_map(Value::as_str)
        .find_map(|version| REVIEWS.into_iter().find(|known| *known == version));
    let converter = Arc::new(Converter {
        target: Arc::new(target),
        review,
        store: store.clone(),
        webhooks: Arc::clone(webhooks),
    });
    Some(Conversion::new(Box::new(move |object, api_version| {
        let (converter, api_version) = (Arc::clone(&converter), api_version.to_owned());
        Box::pin(async move { converter.convert(object, &api_version).await })
    })))
}

impl Converter {
    /// Brings an object to another version of its group.
    ///
    /// # Errors
    /// 500 in upstream's words when the webhook cannot be called, or its answer is invalid; 501 in a build that cannot
    /// call webhooks.
    async fn convert(&self, mut object: Value, api_version: &str) -> Result<Value, Status> {
        if is_empty(&object) {
            object["apiVersion"] = json!(api_version);
            return Ok(object);
        }
        let (from, kind) = (text(&object, "apiVersion"), text(&object, "kind"));
        let title = format!("conversion webhook for {from}, Kind={kind}");
        let failed = |why: String| Status::new(500, "", why);
        let version = self
            .review
            .ok_or_else(|| failed("no supported conversion review versions".to_owned()))?;
        let uid = generate::uid();
        let posted = Posted {
            target: Arc::clone(&self.target),
            timeout: TIMEOUT,
            body: Bytes::from(go::json(&review::sent(version, &uid, &object, api_version))),
        };
        let received = self.webhooks.post(&self.store, posted).await;
        let received = received.map_err(|failure| match failure {
            Failure::Call(why) => failed(format!("{title} failed: {why}")),
            #[cfg(not(feature = "webhooks"))]
            Failure::Missing => Status::not_implemented(&format!(
                "calling the {title} without the feature `webhooks` of kubewright-apiserver"
            )),
        })?;
        let expected = ExpectedConversion { version, uid: &uid };
        let objects = expected.read(&received);
        let mut objects = objects.map_err(|why| failed(format!("{title} failed: {why}")))?;
        if objects.len() != 1 {
            let count = objects.len();
            return Err(failed(format!("{title} returned {count} objects, expected 1")));
        }
        let converted = restore::read(objects.swap_remove(0)).map_err(failed)?;
        checked(&title, &object, converted, api_version).map_err(failed)
    }
}

/// The converted object with the metadata of the original, but for labels and annotations.
fn checked(title: &str, object: &Value, mut converted: Value, api_version: &str) -> Result<Value, String> {
    let found = text(&converted, "apiVersion");
    if found != api_version {
        return Err(format!(
            "{title} returned invalid object at index 0: invalid groupVersion (expected {api_version}, received {found})"
        ));
    }
    let (wanted, found) = (text(object, "kind"), text(&converted, "kind"));
    if wanted != found {
        return Err(format!(
            "{title} returned invalid object at index 0: invalid kind (expected {wanted}, received {found})"
        ));
    }
    restore::same(object, &converted).map_err(|why| format!("{title} returned invalid object: {why}"))?;
    restore::metadata(object, &mut converted).map_err(|why| format!("{title} returned invalid metadata: {why}"))?;
    Ok(converted)
}

/// Whether an object has nothing but its type.
fn is_empty(object: &Value) -> bool {
    let fields = object.as_object();
    fields.is_some_and(|fields| fields.len() == 2 && fields.contains_key("apiVersion") && fields.contains_key("kind"))
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The `clientConfig` as it is read: a bundle of white space stands for none.
fn without_blank_bundle(config: &Value) -> Value {
    let mut config = config.clone();
    let bundle = config["caBundle"].as_str().unwrap_or_default();
    let decoded = base64::decode(bundle, Encoding::Standard).unwrap_or_default();
    if decoded.trim_ascii().is_empty()
        && let Some(fields) = config.as_object_mut()
    {
        fields.remove("caBundle");
    }
    config
}
