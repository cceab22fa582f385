//! Random programs most of whose requests succeed: each request is tried on an in-process server first, and drawn again if it is refused,
//! but for one in some, because that server may refuse what it should not. The changes of an object start from the last state that was sent.

use std::{collections::BTreeMap, sync::LazyLock};

use anyhow::Result;
use fastrand::Rng;
use serde_json::{Value, json};

use super::{
    APPLY, NAMES, TABLE, delete_options, get, grown,
    shapes::{self, Kind},
    watch,
};
use crate::{Answer, Program, Step, Target};

/// The number of requests in a program.
const STEPS: std::ops::Range<usize> = 6..16;
/// How often a refused request is drawn again.
const TRIES: usize = 8;
/// One request in this many may be refused.
const REFUSED: u8 = 12;

/// Kinds whose first write after the creation changes the resourceVersion on kube-apiserver even if it changes nothing: the ledger has a row
/// for them.
const CHANGED_ONCE: [&str; 2] = ["jobs", "persistentvolumeclaims"];

/// The annotation that stands for a field of DaemonSets of an earlier version.
const GENERATION: &str = "deprecated.daemonset.template.generation";

/// The namespace of a program while it is drawn.
const DRAFT: &str = "draft";

/// The objects of `bodies.yaml`: API version, kind and plural, and the object without its metadata.
static BODIES: LazyLock<Vec<(String, Value)>> = LazyLock::new(|| {
    let bodies: BTreeMap<String, Value> = serde_saphyr::from_str(include_str!("bodies.yaml")).unwrap_or_default();
    bodies.into_iter().collect()
});

/// A built-in kind with a valid object.
fn built_in(rng: &mut Rng) -> Kind {
    let at = rng.usize(..BODIES.len());
    let (name, body) = &BODIES[at];
    let parts: Vec<&str> = name.split(' ').collect();
    Kind::grown([parts[0], parts[1], parts[2]], body.clone())
}

/// A program as far as it is drawn, with the answers of the server that tries it.
struct Draft {
    server: Target,
    kind: Kind,
    steps: Vec<Step>,
    answers: Vec<Answer>,
    /// The last states of objects that were sent and accepted, by their names.
    sent: BTreeMap<String, Value>,
}

/// The program of a seed, the same as long as the in-process server accepts the same requests.
///
/// # Errors
/// When the server cannot be asked.
pub async fn program(seed: u64) -> Result<Program> {
    let mut rng = Rng::with_seed(seed ^ 0x5eed_5eed);
    let kind = match rng.u8(..10) {
        0..3 => shapes::custom(&mut rng).in_versions(&mut Rng::with_seed(!seed)),
        _ => built_in(&mut rng),
    };
    let mut draft = Draft {
        server: Target::in_process(),
        kind,
        steps: Vec::new(),
        answers: Vec::new(),
        sent: BTreeMap::new(),
    };
    let body = json!({"metadata": {"name": DRAFT}});
    draft
        .server
        .send(&send("POST", "/api/v1/namespaces", body, None))
        .await?;
    let first = draft.kind.preparation();
    draft.keep(first).await?;
    for _ in 0..rng.usize(STEPS) {
        draft.draw(&mut rng).await?;
    }
    let mut last: Vec<Step> = draft
        .kind
        .other_versions()
        .map(|version| get(version.collection()))
        .collect();
    last.push(Step {
        accept: rng.bool().then(|| TABLE.to_owned()),
        ..get(draft.kind.collection())
    });
    let since = format!(
        "resourceVersion={}&timeoutSeconds=1",
        rng.choice(["0", "${list:/metadata/resourceVersion}"]).unwrap_or("0")
    );
    last.insert(0, get(draft.kind.collection()));
    last.push(watch(draft.kind.with_query(draft.kind.collection(), &since)));
    draft.steps.extend(last);
    Ok(Program {
        name: format!("valid {seed}: {}", draft.kind.name),
        steps: draft.steps,
        after: draft.kind.tidying(),
    })
}

