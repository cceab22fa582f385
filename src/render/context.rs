//! What templates can say: typed views of the project, made once for all files, and of each file's subject.

use super::{samples, types};
use crate::plan::{RelPath, Subject};
use crate::project::{Api, Controller, Definition, License, Origin, Project, kubernetes, rust};
use anyhow::Result;
use serde::Serialize;
use std::cmp::Ordering;
use tera::Context;

#[derive(Serialize)]
struct ProjectView<'a> {
    name: &'a str,
    #[serde(rename = "crate")]
    crate_name: String,
    domain: &'a str,
    namespaced: bool,
    license: License,
    spdx: &'a str,
    owner: &'a str,
    year: u16,
}

#[derive(Serialize)]
struct GroupView<'a> {
    group: &'a str,
    full: String,
    folder: String,
    module: String,
    versions: Vec<VersionView<'a>>,
}

#[derive(Serialize)]
struct VersionView<'a> {
    version: &'a str,
    module: &'a str,
    apis: Vec<ApiView<'a>>,
    /// The same, as rustfmt sorts `use` lines.
    apis_by_import: Vec<ApiView<'a>>,
}

#[derive(Serialize)]
struct ApiView<'a> {
    group: &'a str,
    group_full: String,
    group_folder: String,
    group_module: String,
    version: &'a str,
    version_module: &'a str,
    kind: &'a str,
    type_name: String,
    spec_name: String,
    status_name: String,
    var: String,
    kind_lower: String,
    kind_snake: String,
    kind_kebab: String,
    folder: String,
    module: String,
    path: String,
    plural: &'a str,
    singular: String,
    short_names: Vec<&'a str>,
    crd: String,
    cluster: bool,
    /// Whether its objects have a number of replicas.
    scales: bool,
    storage: bool,
    /// The path of the module that has its type.
    type_module: String,
    foreign: bool,
    controllers: Vec<ControllerName<'a>>,
}

#[derive(Serialize)]
struct ControllerName<'a> {
    name: &'a str,
    file: String,
    module: String,
    pattern: &'a str,
    /// Of patterns that run one.
    image: Option<&'a str>,
    reconciler: String,
}

#[derive(Serialize)]
struct ControllerView<'a> {
    #[serde(flatten)]
    controller: ControllerName<'a>,
    /// Whether rustfmt sorts the import of its kind behind those of the core kinds.
    after_core: bool,
    api: ApiView<'a>,
    /// The kind that it makes, of the pattern for that.
    internal: Option<ApiView<'a>>,
}

/// What every template sees.
pub fn shared(project: &Project) -> Context {
    let mut context = Context::new();
    context.insert("kubewright_version", &project.version);
    context.insert("project", &project_view(project));
    context.insert("groups", &groups(project));
    context.insert(
        "apis",
        &project
            .apis
            .iter()
            .filter(|api| api.origin.is_project())
            .map(|api| api_view(project, api))
            .collect::<Vec<_>>(),
    );
    let controllers = project.controllers();
    let controllers: Vec<_> = controllers
        .into_iter()
        .map(|(api, controller)| controller_view(project, api, controller))
        .collect();
    context.insert("controllers", &controllers);
    context
}

/// What a template sees of its own subject.
pub fn about(context: &mut Context, project: &Project, subject: Subject) -> Result<()> {
    match subject {
        Subject::Project => {}
        Subject::Group(api) => context.insert("group", &group_view(project, &project.apis[api])),
        Subject::Version(api) => {
            let api = &project.apis[api];
            context.insert("group", &group_view(project, api));
            context.insert("version", &version_view(project, api));
        }
        Subject::Api(api) => {
            let api = &project.apis[api];
            context.insert("api", &api_view(project, api));
            if let Some(other) = project.served_by(&api.group, &api.version, &api.kind) {
                context.insert("served_by", &api_view(project, other));
            }
            if let Some(definition) = &api.definition {
                context.insert("definition", definition.text.trim_end());
                context.insert("types", types(project, api, definition)?.trim_end());
            }
        }
        Subject::Controller(api, nth) => {
            let api = &project.apis[api];
            context.insert("api", &api_view(project, api));
            context.insert("controller", &controller_view(project, api, &api.controllers[nth]));
            if let Some(sample) = samples::of(api) {
                context.insert("sample", &sample);
            }
        }
    }
    Ok(())
}

/// The module of a kind that others own.
fn types(project: &Project, api: &Api, definition: &Definition) -> Result<String> {
    types::module(&types::Subject {
        crd: &definition.crd,
        version: api.version.as_str(),
        type_name: &rust::type_name(api.kind.as_str()),
        path: &project.crd_path(api),
    })
}

/// Puts the header of the user's licence over the user's Rust files.
pub fn licensed(project: &Project, path: &RelPath, text: String) -> String {
    match project.license.spdx() {
        Some(spdx) if path.extension() == Some("rs") => {
            format!(
                "// Copyright {} {}\n// SPDX-License-Identifier: {spdx}\n\n{text}",
                project.year, project.owner
            )
        }
        _ => text,
    }
}

