//! The policy of a kind as templates see it.

use super::webhooks;
use crate::project::{Api, Kind, KindPolicy, Project, rust};
use serde::Serialize;

/// What the generated file imports without a path: see [`webhooks::imported`].
const IMPORTED: [&str; 4] = ["Policy", "Trial", "Validating", "Validation"];

/// The policy of a kind.
#[derive(Serialize)]
pub struct PolicyView {
    file: String,
    module: String,
    /// The type of the kind, as the file names it.
    type_name: String,
    /// The type in a `use`, with the other name if it has one.
    import: String,
    /// The name of the generated policy.
    name: String,
    /// The label of the generated example, or the group of its users.
    prefix: String,
    editors: String,
}

/// The views of all policies.
pub fn views(project: &Project) -> Vec<PolicyView> {
    let all = project.policies().into_iter();
    all.map(|(kind, own)| view(project, kind, own)).collect()
}

/// The policy of a kind, and the kind in the version that it is about.
pub fn of(kind: &Kind) -> Option<(&KindPolicy, Api<'_>)> {
    let own = kind.policy.as_ref()?;
    let version = kind.version(&own.version)?;
    Some((own, Api { kind, version }))
}

/// The view of the policy of that kind.
pub fn view(project: &Project, kind: &Kind, own: &KindPolicy) -> PolicyView {
    let file = own.file();
    let group = project.group_of(kind);
    let [type_name, import] = webhooks::imported(&rust::type_name(kind.name.as_str()), &IMPORTED);
    PolicyView {
        module: rust::module(&file),
        name: match kind.cluster {
            true => format!("{}-targets", own.name),
            false => format!("{}-names", own.name),
        },
        prefix: format!("{group}/name-prefix"),
        editors: format!("{group}:editors"),
        file,
        type_name,
        import,
    }
}
