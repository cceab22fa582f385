//! Records programs from a real server, and checks them against it. `KUBEWRIGHT_PROGRAMS=1000` runs that many, and
//! `KUBEWRIGHT_RECORD=60` writes that many of each kind to `programs.json`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::{
    builtin, check,
    dice::Dice,
    program::{Program, Step},
    server::{Answer, send},
    widget,
};

#[test]
#[ignore = "needs a real kube-apiserver"]
fn random_programs_have_the_real_servers_results() {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let seed = number("KUBEWRIGHT_SEED").unwrap_or(1);
    let count = number("KUBEWRIGHT_PROGRAMS").unwrap_or(100);
    let kept = number("KUBEWRIGHT_RECORD").unwrap_or(0);
    install();
    let (mut lines, mut wrong) = (String::new(), Vec::new());
    for seed in seed..seed + count {
        let mut dice = Dice::new(seed);
        let kind = if dice.chance(60) {
            "Widget"
        } else {
            dice.pick(&builtin::KINDS)
        };
        let program = run(&mut dice, kind, seed);
        wrong.extend(
            check::check(&program)
                .into_iter()
                .map(|it| format!("seed {seed}: {it}")),
        );
        if (lines.lines().count() as u64) < kept {
            // Writing to a String cannot fail.
            let _ = writeln!(lines, "{}", program.to_json());
        }
    }
    if kept > 0 {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/apply/programs.json"), lines).expect("written");
    }
    assert!(wrong.is_empty(), "{} steps differ\n{}", wrong.len(), wrong.join("\n"));
}

fn install() {
    send(
        "POST",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        "application/json",
        &widget::definition(),
    );
    std::thread::sleep(std::time::Duration::from_secs(2));
}

fn run(dice: &mut Dice, kind: &str, seed: u64) -> Program {
    let mut program = Program {
        kind: kind.to_owned(),
        steps: Vec::new(),
    };
    let mut live = None;
    let name = format!("program-{}-{seed}", std::process::id());
    let crowd = dice.chance(8);
    for _ in 0..if crowd { 18 } else { 4 + dice.roll(6) } {
        let mut step = if kind == "Widget" {
            next(dice, live.as_ref())
        } else {
            builtin::next(dice, kind, live.as_ref())
        };
        repeat(dice, &mut step, &program);
        if crowd && step.media != "apply-patch+yaml" {
            step.manager = format!("crowd-{}", dice.roll(15));
        }
        let answer = write(kind, &name, &step, live.as_ref());
        step.code = answer.code;
        step.now = written(live.as_ref(), &answer);
        step.answer = stored(answer.body.clone(), &name);
        if step.code < 300 {
            live = Some(answer.body);
        }
        program.steps.push(step);
    }
    let path = format!("{}/{name}", collection(kind, "v1"));
    send(
        "PATCH",
        &path,
        "application/merge-patch+json",
        &json!({"metadata": {"finalizers": null}}),
    );
    send("DELETE", &path, "application/json", &json!({}));
    program
}

/// Sometimes applies the same configuration again, as the same or another manager.
fn repeat(dice: &mut Dice, step: &mut Step, program: &Program) {
    let earlier = program
        .steps
        .iter()
        .rfind(|it| it.media == "apply-patch+yaml" && it.subresource == step.subresource);
    if let (Some(earlier), true, "apply-patch+yaml") = (earlier, dice.chance(20), step.media.as_str()) {
        (step.version, step.body) = (earlier.version.clone(), earlier.body.clone());
    }
}

