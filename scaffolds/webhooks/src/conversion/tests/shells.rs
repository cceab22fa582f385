//! Objects of which a version shows nothing but metadata, written in that version: for an API server that deletes them, and for
//! clients that made the label up.

use super::*;
use crate::conversion::stored::Stored;

const ONLY_V1: &str = "test.example.com/v1-only";

/// A conversion that answers reviews beside an API server with this one object.
fn beside(stored: Value) -> Arc<Conversion> {
    beside_text(stored.to_string())
}

fn beside_text(stored: String) -> Arc<Conversion> {
    let server = service_fn(move |request: Request<Body>| {
        let known = "/apis/test.example.com/v1/namespaces/default/foobars/a";
        let (code, body) = match request.uri().path() == known {
            true => (200, stored.clone()),
            false => (404, r#"{"kind":"Status","code":404,"message":"not found"}"#.to_owned()),
        };
        let answer = Response::builder().status(code).body(Body::from(body.into_bytes()));
        ready(Ok::<_, Infallible>(answer.unwrap()))
    });
    let each = ObjectConverter {
        converter: converter(),
        stored: Some(Stored {
            client: Client::new(server, "default"),
            plural: "foobars".to_owned(),
        }),
    };
    Arc::new(Conversion::new("/convert".to_owned(), each, &Metrics::new()))
}

/// An object of v1 that no other version can show.
fn unconvertible() -> Value {
    let mut object = object(V1, json!({"target": "a:b", "colour": "red"}));
    object["status"] = json!({"ready": true});
    object["metadata"]["finalizers"] = json!(["example.com/cleanup"]);
    object
}

async fn shown(conversion: &Arc<Conversion>, object: Value) -> Value {
    let answer = ask(conversion, V2, vec![object]).await;
    assert_eq!(answer["result"]["status"], "Success", "{answer}");
    answer["convertedObjects"][0].clone()
}

/// The object as API servers would store it, or why it is refused.
async fn written(conversion: &Arc<Conversion>, object: Value) -> Result<Value, String> {
    let answer = ask(conversion, V1, vec![object]).await;
    match answer["result"]["status"].as_str() {
        Some("Success") => Ok(answer["convertedObjects"][0].clone()),
        _ => Err(answer["result"]["message"].as_str().unwrap().to_owned()),
    }
}

/// As API servers mark an object that is deleted while it has finalizers.
fn deleted(mut object: Value) -> Value {
    object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    object
}

#[tokio::test]
async fn an_object_that_cannot_be_converted_is_deleted_in_another_version_and_keeps_its_fields_until_it_is_gone() {
    let old = unconvertible();
    let conversion = beside(old.clone());
    let shell = shown(&conversion, old.clone()).await;
    assert_eq!(shell.get("spec"), None);
    // API servers do this before they delete it.
    let same = written(&conversion, shell.clone()).await.unwrap();
    assert_eq!((&same["spec"], &same["status"]), (&old["spec"], &old["status"]));
    assert_eq!(same["metadata"].get("labels"), None);
    // The deletion, and the removal of the finalizer.
    let mut marked = deleted(shell);
    for finalizers in [json!(["example.com/cleanup"]), json!([])] {
        marked["metadata"]["finalizers"] = finalizers.clone();
        let stored = written(&conversion, marked.clone()).await.unwrap();
        assert_eq!((&stored["apiVersion"], &stored["spec"]), (&json!(V1), &old["spec"]));
        assert_eq!(stored["status"], old["status"]);
        assert_eq!(stored["metadata"]["finalizers"], finalizers);
        assert!(!stored["metadata"]["deletionTimestamp"].is_null());
        // It is shown with the fields without which its schema would refuse the next change.
        marked = shown(&conversion, stored).await;
        assert_eq!((&marked["spec"], marked.get("status")), (&json!({}), None));
    }
}

#[tokio::test]
async fn an_object_that_is_too_deep_to_be_decoded_is_deleted_too() {
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let old = unconvertible().to_string().replace(r#""red""#, &deep);
    let conversion = beside_text(old.clone());
    let review = empty_review(V2).to_string().replace("[]", &format!("[{old}]"));
    let (_, answer) = conversion
        .clone()
        .answer(review.into(), Duration::from_secs(30), local_share())
        .await;
    let answer: Value = serde_json::from_slice(&answer.bytes()).unwrap();
    let shell = deleted(answer["response"]["convertedObjects"][0].clone());
    let mut review = empty_review(V1);
    review["request"]["objects"] = json!([shell]);
    let (_, answer) = conversion
        .answer(review.to_string().into(), Duration::from_secs(30), local_share())
        .await;
    let answer = answer.bytes();
    let answer = String::from_utf8_lossy(&answer);
    assert!(
        answer.contains(&deep) && answer.contains("deletionTimestamp"),
        "{answer:.300}"
    );
}

#[tokio::test]
async fn a_made_up_label_does_not_let_fields_through_that_were_not_converted() {
    let forged = |mut object: Value| {
        let fingerprint = converter().fingerprint(&object);
        object["metadata"]["labels"] = json!({ONLY_V1: format!("not-convertible.{fingerprint}")});
        object
    };
    let conversion = beside(unconvertible());
    for spec in [
        json!({"host": "a", "port": 1}),
        json!({"host": "a", "port": 1, "target": "evil:1"}),
        json!({"host": ""}),
    ] {
        let object = forged(object(V2, spec));
        for object in [object.clone(), deleted(object)] {
            let why = written(&conversion, object.clone()).await.unwrap_err();
            assert!(why.ends_with("write it in v1"), "{why}");
            // Nor into a version that is not stored.
            let answer = ask(&conversion, "test.example.com/v3", vec![object]).await;
            let shown = &answer["convertedObjects"][0];
            assert!([Value::Null, json!({})].contains(&shown["spec"]), "{answer}");
        }
    }
    // The body that is sent is never the one that is stored.
    let mut bare = object(V2, Value::Null);
    bare.as_object_mut().unwrap().remove("spec");
    let bare = forged(bare);
    assert_eq!(
        written(&conversion, bare.clone()).await.unwrap()["spec"],
        unconvertible()["spec"]
    );
    let mut labelled = bare.clone();
    labelled["metadata"]["labels"]["more"] = json!("x");
    let why = written(&conversion, labelled).await.unwrap_err();
    assert!(why.ends_with("write it in v1"), "{why}");
}

#[tokio::test]
async fn only_an_object_that_is_stored_and_cannot_be_shown_is_written_by_its_metadata() {
    let shell = deleted(shown(&beside(unconvertible()), unconvertible()).await);
    let refused = async |stored: Value, shell: Value| written(&beside(stored), shell).await.unwrap_err();
    let convertible = object(V1, json!({"target": "a:1"}));
    let why = refused(convertible, shell.clone()).await;
    assert!(
        why.ends_with("the stored object can be converted: read it again"),
        "{why}"
    );
    let mut other = unconvertible();
    other["metadata"]["uid"] = json!("v");
    let why = refused(other, shell.clone()).await;
    assert!(why.ends_with("the object has been replaced by another one"), "{why}");
    for name in ["b", "a/../a", "a?x", "..", "", "a%2fb"] {
        let mut named = shell.clone();
        named["metadata"]["name"] = json!(name);
        let why = refused(unconvertible(), named).await;
        let expected = if name == "b" {
            "not found"
        } else {
            "it has an invalid name"
        };
        assert!(why.contains(expected), "{name}: {why}");
    }
    // API servers write objects one at a time.
    let answer = ask(&beside(unconvertible()), V1, vec![shell.clone(), shell]).await;
    assert_eq!(answer["result"]["status"], "Failure");
}
