//! The variables of kinds whose types are made from a CRD.

use super::{samples, types};
use crate::project::{Api, Definition, Project, rust};
use anyhow::Result;
use tera::Context;

/// The CRD of such a kind, its types, and for one that was taken over a sample.
pub fn about(context: &mut Context, project: &Project, api: Api) -> Result<()> {
    let Some(definition) = &api.kind.definition else {
        return Ok(());
    };
    context.insert("definition", definition.text.trim_end());
    context.insert("types", module(project, api, definition)?.trim_end());
    if let Some(sample) = samples::yaml(api).filter(|_| api.kind.adopted) {
        context.insert("sample_yaml", sample.trim_end());
    }
    Ok(())
}

/// The module of the types.
fn module(project: &Project, api: Api, definition: &Definition) -> Result<String> {
    types::module(&types::ModuleSubject {
        crd: &definition.crd,
        version: api.version.name.as_str(),
        type_name: &rust::type_name(api.kind),
        path: &project.crd_path(api.kind),
        owner: match api.kind.adopted {
            true => types::Owner::Project {
                converted: is_converted(api),
            },
            false => types::Owner::Other,
        },
        wide: !project.version.starts_with("0.1."),
    })
}

/// Whether the operator converts objects of this version to the hub and back.
pub fn is_converted(api: Api<'_>) -> bool {
    let conversion = api.kind.conversion.as_ref();
    conversion.is_some_and(|it| it.spokes.contains(&api.version.name))
}

/// The status fields that a reconciler of an adopted kind can write.
pub fn reports(api: Api) -> types::Reports {
    let definition = api.kind.definition.as_ref();
    let schema = definition.and_then(|it| types::schema(&it.crd, api.version.name.as_str()));
    schema.map(types::reports).unwrap_or_default()
}