fn project_view(project: &Project) -> ProjectView<'_> {
    ProjectView {
        name: project.name.as_str(),
        crate_name: project.name.as_str().replace('-', "_"),
        domain: project.domain.as_str(),
        namespaced: project.namespaced,
        license: project.license,
        spdx: project.license.spdx().unwrap_or_default(),
        owner: project.owner.as_str(),
        year: project.year,
    }
}

fn groups(project: &Project) -> Vec<GroupView<'_>> {
    let mut groups: Vec<GroupView<'_>> = Vec::new();
    for api in project.apis.iter().filter(|api| api.origin != Origin::Kubernetes) {
        if groups.last().is_none_or(|last| last.group != api.group.as_str()) {
            groups.push(group_view(project, api));
        }
    }
    groups.sort_by(|a, b| rust::module_order(&a.folder, &b.folder));
    groups
}

fn group_view<'a>(project: &'a Project, of: &Api) -> GroupView<'a> {
    let same = |api: &&Api| api.group == of.group && api.origin == of.origin;
    let apis: Vec<&Api> = project.apis.iter().filter(same).collect();
    let mut versions: Vec<VersionView<'a>> = Vec::new();
    for api in &apis {
        if versions.last().is_none_or(|last| last.version != api.version.as_str()) {
            versions.push(version_view(project, api));
        }
    }
    versions.sort_by(|a, b| rust::module_order(a.module, b.module));
    let group = apis.first().map_or("", |api| api.group.as_str());
    let folder = rust::module_file(group);
    GroupView {
        group,
        full: project.group_of(of),
        module: rust::module(&folder),
        folder,
        versions,
    }
}

fn version_view<'a>(project: &'a Project, of: &Api) -> VersionView<'a> {
    let sorted = |order: fn(&str, &str) -> Ordering| {
        let same = |api: &&Api| (&api.group, &api.version, api.origin) == (&of.group, &of.version, of.origin);
        let mut apis: Vec<_> = project
            .apis
            .iter()
            .filter(same)
            .map(|api| api_view(project, api))
            .collect();
        apis.sort_by(|a, b| order(&a.folder, &b.folder));
        apis
    };
    let (apis, apis_by_import) = (sorted(rust::module_order), sorted(rust::import_order));
    let version = apis.first().map_or("", |api| api.version);
    VersionView {
        version,
        module: version,
        apis,
        apis_by_import,
    }
}

fn api_view<'a>(project: &Project, api: &'a Api) -> ApiView<'a> {
    let kind = api.kind.as_str();
    let kind_lower = kind.to_ascii_lowercase();
    let group_full = project.group_of(api);
    let group_folder = rust::module_file(api.group.as_str());
    let folder = rust::module_file(kind);
    let (group_module, module) = (rust::module(&group_folder), rust::module(&folder));
    let known = || kubernetes::find(&api.group, &api.version, &api.kind).map_or("", |known| known.module);
    let type_module = match api.origin {
        Origin::Kubernetes => format!("k8s_openapi::api::{}", known()),
        Origin::Project | Origin::Crd => format!("api::{group_module}::{}", api.version),
    };
    ApiView {
        group: api.group.as_str(),
        version: api.version.as_str(),
        version_module: api.version.as_str(),
        kind,
        type_name: match api.origin {
            Origin::Kubernetes => kind.to_owned(),
            Origin::Project | Origin::Crd => rust::type_name(kind),
        },
        type_module,
        foreign: !api.origin.is_project(),
        spec_name: format!("{kind}Spec"),
        status_name: format!("{kind}Status"),
        var: rust::variable(kind),
        kind_snake: rust::snake(kind),
        kind_kebab: rust::kebab(kind),
        path: format!("api::{group_module}::{}::{module}", api.version),
        plural: api.plural.as_str(),
        singular: kind_lower.clone(),
        short_names: api.short_names.iter().map(|name| name.as_str()).collect(),
        crd: format!("{group_full}_{}", api.plural),
        cluster: api.cluster,
        storage: api.storage,
        scales: project.scales(api),
        controllers: api
            .controllers
            .iter()
            .map(|controller| controller_name(api, controller))
            .collect(),
        group_full,
        group_folder,
        group_module,
        kind_lower,
        folder,
        module,
    }
}

fn controller_name<'a>(api: &Api, controller: &'a Controller) -> ControllerName<'a> {
    let file = rust::module_file(controller.name.as_str());
    ControllerName {
        name: controller.name.as_str(),
        module: rust::module(&file),
        file,
        pattern: controller.pattern.as_str(),
        image: controller.pattern.image().map(|image| image.as_str()),
        reconciler: format!("{}Reconciler", api.kind),
    }
}

fn controller_view<'a>(project: &'a Project, api: &'a Api, controller: &'a Controller) -> ControllerView<'a> {
    let view = api_view(project, api);
    let internal = project.internal(api, controller);
    ControllerView {
        controller: controller_name(api, controller),
        after_core: rust::import_order(&view.type_module, "k8s_openapi::api::core::v1").is_gt(),
        api: view,
        internal: internal.map(|internal| api_view(project, internal)),
    }
}
