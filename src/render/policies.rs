//! The policies of a kind as templates see them.

use super::imports::imported;
use crate::project::{Api, Kind, KindPolicy, PolicyForm, Project, rust};
use serde::Serialize;

/// The imports of the generated file of each form: see [`imported`].
const VALIDATING: [&str; 4] = ["Policy", "Trial", "Validating", "Validation"];
const MUTATING: [&str; 5] = ["Mutated", "Mutating", "Operation", "Policy", "Trial"];

/// A policy of a kind.
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
    /// The label or the annotation that the generated example sets.
    team: String,
    creator: String,
}

/// The views of all policies.
pub fn views(project: &Project) -> Vec<PolicyView> {
    let all = project.policies().into_iter();
    all.map(|(kind, form, own)| view(project, kind, form, own)).collect()
}

/// The policy of a kind, and the kind in the version that it is about.
pub fn of(kind: &Kind, form: PolicyForm) -> Option<(&KindPolicy, Api<'_>)> {
    let own = kind.policy(form)?;
    let version = kind.version(&own.version)?;
    Some((own, Api { kind, version }))
}

/// The view of the policy of that kind.
pub fn view(project: &Project, kind: &Kind, form: PolicyForm, own: &KindPolicy) -> PolicyView {
    let file = own.file(form);
    let group = project.group_of(kind);
    let (others, topic) = match (form, kind.cluster) {
        (PolicyForm::Validating, true) => (&VALIDATING[..], "targets"),
        (PolicyForm::Validating, false) => (&VALIDATING[..], "names"),
        (PolicyForm::Mutating, true) => (&MUTATING[..], "creators"),
        (PolicyForm::Mutating, false) => (&MUTATING[..], "teams"),
    };
    let [type_name, import] = imported(&rust::type_name(kind), others);
    PolicyView {
        module: rust::module(&file),
        name: format!("{}-{topic}", own.name),
        prefix: format!("{group}/name-prefix"),
        editors: format!("{group}:editors"),
        team: format!("{group}/team"),
        creator: format!("{group}/creator"),
        file,
        type_name,
        import,
    }
}
