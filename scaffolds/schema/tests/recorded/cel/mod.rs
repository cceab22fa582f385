//! Compares validation rules with a real kube-apiserver, whose responses are recorded in `recorded.jsonl`, so that the
//! comparison needs no server. After a change of cases, `KUBEWRIGHT_BLESS=1 cargo test -p kubewright-schema --test recorded`
//! adds them to the file, and `fidelity record schema-rules` the server's responses.

mod cases;
mod random;

use crate::made_up;
use kubewright_cel::Rules;
use kubewright_schema::{Cause, lint};
use recordings::Exchange;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded/cel/recorded.jsonl");

/// A schema with rules, and objects of it that are sent.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Case {
    name: String,
    /// The schema of the whole object.
    schema: Value,
    tries: Vec<Try>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Try {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    old: Option<Value>,
    new: Value,
}

/// Reason, field and message of each cause.
type Causes = BTreeSet<(String, String, String)>;

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Verdict {
    causes: Causes,
    warnings: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Verdicts {
    /// The causes for the CustomResourceDefinition.
    definition: Causes,
    /// The verdict on each object, if the definition was accepted.
    objects: Vec<Verdict>,
}

fn crd(schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "rules.cel.example.com"},
        "spec": {
            "group": "cel.example.com", "scope": "Namespaced", "names": {"plural": "rules", "kind": "Rule"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

fn set(causes: Vec<Cause>) -> Causes {
    causes
        .into_iter()
        .map(|cause| {
            (
                cause.reason.to_owned(),
                cause.field,
                made_up::without_numbers(&cause.message),
            )
        })
        .collect()
}

fn recorded() -> Vec<Exchange<Case, Verdicts>> {
    recordings::read(&std::fs::read_to_string(RECORDED).unwrap())
}

#[test]
fn schemas_have_the_same_causes_as_on_the_server() {
    let mut report = String::new();
    for Exchange { asked: case, answered } in recorded() {
        let definition = answered.definition;
        let ours = set(lint::causes(&crd(&case.schema)));
        if ours != definition {
            _ = writeln!(report, "{}\n  server {definition:#?}\n  ours {ours:#?}", case.name);
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn objects_have_the_same_causes_and_warnings_as_on_the_server() {
    let mut report = String::new();
    for Exchange { asked: case, answered } in recorded() {
        let Verdicts { definition, objects } = answered;
        if !definition.is_empty() {
            continue;
        }
        let rules = Rules::compile(&case.schema);
        for (tried, theirs) in case.tries.iter().zip(objects) {
            let ours = match &rules {
                Some(rules) => rules.evaluate(&tried.new, tried.old.as_ref()),
                None => kubewright_cel::cause::Objections::default(),
            };
            let ours = Verdict {
                causes: set(ours.causes),
                warnings: ours.warnings.into_iter().collect(),
            };
            if ours != theirs {
                _ = writeln!(
                    report,
                    "{}\n  {tried:?}\n  server {theirs:?}\n  ours   {ours:?}",
                    case.name
                );
            }
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn every_case_is_recorded_as_it_is_now() {
    let cases = cases::all();
    assert!(cases.len() > 500, "the recording is incomplete");
    recordings::assert_requests(Path::new(RECORDED), cases);
}
