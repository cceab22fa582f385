//! Replays one recorded request on a strategy, as the registry does.

use kubewright_apiserver::testing::{Empties, Resource, admission};
use recordings::Exchange;
use serde_json::{Map, Value, json};

/// Replaces UIDs that are not in the recording.
const UNKNOWN: &str = "00000000-0000-0000-0000-000000000000";

/// A line of the recording.
#[derive(Clone)]
pub struct Record {
    /// For example `apps/v1 Deployment`.
    pub kind: String,
    /// The line in `cases.txt`.
    pub case: String,
    /// The object before an update.
    pub old: Option<Value>,
    /// The subresource of an update; empty for the object itself.
    pub subresource: String,
    /// The body.
    pub sent: Value,
    code: i64,
    message: String,
    causes: Value,
    object: Value,
    warnings: Vec<String>,
    cells: Option<Vec<Value>>,
}

/// Whether our answer equals the real server's.
pub enum Outcome {
    Same,
    Different(String),
}

impl Record {
    pub fn read(Exchange { asked, answered }: Exchange<Value, Value>) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            kind: text(&asked["kind"]),
            case: text(&asked["case"]),
            old: asked.get("old").cloned(),
            subresource: text(&asked["subresource"]),
            sent: asked["sent"].clone(),
            code: answered["code"].as_i64().unwrap(),
            message: text(&answered["message"]),
            causes: answered["causes"].clone(),
            object: answered["object"].clone(),
            cells: answered["cells"].as_array().cloned(),
            warnings: answered["warnings"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|text| text.to_string())
                .collect(),
        }
    }
}

/// Compares the cells of the recorded object with those of the recorded Table; all ages count as equal.
pub fn print(resources: &[Resource], record: &Record) -> Outcome {
    let Some(real) = &record.cells else {
        return Outcome::Same;
    };
    let resource = find(resources, record);
    let ours = resource.strategy.cells(&record.object, 0);
    let columns = &resource.rules().table.columns;
    if columns.len() != ours.len() {
        return Outcome::Different(format!("{} columns, {} cells", columns.len(), ours.len()));
    }
    same(
        &json!(ours.iter().map(ageless).collect::<Vec<_>>()),
        &json!(real.iter().map(ageless).collect::<Vec<_>>()),
    )
}

/// Replaces a duration, or a placeholder for one, by one word.
fn ageless(cell: &Value) -> Value {
    let is_age = |text: &str| {
        let units =
            text.ends_with(['s', 'm', 'h', 'd', 'y']) && text.starts_with(|letter: char| letter.is_ascii_digit());
        units
            && text
                .bytes()
                .all(|byte| byte.is_ascii_digit() || b"smhdy".contains(&byte))
            || text == "<invalid>"
    };
    match cell.as_str() {
        Some(text) if is_age(text) => json!("age"),
        _ => cell.clone(),
    }
}

fn find<'a>(resources: &'a [Resource], record: &Record) -> &'a Resource {
    let is_it = |resource: &&Resource| format!("{} {}", resource.api_version(), resource.names.kind) == record.kind;
    resources
        .iter()
        .find(is_it)
        .unwrap_or_else(|| panic!("no {}", record.kind))
}

/// Replays the request, and compares the results.
pub fn run(resources: &[Resource], record: &Record) -> Outcome {
    let resource = find(resources, record);
    match act(resource, record) {
        Err(message) => same(
            &json!({"message": message, "code": 400}),
            &json!({"message": record.message, "code": record.code}),
        ),
        Ok((object, causes)) => {
            let refused = json!({"causes": causes});
            let wanted = json!({"causes": own_causes(&record.causes)});
            match (record.code, causes.is_empty()) {
                (200..300, true) => same(&normalised(object, record), &normalised(record.object.clone(), record)),
                (422, _) => same(&refused, &wanted),
                _ => Outcome::Different(format!(
                    "real: {} {}\nours: {refused} {object}",
                    record.code, record.message
                )),
            }
        }
    }
}

/// The object as it would be stored with its validation errors; or why it cannot be decoded.
fn act(resource: &Resource, record: &Record) -> Result<(Value, Vec<Value>), String> {
    let strategy = &resource.strategy;
    let mut object = record.sent.clone();
    let unknown = strategy.decode(&mut object).map_err(|status| status.message)?;
    strategy.empties(&mut object, Empties::Meaningful);
    let warned = record
        .warnings
        .iter()
        .filter(|text| text.contains("unknown field"))
        .count();
    if record.code < 300 && warned != unknown.len() {
        return Err(format!("{unknown:?} instead of {:?}", record.warnings));
    }
    let given = record.old.as_ref().unwrap_or(&record.object);
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        if resource.namespaced {
            metadata.insert("namespace".to_owned(), json!("kinds"));
        }
        for name in ["uid", "creationTimestamp"] {
            let value = given.pointer(&format!("/metadata/{name}")).cloned();
            metadata.insert(name.to_owned(), value.unwrap_or_else(|| json!(UNKNOWN)));
        }
    }
    strategy.default(&mut object);
    admit(record, &mut object);
    let causes = match &record.old {
        None => {
            strategy.prepare_for_create("", &mut object);
            let causes = strategy.validate(&object, &[]);
            resource.rules().release(&object, None);
            causes
        }
        Some(old) => {
            resource.rules().hold(old);
            strategy.prepare_for_update(&record.subresource, &mut object, old);
            let causes = strategy.validate_update(&record.subresource, &object, old, &[]).causes;
            resource.rules().release(&object, None);
            resource.rules().release(old, None);
            causes
        }
    };
    strategy.empties(&mut object, Empties::Stored);
    let causes = causes
        .into_iter()
        .filter(|cause| cause.field != "metadata.name")
        .map(|cause| json!({"reason": cause.reason, "field": cause.field, "message": cause.message}));
    Ok((object, causes.collect()))
}

