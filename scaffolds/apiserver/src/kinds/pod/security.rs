//! Security contexts of Pods and containers.

use crate::kinds::{
    faults::{Faults, quoted},
    located::Located,
    pod::{mounts::descending, windows},
};

pub(in crate::kinds) fn pod_security(context: &Located<'_>, faults: &mut Faults) {
    let id_fits = |id: &Located<'_>| (0..=i64::from(i32::MAX)).contains(&id.int());
    let group = context.get("fsGroup");
    if group.is_set() && !id_fits(&group) {
        faults.invalid(&group, "must be between 0 and 2147483647, inclusive");
    }
    user_ids(context, faults);
    windows::options(&context.get("windowsOptions"), faults);
    for group in context
        .get("supplementalGroups")
        .items()
        .filter(|group| !id_fits(group))
    {
        faults.invalid(&group, "must be between 0 and 2147483647, inclusive");
    }
    let policy = context.get("fsGroupChangePolicy");
    if policy.is_set() {
        faults.one_of(&policy, &["Always", "OnRootMismatch"]);
    }
    seccomp(&context.get("seccompProfile"), faults);
    app_armor(&context.get("appArmorProfile"), faults);
    for (name, known) in [
        ("supplementalGroupsPolicy", ["Merge", "Strict"]),
        ("seLinuxChangePolicy", ["MountOption", "Recursive"]),
    ] {
        if context.get(name).is_set() {
            faults.one_of(&context.get(name), &known);
        }
    }
}

fn app_armor(profile: &Located<'_>, faults: &mut Faults) {
    const NEEDED: &str = "must be set when AppArmor type is Localhost";
    if !profile.is_set() {
        return;
    }
    let (kind, local) = (profile.get("type"), profile.get("localhostProfile"));
    match kind.str() {
        "Localhost" => {
            if local.str().trim() != local.str() {
                faults.invalid(&local, "must not be padded with whitespace");
            } else if local.str().is_empty() {
                faults.required(&local, NEEDED);
            }
            if local.str().len() > 4095 {
                faults.too_long(&local, 4095);
            }
        }
        "RuntimeDefault" | "Unconfined" if local.is_set() => {
            faults.invalid(&local, "can only be set when AppArmor type is Localhost");
        }
        "RuntimeDefault" | "Unconfined" => {}
        "" => faults.required(&kind, "type is required when appArmorProfile is set"),
        _ => faults.not_supported(&kind, &["Localhost", "RuntimeDefault", "Unconfined"]),
    }
}

fn seccomp(profile: &Located<'_>, faults: &mut Faults) {
    if !profile.is_set() {
        return;
    }
    let (kind, local) = (profile.get("type"), profile.get("localhostProfile"));
    match kind.str() {
        "" => faults.required(&kind, "type is required when seccompProfile is set"),
        _ => faults.one_of(&kind, &["Localhost", "RuntimeDefault", "Unconfined"]),
    }
    match (kind.str() == "Localhost", local.is_set()) {
        (true, false) => faults.required(&local, "must be set when seccomp type is Localhost"),
        (true, true) => descending(&local, faults),
        (false, true) => {
            let shown = format!(
                r#"{{"Type":{},"LocalhostProfile":{}}}"#,
                quoted(kind.str()),
                quoted(local.str())
            );
            faults.invalid_as(&local, &shown, "can only be set when seccomp type is Localhost");
        }
        (false, false) => {}
    }
}

/// A container's security context as the server's errors quote it: with all of Go's fields.
fn shown(context: &Located<'_>) -> String {
    let names = [
        ("Capabilities", "capabilities"),
        ("Privileged", "privileged"),
        ("SELinuxOptions", "seLinuxOptions"),
        ("WindowsOptions", "windowsOptions"),
        ("RunAsUser", "runAsUser"),
        ("RunAsGroup", "runAsGroup"),
        ("RunAsNonRoot", "runAsNonRoot"),
        ("ReadOnlyRootFilesystem", "readOnlyRootFilesystem"),
        ("AllowPrivilegeEscalation", "allowPrivilegeEscalation"),
        ("ProcMount", "procMount"),
        ("SeccompProfile", "seccompProfile"),
        ("AppArmorProfile", "appArmorProfile"),
    ];
    let parts = names.map(|(go, name)| {
        let value = context.get(name);
        let value = match name {
            "capabilities" if value.is_set() => {
                format!(
                    r#"{{"Add":{},"Drop":{}}}"#,
                    value.get("add").value,
                    value.get("drop").value
                )
            }
            "seccompProfile" | "appArmorProfile" if value.is_set() => {
                format!(
                    r#"{{"Type":{},"LocalhostProfile":{}}}"#,
                    value.get("type").value,
                    value.get("localhostProfile").value
                )
            }
            _ => value.value.to_string(),
        };
        format!("\"{go}\":{value}")
    });
    format!("{{{}}}", parts.join(","))
}

pub(in crate::kinds) fn container_security(container: &Located<'_>, faults: &mut Faults) {
    let context = container.get("securityContext");
    user_ids(&context, faults);
    windows::options(&context.get("windowsOptions"), faults);
    if context.get("allowPrivilegeEscalation").value.as_bool() == Some(false) {
        let shown = shown(&context);
        if context.get("privileged").is_true() {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            faults.invalid_as(&context, &shown, detail);
        }
        // Once for each occurrence.
        let added = context.at("capabilities.add");
        for _ in added.items().filter(|name| name.str() == "CAP_SYS_ADMIN") {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
            faults.invalid_as(&context, &shown, detail);
        }
    }
    seccomp(&context.get("seccompProfile"), faults);
    app_armor(&context.get("appArmorProfile"), faults);
    if context.get("procMount").is_set() {
        faults.one_of(&context.get("procMount"), &["Default", "Unmasked"]);
    }
}

/// Validates `runAsUser` and `runAsGroup` of a security context.
fn user_ids(context: &Located<'_>, faults: &mut Faults) {
    for name in ["runAsUser", "runAsGroup"] {
        let id = context.get(name);
        if id.is_set() && !(0..=i64::from(i32::MAX)).contains(&id.int()) {
            faults.invalid(&id, "must be between 0 and 2147483647, inclusive");
        }
    }
}
