//! Nodes.

use std::{cmp::Ordering, collections::BTreeSet};

use serde_json::{Value, json};

use crate::{
    ip::is_ipv6,
    json,
    kinds::{
        address::Network,
        address_form::warn_of_cidr,
        amounts::resource_amount,
        edit::{Fields, section, set, single_from_list},
        faults::{Faults, quoted},
        format::{label_value, qualified},
        kind::{BuiltInKind, Change, Selectable, Warnings},
        located::Located,
        row::{Row, or},
    },
    strategy::{Passes, Rules, Storage},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            passes: Passes::VALIDATE_THEN_UPDATE,
            storage: Storage {
                etcd_directory: Some("minions"),
                ..Storage::default()
            },
            ..Rules::default()
        },
        clears_status: false,
        decoded: |node| single_from_list(node, "spec", ["podCIDR", "podCIDRs"], None),
        defaults: &[("core.v1.NodeStatus", default_status)],
        prepare_create,
        prepare_update,
        prepare_status: |new, old| {
            if old["status"]["config"].is_null() {
                forget_config(new);
            }
        },
        validate,
        validate_update,
        validate_status,
        warnings,
        selectable: const { &[Selectable::new("spec.unschedulable", "/spec/unschedulable").or("false")] },
        cells,
        ..BuiltInKind::default()
    }
}

fn default_status(status: &mut Fields) {
    if let Some(capacity) = status.get("capacity").cloned() {
        set(status, "allocatable", capacity);
    }
}

/// Removes what only nodes of earlier releases have.
fn forget_config(object: &mut Value) {
    for (section, field) in [("spec", "configSource"), ("status", "config")] {
        if let Some(fields) = object.get_mut(section).and_then(Value::as_object_mut) {
            fields.remove(field);
        }
    }
}