/// A proposed request, and what the object is after it.
struct Proposal {
    steps: Vec<Step>,
    name: String,
    /// `None` if the object is gone afterwards, or as it was.
    sent: Option<Value>,
    is_deletion: bool,
}

impl Draft {
    /// Adds requests, whatever the answers are.
    async fn keep(&mut self, steps: Vec<Step>) -> Result<()> {
        for step in steps {
            let answer = self.server.answer(&step, DRAFT, &self.answers).await?;
            self.answers.push(answer);
            self.steps.push(step);
        }
        Ok(())
    }

    /// Draws a request until it succeeds.
    async fn draw(&mut self, rng: &mut Rng) -> Result<()> {
        for _ in 0..TRIES {
            let may_fail = rng.u8(..REFUSED) == 0;
            let proposal = self.propose(rng);
            let before = self.steps.len();
            self.keep(proposal.steps).await?;
            let is_fine = self.answers[before..].iter().all(|answer| answer.code < 300);
            if is_fine && proposal.is_deletion {
                self.sent.remove(&proposal.name);
            } else if let Some(sent) = proposal.sent.filter(|_| is_fine) {
                self.sent.insert(proposal.name, sent);
            }
            if is_fine || may_fail {
                return Ok(());
            }
            // A refused request changes nothing, so it can be left out.
            self.steps.truncate(before);
            self.answers.truncate(before);
        }
        Ok(())
    }

    fn propose(&self, rng: &mut Rng) -> Proposal {
        let kind = self.kind.in_one(rng);
        let name = match self.sent.is_empty() || rng.u8(..5) == 0 {
            true => rng.choice(NAMES).unwrap_or("a").to_owned(),
            false => rng.choice(self.sent.keys()).cloned().unwrap_or_default(),
        };
        let object = kind.object_path(&name);
        let mut proposal = Proposal {
            steps: Vec::new(),
            name: name.clone(),
            sent: None,
            is_deletion: false,
        };
        let Some(present) = self.sent.get(&name) else {
            let mut body = kind.new_object(rng, &name);
            for _ in 0..rng.usize(..3) {
                kind.change(rng, &mut body, false);
            }
            proposal.sent = Some(body.clone());
            let brings_unknown = kind.is_custom() && body.to_string().contains("\"unknown\":");
            proposal.steps = vec![match rng.u8(..4) {
                0 => apply(rng, &object, body),
                _ => send("POST", &kind.path, body, None),
            }];
            proposal.steps.extend(second_write(rng, kind, &object, brings_unknown));
            return proposal;
        };
        let mut body = present.clone();
        body["apiVersion"] = json!(kind.api_version());
        let patches = [
            "application/merge-patch+json",
            "application/strategic-merge-patch+json",
            "application/json-patch+json",
        ];
        match rng.u8(..21) {
            0..4 => {
                kind.change(rng, &mut body, false);
                proposal.sent = Some(body.clone());
                if rng.u8(..3) > 0 {
                    body["metadata"]["resourceVersion"] = "${last:/metadata/resourceVersion}".into();
                }
                if kind.name == "daemonsets" {
                    // The ledger has a row about an update without it.
                    let present = format!("${{last:/metadata/annotations/{GENERATION}}}");
                    body["metadata"]["annotations"] = json!({GENERATION: present});
                }
                proposal.steps = vec![get(object.clone()), send("PUT", &with_options(rng, object), body, None)];
            }
            4..8 => {
                if rng.bool() {
                    kind.change(rng, &mut body, false);
                }
                proposal.sent = Some(body.clone());
                let brings_unknown = kind.is_custom() && body.to_string().contains("\"unknown\":");
                proposal.steps = vec![apply(rng, &object, body)];
                // The object may have ended with its last finalizer.
                proposal.steps.extend(second_write(rng, kind, &object, brings_unknown));
            }
            8..13 => {
                let path = kind.change(rng, &mut body, false);
                let which = patches[rng.usize(..if kind.is_custom() { 1 } else { 3 })];
                proposal.steps = vec![patch(which, object, &body, &path)];
                proposal.sent = Some(body);
            }
            13 | 14 if kind.status => {
                let path = kind.change(rng, &mut body, true);
                proposal.steps = vec![patch(patches[0], format!("{object}/status"), &body, &path)];
            }
            15 if kind.has_scale() => {
                let replicas = json!({"spec": {"replicas": rng.u8(..4)}});
                let scale = format!("{object}/scale");
                proposal.steps = vec![get(scale.clone()), send("PATCH", &scale, replicas, Some(patches[0]))];
            }
            16 => {
                let mut options = delete_options(rng);
                proposal.is_deletion = rng.u8(..3) > 0;
                if !proposal.is_deletion {
                    options["dryRun"] = json!(["All"]);
                }
                proposal.steps = vec![send("DELETE", &object, options, None)];
            }
            17 => {
                let labels = rng.choice([
                    json!({"l": "1"}),
                    json!({"l": "2", "m": ""}),
                    json!({"l": null}),
                    json!({}),
                ]);
                let metadata = match rng.u8(..3) {
                    0 => json!({"metadata": {"annotations": labels}}),
                    1 => json!({"metadata": {"finalizers": ["example.com/hold"], "labels": labels}}),
                    _ => json!({"metadata": {"labels": labels}}),
                };
                proposal.steps = vec![send("PATCH", &object, metadata, Some(patches[0]))];
            }
            18 => {
                let step = get(object);
                proposal.steps = vec![Step {
                    accept: rng.bool().then(|| TABLE.to_owned()),
                    ..step
                }];
            }
            19 => {
                let selector = rng
                    .choice(["labelSelector=l", "labelSelector=l!%3D1", "limit=1"])
                    .unwrap_or_default();
                proposal.steps = vec![get(kind.with_query(kind.collection(), selector))];
            }
            _ => {
                let free = json!({"metadata": {"finalizers": null}});
                proposal.steps = vec![send("PATCH", &object, free, Some(patches[0]))];
            }
        }
        proposal
    }
}

