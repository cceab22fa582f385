//! The webhooks of a kind as templates see them.

use super::imports::imported;
use crate::project::{Kind, Origin, Project, Webhooks, rust};
use serde::Serialize;

/// The imports of the generated file.
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
    let file = own.file();
    let [type_name, import] = imported(&rust::type_name(kind), &IMPORTED);
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