fn prepare_update(new: &mut Value, old: &Value) {
    if old["spec"]["configSource"].is_null() {
        forget_config(new);
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    avoided_pods(at, faults);
    taints(&at.at("spec.taints").called("metadata.taints"), faults);
    resources(&at.get("status"), faults);
    let swap = at
        .at("status.nodeInfo.swap.capacity")
        .called("metadata.nodeSwapStatus.capacity");
    if swap.is_set() && swap.int() <= 0 {
        faults.invalid(&swap, "must be greater than zero");
    }
    declared_features(&at.at("status.declaredFeatures"), faults);
    let ranges = at.at("spec.podCIDRs");
    let families: Vec<Option<bool>> = ranges
        .items()
        .map(|range| Network::read(&range, range.str(), faults).map(|it| is_ipv6(&it.address)))
        .collect();
    let unreadable = ranges.items().zip(&families).position(|(_, family)| family.is_none());
    if let (Some(index), true) = (unreadable, families.len() > 1) {
        let text = ranges.items().nth(index).map(|range| range.str()).unwrap_or_default();
        let why = format!("invalid CIDR[{index}]: <nil> (invalid CIDR address: {text})");
        faults.internal(
            &ranges,
            &format!("invalid PodCIDRs. failed to check with dual stack with error:{why}"),
        );
    }
    let is_dual = unreadable.is_none() && families.contains(&Some(true)) && families.contains(&Some(false));
    if families.len() > 1 && (!is_dual || families.len() > 2) {
        faults.invalid(&ranges, "may specify no more than one CIDR for each IP family");
    }
}

/// The annotation with the Pods that a node avoids.
const AVOIDED: &str = "scheduler.alpha.kubernetes.io/preferAvoidPods";

fn avoided_pods(node: &Located<'_>, faults: &mut Faults) {
    let notes = node.at("metadata.annotations");
    let text = notes.get(AVOIDED).str();
    if text.is_empty() {
        return;
    }
    let pods = match json::read(text.as_bytes()).and_then(|(value, _)| avoided_list(value)) {
        Ok(pods) => pods,
        Err(why) => {
            let place = notes.called(&format!("{}.AvoidPods", notes.path));
            return faults.invalid_as(&place, &quoted(AVOIDED), &why);
        }
    };
    let list = Located {
        value: &pods,
        path: notes.get(AVOIDED).path,
    };
    for entry in list.items() {
        let (signature, controller) = (entry.get("PodSignature"), entry.at("podSignature.podController"));
        if !controller.is_set() {
            faults.required(&signature, "");
        } else if !controller.get("controller").is_true() {
            let place = signature.at("PodController.Controller");
            faults.invalid_as(&place, "false", "must point to a controller");
        }
    }
}

/// The list in the value of the annotation, or the error of Go's decoder.
fn avoided_list(mut value: Value) -> Result<Value, String> {
    let wrong = |value: &Value, into: &str| Err(json::mismatch(value, into));
    let list = match &mut value {
        Value::Null => return Ok(Value::Null),
        Value::Object(fields) => fields.remove("preferAvoidPods").unwrap_or_default(),
        other => return wrong(other, "value of type v1.AvoidPods"),
    };
    let field = "struct field AvoidPods.preferAvoidPods of type";
    match &list {
        Value::Array(items) => match items.iter().find(|item| !item.is_object() && !item.is_null()) {
            Some(item) => wrong(item, &format!("{field} v1.PreferAvoidPodsEntry")),
            None => Ok(list),
        },
        Value::Null => Ok(list),
        other => wrong(other, &format!("{field} []v1.PreferAvoidPodsEntry")),
    }
}

/// Validates the amounts of resources that a node has.
fn resources(status: &Located<'_>, faults: &mut Faults) {
    for list in ["capacity", "allocatable"].map(|name| status.get(name)) {
        for (name, amount) in list.entries() {
            resource_amount(name, &amount.called(&format!("{}.{name}", list.path)), faults);
        }
    }
}

fn validate_status(new: &Located<'_>, _: &Located<'_>, faults: &mut Faults) {
    let status = new.get("status");
    avoided_pods(new, faults);
    resources(&status, faults);
    declared_features(&status.get("declaredFeatures"), faults);
    addresses(&status.get("addresses"), faults);
}

/// Checks that a node has each address once.
fn addresses(at: &Located<'_>, faults: &mut Faults) {
    let mut known = BTreeSet::new();
    for address in at.items() {
        let (kind, text) = (address.get("type").str(), address.get("address").str());
        if !known.insert((kind, text)) {
            let shown = format!(r#"{{"Type":{},"Address":{}}}"#, quoted(kind), quoted(text));
            faults.duplicate_as(&address, &shown);
        }
    }
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    validate(new, faults);
    addresses(&new.at("status.addresses"), faults);
    let (spec, before) = (new.get("spec"), old.get("spec"));
    let (ranges, had) = (spec.get("podCIDRs"), before.get("podCIDRs"));
    let fixed = "node updates may not change podCIDR except from \"\" to valid";
    if had.len() > 0 && had.len() != ranges.len() {
        faults.forbidden(&ranges, fixed);
    } else {
        let changed = ranges
            .items()
            .zip(had.items())
            .filter(|(new, old)| new.value != old.value);
        changed.for_each(|_| faults.forbidden(&ranges, fixed));
    }
    let (provider, was) = (spec.get("providerID"), before.get("providerID"));
    if !was.str().is_empty() && provider.str() != was.str() {
        let what = if provider.str().is_empty() {
            "cleared"
        } else {
            "modified"
        };
        let sentence = format!("field cannot be {what} once set");
        faults.declared(|faults| faults.invalid_as(&provider, "null", &sentence));
    }
    taints(&spec.get("taints").called("metadata.taints"), faults);
    if spec.get("externalID").str() != before.get("externalID").str() {
        faults.forbidden(&spec.get("externalID"), "may not be updated");
    }
}

/// Validates the features that a kubelet declares: names in order, each once.
fn declared_features(at: &Located<'_>, faults: &mut Faults) {
    let names: Vec<Located<'_>> = at.items().collect();
    for (index, feature) in names.iter().enumerate() {
        let name = feature.str();
        let problem = if name.len() > 253 {
            Some("must be no more than 253 characters")
        } else {
            let segment = |(index, segment): (usize, &str)| {
                let starts: fn(&char) -> bool = match index {
                    0 => char::is_ascii_uppercase,
                    _ => char::is_ascii_alphabetic,
                };
                segment.chars().next().is_some_and(|first| starts(&first))
                    && segment.chars().all(|it| it.is_ascii_alphanumeric())
            };
            (!name.split('/').enumerate().all(segment)).then_some(
                "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or \
                 MyFeature/mySubFeature), and contain only alphanumeric characters and slashes",
            )
        };
        if let Some(problem) = problem {
            faults.invalid(feature, &format!("invalid feature name {}: {problem}", quoted(name)));
        }
        if let Some(next) = names.get(index + 1) {
            match name.cmp(next.str()) {
                Ordering::Less => {}
                Ordering::Equal => faults.duplicate(next),
                Ordering::Greater => faults.invalid(next, "list must be sorted alphabetically"),
            }
        }
    }
}

/// Validates the taints, which upstream locates in the metadata.
fn taints(at: &Located<'_>, faults: &mut Faults) {
    let mut known = BTreeSet::new();
    for taint in at.items() {
        let (key, value, effect) = (taint.get("key"), taint.get("value"), taint.get("effect"));
        for sentence in qualified(key.str()) {
            faults.invalid_as(&key, &quoted(key.str()), &sentence);
        }
        let wrong = label_value(value.str());
        if !wrong.is_empty() {
            faults.invalid_as(&value, &quoted(value.str()), &wrong.join(";"));
        }
        match effect.str() {
            "" => faults.required(&effect, ""),
            _ => faults.one_of(&effect, &["NoSchedule", "PreferNoSchedule", "NoExecute"]),
        }
        if !known.insert((effect.str(), key.str())) {
            let fields = [("Key", key.str()), ("Value", value.str()), ("Effect", effect.str())];
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, text)| format!("{}:{}", quoted(name), quoted(text)))
                .collect();
            let added = taint.get("timeAdded").value;
            let shown = format!(
                "{{{},\"TimeAdded\":{added}}}: taints must be unique by key and effect pair",
                fields.join(",")
            );
            faults.duplicate_as(&taint, &shown);
        }
    }
}

