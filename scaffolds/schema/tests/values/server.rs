//! Records the outcome of values on a real API server. The schemas of many cases share one CustomResourceDefinition. Its version v1 accepts
//! anything, so that objects that v2 would refuse can exist before an update.

use super::control_plane::{Answer, ControlPlane};
use super::made_up::without_numbers;
use super::{Case, Outcome, Place, Recorded, Try, content};
use kubewright_schema::lint;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::{Duration, Instant};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GROUP: &str = "values.example.com";
/// How many schemas one definition has.
const SHARE: usize = 80;
/// How many schemas with rules one definition has; fewer, because their estimated costs add up.
const SHARE_WITH_RULES: usize = 20;

/// The server's responses.
#[derive(Default)]
pub struct Asked {
    /// The outcomes of values, by case.
    pub recorded: Vec<Recorded>,
    /// The differences between the server's causes for schemas and ours.
    pub report: String,
}

pub fn ask(server: &ControlPlane, cases: Vec<Case>) -> Asked {
    // Rules also affect the causes of other schemas in a definition: the server reports that they were not evaluated. All random cases of
    // `rich` have rules, so they can share one.
    let has_rules = |case: &Case| case.schema.to_string().contains("x-kubernetes-validations");
    let is_random = |case: &Case| case.name.starts_with("random");
    let is_shared = |case: &Case| case.place == Place::Spec && (!has_rules(case) || is_random(case));
    let (shared, alone): (Vec<Case>, Vec<Case>) = cases.into_iter().partition(is_shared);
    let (ruled, plain): (Vec<Case>, Vec<Case>) = shared.into_iter().partition(has_rules);
    let mut asked = Asked::default();
    let chunks = plain.chunks(SHARE).chain(ruled.chunks(SHARE_WITH_RULES));
    for chunk in chunks {
        asked.ask_together(server, chunk);
    }
    for case in alone {
        asked.ask_together(server, &[case]);
    }
    asked.recorded.sort_by(|a, b| a.case.name.cmp(&b.case.name));
    asked
}

