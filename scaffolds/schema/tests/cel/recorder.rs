//! Records the responses of a real API server. Objects are sent with `dryRun`; the objects that they replace are stored before, with a schema that
//! accepts anything.

use super::control_plane::ControlPlane;
use super::{Case, Causes, Recorded, Try, Verdict, crd, made_up::without_numbers};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const RULES: &str = "/apis/cel.example.com/v1/namespaces/default/rules";

/// Records one case after the other.
pub fn record(cases: Vec<Case>) -> Vec<Recorded> {
    let server = ControlPlane::start();
    let free = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    wait(&server, |server| {
        server.request("GET", "/api/v1/namespaces/default", "").status == 200
    });
    let made = server.post(CRDS, &crd(&free));
    assert_eq!(made.status, 201, "{}", made.body);
    wait(&server, |server| server.request("GET", RULES, "").status == 200);
    cases.into_iter().map(|case| one(&server, case)).collect()
}

fn one(server: &ControlPlane, case: Case) -> Recorded {
    let mut fresh = crd(&case.schema);
    fresh["metadata"]["name"] = json!("drafts.cel.example.com");
    fresh["spec"]["names"] = json!({"plural": "drafts", "kind": "Draft"});
    let answer = server.post(&format!("{CRDS}?dryRun=All"), &fresh);
    assert!(matches!(answer.status, 201 | 422), "{}: {}", case.name, answer.body);
    let definition = causes(&answer.body);
    let mut objects = Vec::new();
    if definition.is_empty() {
        for tried in &case.tries {
            objects.push(attempt(server, &case, tried));
        }
    }
    Recorded {
        case,
        definition,
        objects,
    }
}

fn attempt(server: &ControlPlane, case: &Case, tried: &Try) -> Verdict {
    let name = tried.new["metadata"]["name"].as_str().unwrap();
    let path = format!("{RULES}/{name}");
    server.request("DELETE", &path, "");
    let Some(old) = &tried.old else {
        define(server, &case.schema);
        return verdict(server, ("POST", RULES), &tried.new);
    };
    define(
        server,
        &json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
    );
    let stored = server.post(RULES, old);
    assert_eq!(stored.status, 201, "{}: {}", case.name, stored.body);
    define(server, &case.schema);
    let mut new = tried.new.clone();
    new["metadata"]["resourceVersion"] = stored.body["metadata"]["resourceVersion"].clone();
    verdict(server, ("PUT", &path), &new)
}

fn verdict(server: &ControlPlane, (method, path): (&str, &str), object: &Value) -> Verdict {
    let answer = server.request(method, &format!("{path}?dryRun=All"), &object.to_string());
    assert!(matches!(answer.status, 200 | 201 | 422), "{object}: {}", answer.body);
    Verdict {
        causes: causes(&answer.body),
        warnings: answer.warnings,
    }
}

/// Replaces the schema of the definition, and waits until the server validates objects by it: sends a probe until it is refused with a text
/// from the new schema.
fn define(server: &ControlPlane, schema: &Value) {
    let path = format!("{CRDS}/rules.cel.example.com");
    let mut marked = schema.clone();
    let marker = format!("marker{}", next());
    marked["properties"]["marker"] = json!({"type": "string", "enum": [marker]});
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let mut definition = server.request("GET", &path, "").body;
        definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = marked.clone();
        let answer = server.request("PUT", &path, &definition.to_string());
        if answer.status == 200 {
            break;
        }
        assert!(answer.status == 409 && Instant::now() < deadline, "{}", answer.body);
    }
    let probe =
        json!({"apiVersion": "cel.example.com/v1", "kind": "Rule", "metadata": {"name": "probe"}, "marker": "none"});
    wait(server, |server| {
        let answer = server.post(&format!("{RULES}?dryRun=All"), &probe);
        answer.body["message"]
            .as_str()
            .is_some_and(|message| message.contains(&marker))
    });
}

fn next() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1000);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn wait(server: &ControlPlane, mut done: impl FnMut(&ControlPlane) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !done(server) {
        assert!(
            Instant::now() < deadline,
            "the server does not reach the expected state in time"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn causes(body: &Value) -> Causes {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = body["details"]["causes"].as_array().into_iter().flatten();
    all.map(|it| {
        (
            text(&it["reason"]),
            text(&it["field"]),
            without_numbers(&text(&it["message"])),
        )
    })
    .collect()
}
