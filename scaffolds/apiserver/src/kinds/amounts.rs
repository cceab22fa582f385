//! Amounts of resources: requests, limits, quotas.

use kubewright_machinery::quantity::Quantity;
use std::cmp::Ordering;

use crate::kinds::{
    faults::{Faults, quoted},
    format::qualified,
    kind::Warnings,
    located::Located,
};

/// The beginning of the names of huge pages.
pub(in crate::kinds) const HUGE_PAGES: &str = "hugepages-";

pub(in crate::kinds) const NEGATIVE: &str = "must be greater than or equal to 0";

/// `requests` and `limits` of a container.
pub(in crate::kinds) fn requirements(at: &Located<'_>, faults: &mut Faults) {
    requirements_of(at, container_name, faults);
}

/// `requests` and `limits`, with this rule for the names of resources.
pub(in crate::kinds) fn requirements_of(
    at: &Located<'_>,
    check_name: fn(&str, &Located<'_>, &mut Faults),
    faults: &mut Faults,
) {
    let (limits, requests) = (at.get("limits"), at.get("requests"));
    for (name, amount) in limits.entries() {
        check_name(name, &amount, faults);
        resource_amount(name, &amount, faults);
        huge_pages(name, &amount, faults);
    }
    for (name, amount) in requests.entries() {
        check_name(name, &amount, faults);
        resource_amount(name, &amount, faults);
        let Some(request) = quantity(&amount) else { continue };
        let limit = limits.get(name);
        let overcommits = !name.contains('/') && !name.starts_with(HUGE_PAGES);
        match quantity(&limit) {
            Some(limit_amount) if !overcommits && request.compare(&limit_amount) != Ordering::Equal => {
                let detail = format!("must be equal to {name} limit of {}", limit.str());
                faults.invalid(&amount.called(&requests.path), &detail);
            }
            Some(limit_amount) if overcommits && request.compare(&limit_amount) == Ordering::Greater => {
                let detail = format!("must be less than or equal to {name} limit of {}", limit.str());
                faults.invalid(&amount.called(&requests.path), &detail);
            }
            None if !overcommits => {
                faults.required(&limits, "Limit must be set for non overcommitable resources");
            }
            _ => {}
        }
        huge_pages(name, &amount, faults);
    }
    let names = || limits.entries().chain(requests.entries()).map(|(name, _)| name);
    let has_basic = || names().any(|name| matches!(name, "cpu" | "memory"));
    if names().any(|name| name.starts_with(HUGE_PAGES)) && !has_basic() {
        faults.forbidden(at, "HugePages require cpu or memory");
    }
}

/// Checks that an amount of huge pages is a number of whole pages.
fn huge_pages(name: &str, amount: &Located<'_>, faults: &mut Faults) {
    let (Some(size), Some(bytes)) = (name.strip_prefix(HUGE_PAGES), quantity(amount)) else {
        return;
    };
    let page = Quantity::parse(size).ok();
    let page = page.filter(|page| page.sign() == Ordering::Greater && page.is_whole());
    if page.is_none_or(|page| bytes.rounded_up_number() % page.rounded_up_number() != 0) {
        let detail = format!("{} is not positive integer multiple of {name}", amount.str());
        faults.invalid(amount, &detail);
    }
}

/// Checks the name of any resource. Returns whether it is right.
pub(in crate::kinds) fn resource_name(name: &str, amount: &Located<'_>, faults: &mut Faults) -> bool {
    let before = faults.len();
    for sentence in qualified(name) {
        faults.invalid_as(amount, &quoted(name), &sentence);
    }
    if faults.len() == before && !name.contains('/') && !is_standard(name) {
        faults.invalid_as(
            amount,
            &quoted(name),
            "must be a standard resource type or fully qualified",
        );
    }
    faults.len() == before
}

/// Checks the name of a resource of containers.
pub(in crate::kinds) fn container_name(name: &str, amount: &Located<'_>, faults: &mut Faults) {
    resource_name(name, amount, faults);
    if !name.contains('/') && !is_for_containers(name) {
        faults.invalid_as(amount, &quoted(name), "must be a standard resource for containers");
    }
    if !is_native(name) && !is_extended(name) {
        faults.invalid_as(amount, &quoted(name), "doesn't follow extended resource name standard");
    }
}

/// Checks the name of a resource of a whole Pod.
pub(in crate::kinds) fn pod_name(name: &str, amount: &Located<'_>, faults: &mut Faults) {
    let is_known = matches!(name, "cpu" | "memory") || name.starts_with(HUGE_PAGES);
    if resource_name(name, amount, faults) && !is_known {
        faults.not_supported_as(amount, &quoted(name), &["cpu", "hugepages-", "memory"]);
    }
}

/// Whether the name is that of a resource of Kubernetes.
pub(in crate::kinds) fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// Checks a quantity of the resource `name`.
pub(in crate::kinds) fn resource_amount(name: &str, amount: &Located<'_>, faults: &mut Faults) {
    let Some(quantity) = quantity(amount) else { return };
    if quantity.sign() == Ordering::Less {
        faults.invalid(amount, NEGATIVE);
    }
    if is_whole(name) && !quantity.is_whole() {
        faults.invalid(amount, "must be an integer");
    }
}

/// The quantity at a path.
pub(in crate::kinds) fn quantity(at: &Located<'_>) -> Option<Quantity> {
    Quantity::parse_exact(at.value.as_str()?).ok()
}

fn is_for_containers(name: &str) -> bool {
    matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with(HUGE_PAGES)
}

/// Whether the name is that of an extended resource, which quotas can count.
fn is_extended(name: &str) -> bool {
    !name.starts_with("requests.") && qualified(&format!("requests.{name}")).is_empty()
}

/// Resources that quotas count, including those of containers.
const STANDARD: [&str; 17] = [
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "services",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "storage",
    "services.nodeports",
    "services.loadbalancers",
];

/// Whether the name is that of a resource of Kubernetes, without a class.
pub(in crate::kinds) fn is_standard(name: &str) -> bool {
    is_for_containers(name) || name.starts_with("requests.hugepages-") || STANDARD.contains(&name)
}

fn is_whole(name: &str) -> bool {
    let counted = [
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    ];
    counted.contains(&name) || name.contains('/') && !name.contains("kubernetes.io/")
}

/// Checks a resource in the limits of a quota.
pub(in crate::kinds) fn quota_resource(name: &str, amount: &Located<'_>, faults: &mut Faults) {
    let before = faults.len();
    for sentence in qualified(name) {
        faults.invalid_as(amount, &quoted(name), &sentence);
    }
    let is_unknown = !name.contains('/') && !is_standard(name);
    if faults.len() == before && is_unknown {
        faults.invalid_as(
            amount,
            &quoted(name),
            "must be a standard resource type or fully qualified",
        );
    }
    if is_unknown {
        faults.invalid_as(amount, &quoted(name), "must be a standard resource for quota");
    }
    resource_amount(name, amount, faults);
}

const FIELD_RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// Checks the reference of a variable or file to a container's resources.
pub(in crate::kinds) fn field_ref(at: &Located<'_>, in_volume: bool, faults: &mut Faults) {
    let resource = at.get("resource");
    let huge = ["limits.hugepages-", "requests.hugepages-"]
        .iter()
        .any(|prefix| resource.str().starts_with(prefix));
    if in_volume && at.get("containerName").str().is_empty() {
        faults.required(&at.get("containerName"), "");
    } else if resource.str().is_empty() {
        faults.required(&resource, "");
    } else if !huge {
        faults.one_of(&resource, &FIELD_RESOURCES);
    }
    divisor(at, faults);
}

fn divisor(at: &Located<'_>, faults: &mut Faults) {
    let (resource, divisor) = (at.get("resource"), at.get("divisor"));
    let kind = resource.str().split_once('.').map_or("", |(_, kind)| kind);
    let (known, name): (&[&str], &str) = match kind {
        "cpu" => (&["1m", "1"], "cpu"),
        "memory" => (&BYTES, "memory"),
        "ephemeral-storage" => (&BYTES, "local ephemeral storage"),
        kind if kind.starts_with(HUGE_PAGES) => (&BYTES, "hugepages"),
        _ => return,
    };
    if !matches!(divisor.str(), "" | "0") && !known.contains(&divisor.str()) {
        let list = if kind == "cpu" {
            "1m and 1".to_owned()
        } else {
            BYTES.join(", ")
        };
        let detail = format!("only divisor's values {list} are supported with the {name} resource");
        faults.invalid_as(&divisor, &quoted(resource.str()), &detail);
    }
}

const BYTES: [&str; 13] = [
    "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei",
];

/// Warns if a quantity is not a whole number of bytes.
pub(in crate::kinds) fn warn_of_fraction(amounts: &Located<'_>, name: &str, warnings: &mut Warnings) {
    let text = amounts.get(name).str();
    let Ok(amount) = Quantity::parse_exact(text) else {
        return;
    };
    if !amount.rounded_to_milli().is_whole() {
        warnings.push(format!(
            "{}[{name}]: fractional byte value {} is invalid, must be an integer",
            amounts.path,
            quoted(text)
        ));
    }
}
