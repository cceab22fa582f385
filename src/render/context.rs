//! The variables of templates: typed views of the project, created once for all files, and of the subject of each file.

use super::{conversions, definitions, finalizers, imports, policies, samples, webhooks};
use crate::plan::Subject;
use crate::project::{Api, Controller, Crates, Kind, License, Origin, Project, kubernetes, rust};
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
    /// The same, in the order in which rustfmt sorts `use` lines.
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
    /// The type in a `use`, with the other name if it has one.
    import: String,
    spec_name: String,
    spec_import: String,
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
    /// The file of `config/samples`.
    sample: String,
    /// The name of the sample in the storage version.
    sample_name: String,
    cluster: bool,
    /// Whether its objects have a number of replicas.
    scales: bool,
    /// Whether its objects run to completion.
    runs: bool,
    /// Whether its objects create Jobs at the times of a schedule.
    scheduled: bool,
    /// Whether its objects have members with storage.
    stateful: bool,
    /// Whether its objects are backed up and restored by objects of other kinds.
    backups: bool,
    /// The pattern by which its objects back up or restore those of another kind.
    about: Option<&'static str>,
    /// That other kind.
    of: Option<&'a str>,
    storage: bool,
    /// Whether the operator converts objects of this version to the hub and back.
    converted: bool,
    /// Whether API servers refuse the CRD without an approval.
    needs_approval: bool,
    /// The path of the module that contains its type.
    type_module: String,
    foreign: bool,
}

#[derive(Serialize)]
struct ControllerView<'a> {
    name: &'a str,
    file: String,
    module: String,
    pattern: &'a str,
    /// The image that its pattern runs.
    image: Option<&'a str>,
    /// The same without tag and digest.
    repository: Option<&'a str>,
    reconciler: String,
    /// Whether it has the default name of the kind's first controller.
    first: bool,
    /// The suffix of the names of its children.
    suffix: String,
    /// The type of the condition that it sets.
    condition: String,
    /// The name of its finalizer, if it starts with one.
    finalizer: Option<String>,
    /// Whether rustfmt sorts the import of its kind after the imports of core kinds.
    after_core: bool,
    api: ApiView<'a>,
    /// The internal kind that its pattern creates.
    internal: Option<ApiView<'a>>,
    /// The kinds for backups and restores of its objects.
    backup: Option<ApiView<'a>>,
    restore: Option<ApiView<'a>>,
    /// The stateful kind that it backs up or restores, in the version of that kind's controller.
    of: Option<ApiView<'a>>,
    /// The module of that kind's controller.
    of_module: Option<String>,
}

/// The variables of every template.
pub fn shared(project: &Project) -> Context {
    let mut context = Context::new();
    context.insert("kubewright_version", &project.version);
    context.insert("project", &project_view(project));
    context.insert("groups", &groups(project));
    let own = project.apis().filter(|api| api.kind.origin.is_project());
    let apis: Vec<_> = own.map(|api| api_view(project, api)).collect();
    context.insert("apis", &apis);
    let controllers = project.controllers();
    let controllers: Vec<_> = controllers
        .into_iter()
        .filter_map(|(kind, controller)| controller_view(project, kind, controller))
        .collect();
    context.insert("controllers", &controllers);
    let all = project.webhooks().into_iter();
    let webhooks: Vec<_> = all.map(|(kind, own)| webhooks::view(project, kind, own)).collect();
    context.insert("webhooks", &webhooks);
    let all = project.conversions().into_iter();
    let conversions: Vec<_> = all.map(|(_, own)| conversions::view(own)).collect();
    context.insert("conversions", &conversions);
    context.insert("policies", &policies::views(project));
    // Whether the operator needs the crate `kubewright-webhooks`.
    context.insert("extended", &project.uses_webhooks_crate());
    context.insert("vendored", &project.crates.are_in_project());
    context.insert("archives", &(project.crates == Crates::Archives));
    context
}

