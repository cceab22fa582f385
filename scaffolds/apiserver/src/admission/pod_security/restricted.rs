//! The checks of the level `restricted` beyond `baseline`: hardened Pods.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    baseline::{SECCOMP, added, is_other_profile, seccomp},
    checked::{CheckedPod, Violation, context, items, nonempty, plural, quoted, text, violation},
};

/// The types of volumes that Pods may have.
const ALLOWED: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

pub(super) fn privilege_escalation(pod: &CheckedPod<'_>) -> Option<Violation> {
    let who = pod.containers_with(|it| context(it, "/allowPrivilegeEscalation") != Some(&Value::Bool(false)))?;
    let detail = format!("{who} must set securityContext.allowPrivilegeEscalation=false");
    violation("allowPrivilegeEscalation != false", detail)
}

pub(super) fn dropped_capabilities(pod: &CheckedPod<'_>) -> Option<Violation> {
    let drops_all = |it| {
        let dropped = context(it, "/capabilities/drop").and_then(Value::as_array);
        dropped.is_some_and(|dropped| dropped.iter().any(|name| name == "ALL"))
    };
    let who = pod.containers_with(|it| !drops_all(it));
    let dropped = who.map(|who| format!(r#"{who} must set securityContext.capabilities.drop=["ALL"]"#));
    let details = dropped.into_iter().chain(added(pod, &["NET_BIND_SERVICE"])).collect();
    violation("unrestricted capabilities", nonempty(details)?.join("; "))
}

/// The types that a volume sets.
fn types(volume: &Value) -> impl Iterator<Item = &str> {
    let fields = volume.as_object().into_iter().flatten();
    let set = fields.filter(|(field, value)| *field != "name" && !value.is_null());
    set.map(|(field, _)| field.as_str())
}

pub(super) fn volume_types(pod: &CheckedPod<'_>) -> Option<Violation> {
    let is_other = |volume: &&Value| !types(volume).any(|kind| ALLOWED.contains(&kind));
    let volumes = nonempty(items(pod.spec, "volumes").filter(is_other).collect::<Vec<_>>())?;
    let kinds: BTreeSet<_> = volumes.iter().copied().flat_map(types).collect();
    let names = quoted(volumes.iter().map(|it| text(it, "name")));
    let (noun, verb) = (
        plural(volumes.len(), "volume", "volumes"),
        plural(volumes.len(), "uses", "use"),
    );
    let object = plural(kinds.len(), "restricted volume type", "restricted volume types");
    let detail = format!("{noun} {names} {verb} {object} {}", quoted(kinds));
    violation("restricted volume types", detail)
}

pub(super) fn non_root(pod: &CheckedPod<'_>) -> Option<Violation> {
    const FIELD: &str = "/runAsNonRoot";
    let setters = pod.setters(FIELD, |it| *it == false);
    let set = setters.map(|who| format!("{who} must not set securityContext.runAsNonRoot=false"));
    let unset = || {
        let who = pod.containers_without(FIELD, |it| *it == true)?;
        Some(format!("pod or {who} must set securityContext.runAsNonRoot=true"))
    };
    violation("runAsNonRoot != true", set.or_else(unset)?)
}

pub(super) fn root_user(pod: &CheckedPod<'_>) -> Option<Violation> {
    let who = pod.setters("/runAsUser", |it| *it == 0)?;
    violation("runAsUser=0", format!("{who} must not set runAsUser=0"))
}

pub(super) fn required_seccomp(pod: &CheckedPod<'_>) -> Option<Violation> {
    const RULE: &str = r#"must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost""#;
    seccomp(pod).or_else(|| {
        let who = pod.containers_without("/seccompProfile/type", |kind| !is_other_profile(kind))?;
        violation(SECCOMP, format!("pod or {who} {RULE}"))
    })
}
