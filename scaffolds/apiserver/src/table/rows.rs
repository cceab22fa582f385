//! Tables, which `kubectl get` prints.

use serde_json::{Value, json};

use kubewright_machinery::time;

use super::{Include, head, partial};
use crate::{
    resource::Resource,
    strategy::{CREATED, Column},
};

const NAME: &str = "Name must be unique within a namespace. Is required when creating resources, although some resources \
    may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for \
    creation idempotence and configuration definition. Cannot be updated. More info: \
    https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";

/// The Table of one object or of a list.
pub(super) fn table(resource: &Resource, answer: &Value, include: Include, now: i64) -> Value {
    let items = answer["items"]
        .as_array()
        .filter(|_| answer["kind"] == resource.names.list_kind.as_str());
    let objects = items.map_or(std::slice::from_ref(answer), Vec::as_slice);
    let is_name = |column: &Column| column.format == "name" || resource.is_typed() && column.name == "Name";
    let named = !resource.rules().table.columns.iter().any(is_name);
    let mut shown = head("Table");
    shown["metadata"] = match items {
        Some(_) => partial::metadata(answer),
        None => answer["metadata"]
            .get("resourceVersion")
            .map_or_else(|| json!({}), |version| json!({"resourceVersion": version})),
    };
    shown["columnDefinitions"] = columns(resource, named);
    let mut objects: Vec<&Value> = objects.iter().collect();
    if let Some(number) = resource.rules().table.rows_by {
        objects.sort_by_key(|object| object.pointer(number).and_then(Value::as_i64));
    }
    let rows = objects.into_iter().map(|object| {
        let mut cells = resource.strategy.cells(object, now);
        if named {
            cells.insert(0, object["metadata"]["name"].as_str().unwrap_or_default().into());
        }
        let mut row = json!({"cells": cells, "object": part(resource, object, include)});
        let phase = object.pointer("/status/phase").and_then(Value::as_str);
        if let Some([phase, message]) = resource
            .rules()
            .table
            .complete_in
            .iter()
            .find(|it| Some(it[0]) == phase)
        {
            row["conditions"] = json!([{"type": "Completed", "status": "True", "reason": phase, "message": message}]);
        }
        row
    });
    let rows: Vec<Value> = rows.collect();
    // Without rows, upstream's Table is null for kinds without columns of their own, and empty for others.
    let plain = resource.is_typed()
        && resource
            .rules()
            .table
            .columns
            .iter()
            .any(|column| column.name == "Created At");
    shown["rows"] = if rows.is_empty() && plain {
        Value::Null
    } else {
        rows.into()
    };
    shown
}

/// The Table of a Scale of an object of `resource`.
pub(super) fn scale(resource: &Resource, scale: &Value, include: Include, now: i64) -> Value {
    let column = |name: &str, r#type: &str, description: &str| json!({"name": name, "type": r#type, "format": "", "description": description, "priority": 0});
    let mut name = column("Name", "string", NAME);
    let age = if resource.is_typed() {
        "string"
    } else {
        name["format"] = "name".into();
        "date"
    };
    let mut shown = head("Table");
    shown["metadata"] = json!({"resourceVersion": scale["metadata"]["resourceVersion"]});
    shown["columnDefinitions"] = json!([
        name,
        column("Desired", "integer", "Number of desired replicas"),
        column("Available", "integer", "Number of actual replicas"),
        column("Age", age, CREATED),
    ]);
    let created = scale["metadata"]["creationTimestamp"].as_str().and_then(time::seconds);
    let age = match created {
        Some(then) => time::human_duration(now.saturating_sub(then)),
        None => "<unknown>".to_owned(),
    };
    let object = match include {
        Include::Nothing => Value::Null,
        Include::Metadata => partial::of(resource, scale),
        Include::Object => scale.clone(),
    };
    let cells = json!([
        scale["metadata"]["name"],
        scale["spec"]["replicas"],
        scale["status"]["replicas"],
        age
    ]);
    shown["rows"] = json!([{"cells": cells, "object": object}]);
    shown
}

/// The part of an object that its row contains.
fn part(resource: &Resource, object: &Value, include: Include) -> Value {
    match include {
        Include::Nothing => Value::Null,
        Include::Metadata => partial::of(resource, object),
        Include::Object => {
            let mut object = object.clone();
            // Items of typed lists have no `apiVersion` and `kind`.
            object["apiVersion"] = resource.api_version().into();
            object["kind"] = resource.names.kind.as_str().into();
            object
        }
    }
}

/// The columns. For kinds that do not define all of them, the first is the name.
fn columns(resource: &Resource, named: bool) -> Value {
    let mut columns = resource.rules().table.columns.clone();
    if named {
        let (name, r#type, format) = ("Name".to_owned(), "string".to_owned(), "name".to_owned());
        let description = NAME.to_owned();
        columns.insert(
            0,
            Column {
                name,
                r#type,
                format,
                description,
                priority: 0,
            },
        );
    }
    let definitions = columns.iter().map(|column| {
        json!({
            "name": column.name, "type": column.r#type, "format": column.format,
            "description": column.description, "priority": column.priority,
        })
    });
    definitions.collect()
}
