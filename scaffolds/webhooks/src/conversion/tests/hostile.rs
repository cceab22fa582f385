//! Reviews that a hostile client would send: objects, annotations and labels of any content. What one object is about concerns
//! no other, and the work on it is bounded, which is counted and not timed.

use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicUsize, Ordering},
};

use kubewright_runtime::Metrics;
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::{Map, Value, json};

use super::{
    V1, V2, ask,
    kinds::{to_v1, to_v2},
};
use crate::conversion::{Converter, Hub, answer::Conversion, each::ObjectConverter, kept};

const FIELDS: [&str; 12] = [
    "spec", "status", "metadata", "labels", "target", "colour", "items", "host", "port", "tries", "ready", "unknown",
];

/// The maximum of calls of the author's functions for an object: there, back, back with what is restored, and each of them once
/// more with required fields filled in.
const CALLS: usize = 6;

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        select(vec!["", "a", "a:1", "b:2", "rename:1", "x:99999", "\u{0}"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        let fields = vec((select(FIELDS.to_vec()), inner.clone()), 0..6);
        let fields = fields.prop_map(|fields| {
            let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
            Value::Object(fields.collect::<Map<_, _>>())
        });
        prop_oneof![vec(inner, 0..6).prop_map(Value::Array), fields]
    })
}

fn made_up() -> impl Strategy<Value = Value> {
    let one = || option::of(any_value()).prop_map(|value| value.into_iter().collect::<Vec<_>>());
    (vec(select(FIELDS.to_vec()), 0..4), one(), one())
        .prop_map(|(path, value, shown)| json!({"path": path, "value": value, "shown": shown}))
}

/// Annotations that a forger would choose.
fn forged() -> impl Strategy<Value = Value> {
    select(vec![
        json!({"path": ["spec", "target"], "value": ["evil:6666"]}),
        json!({"path": ["spec", "target"], "value": ["evil:6666"], "shown": ["a:1"]}),
        json!({"path": ["spec"], "value": [{"target": "evil:6666"}]}),
        json!({"path": ["spec", "colour"], "value": ["red"]}),
        json!({"path": ["spec", "items"], "value": [[{"name": "x", "weight": 7}]], "shown": [[{"name": "x"}]]}),
        json!({"path": ["status"], "value": [{"ready": true}]}),
        json!({"path": ["status", "ready"], "value": [true]}),
    ])
}

/// The content of an annotation; `true` stands for the digest of the body that it is beside.
fn annotation() -> impl Strategy<Value = (bool, Value)> {
    let kept = prop_oneof![
        4 => vec(forged(), 1..3).prop_map(Value::Array),
        1 => vec(made_up(), 0..30).prop_map(Value::Array),
        1 => any_value(),
    ];
    (any::<bool>(), kept)
}

/// A spec that often fits a version.
fn spec() -> impl Strategy<Value = Value> {
    let named = vec(select(vec!["x", "y", ""]), 0..4);
    let items = named.prop_map(|names| names.into_iter().map(|name| json!({"name": name})).collect::<Vec<_>>());
    prop_oneof![
        1 => any_value(),
        2 => (select(vec!["a:1", "b:2", "a:01", "a", ""]), items.clone())
            .prop_map(|(target, items)| json!({"target": target, "items": items})),
        3 => (select(vec!["a", "b"]), 0_u16..9, items)
            .prop_map(|(host, port, items)| json!({"host": host, "port": port, "items": items})),
    ]
}

