//! Flow control: the FlowSchema and the PriorityLevelConfiguration of each request. No request waits or is refused here; answers name
//! the two, as upstream.

pub mod bootstrap;
mod rule;

use std::{collections::BTreeMap, sync::Arc};

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use crate::{
    meta,
    request::Info,
    store::{Derived, Store},
    user::User,
};
use rule::FlowRule;

/// The FlowSchemas in the store.
pub const SCHEMAS: &str = "flowcontrol.apiserver.k8s.io/flowschemas";
/// The PriorityLevelConfigurations in the store.
pub const LEVELS: &str = "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations";

const SCHEMA_UID: HeaderName = HeaderName::from_static("x-kubernetes-pf-flowschema-uid");
const LEVEL_UID: HeaderName = HeaderName::from_static("x-kubernetes-pf-prioritylevel-uid");

/// Subresources whose requests last, which are not classified.
const LASTING: [&str; 5] = ["attach", "exec", "proxy", "log", "portforward"];
/// The requests that a real server runs at a time, which priority levels share.
const SEATS: f64 = 600.0;

/// The flow control of a server.
#[derive(Default)]
pub struct FlowControl(Derived<Arc<[FlowSchema]>>);

/// A FlowSchema whose level exists.
struct FlowSchema {
    ids: FlowIds,
    rules: Vec<FlowRule>,
}

/// The uids of a FlowSchema and of its level.
#[derive(Clone)]
pub struct FlowIds {
    schema: HeaderValue,
    level: HeaderValue,
}

impl FlowIds {
    /// Adds the headers to an answer.
    pub fn add(self, headers: &mut HeaderMap) {
        headers.insert(SCHEMA_UID, self.schema);
        headers.insert(LEVEL_UID, self.level);
    }
}

impl FlowControl {
    /// The flow of a request; `None` for requests that last, other than watches.
    pub fn classify(&self, store: &Store, user: &User, info: &Info) -> Option<FlowIds> {
        if info.is_resource && LASTING.contains(&info.subresource.as_str()) {
            return None;
        }
        let schemas = self
            .0
            .get(store, [SCHEMAS, LEVELS], |[schemas, levels]| read(&schemas, &levels));
        let found = schemas
            .iter()
            .find(|it| it.rules.iter().any(|rule| rule.matches(user, info)));
        found.map(|schema| schema.ids.clone())
    }
}

/// The FlowSchemas whose level exists, in the order in which they are tried.
fn read(schemas: &[Value], levels: &[Value]) -> Arc<[FlowSchema]> {
    let uid = |object: &Value| HeaderValue::from_str(meta::text(object, "uid")).ok();
    let levels: BTreeMap<&str, &Value> = levels.iter().map(|level| (meta::text(level, "name"), level)).collect();
    let mut schemas: Vec<&Value> = schemas.iter().collect();
    // The sort is stable, and the names are in order.
    schemas.sort_by_key(|schema| schema["spec"]["matchingPrecedence"].as_i64());
    let read = |schema: &Value| {
        let level = levels.get(level_of(schema))?;
        Some(FlowSchema {
            ids: FlowIds {
                schema: uid(schema)?,
                level: uid(level)?,
            },
            rules: items(&schema["spec"]["rules"]).map(FlowRule::read).collect(),
        })
    };
    schemas.into_iter().filter_map(read).collect()
}

/// The name of the level of a FlowSchema.
pub fn level_of(schema: &Value) -> &str {
    schema["spec"]["priorityLevelConfiguration"]["name"]
        .as_str()
        .unwrap_or_default()
}

/// The condition `Dangling` of a FlowSchema without its time: its level exists or not.
pub fn dangling(level: &str, exists: bool) -> [(&'static str, String); 4] {
    let (status, reason, rest) = match exists {
        true => ("False", "Found", "it exists"),
        false => ("True", "NotFound", "there is no such object"),
    };
    let and = if exists { "and" } else { "but" };
    let message =
        format!("This FlowSchema references the PriorityLevelConfiguration object named \"{level}\" {and} {rest}");
    [
        ("type", "Dangling".to_owned()),
        ("status", status.to_owned()),
        ("reason", reason.to_owned()),
        ("message", message),
    ]
}

/// The metrics of a real server about its priority levels that follow from their specs, as Prometheus reads them.
pub fn metrics(store: &Store) -> String {
    let levels = store.all(LEVELS, "").into_iter();
    let levels: Vec<(String, f64)> = levels
        .map(|record| {
            let level = record.value();
            let shares = ["limited", "exempt"].map(|kind| level["spec"][kind]["nominalConcurrencyShares"].as_f64());
            (
                record.key.name.clone(),
                shares.into_iter().flatten().next().unwrap_or_default(),
            )
        })
        .collect();
    let all: f64 = levels.iter().map(|(_, shares)| shares).sum();
    let name = "apiserver_flowcontrol_nominal_limit_seats";
    let mut text = format!(
        "# HELP {name} [BETA] Nominal number of execution seats configured for each priority level\n# TYPE {name} gauge\n"
    );
    for (level, shares) in levels {
        let seats = (SEATS * shares / all.max(1.0)).ceil();
        text += &format!("{name}{{priority_level=\"{level}\"}} {seats}\n");
    }
    text
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
