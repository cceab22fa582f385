//! The webhooks of a kind as templates see them.

use crate::project::{Kind, Origin, Project, Webhooks, rust};
use serde::Serialize;

/// The imports of the generated file. A kind of such a name is imported under another name there; unlike
/// those in [`rust::RESERVED`], these types keep their names everywhere else.
const IMPORTED: [&str; 8] = [
    "Admission",
    "Change",
    "Defaulter",
    "FailurePolicy",
    "Operation",
    "Validator",
    "Verdict",
    "Webhook",
];

/// The webhooks of a kind.
#[derive(Serialize)]
pub struct WebhooksView {
    file: String,
    module: String,
    defaulting: bool,
    validation: bool,
    /// The type of the kind, as the file names it.
    type_name: String,
    /// The type in a `use`, with the other name if it has one.
    import: String,
    defaulter: String,
    validator: String,
    /// The annotation of the generated example.
    contact: String,
}

/// The view of the webhooks of that kind.
pub fn view(project: &Project, kind: &Kind, own: &Webhooks) -> WebhooksView {
    let name = match kind.origin {
        Origin::Kubernetes => kind.name.to_string(),
        Origin::Project | Origin::Crd => rust::type_name(kind.name.as_str()),
    };
    let file = own.file();
    let [type_name, import] = imported(&name, &IMPORTED);
    WebhooksView {
        module: rust::module(&file),
        file,
        defaulting: own.defaulting,
        validation: own.validation,
        import,
        type_name,
        defaulter: format!("{}Defaulter", kind.name),
        validator: format!("{}Validator", kind.name),
        contact: match kind.origin {
            Origin::Project => format!("{}/contact", project.group_of(kind)),
            Origin::Kubernetes | Origin::Crd => format!("{}.{}/contact", project.name, project.domain),
        },
    }
}

/// A type as a generated file names it, and in a `use`: a kind of a name that the file imports otherwise gets another one there.
pub fn imported(name: &str, others: &[&str]) -> [String; 2] {
    if !others.contains(&name) {
        return [name.to_owned(), name.to_owned()];
    }
    let other = format!("{name}Resource");
    let import = format!("{name} as {other}");
    [other, import]
}
