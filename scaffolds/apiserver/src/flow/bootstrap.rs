//! The FlowSchemas and PriorityLevelConfigurations that a server has from the beginning, as a real server creates them.

use serde_json::{Value, json};

use super::{LEVELS, SCHEMAS, dangling};
use crate::{meta::generate, store::Key};

const API_VERSION: &str = "flowcontrol.apiserver.k8s.io/v1";
const PRODUCER: &str = "api-priority-and-fairness-config-producer-v1";
/// The field manager of the conditions of FlowSchemas.
pub const CONSUMER: &str = "api-priority-and-fairness-config-consumer-v1";

/// A priority level.
#[derive(Clone, Copy)]
struct BootstrapLevel {
    name: &'static str,
    /// A level without shares is exempt.
    shares: u32,
    /// The percentage of the shares that others may borrow.
    lent: u32,
    /// A level without queues refuses requests.
    queues: u32,
    hand_size: u32,
}

const fn level(name: &'static str, [shares, lent, queues, hand_size]: [u32; 4]) -> BootstrapLevel {
    BootstrapLevel {
        name,
        shares,
        lent,
        queues,
        hand_size,
    }
}

const PRIORITY_LEVELS: [BootstrapLevel; 8] = [
    level("catch-all", [5, 0, 0, 0]),
    level("exempt", [0, 0, 0, 0]),
    level("global-default", [20, 50, 128, 6]),
    level("leader-election", [10, 0, 16, 4]),
    level("node-high", [40, 25, 64, 6]),
    level("system", [30, 33, 64, 6]),
    level("workload-high", [40, 50, 128, 6]),
    level("workload-low", [100, 90, 128, 6]),
];

/// A flow schema.
#[derive(Clone, Copy)]
struct BootstrapSchema {
    name: &'static str,
    level: &'static str,
    precedence: u32,
    /// `account` is any service account of `kube-system`.
    subjects: &'static [&'static str],
}

const fn schema(
    name: &'static str,
    level: &'static str,
    precedence: u32,
    subjects: &'static [&'static str],
) -> BootstrapSchema {
    BootstrapSchema {
        name,
        level,
        precedence,
        subjects,
    }
}

const MANAGER: &str = "user system:kube-controller-manager";
const SCHEDULER: &str = "user system:kube-scheduler";
const NODES: &[&str] = &["group system:nodes"];
const FLOW_SCHEMAS: [BootstrapSchema; 11] = [
    schema("catch-all", "catch-all", 10_000, ANYBODY),
    schema("exempt", "exempt", 1, &["group system:masters"]),
    schema("global-default", "global-default", 9_900, ANYBODY),
    schema("kube-controller-manager", "workload-high", 800, &[MANAGER]),
    schema("kube-scheduler", "workload-high", 800, &[SCHEDULER]),
    schema("kube-system-service-accounts", "workload-high", 900, &["account"]),
    schema("probes", "exempt", 2, ANYBODY),
    schema(
        "service-accounts",
        "workload-low",
        9_000,
        &["group system:serviceaccounts"],
    ),
    schema(
        "system-leader-election",
        "leader-election",
        100,
        &[MANAGER, SCHEDULER, "account"],
    ),
    schema("system-node-high", "node-high", 400, NODES),
    schema("system-nodes", "system", 500, NODES),
];
const ANYBODY: &[&str] = &["group system:unauthenticated", "group system:authenticated"];

/// The objects as created at a time, with their keys and without resourceVersions.
pub fn objects(time: &str) -> impl Iterator<Item = (Key, Value)> {
    let levels = PRIORITY_LEVELS.into_iter();
    let levels = levels.map(move |it| (Key::new(LEVELS, "", it.name), level_object(it, time)));
    let schemas = FLOW_SCHEMAS.into_iter();
    levels.chain(schemas.map(move |it| (Key::new(SCHEMAS, "", it.name), schema_object(it, time))))
}

/// An object with these fields in its spec, which its creator manages.
fn object(kind: &str, name: &str, time: &str, [spec, fields]: [Value; 2]) -> Value {
    let annotations = json!({".": {}, "f:apf.kubernetes.io/autoupdate-spec": {}});
    json!({
        "apiVersion": API_VERSION, "kind": kind, "spec": spec, "status": {},
        "metadata": {
            "name": name, "uid": generate::uid(), "generation": 1, "creationTimestamp": time,
            "annotations": {"apf.kubernetes.io/autoupdate-spec": "true"},
            "managedFields": [{
                "manager": PRODUCER, "operation": "Update", "apiVersion": API_VERSION, "time": time, "fieldsType": "FieldsV1",
                "fieldsV1": {"f:metadata": {"f:annotations": annotations}, "f:spec": fields},
            }],
        },
    })
}

