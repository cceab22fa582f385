//! LimitRanger: new Pods get the default requests and limits of their namespace, and Pods and claims keep to its minima, maxima and
//! ratios of limit to request.

use std::{cmp::Ordering, collections::BTreeSet};

use kubewright_machinery::quantity::Quantity;
use serde_json::{Map, Value, json};

use super::{Attributes, Objects, Operation};
use crate::{
    meta,
    quota::{Amounts, specified},
    state::Core,
    status::{Status, Subject},
};

/// The name of LimitRanges in the store.
const RANGES: &str = "/limitranges";
const PODS: Subject<'static> = Subject::new("", "pods");
const CLAIMS: Subject<'static> = Subject::new("", "persistentvolumeclaims");
/// The annotation that says which amounts are defaults.
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// Sets the defaults of a Pod.
///
/// # Errors
/// 500 if a LimitRange cannot be decoded.
pub(super) fn admit(core: &Core, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> Result<(), Status> {
    if attributes.call.subject() != PODS {
        return Ok(());
    }
    for limits in limits(core, attributes, objects)? {
        if let Some(pod) = objects.new.as_deref_mut() {
            set_defaults(pod, &limits);
        }
    }
    Ok(())
}

/// Compares a Pod or a claim with the limits.
///
/// # Errors
/// 403 if it exceeds them, 500 if a LimitRange cannot be decoded.
pub(super) fn validate(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    for limits in limits(core, attributes, objects)? {
        let mut why = Vec::new();
        for limit in &limits {
            let found = match attributes.call.subject() == PODS {
                true => of_pod(limit, objects.present()),
                false => of_claim(limit, objects.present()),
            };
            why.extend(found);
        }
        let mut seen = BTreeSet::new();
        why.retain(|it| seen.insert(it.clone()));
        match why.as_slice() {
            [] => {}
            [one] => return Err(attributes.forbid(objects, one)),
            several => return Err(attributes.forbid(objects, &format!("[{}]", several.join(", ")))),
        }
    }
    Ok(())
}

/// The limits of each LimitRange of the namespace; none if they do not concern the write.
fn limits(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<Vec<Vec<Value>>, Status> {
    let call = attributes.call;
    let concerns = match (attributes.operation, call.subresource.as_str()) {
        (Operation::Create, "") => [PODS, CLAIMS].contains(&call.subject()),
        (Operation::Update, "") => call.subject() == CLAIMS,
        (Operation::Update, "resize") => call.subject() == PODS,
        _ => false,
    };
    if !concerns || objects.old.is_some_and(meta::is_deleting) {
        return Ok(Vec::new());
    }
    let records = core.store.all(RANGES, call.namespace()).into_iter();
    records
        .map(|record| {
            let range: Value = record.read()?;
            let limits = range.pointer("/spec/limits").and_then(Value::as_array);
            Ok(limits.cloned().unwrap_or_default())
        })
        .collect()
}

fn set_defaults(pod: &mut Value, limits: &[Value]) {
    let defaults = |field: &str| -> Map<String, Value> {
        let limits = limits.iter().filter(|limit| limit["type"] == "Container");
        let amounts = limits.filter_map(|limit| limit.get(field).and_then(Value::as_object));
        amounts
            .flatten()
            .map(|(name, amount)| (name.clone(), amount.clone()))
            .collect()
    };
    let defaults = [
        ("requests", defaults("defaultRequest")),
        ("limits", defaults("default")),
    ];
    let mut said = Vec::new();
    for (list, kind) in [("containers", "container"), ("initContainers", "init container")] {
        let containers = pod.get_mut("spec").and_then(|spec| spec.get_mut(list));
        for container in containers.and_then(Value::as_array_mut).into_iter().flatten() {
            let name = container["name"].as_str().unwrap_or_default().to_owned();
            for (side, defaults) in &defaults {
                let set = fill(container, side, defaults);
                if !set.is_empty() {
                    let side = side.trim_end_matches('s');
                    said.push(format!("{} {side} for {kind} {name}", set.join(", ")));
                }
            }
        }
    }
    if !said.is_empty()
        && let Some(metadata) = pod.get_mut("metadata").and_then(Value::as_object_mut)
        && let Some(annotations) = metadata
            .entry("annotations")
            .or_insert_with(|| json!({}))
            .as_object_mut()
    {
        let text = format!("LimitRanger plugin set: {}", said.join("; "));
        annotations.insert(ANNOTATION.to_owned(), json!(text));
    }
}

/// Sets the amounts that a container lacks, and returns their names.
fn fill(container: &mut Value, side: &str, defaults: &Map<String, Value>) -> Vec<String> {
    let mut set = Vec::new();
    for (name, amount) in defaults {
        let present = container.get("resources").and_then(|resources| resources.get(side));
        if present.is_none_or(|present| present.get(name).is_none()) {
            container["resources"][side][name] = amount.clone();
            set.push(name.clone());
        }
    }
    set.sort_unstable();
    set
}

fn of_pod(limit: &Value, pod: &Value) -> Vec<String> {
    match limit["type"].as_str() {
        Some("Container") => {
            let lists = ["/spec/containers", "/spec/initContainers"].map(|list| pod.pointer(list));
            let containers = lists.into_iter().flatten().filter_map(Value::as_array).flatten();
            let compared = containers.flat_map(|container| {
                let side = |side: &str| Amounts::of(container["resources"].get(side));
                broken(limit, [side("requests"), side("limits")])
            });
            compared.collect()
        }
        Some("Pod") => broken(limit, specified(pod)),
        _ => Vec::new(),
    }
}

fn of_claim(limit: &Value, claim: &Value) -> Vec<String> {
    if limit["type"] != "PersistentVolumeClaim" {
        return Vec::new();
    }
    let requests = Amounts::of(claim.pointer("/spec/resources/requests"));
    let constraint = |field: &str| Constraint::all(limit, field, &requests, &Amounts::default());
    let mut why: Vec<String> = constraint("min").iter().filter_map(Constraint::minimum).collect();
    why.extend(constraint("max").iter().filter_map(Constraint::maximal_request));
    why
}

/// The rules of a limit that requests and limits break.
fn broken(limit: &Value, [requests, limits]: [Amounts; 2]) -> Vec<String> {
    let constraint = |field: &str| Constraint::all(limit, field, &requests, &limits);
    let mut why: Vec<String> = constraint("min").iter().filter_map(Constraint::minimum).collect();
    why.extend(constraint("max").iter().filter_map(Constraint::maximum));
    why.extend(constraint("maxLimitRequestRatio").iter().filter_map(Constraint::ratio));
    why
}

/// A rule for one resource, with the amounts that it is about.
struct Constraint {
    resource: String,
    /// The type of the limit, such as `Container`.
    kind: String,
    enforced: Quantity,
    request: Option<Quantity>,
    limit: Option<Quantity>,
}

impl Constraint {
    fn all(limit: &Value, field: &str, requests: &Amounts, limits: &Amounts) -> Vec<Self> {
        let kind = limit["type"].as_str().unwrap_or_default();
        let enforced = Amounts::of(limit.get(field));
        let constraints = enforced.iter().map(|(name, amount)| Self {
            resource: name.to_owned(),
            kind: kind.to_owned(),
            enforced: amount.clone(),
            request: requests.get(name).cloned(),
            limit: limits.get(name).cloned(),
        });
        constraints.collect()
    }

    fn is(&self, amount: Option<&Quantity>, order: Ordering) -> bool {
        amount.is_some_and(|amount| amount.compare(&self.enforced) == order)
    }

    /// The first of two amounts that compares so.
    fn wrong(&self, order: Ordering, names: [&str; 2]) -> Option<String> {
        let amount = |name: &str| match name {
            "request" => self.request.as_ref(),
            _ => self.limit.as_ref(),
        };
        let name = names.into_iter().find(|name| self.is(amount(name), order))?;
        Some(format!(", but {name} is {}", amount(name)?.canonical()))
    }

    fn usage(&self, extreme: &str, why: &str) -> String {
        let (resource, kind, enforced) = (&self.resource, &self.kind, self.enforced.canonical());
        format!("{extreme} {resource} usage per {kind} is {enforced}{why}")
    }

    fn minimum(&self) -> Option<String> {
        let why = match self.request {
            None => Some(".  No request is specified".to_owned()),
            Some(_) => self.wrong(Ordering::Less, ["request", "limit"]),
        };
        why.map(|why| self.usage("minimum", &why))
    }

    fn maximum(&self) -> Option<String> {
        let why = match self.limit {
            None => Some(".  No limit is specified".to_owned()),
            Some(_) => self.wrong(Ordering::Greater, ["limit", "request"]),
        };
        why.map(|why| self.usage("maximum", &why))
    }

    /// Claims have no limits.
    fn maximal_request(&self) -> Option<String> {
        let why = match self.request {
            None => Some(".  No request is specified".to_owned()),
            Some(_) => self.wrong(Ordering::Greater, ["request", "request"]),
        };
        why.map(|why| self.usage("maximum", &why))
    }

    fn ratio(&self) -> Option<String> {
        let set = |amount: &Option<Quantity>| {
            let amount = amount.as_ref().filter(|amount| amount.sign() != Ordering::Equal);
            amount.map(Quantity::float)
        };
        let why = match (set(&self.request), set(&self.limit)) {
            (None, _) => "no request is specified or request is 0".to_owned(),
            (_, None) => "no limit is specified or limit is 0".to_owned(),
            (Some(request), Some(limit)) if limit / request > self.enforced.float() => {
                format!("provided ratio is {:.6}", limit / request)
            }
            _ => return None,
        };
        let (resource, kind, enforced) = (&self.resource, &self.kind, self.enforced.canonical());
        Some(format!(
            "{resource} max limit to request ratio per {kind} is {enforced}, but {why}"
        ))
    }
}
