//! AppArmor profiles of new Pods: sets the fields from the annotations that they have replaced.

use serde_json::Value;

use crate::kinds::{
    edit::{each, made, section},
    kind::Warnings,
    pod::annotations::{APP_ARMOR_OF, app_armor_profile},
};

const LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// The annotation of a container without a profile of its own.
struct AppArmorAnnotation {
    key: String,
    list: &'static str,
    container: Value,
    /// The profile that the annotation names, if it is valid.
    profile: Option<Value>,
}

/// Sets the profiles that annotations name.
pub(super) fn set_fields(pod: &mut Value) {
    for found in annotations(pod) {
        let (Some(profile), Some(spec)) = (found.profile, section(pod, "spec")) else {
            continue;
        };
        for container in each(spec, found.list).filter(|it| it.get("name") == Some(&found.container)) {
            if let Some(context) = made(container, "securityContext") {
                context.entry("appArmorProfile").or_insert_with(|| profile.clone());
            }
        }
    }
}

/// Warns about the annotations, before fields are set from them.
pub(super) fn warnings(pod: &Value) -> Warnings {
    let warn = |found: AppArmorAnnotation| {
        let key = found.key;
        format!("metadata.annotations[{key}]: deprecated since v1.30; use the \"appArmorProfile\" field instead")
    };
    annotations(pod).into_iter().map(warn).collect()
}

/// The annotations of containers without a profile of their own, apart from those that name the profile of the Pod.
fn annotations(pod: &Value) -> Vec<AppArmorAnnotation> {
    let notes = pod.pointer("/metadata/annotations").and_then(Value::as_object);
    let Some(notes) = notes.filter(|notes| notes.keys().any(|key| key.starts_with(APP_ARMOR_OF))) else {
        return Vec::new();
    };
    let (spec, mut found) = (&pod["spec"], Vec::new());
    if spec["os"]["name"] == "windows" {
        return found;
    }
    for (list, container) in LISTS
        .into_iter()
        .flat_map(|list| spec[list].as_array().into_iter().flatten().map(move |it| (list, it)))
    {
        let key = format!("{APP_ARMOR_OF}{}", container["name"].as_str().unwrap_or_default());
        let Some(note) = notes
            .get(&key)
            .filter(|_| container["securityContext"]["appArmorProfile"].is_null())
        else {
            continue;
        };
        let profile = app_armor_profile(note.as_str().unwrap_or_default());
        if profile
            .as_ref()
            .is_none_or(|profile| *profile != spec["securityContext"]["appArmorProfile"])
        {
            let container = container["name"].clone();
            found.push(AppArmorAnnotation {
                key,
                list,
                container,
                profile,
            });
        }
    }
    found
}
