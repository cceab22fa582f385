//! Defaults of the resources of a Pod as a whole, from the resources of its containers, once all containers are there
//! (upstream's `DefaultPodLevelResources`).

use std::cmp::Ordering;

use serde_json::{Map, Value, json};

use crate::kinds::{
    amounts::{HUGE_PAGES, quantity},
    located::Located,
    pod::resources::together,
};

/// The resources that a Pod has as a whole, besides huge pages.
const SHARED: [&str; 2] = ["cpu", "memory"];

/// Completes requests and limits, unless the Pod has neither.
pub(super) fn fill(pod: &mut Value) {
    let spec = Located::root(pod).get("spec");
    let given = spec.get("resources");
    let amounts = |side: &str| given.get(side).value.as_object().cloned().unwrap_or_default();
    let (mut requests, mut limits) = (amounts("requests"), amounts("limits"));
    if requests.is_empty() && limits.is_empty() {
        return;
    }
    let lists = ["containers", "initContainers"].map(|list| spec.get(list));
    let containers: Vec<Located<'_>> = lists.iter().flat_map(Located::items).collect();
    limit_huge_pages(&spec, &containers, &requests, &mut limits);
    request(&spec, &containers, &mut requests, &limits);
    limit(&spec, &containers, &requests, &mut limits);
    for (side, amounts) in [("requests", requests), ("limits", limits)] {
        if !amounts.is_empty() {
            pod["spec"]["resources"][side] = amounts.into();
        }
    }
}

type Amounts = Map<String, Value>;

fn limit_huge_pages(spec: &Located<'_>, containers: &[Located<'_>], requests: &Amounts, limits: &mut Amounts) {
    for container in containers {
        for (name, _) in container.at("resources.limits").entries() {
            if name.starts_with(HUGE_PAGES) && !requests.contains_key(name) && !limits.contains_key(name) {
                limits.insert(name.to_owned(), json!(together(spec, "limits", name).canonical()));
            }
        }
    }
}

fn request(spec: &Located<'_>, containers: &[Located<'_>], requests: &mut Amounts, limits: &Amounts) {
    for name in SHARED {
        let asks = |container: &Located<'_>| container.at("resources.requests").get(name).is_set();
        if !requests.contains_key(name) && containers.iter().any(asks) {
            requests.insert(name.to_owned(), json!(together(spec, "requests", name).canonical()));
        }
    }
    for (name, amount) in limits.iter().filter(|(name, _)| is_supported(name)) {
        requests.entry(name).or_insert_with(|| amount.clone());
    }
}

/// A limit that all containers have is one of the Pod too; it is never below the request.
fn limit(spec: &Located<'_>, containers: &[Located<'_>], requests: &Amounts, limits: &mut Amounts) {
    for (name, request) in requests.iter().filter(|(name, _)| is_supported(name)) {
        let is_limited = |container: &Located<'_>| container.at("resources.limits").get(name).is_set();
        if limits.contains_key(name) || !containers.iter().all(is_limited) {
            continue;
        }
        let total = together(spec, "limits", name);
        let asked = quantity(&Located::root(request));
        let is_more = asked.is_some_and(|asked| asked.compare(&total) == Ordering::Greater);
        let limit = if is_more {
            request.clone()
        } else {
            json!(total.canonical())
        };
        limits.insert(name.clone(), limit);
    }
}

fn is_supported(name: &str) -> bool {
    SHARED.contains(&name) || name.starts_with(HUGE_PAGES)
}