impl Asked {
    fn ask_together(&mut self, server: &ControlPlane, cases: &[Case]) {
        let cases: Vec<(String, &Case)> = cases
            .iter()
            .enumerate()
            .map(|(at, case)| (format!("c{at}"), case))
            .filter(|(key, case)| self.is_accepted(server, key, case))
            .collect();
        let Some((_, first)) = cases.first() else {
            return;
        };
        let schema = match first.place {
            Place::Spec => {
                let schemas: Map<String, Value> = cases
                    .iter()
                    .map(|(key, case)| (key.clone(), case.schema.clone()))
                    .collect();
                json!({"type": "object", "properties": {"spec": {"type": "object", "properties": schemas}}})
            }
            Place::Status | Place::Whole => first.whole("c0"),
        };
        let plural = format!("foos{}", std::process::id());
        let path = format!("{CRDS}/{plural}.{GROUP}");
        let made = server.post(CRDS, &definition(&plural, &schema));
        assert_eq!(made.status, 201, "{}", made.body);
        established(server, &plural);
        self.recorded.extend(cases.iter().map(|(key, case)| {
            Recorded {
                key: key.clone(),
                case: (*case).clone(),
                outcomes: case
                    .tries
                    .iter()
                    .map(|it| outcome(server, &plural, (key, case, it)))
                    .collect(),
            }
        }));
        server.request("DELETE", &path, "");
        let deadline = Instant::now() + Duration::from_secs(60);
        while server.request("GET", &path, "").status == 200 {
            assert!(Instant::now() < deadline, "{path} is not deleted in time");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Whether the server accepts the schema; it refuses some random schemas.
    fn is_accepted(&mut self, server: &ControlPlane, key: &str, case: &Case) -> bool {
        let definition = definition("foos", &case.whole(key));
        let answer = server.post(&format!("{CRDS}?dryRun=All"), &definition);
        assert!(
            answer.status == 201 || case.name.starts_with("random"),
            "{}: {}",
            case.name,
            answer.body
        );
        let ours = lint::causes(&definition).into_iter();
        let ours: BTreeSet<String> = ours.map(|it| without_numbers(&it.to_string())).collect();
        let theirs = answer.body["details"]["causes"].as_array().into_iter().flatten();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let theirs: BTreeSet<String> = theirs
            .map(|it| without_numbers(&format!("{}: {}", text(&it["field"]), text(&it["message"]))))
            .collect();
        if ours != theirs {
            _ = writeln!(
                self.report,
                "{}: {}\n  server {theirs:?}\n  ours   {ours:?}",
                case.name, case.schema
            );
        }
        answer.status == 201 && ours.is_empty()
    }
}

fn definition(plural: &str, schema: &Value) -> Value {
    let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let has_status = schema["properties"]["status"].is_object();
    let version = |name: &str, schema: &Value, storage: bool| {
        let subresources = if has_status { json!({"status": {}}) } else { json!({}) };
        let schema = json!({"openAPIV3Schema": schema});
        json!({"name": name, "served": true, "storage": storage, "schema": schema, "subresources": subresources})
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {
            "group": GROUP, "scope": "Namespaced", "names": {"kind": "Foo", "plural": plural},
            "versions": [version("v1", &anything, true), version("v2", schema, false)],
        },
    })
}

fn objects(plural: &str, version: &str) -> String {
    format!("/apis/{GROUP}/{version}/namespaces/default/{plural}")
}

fn established(server: &ControlPlane, plural: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let probe = json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Foo", "metadata": {"name": "probe"}});
    for version in ["v1", "v2"] {
        let mut probe = probe.clone();
        probe["apiVersion"] = json!(format!("{GROUP}/{version}"));
        while server
            .post(&format!("{}?dryRun=All", objects(plural, version)), &probe)
            .status
            == 404
        {
            assert!(Instant::now() < deadline, "{plural} is not established");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

fn outcome(server: &ControlPlane, plural: &str, (key, case, it): (&str, &Case, &Try)) -> Outcome {
    let new = case.object(key, &it.value);
    let Some(old) = &it.old else {
        let path = format!("{}?dryRun=All&fieldValidation=Warn", objects(plural, "v2"));
        return read(server.post(&path, &new), &new);
    };
    let mut old = case.object(key, old);
    old["apiVersion"] = json!(format!("{GROUP}/v1"));
    let mut made = server.post(&objects(plural, "v1"), &old);
    assert_eq!(made.status, 201, "{}: {}", case.name, made.body);
    let part = if case.place == Place::Status { "/status" } else { "" };
    if case.place == Place::Status {
        old["metadata"] = made.body["metadata"].clone();
        made = server.request(
            "PUT",
            &format!("{}/foo/status", objects(plural, "v1")),
            &old.to_string(),
        );
        assert_eq!(made.status, 200, "{}: {}", case.name, made.body);
    }
    let mut changed = new.clone();
    changed["metadata"]["resourceVersion"] = made.body["metadata"]["resourceVersion"].clone();
    let path = format!("{}/foo{part}?dryRun=All&fieldValidation=Warn", objects(plural, "v2"));
    let answer = server.request("PUT", &path, &changed.to_string());
    server.request("DELETE", &format!("{}/foo", objects(plural, "v1")), "");
    read(answer, &new)
}

fn read(answer: Answer, sent: &Value) -> Outcome {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match answer.status {
        200 | 201 => {
            let unknown =
                |warning: &String| Some(warning.strip_prefix("unknown field \"")?.strip_suffix('"')?.to_owned());
            let unknown: BTreeSet<String> = answer.warnings.iter().filter_map(unknown).collect();
            Outcome::Stored(content(answer.body), unknown)
        }
        422 => {
            let causes = answer.body["details"]["causes"].as_array().into_iter().flatten();
            let causes = causes.map(|it| (text(&it["reason"]), text(&it["field"]), text(&it["message"])));
            Outcome::Invalid(causes.collect())
        }
        400 => {
            let message = text(&answer.body["message"]);
            let start = "Foo in version \"v2\" cannot be handled as a Foo: ";
            Outcome::Unreadable(message.strip_prefix(start).unwrap_or(&message).to_owned())
        }
        // The server cannot decode the old object by v2's schema. Without v1, such an object could not exist.
        500 => Outcome::Broken(text(&answer.body["message"])),
        status => panic!("{status} {}\n{sent}", answer.body),
    }
}
