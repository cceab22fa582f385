//! Runs a program like the server: applies and updates managedFields with the steps around them, and compares the
//! result with the recorded answers.

use kubewright_apiserver::{
    apply::{Error, Schema, Writer, apply, keep_times, update},
    patch,
};
use serde_json::{Value, json};

use crate::{
    builtin,
    program::{Program, Step},
    widget,
};

/// The differences, one entry for each step.
pub fn check(program: &Program) -> Vec<String> {
    let kind = Kind::of(&program.kind);
    let mut live: Option<Value> = None;
    let mut wrong = Vec::new();
    for (index, step) in program.steps.iter().enumerate() {
        if let Some(why) = kind.check(live.as_ref(), step) {
            let sent = format!("{} {} {}", step.method, step.media, step.body);
            let entries = live
                .as_ref()
                .map(|it| it["metadata"]["managedFields"].to_string())
                .unwrap_or_default();
            wrong.push(format!(
                "{} step {index} ({} {sent}\n  on {entries}\n  {why}",
                program.kind, step.manager
            ));
        }
        if step.code < 300 {
            live = Some(step.answer.clone());
        }
    }
    wrong
}

pub struct Kind {
    name: &'static str,
    schema: Schema,
}

impl Kind {
    pub fn of(name: &str) -> Self {
        match name {
            "Widget" => Self {
                name: "Widget",
                schema: Schema::custom(&widget::schema()),
            },
            other => {
                let name = builtin::KINDS.into_iter().find(|it| *it == other).expect("a kind");
                Self {
                    name,
                    schema: builtin::schema(name),
                }
            }
        }
    }

    fn is_custom(&self) -> bool {
        self.name == "Widget"
    }

    fn check(&self, live: Option<&Value>, step: &Step) -> Option<String> {
        let live = live.map(|it| in_version(it, &step.version));
        match self.run(live.as_ref(), step) {
            Ok(Some(object)) if step.code < 300 => self.compare(&object, step),
            // Refused for reasons that are outside of this test: validation, and the decoding of a patched object.
            Ok(_) if step.code == 422 || step.code == 404 || step.code >= 300 && step.media != "apply-patch+yaml" => {
                None
            }
            Ok(_) => Some(format!("expected {} {}, not an object", step.code, step.answer)),
            Err(refusal) if step.code < 300 => Some(format!("expected an object, not {refusal}")),
            Err(refusal) => different(&step.answer, &refusal),
        }
    }

    /// The object as it would be stored, or the Status of a refusal; `None` for a patch of an object that does not
    /// exist.
    fn run(&self, live: Option<&Value>, step: &Step) -> Result<Option<Value>, Value> {
        let media = step.media.as_str();
        let served = ["v1", "v1beta1"].map(|it| format!("{}/{it}", widget::GROUP));
        let versions =
            |version: &str| (self.is_custom() && served.iter().any(|it| it == version)).then_some(&self.schema);
        let writer = self.writer(step, &versions);
        let mut new = match (media, live) {
            ("apply-patch+yaml", live) => apply(live, &step.body, step.force, &writer).map_err(|it| answer(&it))?,
            ("json", _) => step.body.clone(),
            (_, None) => return Ok(None),
            (_, Some(live)) => {
                let body = step.body.to_string();
                let patched = match media {
                    "merge-patch+json" => patch::merge(live, body.as_bytes(), true),
                    "json-patch+json" => patch::json(live, body.as_bytes(), true),
                    _ => patch::strategic(live, body.as_bytes(), &self.schema, true),
                };
                patched.map_err(|it| it.body())?.object
            }
        };
        if self.is_custom() {
            widget::decode(&mut new);
        } else {
            self.complete(&mut new, step);
        }
        if media != "apply-patch+yaml" {
            update(live, &mut new, &writer);
        }
        Ok(Some(self.settle(live, new, step)))
    }

    fn writer<'a>(&'a self, step: &'a Step, versions: &'a dyn Fn(&str) -> Option<&'a Schema>) -> Writer<'a> {
        Writer {
            manager: if step.manager.is_empty() {
                "agent"
            } else {
                &step.manager
            },
            api_version: &step.version,
            kind: self.name,
            subresource: &step.subresource,
            now: &step.now,
            reset: match (self.is_custom(), step.subresource.as_str()) {
                (true, "status") => &["metadata", "spec"],
                _ => &["status"],
            },
            schema: &self.schema,
            versions,
        }
    }

