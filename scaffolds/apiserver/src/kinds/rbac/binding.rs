//! The parts that RoleBindings and ClusterRoleBindings share: a role and subjects.

use serde_json::{Value, json};

use crate::kinds::{
    edit::{Fields, set_text, text, within},
    faults::Faults,
    format::{path_segment, subdomain},
    located::Located,
    row::Row,
};

const GROUP: &str = "rbac.authorization.k8s.io";

pub(in crate::kinds) fn default(object: &mut Fields) {
    if let Some(role) = within(object, "roleRef") {
        set_text(role, "apiGroup", GROUP);
    }
}

pub(in crate::kinds) fn default_subject(subject: &mut Fields) {
    if matches!(text(subject, "kind"), "User" | "Group") {
        set_text(subject, "apiGroup", GROUP);
    }
}

/// Validates a RoleBinding or ClusterRoleBinding.
pub(in crate::kinds) fn validate(at: &Located<'_>, faults: &mut Faults) {
    let of_cluster = at.get("kind").str() == "ClusterRoleBinding";
    let role = at.get("roleRef");
    faults.one_of(&role.get("apiGroup"), &[GROUP]);
    let kinds: &[&str] = if of_cluster {
        &["ClusterRole"]
    } else {
        &["Role", "ClusterRole"]
    };
    faults.one_of(&role.get("kind"), kinds);
    if !role.get("name").str().is_empty() {
        faults.format(&role.get("name"), path_segment);
    }
    for subject in at.get("subjects").items() {
        subject_of(&subject, of_cluster, faults);
    }
    let named = at.get("subjects").items().chain([role]).map(|at| at.get("name"));
    for name in named.filter(|name| name.str().is_empty()) {
        faults.declared(|faults| faults.required(&name, ""));
    }
}

fn subject_of(subject: &Located<'_>, of_cluster: bool, faults: &mut Faults) {
    let (name, group, namespace) = (subject.get("name"), subject.get("apiGroup"), subject.get("namespace"));
    match subject.get("kind").str() {
        "ServiceAccount" => {
            if !name.str().is_empty() {
                faults.format(&name, subdomain);
            }
            if !group.str().is_empty() {
                faults.not_supported(&group, &[""]);
            }
            if of_cluster && namespace.str().is_empty() {
                faults.required(&namespace, "");
            }
        }
        "User" | "Group" => faults.one_of(&group, &[GROUP]),
        _ => faults.not_supported(&subject.get("kind"), &["ServiceAccount", "User", "Group"]),
    }
}

pub(in crate::kinds) fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    validate(new, faults);
    let role = new.get("roleRef");
    if role.value != old.get("roleRef").value {
        let part = |name: &str| role.get(name).value.to_string();
        let shown = format!(
            r#"{{"APIGroup":{},"Kind":{},"Name":{}}}"#,
            part("apiGroup"),
            part("kind"),
            part("name")
        );
        faults.invalid_as(&role, &shown, "field is immutable");
    }
}

pub(in crate::kinds) fn cells(row: &Row<'_>) -> Vec<Value> {
    let role = format!("{}/{}", row.get("roleRef.kind").str(), row.get("roleRef.name").str());
    let subjects = |kind: &str| {
        let subjects = row
            .get("subjects")
            .items()
            .filter(|subject| subject.get("kind").str() == kind);
        let names = subjects.map(|subject| match kind {
            "ServiceAccount" => format!("{}/{}", subject.get("namespace").str(), subject.get("name").str()),
            _ => subject.get("name").str().to_owned(),
        });
        json!(names.collect::<Vec<_>>().join(", "))
    };
    vec![
        row.name(),
        json!(role),
        row.age(),
        subjects("User"),
        subjects("Group"),
        subjects("ServiceAccount"),
    ]
}
