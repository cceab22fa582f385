//! Metrics in v2 and in the annotations of v1, where their fields have other names.

use serde_json::{Map, Value, json};

use super::annotations::text;
use crate::kinds::decode;

/// A field of a metric's source: its name in v1, its path in v2, and what Go encodes if it is absent.
type Field = (&'static str, &'static str, Absent);

#[derive(Clone, Copy, PartialEq)]
enum Absent {
    Left,
    Text,
    /// A quantity that v1 cannot leave out, and v2 can.
    Zero,
    Struct,
}
use Absent::{Left, Struct, Text, Zero};

/// The result of an absent [`Zero`].
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Zeros {
    /// It is 0, as clients write and read it.
    Filled,
    /// It stays absent, so that nothing is lost on the way to the store.
    Absent,
}

/// The sources of a metric or of its status.
pub(super) struct Table {
    /// The definition in v2.
    definition: &'static str,
    sources: [(&'static str, &'static [Field]); 5],
    /// Adds what v1 does not say about a source.
    complete: fn(&str, &mut Value),
}

pub(super) const SPECS: Table = Table {
    definition: "autoscaling.v2.MetricSpec",
    sources: [
        (
            "object",
            &[
                ("target", "/describedObject", Struct),
                ("metricName", "/metric/name", Text),
                ("targetValue", "/target/value", Zero),
                ("selector", "/metric/selector", Left),
                ("averageValue", "/target/averageValue", Left),
            ],
        ),
        (
            "pods",
            &[
                ("metricName", "/metric/name", Text),
                ("targetAverageValue", "/target/averageValue", Zero),
                ("selector", "/metric/selector", Left),
            ],
        ),
        ("resource", RESOURCE),
        (
            "containerResource",
            &[RESOURCE[0], RESOURCE[1], RESOURCE[2], ("container", "/container", Text)],
        ),
        (
            "external",
            &[
                ("metricName", "/metric/name", Text),
                ("metricSelector", "/metric/selector", Left),
                ("targetValue", "/target/value", Left),
                ("targetAverageValue", "/target/averageValue", Left),
            ],
        ),
    ],
    complete: complete_target,
};

const RESOURCE: &[Field] = &[
    ("name", "/name", Text),
    ("targetAverageUtilization", "/target/averageUtilization", Left),
    ("targetAverageValue", "/target/averageValue", Left),
];

pub(super) const STATUSES: Table = Table {
    definition: "autoscaling.v2.MetricStatus",
    sources: [
        (
            "object",
            &[
                ("target", "/describedObject", Struct),
                ("metricName", "/metric/name", Text),
                ("currentValue", "/current/value", Zero),
                ("selector", "/metric/selector", Left),
                ("averageValue", "/current/averageValue", Left),
            ],
        ),
        (
            "pods",
            &[
                ("metricName", "/metric/name", Text),
                ("currentAverageValue", "/current/averageValue", Zero),
                ("selector", "/metric/selector", Left),
            ],
        ),
        ("resource", RESOURCE_STATUS),
        (
            "containerResource",
            &[
                RESOURCE_STATUS[0],
                RESOURCE_STATUS[1],
                RESOURCE_STATUS[2],
                ("container", "/container", Text),
            ],
        ),
        (
            "external",
            &[
                ("metricName", "/metric/name", Text),
                ("metricSelector", "/metric/selector", Left),
                ("currentValue", "/current/value", Zero),
                ("currentAverageValue", "/current/averageValue", Left),
            ],
        ),
    ],
    complete: |_, _| {},
};

const RESOURCE_STATUS: &[Field] = &[
    ("name", "/name", Text),
    ("currentAverageUtilization", "/current/averageUtilization", Left),
    ("currentAverageValue", "/current/averageValue", Zero),
];

/// The type of a target, which v1 does not have: it follows from the values that are set.
fn complete_target(source: &str, metric: &mut Value) {
    let target = &metric["target"];
    let has = |name: &str| !target[name].is_null();
    let r#type = match source {
        "object" if !has("averageValue") => "Value",
        "external" if has("value") => "Value",
        "resource" | "containerResource" if has("averageUtilization") => "Utilization",
        _ => "AverageValue",
    };
    let is_filler = source == "object" && has("averageValue") && target["value"] == "0";
    metric["target"]["type"] = json!(r#type);
    if is_filler && let Some(target) = metric["target"].as_object_mut() {
        target.remove("value");
    }
}

/// The metrics of an annotation in v2; `None` if it is missing or malformed, which Go ignores.
pub(super) fn read(annotation: Option<&Value>, table: &Table, zeros: Zeros) -> Option<Vec<Value>> {
    let metrics: Vec<Map<String, Value>> = serde_json::from_str(annotation?.as_str()?).ok()?;
    metrics.into_iter().map(|metric| to_v2(&metric, table, zeros)).collect()
}

fn to_v2(metric: &Map<String, Value>, table: &Table, zeros: Zeros) -> Option<Value> {
    let mut out = json!({"type": metric.get("type").unwrap_or(&json!(""))});
    for (name, fields) in &table.sources {
        let Some(source) = metric.get(*name).filter(|it| !it.is_null()) else {
            continue;
        };
        let source = source.as_object()?;
        let mut converted = json!({});
        for (short, path, absent) in *fields {
            let value = source.get(*short).filter(|it| !it.is_null()).cloned();
            if let Some(value) = value.or_else(|| zero(*absent, zeros)) {
                put(&mut converted, path, value);
            }
        }
        out[*name] = converted;
    }
    // Brings quantities to their canonical form, and finds what has a wrong type.
    decode::decode(table.definition, &mut out).ok()?;
    for (name, _) in &table.sources {
        if let Some(source) = out.get_mut(*name) {
            (table.complete)(name, source);
        }
    }
    Some(out)
}

fn zero(absent: Absent, zeros: Zeros) -> Option<Value> {
    Some(match absent {
        Left => return None,
        Text => json!(""),
        Zero if zeros == Zeros::Absent => return None,
        Zero => json!("0"),
        Struct => json!({"kind": "", "name": ""}),
    })
}

/// Sets the value at a path of one or two fields.
fn put(object: &mut Value, path: &str, value: Value) {
    let mut at = object;
    for name in path.split('/').skip(1) {
        at = &mut at[name];
    }
    *at = value;
}

/// The annotation for metrics of v2.
pub(super) fn written(metrics: &[Value], table: &Table, zeros: Zeros) -> Value {
    let metrics: Vec<Value> = metrics.iter().map(|metric| to_v1(metric, table, zeros)).collect();
    json!(text(&metrics.into()))
}

fn to_v1(metric: &Value, table: &Table, zeros: Zeros) -> Value {
    let mut out = json!({"type": metric["type"]});
    for (name, fields) in &table.sources {
        let Some(source) = metric.get(*name).filter(|it| !it.is_null()) else {
            continue;
        };
        let mut converted = Map::new();
        for (short, path, absent) in *fields {
            let value = source.pointer(path).filter(|it| !it.is_null()).cloned();
            converted.extend(
                value
                    .or_else(|| zero(*absent, zeros))
                    .map(|value| ((*short).to_owned(), value)),
            );
        }
        out[*name] = converted.into();
    }
    out
}