/// The variables for the subject of a template.
pub fn about(context: &mut Context, project: &Project, subject: Subject) -> Result<()> {
    match subject {
        Subject::Project => {}
        Subject::Group(at) => context.insert("group", &group_view(project, &project.kinds[at])),
        Subject::Version(at, nth) => {
            let api = Subject::api(project, at, nth);
            context.insert("group", &group_view(project, api.kind));
            context.insert("version", &version_view(project, api));
        }
        Subject::Api(at, nth) => {
            let api = Subject::api(project, at, nth);
            context.insert("api", &api_view(project, api));
            if let Some(controller) = api.kind.served_by(&api.version.name) {
                context.insert("served_by", &controller_view(project, api.kind, controller));
            }
            definitions::about(context, project, api)?;
        }
        Subject::Controller(at, nth) => {
            let kind = &project.kinds[at];
            let controller = &kind.controllers[nth];
            if let Some(api) = api_of(kind, controller) {
                context.insert(
                    "api",
                    &importing(api_view(project, api), imports::of_controller(project, controller)),
                );
                if let Some(sample) = samples::of(api) {
                    context.insert("sample", &sample);
                }
                context.insert("reports", &definitions::reports(api));
            }
            context.insert("controller", &controller_view(project, kind, controller));
        }
        Subject::Webhooks(at) => {
            let kind = &project.kinds[at];
            let own = kind.webhooks.as_ref();
            if let Some((own, version)) = own.and_then(|own| Some((own, kind.version(&own.version)?))) {
                let api = Api { kind, version };
                let view = importing(api_view(project, api), imports::of_webhook_tests(project));
                context.insert("api", &view);
                context.insert("own", &webhooks::view(project, kind, own));
                if let Some(sample) = samples::of(api) {
                    context.insert("sample", &sample);
                }
            }
        }
        Subject::Policy(at, form) => {
            if let Some((own, api)) = policies::of(&project.kinds[at], form) {
                context.insert("api", &api_view(project, api));
                context.insert("own", &policies::view(project, api.kind, form, own));
            }
        }
        Subject::Spoke(at, nth) => {
            if let Some([hub, spoke]) = conversions::versions(&project.kinds[at], nth) {
                let mut both = [api_view(project, hub), api_view(project, spoke)];
                context.insert("hub", &both[0]);
                context.insert("api", &both[1]);
                both.sort_by(|a, b| rust::import_order(a.version, b.version));
                context.insert("versions", &both);
            }
        }
    }
    Ok(())
}

/// The variables of the template of a kind's type.
pub fn of_type(context: &mut Context, project: &Project, api: Api<'_>) {
    context.insert("api", &api_view(project, api));
}

/// The kind of a controller in the version that the controller uses.
fn api_of<'a>(kind: &'a Kind, controller: &Controller) -> Option<Api<'a>> {
    let version = kind.version(&controller.version)?;
    Some(Api { kind, version })
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
    for kind in project.kinds.iter().filter(|kind| kind.origin != Origin::Kubernetes) {
        if groups.last().is_none_or(|last| last.group != kind.group.as_str()) {
            groups.push(group_view(project, kind));
        }
    }
    groups.sort_by(|a, b| rust::module_order(&a.folder, &b.folder));
    groups
}

/// The kinds of a group in each of their versions.
fn of_group<'a>(project: &'a Project, of: &'a Kind) -> impl Iterator<Item = Api<'a>> {
    let same = |api: &Api| api.kind.group == of.group && api.kind.origin == of.origin;
    project.apis().filter(same)
}

fn group_view<'a>(project: &'a Project, of: &'a Kind) -> GroupView<'a> {
    let mut versions: Vec<VersionView<'a>> = Vec::new();
    for api in of_group(project, of) {
        if versions.iter().all(|known| known.version != api.version.name.as_str()) {
            versions.push(version_view(project, api));
        }
    }
    versions.sort_by(|a, b| rust::module_order(a.module, b.module));
    let group = of.group.as_str();
    let folder = rust::module_file(group);
    GroupView {
        group,
        full: project.group_of(of),
        module: rust::module(&folder),
        folder,
        versions,
    }
}

fn version_view<'a>(project: &'a Project, of: Api<'a>) -> VersionView<'a> {
    let sorted = |order: fn(&str, &str) -> Ordering| {
        let same = |api: &Api| api.version.name == of.version.name;
        let apis = of_group(project, of.kind).filter(same);
        let mut apis: Vec<_> = apis.map(|api| api_view(project, api)).collect();
        apis.sort_by(|a, b| order(&a.folder, &b.folder));
        apis
    };
    let version = of.version.name.as_str();
    VersionView {
        version,
        module: version,
        apis: sorted(rust::module_order),
        apis_by_import: sorted(rust::import_order),
    }
}