/// A patch in this format that makes the change at a path of a body.
fn patch(format: &str, target: String, body: &Value, path: &grown::Path) -> Step {
    let patch = match format {
        "application/json-patch+json" => {
            let pointer: String = path
                .iter()
                .map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1")))
                .collect();
            json!([{"op": "add", "path": pointer, "value": body.pointer(&pointer)}])
        }
        _ => grown::patch(body, path),
    };
    send("PATCH", &target, patch, Some(format))
}

fn send(method: &str, path: &str, body: Value, format: Option<&str>) -> Step {
    super::send(method, path.to_owned(), body, format)
}

/// The write after a creation, or after an apply with a field that the schema prunes: the ledger has rows for one that changes nothing.
fn second_write(rng: &mut Rng, kind: &Kind, object: &str, brings_unknown: bool) -> Option<Step> {
    let value = if brings_unknown {
        rng.u32(..).to_string()
    } else {
        "no".to_owned()
    };
    let labels = json!({"metadata": {"labels": {"new": value}}});
    (brings_unknown || CHANGED_ONCE.contains(&kind.name.as_str()))
        .then(|| send("PATCH", object, labels, Some("application/merge-patch+json")))
}

fn with_options(rng: &mut Rng, path: String) -> String {
    let options = ["", "", "?fieldValidation=Strict", "?dryRun=All", "?fieldManager=tool"];
    path + rng.choice(options).unwrap_or_default()
}

fn apply(rng: &mut Rng, object: &str, body: Value) -> Step {
    let manager = rng.choice(["one", "two", "three"]).unwrap_or("one");
    let force = if rng.bool() { "&force=true" } else { "" };
    send(
        "PATCH",
        &format!("{object}?fieldManager={manager}{force}"),
        body,
        Some(APPLY),
    )
}