fn level_object(level: BootstrapLevel, time: &str) -> Value {
    let BootstrapLevel {
        name,
        shares,
        lent,
        queues,
        hand_size,
    } = level;
    let mut share = json!({"nominalConcurrencyShares": shares, "lendablePercent": lent});
    let mut fields = json!({".": {}, "f:lendablePercent": {}, "f:nominalConcurrencyShares": {}});
    if shares == 0 {
        let specs = [
            json!({"type": "Exempt", "exempt": share}),
            json!({"f:exempt": fields, "f:type": {}}),
        ];
        return object("PriorityLevelConfiguration", name, time, specs);
    }
    let mut managed = json!({".": {}, "f:type": {}});
    share["limitResponse"] = json!({"type": "Reject"});
    if queues > 0 {
        let queuing = json!({"queues": queues, "handSize": hand_size, "queueLengthLimit": 50});
        share["limitResponse"] = json!({"type": "Queue", "queuing": queuing});
        managed["f:queuing"] = json!({".": {}, "f:handSize": {}, "f:queueLengthLimit": {}, "f:queues": {}});
    }
    fields["f:limitResponse"] = managed;
    let specs = [
        json!({"type": "Limited", "limited": share}),
        json!({"f:limited": fields, "f:type": {}}),
    ];
    object("PriorityLevelConfiguration", name, time, specs)
}

fn schema_object(schema: BootstrapSchema, time: &str) -> Value {
    let BootstrapSchema {
        name,
        level,
        precedence,
        subjects,
    } = schema;
    let method = match level {
        "exempt" => "",
        "workload-high" => "ByNamespace",
        _ => "ByUser",
    };
    let subjects: Vec<Value> = subjects.iter().map(|it| subject(it)).collect();
    let mut rule = json!({"subjects": subjects});
    let [resources, paths] = rules(name);
    for (field, rules) in [("resourceRules", resources), ("nonResourceRules", paths)] {
        if rules.as_array().is_some_and(|rules| !rules.is_empty()) {
            rule[field] = rules;
        }
    }
    let mut spec =
        json!({"priorityLevelConfiguration": {"name": level}, "matchingPrecedence": precedence, "rules": [rule]});
    let mut fields = json!({"f:matchingPrecedence": {}, "f:priorityLevelConfiguration": {"f:name": {}}, "f:rules": {}});
    if !method.is_empty() {
        spec["distinguisherMethod"] = json!({"type": method});
        fields["f:distinguisherMethod"] = json!({".": {}, "f:type": {}});
    }
    let mut object = object("FlowSchema", name, time, [spec, fields]);
    let condition = dangling(level, true);
    object["status"] = json!({"conditions": [with_time(&condition, time)]});
    let condition =
        json!({".": {}, "f:lastTransitionTime": {}, "f:message": {}, "f:reason": {}, "f:status": {}, "f:type": {}});
    let managed = json!({
        "manager": CONSUMER, "operation": "Apply", "apiVersion": API_VERSION, "time": time, "fieldsType": "FieldsV1",
        "fieldsV1": {"f:status": {"f:conditions": {"k:{\"type\":\"Dangling\"}": condition}}}, "subresource": "status",
    });
    if let Some(managers) = object["metadata"]["managedFields"].as_array_mut() {
        managers.insert(0, managed);
    }
    object
}

/// The condition with the time of its last transition.
pub fn with_time(condition: &[(&'static str, String); 4], time: &str) -> Value {
    let fields = condition
        .iter()
        .map(|(field, value)| ((*field).to_owned(), json!(value)));
    fields
        .chain([("lastTransitionTime".to_owned(), json!(time))])
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn subject(text: &str) -> Value {
    match text.split_once(' ') {
        Some(("user", name)) => json!({"kind": "User", "user": {"name": name}}),
        Some((_, name)) => json!({"kind": "Group", "group": {"name": name}}),
        None => json!({"kind": "ServiceAccount", "serviceAccount": {"namespace": "kube-system", "name": "*"}}),
    }
}

/// The rules of a schema for resources and for other paths.
fn rules(name: &str) -> [Value; 2] {
    let resources = |verbs: &[&str], group: &str, resources: &[&str], is_cluster_wide: bool| {
        let mut rule = json!({"verbs": verbs, "apiGroups": [group], "resources": resources, "namespaces": ["*"]});
        if is_cluster_wide {
            rule["clusterScope"] = json!(true);
        }
        rule
    };
    let paths = |verbs: &str, paths: &[&str]| json!([{"verbs": [verbs], "nonResourceURLs": paths}]);
    let leases = |verbs: &[&str]| resources(verbs, "coordination.k8s.io", &["leases"], false);
    match name {
        "probes" => [json!([]), paths("get", &["/healthz", "/readyz", "/livez"])],
        "system-leader-election" => [json!([leases(&["get", "create", "update"])]), json!([])],
        "system-node-high" => [
            json!([resources(&["*"], "", &["nodes", "nodes/status"], true), leases(&["*"])]),
            json!([]),
        ],
        _ => [json!([resources(&["*"], "*", &["*"], true)]), paths("*", &["*"])],
    }
}