fn api_view<'a>(project: &Project, api: Api<'a>) -> ApiView<'a> {
    let Api { kind: owner, version } = api;
    let (kind, version) = (owner.name.as_str(), version.name.as_str());
    let kind_lower = kind.to_ascii_lowercase();
    let group_full = project.group_of(owner);
    let group_folder = rust::module_file(owner.group.as_str());
    let folder = rust::module_file(kind);
    let (group_module, module) = (rust::module(&group_folder), rust::module(&folder));
    let known = || kubernetes::find(&owner.group, &api.version.name, &owner.name).map_or("", |known| known.module);
    let type_module = match owner.origin {
        Origin::Kubernetes => format!("k8s_openapi::api::{}", known()),
        Origin::Project | Origin::Crd => format!("api::{group_module}::{version}"),
    };
    ApiView {
        group: owner.group.as_str(),
        version,
        version_module: version,
        kind,
        type_name: rust::type_name(owner),
        import: rust::type_name(owner),
        spec_name: format!("{kind}Spec"),
        spec_import: format!("{kind}Spec"),
        type_module,
        foreign: !owner.origin.is_project(),
        status_name: format!("{kind}Status"),
        var: rust::variable(kind),
        kind_snake: rust::snake(kind),
        kind_kebab: rust::kebab(kind),
        path: format!("api::{group_module}::{version}::{module}"),
        plural: owner.plural.as_str(),
        singular: kind_lower.clone(),
        short_names: owner.short_names.iter().map(|name| name.as_str()).collect(),
        crd: format!("{group_full}_{}", owner.plural),
        sample: format!("{group_folder}_{version}_{folder}.yaml"),
        sample_name: samples::name(project, owner),
        cluster: owner.cluster,
        storage: api.version.storage,
        converted: definitions::is_converted(api),
        needs_approval: owner.origin.is_project() && kubernetes::needs_approval(&group_full),
        scales: project.scales(owner),
        runs: project.runs(owner),
        scheduled: project.is_scheduled(owner),
        stateful: project.is_stateful(owner),
        backups: project.has_backups(owner),
        about: owner.about(),
        of: owner.of().map(|kind| kind.as_str()),
        group_full,
        group_folder,
        group_module,
        kind_lower,
        folder,
        module,
    }
}

fn controller_view<'a>(project: &'a Project, kind: &'a Kind, controller: &'a Controller) -> Option<ControllerView<'a>> {
    let seen = |api| importing(api_view(project, api), imports::of_controller(project, controller));
    let api = seen(api_of(kind, controller)?);
    let internal = project.internal(kind, controller);
    let of = project.backed_up(kind, controller);
    let stateful = of.map_or(kind, |(kind, _)| kind);
    let [backup, restore] = project.backup_kinds(stateful);
    let file = rust::module_file(controller.name.as_str());
    // A further controller of the kind needs a child, a finalizer and a condition of its own.
    let first = controller.is_first_of(kind);
    let mut view = ControllerView {
        name: controller.name.as_str(),
        module: rust::module(&file),
        file,
        pattern: controller.pattern.as_str(),
        image: controller.pattern.image().map(|image| image.as_str()),
        repository: controller.pattern.image().map(|image| image.repository()),
        reconciler: format!("{}Reconciler", kind.name),
        first,
        suffix: controller.suffix(kind),
        condition: match first {
            true => "Ready".to_owned(),
            false => format!("{}Ready", rust::capitalised(controller.name.as_str())),
        },
        finalizer: None,
        after_core: rust::import_order(&api.type_module, "k8s_openapi::api::core::v1").is_gt(),
        api,
        internal: internal.map(seen),
        backup: backup.map(seen),
        restore: restore.map(seen),
        of: of.and_then(|(kind, own)| Some(seen(api_of(kind, own)?))),
        of_module: of.map(|(_, own)| rust::module(&rust::module_file(own.name.as_str()))),
    };
    view.finalizer = (controller.finalizer || controller.pattern.has_cleanup())
        .then(|| finalizers::name(project, kind, view.name, view.first));
    Some(view)
}

/// A kind as files name it that import these names too.
fn importing<'a>(mut api: ApiView<'a>, others: &[&str]) -> ApiView<'a> {
    [api.type_name, api.import] = imports::imported(&api.type_name, others);
    [api.spec_name, api.spec_import] = imports::imported_spec(&api.spec_name, others);
    api
}
