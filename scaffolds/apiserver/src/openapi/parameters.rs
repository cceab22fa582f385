//! The parameters of operations, from which kubectl learns what a server supports (`dryRun`, `fieldValidation`).

use serde_json::{Value, json};

/// A parameter of an operation.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Parameter {
    name: &'static str,
    /// `path` or `query`.
    place: &'static str,
    kind: &'static str,
}

const fn path(name: &'static str) -> Parameter {
    Parameter {
        name,
        place: "path",
        kind: "string",
    }
}

const fn query(name: &'static str, kind: &'static str) -> Parameter {
    Parameter {
        name,
        place: "query",
        kind,
    }
}

pub(super) const NAME: Parameter = path("name");
pub(super) const NAMESPACE: Parameter = path("namespace");
pub(super) const PRETTY: Parameter = query("pretty", "string");

const WRITE: [Parameter; 3] = [
    query("dryRun", "string"),
    query("fieldManager", "string"),
    query("fieldValidation", "string"),
];

const DELETE: [Parameter; 5] = [
    query("dryRun", "string"),
    query("gracePeriodSeconds", "integer"),
    query("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"),
    query("orphanDependents", "boolean"),
    query("propagationPolicy", "string"),
];

const LIST: [Parameter; 11] = [
    query("allowWatchBookmarks", "boolean"),
    query("continue", "string"),
    query("fieldSelector", "string"),
    query("labelSelector", "string"),
    query("limit", "integer"),
    query("resourceVersion", "string"),
    query("resourceVersionMatch", "string"),
    query("sendInitialEvents", "boolean"),
    query("shardSelector", "string"),
    query("timeoutSeconds", "integer"),
    query("watch", "boolean"),
];

/// The parameters of an action, sorted by name. Built-in kinds declare slightly different ones than custom kinds.
pub(super) fn of(action: &str, built_in: bool) -> Vec<Parameter> {
    let mut all: Vec<Parameter> = match action {
        "list" => LIST.to_vec(),
        "deletecollection" if built_in => {
            let watching = ["allowWatchBookmarks", "watch"];
            LIST.into_iter()
                .filter(|it| !watching.contains(&it.name))
                .chain(DELETE)
                .collect()
        }
        "deletecollection" => LIST.to_vec(),
        "get" if !built_in => vec![query("resourceVersion", "string")],
        "post" | "put" => WRITE.to_vec(),
        "patch" => WRITE.into_iter().chain([query("force", "boolean")]).collect(),
        "delete" => DELETE.to_vec(),
        _ => Vec::new(),
    };
    all.push(PRETTY);
    all.sort_unstable();
    all
}

impl Parameter {
    pub(super) fn document(&self) -> Value {
        let Self { name, place, kind } = self;
        let mut document = json!({"name": name, "in": place, "schema": {"type": kind, "uniqueItems": true}});
        if *place == "path" {
            document["required"] = json!(true);
        }
        document
    }
}
