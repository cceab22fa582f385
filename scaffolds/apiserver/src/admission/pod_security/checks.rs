//! The checks of the levels `baseline` and `restricted`, with the versions in which each applies, and the violations of a Pod.

use std::ops::Range;

use serde_json::Value;

use super::{
    baseline::{
        app_armor, capabilities, host_namespaces, host_path_volumes, host_ports, host_probes, host_process, privileged,
        proc_mount, se_linux, seccomp, seccomp_annotations, sysctls,
    },
    checked::{CheckedPod, Violation},
    policy::{PodStandard, SecurityLevel},
    restricted::{dropped_capabilities, non_root, privilege_escalation, required_seccomp, root_user, volume_types},
};
use crate::release;

/// A pure function of a Pod.
type PodRule = fn(&CheckedPod<'_>) -> Option<Violation>;

/// A check, with the minor versions of Kubernetes in which each level has it.
struct PodCheck {
    baseline: Range<i64>,
    restricted: Range<i64>,
    rule: PodRule,
}

const END: i64 = i64::MAX;
const ALWAYS: Range<i64> = 0..END;
const NEVER: Range<i64> = 0..0;

const fn check(baseline: Range<i64>, restricted: Range<i64>, rule: PodRule) -> PodCheck {
    PodCheck {
        baseline,
        restricted,
        rule,
    }
}

/// All checks in upstream's order: first the checks of the level `baseline`, by their ids, then the checks of `restricted`. Some of
/// the latter replace looser checks of `baseline`.
const CHECKS: [PodCheck; 31] = [
    check(ALWAYS, ALWAYS, app_armor),
    check(ALWAYS, 0..22, capabilities),
    check(ALWAYS, ALWAYS, host_namespaces),
    check(ALWAYS, NEVER, host_path_volumes),
    check(ALWAYS, ALWAYS, host_ports),
    check(34..END, 34..END, host_probes),
    check(ALWAYS, ALWAYS, privileged),
    check(0..35, 0..35, proc_mount),
    check(35..END, NEVER, |pod| outside_user_namespace(pod, proc_mount)),
    check(0..31, 0..31, |pod| se_linux(pod, 3)),
    check(31..END, 31..END, |pod| se_linux(pod, 4)),
    check(0..19, 0..19, seccomp_annotations),
    check(19..END, NEVER, seccomp),
    check(0..27, 0..27, |pod| sysctls(pod, 5)),
    check(27..29, 27..29, |pod| sysctls(pod, 6)),
    check(29..32, 29..32, |pod| sysctls(pod, 10)),
    check(32..37, 32..37, |pod| sysctls(pod, 12)),
    check(37..END, 37..END, |pod| sysctls(pod, 14)),
    check(ALWAYS, ALWAYS, host_process),
    check(NEVER, 8..25, privilege_escalation),
    check(NEVER, 25..END, |pod| outside_windows(pod, privilege_escalation)),
    check(NEVER, 22..25, dropped_capabilities),
    check(NEVER, 25..END, |pod| outside_windows(pod, dropped_capabilities)),
    check(NEVER, 35..END, proc_mount),
    check(NEVER, ALWAYS, volume_types),
    check(NEVER, 0..35, non_root),
    check(NEVER, 35..END, |pod| outside_user_namespace(pod, non_root)),
    check(NEVER, 23..35, root_user),
    check(NEVER, 35..END, |pod| outside_user_namespace(pod, root_user)),
    check(NEVER, 19..25, required_seccomp),
    check(NEVER, 25..END, |pod| outside_windows(pod, required_seccomp)),
];

/// A check of Pods that share the users of their node.
fn outside_user_namespace(pod: &CheckedPod<'_>, rule: PodRule) -> Option<Violation> {
    let has_own = pod.spec.get("hostUsers") == Some(&Value::Bool(false));
    if has_own { None } else { rule(pod) }
}

/// A check of fields that Pods for Windows cannot have.
fn outside_windows(pod: &CheckedPod<'_>, rule: PodRule) -> Option<Violation> {
    let is_windows = pod.spec.pointer("/os/name").is_some_and(|name| name == "windows");
    if is_windows { None } else { rule(pod) }
}

/// The violations of a standard by a Pod, or by a template of Pods.
pub(super) fn violations(standard: PodStandard, pod: &Value) -> Vec<Violation> {
    let newest = i64::from(release::minor());
    let minor = standard.minor.map_or(newest, |minor| minor.min(newest));
    let applies = |check: &&PodCheck| match standard.level {
        SecurityLevel::Privileged => false,
        SecurityLevel::Baseline => check.baseline.contains(&minor),
        SecurityLevel::Restricted => check.restricted.contains(&minor),
    };
    let pod = CheckedPod::new(pod);
    let checks = CHECKS.iter().filter(applies);
    checks.filter_map(|check| (check.rule)(&pod)).collect()
}

/// The violations with their details, for messages; `None` if there are none.
pub(super) fn details(standard: PodStandard, pod: &Value) -> Option<String> {
    let all = violations(standard, pod);
    let all = all
        .iter()
        .map(|Violation { reason, detail }| format!("{reason} ({detail})"));
    let all: Vec<_> = all.collect();
    (!all.is_empty()).then(|| all.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn standard(level: SecurityLevel, minor: i64) -> PodStandard {
        let minor = (minor < END).then_some(minor);
        PodStandard { level, minor }
    }

    /// A Pod that meets all standards, with these fields in its spec, its container and the security context of the container.
    fn pod(spec: Value, container: Value, context: Value) -> Value {
        let mut pod = json!({"metadata": {"name": "p"}, "spec": {
            "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{"name": "c", "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}],
        }});
        for (place, fields) in [
            ("/spec", spec),
            ("/spec/containers/0", container),
            ("/spec/containers/0/securityContext", context),
        ] {
            let (target, fields) = (pod.pointer_mut(place).unwrap(), fields.as_object().unwrap());
            target.as_object_mut().unwrap().extend(fields.clone());
        }
        pod
    }

    #[test]
    fn a_check_applies_to_its_levels_in_its_versions() {
        use SecurityLevel::{Baseline, Restricted};
        let of_spec = |spec: Value| pod(spec, json!({}), json!({}));
        let of_context = |context: Value| pod(json!({}), json!({}), context);
        let sysctl = |name: &str| {
            of_spec(
                json!({"securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "Localhost"}, "sysctls": [{"name": name}]}}),
            )
        };
        let probe = json!({"livenessProbe": {"tcpSocket": {"host": "h"}}});
        for (level, pod, minors) in [
            (Baseline, of_context(json!({"privileged": true})), vec![0..=END]),
            (Restricted, of_spec(json!({"hostPID": true})), vec![0..=END]),
            (Restricted, of_context(json!({"capabilities": {}})), vec![22..=END]),
            (Baseline, of_context(json!({"capabilities": {}})), vec![]),
            (
                Restricted,
                of_context(json!({"allowPrivilegeEscalation": true})),
                vec![8..=END],
            ),
            (Restricted, of_context(json!({"runAsUser": 0})), vec![23..=END]),
            (
                Restricted,
                of_spec(json!({"securityContext": {"runAsNonRoot": true}})),
                vec![19..=END],
            ),
            (
                Restricted,
                of_spec(json!({"volumes": [{"name": "v", "nfs": {}}]})),
                vec![0..=END],
            ),
            (
                Baseline,
                of_spec(json!({"volumes": [{"name": "v", "nfs": {}}]})),
                vec![],
            ),
            (
                Baseline,
                of_context(json!({"seLinuxOptions": {"type": "container_engine_t"}})),
                vec![0..=30],
            ),
            (Baseline, sysctl("net.ipv4.tcp_rmem"), vec![0..=31]),
            (Restricted, sysctl("net.ipv4.tcp_notsent_lowat"), vec![0..=36]),
            (Baseline, pod(json!({}), probe, json!({})), vec![34..=END]),
            (
                Baseline,
                pod(json!({"hostUsers": false}), json!({}), json!({"procMount": "Unmasked"})),
                vec![0..=34],
            ),
            (
                Restricted,
                pod(json!({"hostUsers": false}), json!({}), json!({"runAsNonRoot": false})),
                vec![0..=34],
            ),
            (
                Restricted,
                pod(json!({"hostUsers": false}), json!({}), json!({"procMount": "Unmasked"})),
                vec![0..=END],
            ),
            (
                Restricted,
                of_spec(json!({"os": {"name": "windows"}, "securityContext": {"runAsNonRoot": true}})),
                vec![19..=24],
            ),
        ] {
            for minor in (0..=40).chain([END]) {
                let is_violated = details(standard(level, minor), &pod).is_some();
                let expected = minors.iter().any(|minors| minors.contains(&minor));
                assert_eq!(is_violated, expected, "{level:?} {minor} {pod}");
            }
            assert!(details(standard(SecurityLevel::Privileged, END), &pod).is_none());
        }
    }

    #[test]
    fn details_are_in_the_order_of_the_checks() {
        let pod = json!({"spec": {"hostIPC": true, "containers": [{"name": "c"}], "initContainers": [{"name": "i"}]}});
        let details = details(standard(SecurityLevel::Restricted, END), &pod);
        let expected = concat!(
            r#"host namespaces (hostIPC=true), allowPrivilegeEscalation != false (containers "i", "c" must set "#,
            r#"securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (containers "i", "c" must set "#,
            r#"securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or containers "i", "c" must set "#,
            r#"securityContext.runAsNonRoot=true), seccompProfile (pod or containers "i", "c" must set "#,
            r#"securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")"#,
        );
        assert_eq!(details.as_deref(), Some(expected));
    }
}
