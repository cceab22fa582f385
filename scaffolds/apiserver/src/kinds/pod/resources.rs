//! The resources of a whole Pod, and its claims of devices.

use std::{cmp::Ordering, collections::BTreeSet};

use kubewright_machinery::quantity::Quantity;

use crate::kinds::{
    amounts::{pod_name, quantity, requirements_of},
    faults::{Faults, quoted},
    format::{label, subdomain},
    located::Located,
    pod::context::PodContext,
};

/// The claims of a Pod.
pub(super) fn resource_claims(at: &Located<'_>, is_mirror: bool, faults: &mut Faults) {
    if is_mirror && at.len() > 0 {
        // Upstream, the path of the whole object is `[]`.
        return faults.forbidden(&at.called("[]"), "static pods do not support resource claims");
    }
    let mut names = BTreeSet::new();
    for claim in at.items() {
        let name = claim.get("name");
        if name.str().is_empty() {
            faults.required(&name, "");
        } else if names.insert(name.str()) {
            faults.format(&name, label);
        } else {
            faults.duplicate(&name);
        }
        let sources = ["resourceClaimName", "resourceClaimTemplateName"].map(|field| claim.get(field));
        let wrong = match sources.each_ref().map(Located::is_set) {
            [true, true] => Some("at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"),
            [false, false] => Some("must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"),
            _ => None,
        };
        if let Some(wrong) = wrong {
            let [one, template] = sources.each_ref().map(|source| match source.is_set() {
                true => quoted(source.str()),
                false => "null".to_owned(),
            });
            let shown = format!(
                r#"{{"Name":{},"ResourceClaimName":{one},"ResourceClaimTemplateName":{template}}}"#,
                quoted(name.str())
            );
            faults.invalid_as(&claim, &shown, wrong);
        }
        for source in sources.iter().filter(|source| source.is_set()) {
            faults.format(source, subdomain);
        }
    }
}

/// The claims that a container uses, which have to be claims of the Pod.
pub(super) fn used_claims(at: &Located<'_>, around: &PodContext<'_>, faults: &mut Faults) {
    let mut names = BTreeSet::new();
    for claim in at.items() {
        let (name, request) = (claim.get("name").str(), claim.get("request").str());
        if name.is_empty() {
            faults.required(&claim, "");
            continue;
        }
        if names.contains(name) {
            faults.duplicate_as(&claim, &quoted(name));
        } else {
            let mut key = name.to_owned();
            if !request.is_empty() {
                faults.format(&claim.get("request"), label);
                key = format!("{name}/{request}");
            }
            let is_within =
                |known: &String| request.is_empty() && known.split_once('/').is_some_and(|(of, _)| of == name);
            let overlaps = names.iter().filter(|known| is_within(known)).count() + usize::from(names.contains(&key));
            (0..overlaps).for_each(|_| faults.duplicate_as(&claim, &quoted(&key)));
            names.insert(key);
        }
        if !around.claims.contains(name) {
            let known: Vec<&str> = around.claims.iter().copied().collect();
            let known = if known.is_empty() {
                " which is empty".to_owned()
            } else {
                format!(": {}", known.join(", "))
            };
            faults.not_found_as(
                &claim,
                name,
                &format!("must be one of the names in pod.spec.resourceClaims{known}"),
            );
        }
    }
}

/// `resources` of a Pod.
pub(super) fn pod_resources(spec: &Located<'_>, around: &PodContext<'_>, faults: &mut Faults) {
    let at = spec.get("resources");
    if !at.is_set() {
        return;
    }
    if spec.at("os.name").str() == "windows" {
        return faults.forbidden(&at, "may not be set for a windows pod");
    }
    let claims = at.get("claims");
    if claims.is_set() {
        faults.forbidden(&claims, "claims may not be set for Resources at pod-level");
    }
    requirements_of(&at, pod_name, faults);
    used_claims(&claims, around, faults);
    for (name, amount) in at.get("requests").entries() {
        let (Some(whole), together) = (quantity(&amount), together(spec, "requests", name)) else {
            continue;
        };
        if together.compare(&whole) == Ordering::Greater {
            let detail = format!(
                "must be greater than or equal to aggregate container requests of {}",
                together.canonical()
            );
            faults.invalid(&amount, &detail);
        }
    }
    for (name, amount) in at.get("limits").entries() {
        let Some(whole) = quantity(&amount) else { continue };
        for container in spec.get("containers").items() {
            let limit = container.at("resources.limits").get(name);
            if quantity(&limit).is_some_and(|limit| limit.compare(&whole) == Ordering::Greater) {
                let index = container.path.rsplit('[').next().unwrap_or_default();
                let place = limit.called(&format!("{}.containers[{index}[{name}].limits", at.path));
                faults.invalid(
                    &place,
                    &format!("must be less than or equal to pod limits of {}", amount.str()),
                );
            }
        }
    }
}

/// The amount of a resource that the containers have at a time: init containers that end count with the sidecars before them.
pub fn together(spec: &Located<'_>, side: &str, name: &str) -> Quantity {
    let of = |container: &Located<'_>| {
        quantity(&container.get("resources").get(side).get(name)).unwrap_or_else(|| Quantity::of(0))
    };
    let sum = |list: &str| {
        spec.get(list)
            .items()
            .fold(Quantity::of(0), |sum, container| sum.plus(&of(&container)))
    };
    let (mut sidecars, mut most) = (Quantity::of(0), Quantity::of(0));
    for container in spec.get("initContainers").items() {
        let now = sidecars.plus(&of(&container));
        if container.get("restartPolicy").str() == "Always" {
            sidecars = now.clone();
        }
        if now.compare(&most) == Ordering::Greater {
            most = now;
        }
    }
    let all = sum("containers").plus(&sidecars);
    if all.compare(&most) == Ordering::Less {
        most
    } else {
        all
    }
}
