//! ConversionReviews that a hostile client would send to an operator whose kind has two versions.

use std::{
    sync::{
        LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use kube::CustomResource;
use kubewright_webhooks::{Hub, testing::Reviews};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use tokio::runtime::{Builder, Runtime};

#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "FooBar",
    namespaced,
    status = "Status",
    root = "First"
)]
struct FirstSpec {
    /// `host:port`; v2 has two fields for it.
    target: String,
    /// v2 has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    colour: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    items: Vec<FirstItem>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
struct FirstItem {
    name: String,
    /// v2 has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weight: Option<i64>,
}

#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v2",
    kind = "FooBar",
    namespaced,
    storage = false,
    status = "Status",
    root = "Second"
)]
struct SecondSpec {
    host: String,
    port: u16,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    items: Vec<SecondItem>,
    /// v1 has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tries: Option<u32>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
struct SecondItem {
    name: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
struct Status {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ready: Option<bool>,
}

/// The calls of both functions since the last request.
static CALLS: AtomicUsize = AtomicUsize::new(0);

fn to_first(new: Second) -> Result<First, String> {
    CALLS.fetch_add(1, Ordering::Relaxed);
    let Second { metadata, spec, status } = new;
    let SecondSpec {
        host,
        port,
        items,
        tries: _,
    } = spec;
    let items = items
        .into_iter()
        .map(|SecondItem { name }| FirstItem { name, weight: None });
    let spec = FirstSpec {
        target: format!("{host}:{port}"),
        colour: None,
        items: items.collect(),
    };
    Ok(First { metadata, spec, status })
}

fn to_second(old: First) -> Result<Second, String> {
    CALLS.fetch_add(1, Ordering::Relaxed);
    let First { metadata, spec, status } = old;
    let FirstSpec {
        target,
        colour: _,
        items,
    } = spec;
    let (host, port) = target.split_once(':').unwrap_or((&target, "0"));
    let port = port.parse().map_err(|error| format!("spec.target: {error}"))?;
    let items = items
        .into_iter()
        .map(|FirstItem { name, weight: _ }| SecondItem { name });
    let spec = SecondSpec {
        host: host.to_owned(),
        port,
        items: items.collect(),
        tries: None,
    };
    Ok(Second { metadata, spec, status })
}

static REVIEWS: LazyLock<Reviews> =
    LazyLock::new(|| Reviews::of(Hub::new().spoke(to_first, to_second)).expect("the versions are of one kind"));

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime starts")
});

/// The most calls of the functions for an object: there, back, back with the restored fields, and each of them once more with
/// required fields filled in.
const MOST_CALLS: usize = 6;

/// Each lost value is twice in an annotation, beside its path, and its quotation marks have a backslash.
const MOST_GROWTH: usize = 16;

/// The longest answer in bytes to nothing: what surrounds the objects, or a message.
const SURROUNDINGS: usize = 8 << 10;

#[derive(Default, Deserialize)]
struct Review {
    request: Asked,
}

#[derive(Default, Deserialize)]
struct Asked {
    uid: String,
    #[serde(rename = "desiredAPIVersion")]
    desired: String,
    /// Not decoded: one of too many levels must not hide the others.
    #[serde(default)]
    objects: Vec<Box<RawValue>>,
}

/// No request takes more work or a longer answer than its objects are worth. The answer has each object in its place, or says why
/// not, and the second answer is the same.
pub fn conversion(bytes: &[u8]) {
    CALLS.store(0, Ordering::Relaxed);
    let (code, text) = answered(bytes);
    let calls = CALLS.load(Ordering::Relaxed);
    let asked = serde_json::from_slice::<Review>(bytes).unwrap_or_default().request;
    assert!(calls <= MOST_CALLS * asked.objects.len(), "{calls} calls");
    assert!(
        text.len() <= MOST_GROWTH * bytes.len() + SURROUNDINGS,
        "{} bytes",
        text.len()
    );
    assert_eq!(answered(bytes), (code, text.clone()));
    let answer: Value = serde_json::from_slice(&text).expect("the answer is JSON");
    if code == 400 {
        assert_eq!(answer["kind"], "Status");
        assert!(
            answer["message"].as_str().is_some_and(|why| !why.is_empty()),
            "{answer}"
        );
        return;
    }
    assert_eq!(code, 200);
    let response = &answer["response"];
    assert_eq!(response["uid"], asked.uid);
    let shown = response["convertedObjects"].as_array().expect("there is a list");
    if response["result"]["status"] != "Success" {
        let why = response["result"]["message"].as_str().unwrap_or_default();
        assert!(shown.is_empty() && !why.is_empty(), "{answer}");
        return;
    }
    assert_eq!(shown.len(), asked.objects.len(), "{answer}");
    for (shown, object) in shown.iter().zip(&asked.objects) {
        assert_eq!(shown["apiVersion"], asked.desired);
        let Ok(object) = serde_json::from_str::<Value>(object.get()) else {
            continue;
        };
        assert_eq!(shown["kind"], object["kind"]);
        for field in ["name", "namespace", "uid", "resourceVersion", "deletionTimestamp"] {
            assert_eq!(shown["metadata"][field], object["metadata"][field], "{field}");
        }
    }
}

fn answered(bytes: &[u8]) -> (u16, Vec<u8>) {
    RUNTIME.block_on(REVIEWS.answer(bytes, Duration::from_secs(30)))
}