/// The time of the write in managedFields, if it is there; the answer's own time may be a second later.
fn written(live: Option<&Value>, answer: &Answer) -> String {
    let times = |object: &Value| -> Vec<String> {
        let entries = object["metadata"]["managedFields"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        entries
            .iter()
            .filter_map(|it| it["time"].as_str().map(str::to_owned))
            .collect()
    };
    let before = live.map(times).unwrap_or_default();
    let after = times(&answer.body);
    let new = after.iter().filter(|it| !before.contains(it)).max();
    new.or(after.iter().max()).unwrap_or(&answer.now).clone()
}

fn collection(kind: &str, version: &str) -> String {
    match kind {
        "Widget" => format!("/apis/{}/{version}/namespaces/default/widgets", widget::GROUP),
        "Deployment" => "/apis/apps/v1/namespaces/default/deployments".to_owned(),
        other => format!("/api/v1/namespaces/default/{}s", other.to_lowercase()),
    }
}

fn write(kind: &str, name: &str, step: &Step, live: Option<&Value>) -> Answer {
    let mut body = step.body.clone();
    if body.is_object() && matches!(step.media.as_str(), "json" | "apply-patch+yaml") {
        body["metadata"]["name"] = json!(name);
        if let (Some(live), "PUT") = (live, step.method.as_str()) {
            body["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
            body["metadata"]["uid"] = live["metadata"]["uid"].clone();
        }
    }
    let version = step.version.rsplit('/').next().unwrap_or_default();
    let mut path = collection(kind, version);
    if step.method != "POST" {
        path += &format!("/{name}");
    }
    if !step.subresource.is_empty() {
        path += &format!("/{}", step.subresource);
    }
    let mut query = Vec::new();
    if step.force {
        query.push("force=true".to_owned());
    }
    if !step.manager.is_empty() {
        query.push(format!("fieldManager={}", step.manager));
    }
    send(
        &step.method,
        &format!("{path}?{}", query.join("&")),
        &format!("application/{}", step.media),
        &body,
    )
}

/// The object without values that differ from run to run.
fn stored(mut object: Value, name: &str) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for key in ["uid", "resourceVersion", "creationTimestamp", "generation"] {
            metadata.remove(key);
        }
    }
    let text = object.to_string().replace(name, "it");
    serde_json::from_str(&text).expect("still JSON")
}

/// The next write to a Widget.
fn next(dice: &mut Dice, live: Option<&Value>) -> Step {
    let version = if dice.chance(12) { "v1beta1" } else { "v1" };
    let version = format!("{}/{version}", widget::GROUP);
    let mut object = json!({"apiVersion": version, "kind": "Widget", "metadata": widget::metadata(dice)});
    object["metadata"]["name"] = json!("it");
    let mut step = Step {
        version,
        ..Step::default()
    };
    let status = live.is_some() && dice.chance(20);
    if status {
        step.subresource = "status".to_owned();
    }
    if status || dice.chance(15) {
        object["status"] = widget::status(dice);
    }
    if !status || dice.chance(20) {
        object["spec"] = widget::spec(dice);
    }
    fill(dice, &mut step, live, object);
    if step.media == "apply-patch+yaml" && dice.chance(6) {
        widget::spoil(dice, &mut step.body);
    }
    step
}

/// Chooses the verb and body with which the object is written.
pub fn fill(dice: &mut Dice, step: &mut Step, live: Option<&Value>, mut object: Value) {
    match (dice.roll(100), live) {
        (..55, _) => {
            (step.method, step.media) = ("PATCH".into(), "apply-patch+yaml".into());
            step.manager = dice.pick(&["one", "two", "kubectl"]).to_owned();
            step.force = dice.chance(40);
            step.body = object;
        }
        (_, None) => {
            (step.method, step.media) = ("POST".into(), "json".into());
            step.manager = dice.pick(&["", "writer", "kubectl-client-side-apply"]).to_owned();
            if dice.chance(30) {
                let last = object.to_string() + "\n";
                object["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": last});
            }
            step.body = object;
            step.subresource = String::new();
        }
        (55..75, Some(live)) => {
            (step.method, step.media) = ("PUT".into(), "json".into());
            step.manager = dice.pick(&["", "writer", "other"]).to_owned();
            entries(dice, &mut object, live);
            step.body = object;
        }
        (_, Some(_)) => {
            (step.method, step.media) = ("PATCH".into(), "merge-patch+json".into());
            step.manager = dice.pick(&["", "writer", "other"]).to_owned();
            if let Some(members) = object.as_object_mut() {
                members.remove("apiVersion");
            }
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.remove("name");
            }
            step.body = object;
        }
    }
}

/// Sets the managedFields that a PUT sends.
fn entries(dice: &mut Dice, object: &mut Value, live: &Value) {
    let there = live["metadata"]["managedFields"].clone();
    let sent = match dice.roll(10) {
        0 => json!([]),
        1 => json!([{}]),
        2 => {
            json!([{"manager": "x", "operation": "Wrong", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}}])
        }
        3 => json!([{"manager": "given", "operation": "Update", "apiVersion": object["apiVersion"],
            "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:size": {}}}}]),
        4 => {
            let version = dice.pick(&["apply.kubewright.dev/v7", "other.dev/v1", "v2"]);
            json!([{"manager": "given", "operation": "Apply", "apiVersion": version, "fieldsType": "FieldsV1",
                "fieldsV1": {"f:spec": {"f:size": {}, "f:ports": {}, "f:color": {"f:r": {}}}}}])
        }
        5..7 => there,
        _ => return,
    };
    object["metadata"]["managedFields"] = sent;
}
