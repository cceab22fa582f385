//! The names of the finalizers that controllers start with.

use crate::project::{Kind, Origin, Project};

/// The longest name that Kubernetes accepts after the `/` of a finalizer.
const FINALIZER_MAX: usize = 63;

/// `test.example.com/cleanup`; those of further controllers of a kind, and of controllers of foreign kinds, contain the
/// controller's name.
pub fn name(project: &Project, kind: &Kind, controller: &str, is_first: bool) -> String {
    let own = match format!("{controller}-cleanup") {
        name if name.len() > FINALIZER_MAX => controller.to_owned(),
        name => name,
    };
    match (kind.origin, is_first) {
        (Origin::Project, true) => format!("{}/cleanup", project.group_of(kind)),
        (Origin::Project, false) => format!("{}/{own}", project.group_of(kind)),
        (Origin::Kubernetes | Origin::Crd, _) => format!("{}.{}/{own}", project.name, project.domain),
    }
}
