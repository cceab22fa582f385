//! The admission plugins that may be named on the command line.

use super::table::KUBE_APISERVER;
use crate::cli::envtest::flags::Given;
use anyhow::Result;
use kubewright_apiserver::admission_plugins;

/// Plugins that kube-apiserver has on by default, and this server does not have (`pkg/kubeapiserver/options/plugins.go`).
const MISSING: [&str; 6] = [
    "JobValidation",
    "PodGroupProtection",
    "PodGroupWorkloadExists",
    "ServiceAccount",
    "StorageObjectInUseProtection",
    "TaintNodesByCondition",
];

/// Plugins that are off by default in kube-apiserver, and that this server does not have.
const OPTIONAL: [&str; 14] = [
    "AlwaysAdmit",
    "AlwaysDeny",
    "AlwaysPullImages",
    "DenyServiceExternalIPs",
    "EventRateLimit",
    "ExtendedResourceToleration",
    "ImagePolicyWebhook",
    "LimitPodHardAntiAffinityTopology",
    "NamespaceAutoProvision",
    "NamespaceExists",
    "NodeRestriction",
    "OwnerReferencesPermissionEnforcement",
    "PodNodeSelector",
    "PodTolerationRestriction",
];

/// Whether the plugins that are named can be enabled and disabled.
///
/// # Errors
/// A plugin that is missing here and to be enabled, or that is always on and to be disabled.
pub fn check(given: &Given) -> Result<()> {
    for name in given.list("enable-admission-plugins") {
        // They are on by default in kube-apiserver, too.
        if !admission_plugins().any(|plugin| plugin == name) {
            return Err(refuse("enable", name));
        }
    }
    for name in given.list("disable-admission-plugins") {
        if !MISSING.contains(&name) && !OPTIONAL.contains(&name) {
            return Err(refuse("disable", name));
        }
    }
    Ok(())
}

fn refuse(verb: &str, name: &str) -> anyhow::Error {
    KUBE_APISERVER.refuse(&format!("`--{verb}-admission-plugins={name}` cannot be honoured"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(argument: &str) -> Result<(), String> {
        let given = KUBE_APISERVER.read([argument.to_owned()]).unwrap();
        check(&given).map_err(|error| error.to_string())
    }

    #[test]
    fn plugins_are_enabled_and_disabled_if_that_changes_nothing() {
        checked("--disable-admission-plugins=ServiceAccount,TaintNodesByCondition").unwrap();
        checked("--enable-admission-plugins=Priority,ResourceQuota,PodResizeValidator").unwrap();
        for argument in [
            "--disable-admission-plugins=NamespaceLifecycle",
            "--disable-admission-plugins=PodSecurity",
            "--disable-admission-plugins=ResourceQuota",
            "--disable-admission-plugins=NodeDeclaredFeatureValidator",
            "--enable-admission-plugins=Priority,ServiceAccount",
            "--enable-admission-plugins=Nonsense",
        ] {
            assert!(
                checked(argument).unwrap_err().contains("cannot be honoured"),
                "{argument}"
            );
        }
    }
}