fn any_object(api_version: &'static str) -> impl Strategy<Value = Value> {
    let names = ["test.example.com/v1-only", "test.example.com/v2-only"];
    let annotations = vec((select(names.to_vec()), annotation()), 0..3);
    let marks = option::weighted(
        0.2,
        (
            select(names.to_vec()),
            select(vec!["too-large", "not-convertible", "not-convertible.0", ""]),
            any::<bool>(),
        ),
    );
    let status = option::of(prop_oneof![
        any_value(),
        any::<bool>().prop_map(|ready| json!({"ready": ready}))
    ]);
    (spec(), status, annotations, marks).prop_map(move |(spec, status, annotations, marks)| {
        let mut object = super::object(api_version, spec);
        if let Some(status) = status {
            object["status"] = status;
        }
        let mut body = object.clone();
        for name in ["apiVersion", "kind"] {
            body.as_object_mut().unwrap().remove(name);
        }
        body["metadata"] = json!({"labels": {}, "annotations": {}});
        let digest = kept::digest(&body);
        for (name, (is_beside, kept)) in annotations {
            let digest = if is_beside { digest.as_str() } else { "" };
            let text = json!({"digest": digest, "kept": kept}).to_string();
            object["metadata"]["annotations"][name] = json!(text);
        }
        if let Some((name, mark, is_true)) = marks {
            // Whoever knows the object can calculate it.
            let fingerprint = if is_true { fingerprint(&object) } else { String::new() };
            let dot = if is_true { "." } else { "" };
            object["metadata"]["labels"][name] = json!(format!("{mark}{dot}{fingerprint}"));
        }
        object
    })
}

fn fingerprint(object: &Value) -> String {
    static CONVERTER: LazyLock<Converter> = LazyLock::new(super::converter);
    CONVERTER.fingerprint(object)
}

/// Converts one object, and counts the calls of the functions.
fn converted(object: &Value, desired: &str) -> (Value, usize) {
    let calls = Arc::new(AtomicUsize::new(0));
    let count = |calls: &Arc<AtomicUsize>| {
        let calls = Arc::clone(calls);
        move || calls.fetch_add(1, Ordering::Relaxed)
    };
    let (inward, outward) = (count(&calls), count(&calls));
    let hub = Hub::new().spoke(
        move |old| {
            inward();
            to_v1(old)
        },
        move |old| {
            outward();
            to_v2(old)
        },
    );
    let each = ObjectConverter {
        converter: hub.converter().unwrap(),
        stored: None,
    };
    let conversion = Conversion::new("/convert".to_owned(), each, &Metrics::new());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let answer = runtime.block_on(ask(&Arc::new(conversion), desired, vec![object.clone()]));
    (answer, calls.load(Ordering::Relaxed))
}

proptest! {
    #[test]
    fn every_read_succeeds_with_bounded_work(object in any_object(V1)) {
        let (answer, calls) = converted(&object, V2);
        prop_assert_eq!(&answer["result"]["status"], "Success", "{}", answer);
        prop_assert!(calls <= CALLS, "{} calls", calls);
        let shown = &answer["convertedObjects"][0];
        for field in ["name", "namespace", "uid"] {
            prop_assert_eq!(&shown["metadata"][field], &object["metadata"][field]);
        }
        prop_assert_eq!(&shown["apiVersion"], V2);
        // The annotation contains each lost value twice, with its path, and each quotation mark of it with a backslash.
        prop_assert!(shown.to_string().len() <= 16 * object.to_string().len() + 2_000);
    }

    #[test]
    fn what_is_written_means_the_same_in_the_stored_version(object in any_object(V2)) {
        let (answer, calls) = converted(&object, V1);
        prop_assert!(calls <= CALLS, "{} calls", calls);
        let spec = &object["spec"];
        // `serde` takes lists for structs, and no schema admits them.
        let fits = !object["status"].is_array() && spec["host"].is_string() && spec["port"].as_u64().is_some_and(|port| port <= u64::from(u16::MAX));
        if answer["result"]["status"] != "Success" || !fits {
            return Ok(());
        }
        let stored = &answer["convertedObjects"][0];
        let target = stored["spec"]["target"].as_str().unwrap_or_default();
        let (host, port) = target.split_once(':').unwrap_or((target, "0"));
        prop_assert_eq!(host, spec["host"].as_str().unwrap(), "{}", stored);
        prop_assert_eq!(port.parse::<u64>().ok(), spec["port"].as_u64(), "{}", stored);
        let ready = |object: &Value| object["status"]["ready"].as_bool();
        prop_assert_eq!(ready(stored), ready(&object), "{}", stored);
    }
}
