//! The printer columns (`kubectl get`) that a CustomResourceDefinition declares.

use crate::{
    custom::{age, path::Path},
    strategy::{CREATED, Column},
};
use kubewright_machinery::go;
use serde_json::{Value, json};

/// One column, and the path of its value.
pub(super) struct Printed {
    pub column: Column,
    path: Path,
}

/// The columns of a version; `Age` if it declares none. The columns end before the first path that cannot be parsed.
pub(super) fn of(version: &Value) -> Vec<Printed> {
    const AGE: &str = ".metadata.creationTimestamp";
    let default = json!([{"name": "Age", "type": "date", "jsonPath": AGE,
        "description": CREATED}]);
    let columns = match version["additionalPrinterColumns"].as_array() {
        Some(columns) if !columns.is_empty() => columns.as_slice(),
        _ => default.as_array().map(Vec::as_slice).unwrap_or_default(),
    };
    // The first path that cannot be parsed ends the list of columns.
    columns.iter().map_while(printed).collect()
}

fn printed(column: &Value) -> Option<Printed> {
    let text = |key: &str| column[key].as_str().unwrap_or_default().to_owned();
    let path = text("jsonPath");
    let description = match text("description") {
        it if it.is_empty() => format!("Custom resource definition column (in JSONPath format): {path}"),
        it => it,
    };
    Some(Printed {
        path: Path::parse(&path)?,
        column: Column {
            name: text("name"),
            r#type: text("type"),
            format: text("format"),
            description,
            priority: column["priority"].as_i64().unwrap_or_default(),
        },
    })
}

impl Printed {
    /// The cell of the column for `object`.
    pub(super) fn cell(&self, object: &Value, now: i64) -> Value {
        let found = self.path.find(object).unwrap_or_default();
        let Some(value) = found.first().map(|found| found.value()) else {
            return Value::Null;
        };
        match (self.column.r#type.as_str(), value) {
            ("string", value) => Value::String(text(value)),
            ("integer", Value::Number(number)) => number
                .as_i64()
                .or_else(|| number.as_f64().map(truncated))
                .map_or(Value::Null, Value::from),
            ("number", Value::Number(_)) => value.clone(),
            ("boolean", Value::Bool(_)) => value.clone(),
            ("date", Value::String(time)) => Value::String(age::since(time, now)),
            _ => Value::Null,
        }
    }
}

/// Converts as Go does: a number out of range becomes the smallest integer.
#[expect(clippy::cast_possible_truncation, reason = "checked to be within the range")]
fn truncated(float: f64) -> i64 {
    // 2⁶³ is the first double above every i64.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&float) {
        float as i64
    } else {
        i64::MIN
    }
}

/// A value formatted as text.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => go::plain(number),
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => go::json(value),
    }
}
