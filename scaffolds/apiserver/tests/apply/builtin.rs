//! Random writes to built-in kinds, which have defaults and types.

use std::collections::BTreeMap;

use kubewright_apiserver::apply::Schema;
use serde_json::{Value, json};

use crate::{
    dice::Dice,
    program::Step,
    record::fill,
    widget::{list, metadata, some_of, strings},
};

pub const KINDS: [&str; 3] = ["ConfigMap", "Deployment", "Service"];

/// The schema of a kind, from definitions recorded without descriptions.
pub fn schema(kind: &str) -> Schema {
    let all: BTreeMap<String, Value> = serde_json::from_str(include_str!("definitions.json")).expect("definitions");
    let name = all
        .keys()
        .find(|it| it.rsplit('.').next() == Some(kind))
        .expect("a definition");
    Schema::compile(&json!({"$ref": format!("#/components/schemas/{name}")}), &|name| {
        all.get(name).cloned()
    })
}

/// The next write to an object of a built-in kind.
pub fn next(dice: &mut Dice, kind: &str, live: Option<&Value>) -> Step {
    let version = if kind == "Deployment" { "apps/v1" } else { "v1" };
    let mut object = json!({"apiVersion": version, "kind": kind, "metadata": metadata(dice)});
    object["metadata"]["name"] = json!("it");
    match kind {
        "ConfigMap" => object["data"] = strings(dice),
        "Deployment" => object["spec"] = deployment(dice),
        _ => object["spec"] = service(dice),
    }
    let mut step = Step {
        version: version.to_owned(),
        ..Step::default()
    };
    fill(dice, &mut step, live, object);
    if step.media == "merge-patch+json" && dice.chance(75) {
        step.media = "strategic-merge-patch+json".to_owned();
        directives(dice, &mut step.body);
    }
    step
}

/// Adds directives, which only strategic merge patches support.
fn directives(dice: &mut Dice, body: &mut Value) {
    let spec = if body["spec"].get("template").is_some() {
        &mut body["spec"]["template"]["spec"]
    } else {
        &mut body["spec"]
    };
    let Some(spec) = spec.as_object_mut() else { return };
    for (name, key) in [("containers", "name"), ("ports", "port"), ("volumes", "name")] {
        let Some(items) = spec.get_mut(name).and_then(Value::as_array_mut) else {
            continue;
        };
        if dice.chance(30)
            && let Some(item) = items.first_mut()
        {
            *item = json!({key: item[key], "$patch": dice.pick(&["delete", "replace"])});
        } else if dice.chance(40) {
            let mut order: Vec<Value> = items.iter().map(|it| json!({key: it[key]})).collect();
            if dice.chance(30) {
                order.reverse();
            }
            spec.insert(format!("$setElementOrder/{name}"), Value::Array(order));
        }
    }
}

fn deployment(dice: &mut Dice) -> Value {
    let mut spec = some_of(
        dice,
        &["replicas", "paused", "minReadySeconds", "strategy"],
        |dice, name| match name {
            "paused" => json!(dice.chance(50)),
            "strategy" => dice
                .pick(&[&json!({"type": "Recreate"}), &json!({"rollingUpdate": {"maxSurge": 1}})])
                .clone(),
            _ => json!(dice.roll(3)),
        },
    );
    spec["selector"] = json!({"matchLabels": {"app": "it"}});
    let containers = list(dice, &["main", "side"], container);
    let volumes = list(
        dice,
        &["cache", "data"],
        |_, name| json!({"name": name, "emptyDir": {}}),
    );
    spec["template"] = json!({"metadata": {"labels": {"app": "it"}}, "spec": {"containers": containers}});
    if dice.chance(40) {
        spec["template"]["spec"]["volumes"] = volumes;
    }
    spec
}

fn container(dice: &mut Dice, name: &str) -> Value {
    let mut it = some_of(
        dice,
        &["env", "ports", "args", "resources", "volumeMounts"],
        |dice, field| match field {
            "env" => list(
                dice,
                &["A", "B", "C"],
                |dice, name| json!({"name": name, "value": dice.pick(&["1", "2"])}),
            ),
            "ports" => list(dice, &["80", "443"], |dice, port| {
                let mut it = json!({"containerPort": port.parse::<u16>().expect("a number")});
                if dice.chance(40) {
                    it["protocol"] = json!(dice.pick(&["TCP", "UDP"]));
                }
                it
            }),
            "args" => json!(dice.some(&["-a", "-b"])),
            "resources" => {
                json!({"limits": some_of(dice, &["cpu", "memory"], |dice, _| json!(dice.pick(&["1", "2"])))})
            }
            _ => list(
                dice,
                &["/a", "/b"],
                |_, path| json!({"name": "cache", "mountPath": path}),
            ),
        },
    );
    it["name"] = json!(name);
    it["image"] = json!(dice.pick(&["nginx:1", "nginx:2"]));
    it
}

fn service(dice: &mut Dice) -> Value {
    let mut spec = some_of(dice, &["selector", "sessionAffinity"], |dice, name| match name {
        "selector" => strings(dice),
        _ => json!(dice.pick(&["None", "ClientIP"])),
    });
    spec["ports"] = list(dice, &["80", "443", "8080"], |dice, port| {
        let mut it = json!({"port": port.parse::<u16>().expect("a number"), "name": format!("p{port}")});
        if dice.chance(40) {
            it["protocol"] = json!(dice.pick(&["TCP", "UDP"]));
        }
        if dice.chance(30) {
            it["targetPort"] = dice.pick(&[&json!(8080), &json!("http")]).clone();
        }
        it
    });
    spec
}

/// The path of the first value in `ours` that differs in `theirs`. The real server adds defaults, which are not applied
/// here.
pub fn lost(theirs: &Value, ours: &Value, path: &str) -> Option<String> {
    match (theirs, ours) {
        (_, Value::Null) => None,
        (Value::Object(theirs), Value::Object(ours)) => ours
            .iter()
            .find_map(|(name, it)| lost(theirs.get(name).unwrap_or(&Value::Null), it, &format!("{path}.{name}"))),
        (Value::Array(theirs), Value::Array(ours)) if theirs.len() == ours.len() => theirs
            .iter()
            .zip(ours)
            .enumerate()
            .find_map(|(at, (theirs, ours))| lost(theirs, ours, &format!("{path}[{at}]"))),
        // Go omits empty values.
        (Value::Null, ours) if [json!({}), json!([]), json!(0), json!(false), json!("")].contains(ours) => None,
        // Depends on another field.
        _ if theirs == ours || path.ends_with(".sessionAffinityConfig") => None,
        _ => Some(format!("{path}: expected {theirs}, found {ours}")),
    }
}