/// Gives a Pod what admission gives it if there are no classes: a priority, and tolerations unless it is the status that
/// is written.
fn admit(record: &Record, object: &mut Value) {
    if record.kind != "v1 Pod" {
        return;
    }
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        spec.entry("priority").or_insert_with(|| json!(0));
        spec.entry("preemptionPolicy")
            .or_insert_with(|| json!("PreemptLowerPriority"));
    }
    if record.subresource.is_empty() {
        admission::tolerate(object);
    }
}

/// The causes that the kind reports, sorted; those about metadata are the registry's. The real server iterates over Go
/// maps, whose order is random.
fn own_causes(causes: &Value) -> Vec<Value> {
    let causes = causes.as_array().into_iter().flatten();
    causes.filter(|cause| !is_of_registry(cause)).cloned().collect()
}

fn is_of_registry(cause: &Value) -> bool {
    let field = cause["field"].as_str().unwrap_or_default();
    [
        "metadata.name",
        "metadata.labels",
        "metadata.finalizers",
        "metadata.ownerReferences",
    ]
    .contains(&field)
}

/// The object without values that differ for each object.
fn normalised(mut object: Value, record: &Record) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for name in ["uid", "resourceVersion", "creationTimestamp", "generation"] {
            metadata.remove(name);
        }
    }
    if record.kind == "v1 PersistentVolume" {
        object["status"]["lastPhaseTransitionTime"] = Value::Null;
    }
    if record.kind == "v1 Service" && record.old.is_none() {
        hide_given(&mut object, &record.sent);
    }
    if record.kind == "v1 Service" && record.old.is_some() {
        hide_ports(&mut object, &record.sent);
    }
    object
}

/// Replaces addresses and ports that the server allocated.
fn hide_given(object: &mut Value, sent: &Value) {
    let asked = sent["spec"]["clusterIP"].as_str().is_some_and(|ip| !ip.is_empty());
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut)
        && !asked
    {
        hide(spec, "clusterIP", json!("given"));
        hide(spec, "clusterIPs", json!(["given"]));
    }
    hide_ports(object, sent);
}

fn hide_ports(object: &mut Value, sent: &Value) {
    let ports = object.pointer_mut("/spec/ports").and_then(Value::as_array_mut);
    for (index, port) in ports.into_iter().flatten().enumerate() {
        if let (Value::Null, Some(port)) = (&sent["spec"]["ports"][index]["nodePort"], port.as_object_mut()) {
            hide(port, "nodePort", json!("given"));
        }
    }
}

fn hide(fields: &mut Map<String, Value>, name: &str, value: Value) {
    if let Some(found) = fields.get_mut(name) {
        *found = value;
    }
}

fn same(ours: &Value, real: &Value) -> Outcome {
    if without_uids(&sorted(ours).to_string()) == without_uids(&sorted(real).to_string()) {
        return Outcome::Same;
    }
    Outcome::Different(format!("ours: {ours}\nreal: {real}"))
}

/// The text, with the same placeholder for every UID.
fn without_uids(text: &str) -> String {
    let is_uid = |part: &str| {
        let dashes = [8, 13, 18, 23];
        part.bytes().enumerate().all(|(at, byte)| {
            if dashes.contains(&at) {
                byte == b'-'
            } else {
                byte.is_ascii_hexdigit()
            }
        })
    };
    let (mut out, mut at) = (String::new(), 0);
    while at < text.len() {
        match text.get(at..at + UNKNOWN.len()) {
            Some(part) if is_uid(part) => {
                out.push_str(UNKNOWN);
                at += UNKNOWN.len();
            }
            _ => {
                let letter = text[at..].chars().next().unwrap();
                out.push(letter);
                at += letter.len_utf8();
            }
        }
    }
    out
}

/// Causes sorted by their texts. The differential runs compare their order where Go's order is fixed.
fn sorted(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(causes) = value.get_mut("causes").and_then(Value::as_array_mut) {
        causes.sort_by_key(Value::to_string);
    }
    value
}

/// The paths of all values within `value`.
pub fn paths(value: &Value) -> Vec<String> {
    let mut out = Vec::new();
    collect(value, String::new(), &mut out);
    out
}

fn collect(value: &Value, path: String, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                collect(value, format!("{path}/{name}"), out);
            }
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, value)| collect(value, format!("{path}/{index}"), out));
        }
        _ => {}
    }
    out.push(path);
}
