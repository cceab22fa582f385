//! PodSecurity: the labels of a namespace name the Pod Security Standard that its Pods must meet (`enforce`), and the one whose
//! violations cause warnings (`warn`). Violations of the mode `audit` only go to an audit log, which this server does not have.

mod baseline;
mod checked;
mod checks;
mod existing;
mod policy;
mod restricted;

use serde_json::Value;

use super::{Attributes, Objects, Operation};
use crate::{
    state::Core,
    status::{Status, Subject},
    store::Key,
};
use checked::items;
use checks::details;
use policy::{PodStandard, SecurityLevel, SecurityPolicy};

/// The path of namespaces in the store.
const STORED: &str = "/namespaces";
const NAMESPACES: Subject<'static> = Subject::new("", "namespaces");
const PODS: Subject<'static> = Subject::new("", "pods");
/// The subresources of a Pod that write its spec; the first is the Pod itself.
const WRITTEN: [&str; 3] = ["", "ephemeralcontainers", "resize"];
/// The resources with a template of Pods, and where it is.
const TEMPLATES: [(Subject<'static>, &str); 8] = [
    (Subject::new("", "replicationcontrollers"), "/spec/template"),
    (Subject::new("", "podtemplates"), "/template"),
    (Subject::new("apps", "replicasets"), "/spec/template"),
    (Subject::new("apps", "deployments"), "/spec/template"),
    (Subject::new("apps", "statefulsets"), "/spec/template"),
    (Subject::new("apps", "daemonsets"), "/spec/template"),
    (Subject::new("batch", "jobs"), "/spec/template"),
    (Subject::new("batch", "cronjobs"), "/spec/jobTemplate/spec/template"),
];

/// Checks Pods, warns about templates of Pods, and checks the labels of namespaces.
///
/// # Errors
/// 403 for a Pod that violates the enforced standard, 422 for a namespace with invalid labels.
pub(super) fn validate(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    let is_write = matches!(attributes.operation, Operation::Create | Operation::Update);
    let Some(new) = objects.new.as_deref().filter(|_| is_write) else {
        return Ok(());
    };
    let (subject, subresource) = (attributes.call.subject(), attributes.call.subresource.as_str());
    if subject == PODS && WRITTEN.contains(&subresource) {
        return pod(core, attributes, objects, new);
    }
    if !subresource.is_empty() {
        return Ok(());
    }
    if subject == NAMESPACES {
        return namespace(core, attributes, objects, new);
    }
    if let Some((_, place)) = TEMPLATES.iter().find(|(resource, _)| *resource == subject)
        && let Some(policy) = policy_of(core, attributes.call.namespace())
        && let Some(template) = new.pointer(place).filter(|template| !template.is_null())
    {
        warn(attributes, policy.warn, template);
    }
    Ok(())
}

fn pod(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>, new: &Value) -> Result<(), Status> {
    let namespace = attributes.call.namespace();
    let Some(policy) = policy_of(core, namespace) else {
        return Err(Status::internal(&format!("failed to lookup namespace {namespace:?}")));
    };
    if policy.is_privileged() || objects.old.is_some_and(|old| !changes_images(new, old)) {
        return Ok(());
    }
    if let Some(details) = details(policy.enforce, new) {
        let why = format!("violates PodSecurity \"{}\": {details}", policy.enforce);
        return Err(attributes.forbid(objects, &why));
    }
    if policy.warn != policy.enforce {
        warn(attributes, policy.warn, new);
    }
    Ok(())
}

/// Checks the labels of a new namespace, or those that an update changes, and compares a stricter standard with the Pods that exist.
fn namespace(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>, new: &Value) -> Result<(), Status> {
    let (policy, causes) = SecurityPolicy::of(new);
    let before = objects.old.map(SecurityPolicy::of);
    let is_known = before.as_ref().is_some_and(|(_, before)| *before == causes);
    if !causes.is_empty() && !is_known {
        let kind = Subject::new(NAMESPACES.group, &attributes.call.resource.names.kind);
        return Err(Status::invalid(kind, objects.name(), &causes));
    }
    let (Some((before, _)), enforce) = (before, policy.enforce) else {
        return Ok(());
    };
    if enforce.level != SecurityLevel::Privileged && !enforce.is_like_or_looser_than(before.enforce) {
        let warnings = existing::warnings(core, objects.name(), enforce)?;
        warnings.into_iter().for_each(|it| attributes.call.warnings.add(it));
    }
    Ok(())
}

/// The policy of a namespace; `None` if the namespace does not exist.
fn policy_of(core: &Core, namespace: &str) -> Option<SecurityPolicy> {
    let record = core.store.get(&Key::new(STORED, "", namespace))?;
    let (policy, _) = SecurityPolicy::read(|label| record.labels().get(label).map(String::as_str));
    Some(policy)
}

fn warn(attributes: &Attributes<'_>, standard: PodStandard, pod: &Value) {
    if let Some(details) = details(standard, pod) {
        let warning = format!("would violate PodSecurity \"{standard}\": {details}");
        attributes.call.warnings.add(warning);
    }
}

/// Whether an update of a Pod adds or removes a container, or changes an image. Upstream checks no Pod again after other changes.
fn changes_images(new: &Value, old: &Value) -> bool {
    let [new, old] = [new, old].map(|pod| pod.get("spec").unwrap_or(&Value::Null));
    let images = |spec, list| items(spec, list).map(|it| it.get("image")).collect::<Vec<_>>();
    let known = |name| items(old, "ephemeralContainers").find(|it| it.get("name") == name);
    ["containers", "initContainers"]
        .iter()
        .any(|list| images(new, list) != images(old, list))
        || items(new, "ephemeralContainers").any(|it| {
            let same = known(it.get("name"));
            same.is_none_or(|old| old.get("image") != it.get("image"))
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_update_counts_if_it_changes_images_or_adds_containers() {
        let pod = |main: &str, debuggers: &[[&str; 2]]| {
            let debuggers = debuggers
                .iter()
                .map(|[name, image]| json!({"name": name, "image": image}));
            let debuggers: Vec<_> = debuggers.collect();
            json!({"spec": {"containers": [{"name": "c", "image": main}], "ephemeralContainers": debuggers}})
        };
        let old = pod("i", &[["d", "i"], ["e", "j"]]);
        for (new, changes) in [
            (pod("i", &[["d", "i"], ["e", "j"]]), false),
            (pod("i", &[["e", "j"]]), false),
            (pod("k", &[["d", "i"], ["e", "j"]]), true),
            (pod("i", &[["d", "j"]]), true),
            (pod("i", &[["f", "i"]]), true),
        ] {
            assert_eq!(changes_images(&new, &old), changes, "{new}");
        }
        let several = json!({"spec": {"containers": [{"image": "i"}, {"image": "i"}]}});
        assert!(changes_images(&several, &pod("i", &[])));
    }
}
