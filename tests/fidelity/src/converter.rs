//! The conversion webhook for probes. It renames `spec.one` of v1 to `spec.two` of every other version, and otherwise does what
//! the annotation `converter` of an object asks for, separated by blanks: in all versions, or with `v2:` before it only
//! when that version is wanted.

use http::Response;
use serde_json::{Value, json};

use crate::hook::{Full, identified};

/// The response to a review. `None` closes the connection without one.
pub fn respond(review: &Value) -> Option<Response<Full>> {
    let request = &review["request"];
    let wanted = request["desiredAPIVersion"].as_str().unwrap_or_default();
    let mut objects = request["objects"].as_array().cloned().unwrap_or_default();
    let asked: Vec<String> = objects.iter().flat_map(|object| asks(object, wanted)).collect();
    let does = |what: &str| asked.iter().any(|asked| asked == what);
    for object in &mut objects {
        let asked = asks(object, wanted);
        convert(object, wanted);
        for what in &asked {
            misconvert(object, what);
        }
    }
    if does("fewer") {
        objects.pop();
    }
    if does("more") {
        objects.extend(objects.clone());
    }
    let mut response = json!({
        "uid": request["uid"],
        "convertedObjects": objects,
        "result": {"status": "Success"},
    });
    for what in &asked {
        misrespond(&mut response, what, request);
    }
    let mut body = json!({"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": response});
    for what in &asked {
        misreview(&mut body, what);
    }
    let text = if does("no-json") {
        "hello".to_owned()
    } else {
        body.to_string()
    };
    let text = if does("empty") { String::new() } else { text };
    let code = asked.iter().find_map(|what| what.parse::<u16>().ok()).unwrap_or(200);
    let response = Response::builder().status(code).body(Full::from(text));
    response.ok().filter(|_| !does("close"))
}

/// The wishes of an object for its conversion to a version.
fn asks(object: &Value, wanted: &str) -> Vec<String> {
    let version = wanted.rsplit('/').next().unwrap_or_default();
    let asked = object["metadata"]["annotations"]["converter"]
        .as_str()
        .unwrap_or_default();
    let asked = asked.split(' ').filter(|what| !what.is_empty());
    asked
        .filter_map(|what| match what.split_once(':') {
            Some((only, what)) => (only == version).then(|| what.to_owned()),
            None => Some(what.to_owned()),
        })
        .collect()
}

fn convert(object: &mut Value, wanted: &str) {
    object["apiVersion"] = json!(wanted);
    let (from, to) = if wanted.ends_with("/v1") {
        ("two", "one")
    } else {
        ("one", "two")
    };
    if let Some(spec) = object["spec"].as_object_mut()
        && let Some(value) = spec.remove(from)
    {
        spec.insert(to.to_owned(), value);
    }
    // The default of the version that it is converted from.
    if let Some(spec) = object["spec"].as_object_mut() {
        spec.remove(&format!("d{from}"));
    }
}

/// Does what is asked for to one object.
fn misconvert(object: &mut Value, what: &str) {
    let (field, value) = match what {
        "name" | "namespace" | "uid" | "resourceVersion" => (format!("/metadata/{what}"), json!("other")),
        "generation" => ("/metadata/generation".to_owned(), json!(70)),
        "finalizers" => ("/metadata/finalizers".to_owned(), json!(["example.com/other"])),
        "creation" => ("/metadata/creationTimestamp".to_owned(), json!("2001-02-03T04:05:06Z")),
        "managers" => ("/metadata/managedFields".to_owned(), json!([])),
        "label" => ("/metadata/labels".to_owned(), json!({"converted": "yes"})),
        "no-labels" => ("/metadata/labels".to_owned(), Value::Null),
        "labels-text" => ("/metadata/labels".to_owned(), json!("x")),
        "label-number" => ("/metadata/labels".to_owned(), json!({"a": 5})),
        "label-invalid" => ("/metadata/labels".to_owned(), json!({"a/b/c": "x y"})),
        "annotations-list" => ("/metadata/annotations".to_owned(), json!([])),
        "annotation-null" => ("/metadata/annotations".to_owned(), json!({"a": null})),
        "annotation-invalid" => ("/metadata/annotations".to_owned(), json!({"a/b/c": "x"})),
        "annotation" => ("/metadata/annotations".to_owned(), json!({"converted": "yes"})),
        "metadata-text" => ("/metadata".to_owned(), json!("x")),
        "kind" => ("/kind".to_owned(), json!("Other")),
        "no-kind" => ("/kind".to_owned(), json!("")),
        "version" => ("/apiVersion".to_owned(), json!("example.com/v7")),
        "core" => ("/apiVersion".to_owned(), json!("v7")),
        "no-version" => ("/apiVersion".to_owned(), json!("")),
        "unknown" => ("/spec/unknown".to_owned(), json!(1)),
        "invalid" => ("/spec/size".to_owned(), json!("large")),
        "null-field" => ("/spec/size".to_owned(), Value::Null),
        "text" => (String::new(), json!("x")),
        "null" => (String::new(), Value::Null),
        "no-metadata" => {
            object.as_object_mut().map(|object| object.remove("metadata"));
            return;
        }
        _ => return,
    };
    put(object, &field, value);
}

fn put(object: &mut Value, pointer: &str, value: Value) {
    match pointer.strip_prefix('/') {
        None => *object = value,
        Some(path) => {
            let place = path.split('/').fold(object, |place, field| &mut place[field]);
            *place = value;
        }
    }
}

/// Does what is asked for to the response.
fn misrespond(response: &mut Value, what: &str, request: &Value) {
    let (field, value) = match what {
        "other-uid" => ("uid", json!("other")),
        "uid-number" => ("uid", json!(5)),
        "objects-text" => ("convertedObjects", json!("x")),
        "no-objects" => ("convertedObjects", Value::Null),
        "result-text" => ("result", json!("x")),
        "no-result" => ("result", Value::Null),
        "failure" => ("result", json!({"status": "Failure"})),
        "refuse" => (
            "result",
            json!({"status": "Failure", "message": "no", "code": 422, "reason": "Invalid"}),
        ),
        "echo" => {
            let mut request = request.clone();
            request["uid"] = json!("<uid>");
            for object in request["objects"].as_array_mut().into_iter().flatten() {
                identified(object);
            }
            ("result", json!({"status": "Failure", "message": request.to_string()}))
        }
        _ => return,
    };
    response[field] = value;
}

/// Does what is asked for to the whole answer.
fn misreview(review: &mut Value, what: &str) {
    match what {
        "no-response" => review["response"] = Value::Null,
        "response-text" => review["response"] = json!("x"),
        "untyped" => {
            review["kind"] = json!("");
            review["apiVersion"] = json!("");
        }
        "other-kind" => review["kind"] = json!("Review"),
        "other-version" => review["apiVersion"] = json!("apiextensions.k8s.io/v2"),
        "old-version" => review["apiVersion"] = json!("apiextensions.k8s.io/v1beta1"),
        "status" => *review = json!({"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": "a status"}),
        _ => {}
    }
}