/// A new node is not ready.
fn prepare_create(object: &mut Value) {
    forget_config(object);
    let Some(spec) = section(object, "spec") else { return };
    let taints = spec.entry("taints").or_insert_with(|| json!([]));
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    let is_same = |other: &Value| ["key", "effect"].into_iter().all(|field| other[field] == taint[field]);
    if let Some(taints) = taints.as_array_mut()
        && !taints.iter().any(is_same)
    {
        taints.push(taint);
    }
}

fn warnings(Change { new: at, .. }: Change<'_, '_>) -> Warnings {
    let (mut warnings, spec) = (Vec::new(), at.get("spec"));
    if spec.get("configSource").is_set() {
        warnings.push("spec.configSource: the feature is removed".to_owned());
    }
    if !spec.get("externalID").str().is_empty() {
        warnings.push("spec.externalID: this field is deprecated, and is unused by Kubernetes".to_owned());
    }
    spec.get("podCIDRs")
        .items()
        .for_each(|at| warn_of_cidr(&at, &mut warnings));
    warnings
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let conditions = row.get("status.conditions");
    let ready = conditions
        .items()
        .filter(|condition| condition.get("type").str() == "Ready")
        .last();
    let mut status = match ready.map(|condition| condition.get("status").str() == "True") {
        Some(true) => "Ready".to_owned(),
        Some(false) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if row.get("spec.unschedulable").is_true() {
        status.push_str(",SchedulingDisabled");
    }
    let info = |name: &str| row.get("status.nodeInfo").get(name).str();
    let address = |kind: &str| {
        let mut addresses = row.get("status.addresses").items();
        let found = addresses.find(|address| address.get("type").str() == kind);
        or(found.map_or("", |address| address.get("address").str()), "<none>")
    };
    let mut cells = vec![
        row.name(),
        json!(status),
        or(&roles(row), "<none>"),
        row.age(),
        json!(info("kubeletVersion")),
    ];
    cells.extend([address("InternalIP"), address("ExternalIP")]);
    let kernel = match (or(info("kernelVersion"), "<unknown>"), info("architecture")) {
        (Value::String(kernel), architecture) if !architecture.is_empty() => {
            json!(format!("{kernel} ({architecture})"))
        }
        (kernel, _) => kernel,
    };
    let known = |name: &str| or(info(name), "<unknown>");
    cells.extend([known("osImage"), kernel, known("containerRuntimeVersion")]);
    cells
}

fn roles(row: &Row<'_>) -> String {
    let labels = row.get("metadata.labels");
    let roles: BTreeSet<&str> = labels
        .entries()
        .filter_map(|(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => Some(role),
            None => (key == "kubernetes.io/role").then(|| value.str()),
        })
        .filter(|role| !role.is_empty())
        .collect();
    roles.into_iter().collect::<Vec<_>>().join(",")
}