    /// Takes the results of decoding and defaulting a built-in kind from the recorded answer.
    fn complete(&self, new: &mut Value, step: &Step) {
        if step.code < 300 && step.media != "apply-patch+yaml" {
            let entries = new["metadata"].get("managedFields").cloned();
            *new = step.answer.clone();
            if let ("json", Some(spec)) = (step.media.as_str(), new.get_mut("spec").and_then(Value::as_object_mut)) {
                // Allocated, or copied from the old object, after managedFields are updated.
                spec.retain(|name, _| {
                    !["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"].contains(&name.as_str())
                });
            }
            if let Some(metadata) = new["metadata"].as_object_mut() {
                metadata.remove("managedFields");
                metadata.extend(entries.map(|it| ("managedFields".to_owned(), it)));
            }
        }
    }

    /// The effect of the strategies: the main endpoint keeps the status, and the status endpoint keeps everything else.
    fn settle(&self, live: Option<&Value>, mut new: Value, step: &Step) -> Value {
        let status_of = |it: &Value| it.get("status").cloned();
        let (mut object, status) = match (step.subresource.as_str(), live) {
            ("status", Some(live)) => {
                let mut object = live.clone();
                let entries = new["metadata"].get_mut("managedFields").map(Value::take);
                if let Some(metadata) = object["metadata"].as_object_mut() {
                    metadata.remove("managedFields");
                    metadata.extend(entries.map(|it| ("managedFields".to_owned(), it)));
                }
                (object, status_of(&new))
            }
            (_, live) => {
                new["metadata"]["namespace"] = json!("default");
                (new, live.and_then(status_of))
            }
        };
        if let Some(members) = object.as_object_mut() {
            members.remove("status");
            members.extend(status.map(|it| ("status".to_owned(), it)));
        }
        if let Some(live) = live {
            keep_times(live, &mut object);
        }
        object
    }

    fn compare(&self, object: &Value, step: &Step) -> Option<String> {
        if self.is_custom() {
            return different(&step.answer, object);
        }
        different(
            &step.answer["metadata"]["managedFields"],
            &object["metadata"]["managedFields"],
        )
        .or_else(|| builtin::lost(&step.answer["spec"], &object["spec"], "spec"))
        .or_else(|| builtin::lost(&step.answer["data"], &object["data"], "data"))
    }
}

fn in_version(object: &Value, version: &str) -> Value {
    let mut object = object.clone();
    object["apiVersion"] = json!(version);
    object
}

fn answer(error: &Error) -> Value {
    error.status().body()
}

fn different(expected: &Value, found: &Value) -> Option<String> {
    let mut out = Vec::new();
    collect(&sorted(expected), &sorted(found), "", &mut out);
    (!out.is_empty()).then(|| out.join("\n  "))
}

/// Sorts a conflict's causes: the real server lists conflicts with several managers, and errors of several fields, in
/// random order.
fn sorted(status: &Value) -> Value {
    let mut status = status.clone();
    if let Some(message) = status["message"].as_str().filter(|it| it.contains(" errors:\n")) {
        let mut lines: Vec<_> = message.lines().collect();
        lines[1..].sort_unstable();
        status["message"] = json!(lines.join("\n"));
    }
    if let Some(causes) = status.pointer_mut("/details/causes").and_then(Value::as_array_mut) {
        causes.sort_by_key(ToString::to_string);
    }
    status
}

fn collect(expected: &Value, found: &Value, path: &str, out: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(left), Value::Object(right)) => {
            for name in left.keys().chain(right.keys().filter(|name| !left.contains_key(*name))) {
                let get =
                    |it: &serde_json::Map<String, Value>| it.get(name).cloned().unwrap_or_else(|| json!("(none)"));
                collect(&get(left), &get(right), &format!("{path}.{name}"), out);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (at, (left, right)) in left.iter().zip(right).enumerate() {
                collect(left, right, &format!("{path}[{at}]"), out);
            }
        }
        _ if expected == found => {}
        _ => out.push(format!("{path}: expected {expected}, found {found}")),
    }
}
