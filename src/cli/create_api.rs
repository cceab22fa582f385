//! `kubewright create api`: a kind with its controller.

use super::ask::{Ask, Usage, confirm};
use super::session::{Session, access};
use super::transition::{Seeded, Transition};
use super::{crd, external, kubebuilder, pattern, report};
use crate::project::change::NewApi;
use crate::project::controllers::NewController;
use crate::project::kubernetes;
use crate::project::{
    ControllerName, Group, Kind, KindName, Origin, Plural, Project, RequestedKind, ShortName, Version,
};
use crate::write::{Change, diff};
use anyhow::{Result, anyhow};
use std::path::Path;

/// Flags of `create api`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubewright create api --group test --version v1 --kind FooBar
  kubewright create api --group test --version v1 --kind Datum \\
    --short-name dt --cluster
  kubewright create api --group test --version v2 --kind FooBar    (new version)
  kubewright create api --group test --version v2 --kind FooBar --storage
  kubewright create api --group apps --version v1 --kind Deployment \\
    --resource=false
  kubewright create api --from-crd certificates.yaml --controller=false
  kubewright create api --from-crd foobars.test.example.com --own  (a cluster's)
  kubewright create api --group test --version v1 --kind FooBar \\
    --resource=false \\
    --controller-name foobar-audit --pattern minimal
  kubewright create api --group test --version v1 --kind FooBar \\
    --pattern deployment --image registry.k8s.io/pause:3.10
  kubewright create api --group test --version v1 --kind FooBar \\
    --pattern internal --internal-kind FooBarRun
  kubewright create api --group test --version v1 --kind FooBar --finalizer")]
pub struct Args {
    /// The API group without the domain, such as `test`, or the domain itself; for a kind defined elsewhere the full group, or `core`
    #[arg(long, value_parser = external::group)]
    group: Option<Group>,
    /// The API version, such as `v1` or `v1beta2` [default with --yes: v1; for a kind of Kubernetes: the newest]
    #[arg(long)]
    version: Option<Version>,
    /// The kind, such as `FooBar`
    #[arg(long)]
    kind: Option<KindName>,
    /// The plural, as in URLs, for all versions of the kind [default: by the rules of English]
    #[arg(long)]
    plural: Option<Plural>,
    /// Objects are cluster-scoped, in all versions of the kind
    #[arg(long)]
    cluster: bool,
    /// As in kubebuilder: `--namespaced=false` is `--cluster`
    #[arg(long, value_name = "BOOL", hide = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, conflicts_with_all = ["cluster", "from_crd"])]
    namespaced: Option<bool>,
    /// Generate types from the CRD of a kind defined elsewhere: a file, `-` for the standard input, or the name of a CRD in
    /// the cluster of the kubeconfig
    #[arg(long, value_name = "FILE|NAME", value_hint = clap::ValueHint::AnyPath, conflicts_with_all = ["plural", "cluster", "short_names", "resource"])]
    from_crd: Option<String>,
    /// Take over the kind in all its versions: `make manifests` writes its CRD from now on
    #[arg(long, requires = "from_crd", conflicts_with = "version")]
    own: bool,
    /// Create the type [default: true]; `false` for a kind that the project or Kubernetes has
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    resource: Option<bool>,
    /// Create a controller [default: true, unless the kind has one that uses another version]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    controller: Option<bool>,
    /// The controller's name, unique in the project [default: the kind in lower case]
    #[arg(long, value_name = "NAME")]
    controller_name: Option<ControllerName>,
    /// Make this version, new or existing, the storage version
    #[arg(long, conflicts_with_all = ["force", "from_crd", "resource"])]
    storage: bool,
    #[command(flatten)]
    pattern: pattern::Flags,
    /// A short name for kubectl, for all versions of the kind; may be repeated
    #[arg(long = "short-name", value_name = "NAME")]
    short_names: Vec<ShortName>,
    /// Overwrite the files of the kind, after showing the lost changes
    #[arg(long)]
    force: bool,
    /// Use the defaults instead of asking
    #[arg(long, short)]
    yes: bool,
    /// Show the changes as a diff, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    theirs: kubebuilder::Given<kubebuilder::CreateApi>,
}

/// Adds a kind to the project in `dir`.
pub fn run(dir: &Path, mut args: Args) -> Result<()> {
    args.theirs.refuse()?;
    args.cluster |= args.namespaced == Some(false);
    let (force, dry_run, yes) = (args.force, args.dry_run, args.yes);
    let only_controller = !args.makes_type();
    let session = Session::open(dir, access(args.dry_run))?;
    let new = args.complete(&session.project)?;
    let project = session.project.with_api(&new)?;
    let mut rest = match only_controller {
        true => session.project.without_controller(&new),
        false => session
            .project
            .forgetting(&new.kind.group, &new.kind.version, &new.kind.name),
    };
    for version in &new.kind.others {
        rest = rest.forgetting(&new.kind.group, version, &new.kind.name);
    }
    let seeded = match force {
        true => Seeded::Afresh(&rest),
        // The type and the sample of the version that was stored change too.
        false if new.storage => Seeded::Merge,
        false => Seeded::Stay,
    };
    let outcome = Transition::new(&session, &project, &seeded)?.outcome(&session, force)?;
    if force && !dry_run && !may_be_lost(&outcome.changes, yes)? {
        return Ok(());
    }
    let before = session.project.clone();
    let changed = session.finish(&project, outcome, dry_run)?;
    next(&new, changed, dry_run);
    if new.kind.adopted && changed && !dry_run {
        crd::notes(&new).iter().for_each(|note| report::note(note));
    }
    if changed && !dry_run {
        of_several(&before, &project, &new);
    }
    Ok(())
}

/// Shows which files are overwritten, and asks for confirmation.
fn may_be_lost(changes: &[Change], yes: bool) -> Result<bool> {
    let there = changes.iter().filter(|change| change.before.is_some());
    let lost: Vec<_> = there.cloned().collect();
    if lost.is_empty() {
        return Ok(true);
    }
    report::note(&diff(&lost));
    confirm(yes, "Overwrite these files?")
}

/// Notes about a kind with several versions.
fn of_several(before: &Project, project: &Project, new: &NewApi) {
    let versions = before
        .kind(&new.kind.group, &new.kind.name)
        .into_iter()
        .flat_map(|kind| &kind.versions);
    let mut former = versions.filter(|version| version.storage && version.name != new.kind.version);
    if let (true, Some(former)) = (new.storage, former.next()) {
        report::note(&format!(
            "\n`{}` is stored from now on; run `make migrate-storage` for each cluster, after the next `make install` or \
             `make deploy`, and keep `{}` until that is done",
            new.kind.version, former.name
        ));
    }
    let Some(kind) = project
        .kind(&new.kind.group, &new.kind.name)
        .filter(|kind| kind.origin.is_project())
    else {
        return;
    };
    let stored = kind
        .versions
        .iter()
        .find(|version| version.storage && version.name != new.kind.version);
    if kind
        .conversion
        .as_ref()
        .is_some_and(|known| !known.has(&new.kind.version))
    {
        report::note(&format!(
            "\nobjects are not converted to `{}` yet: run `kubewright create webhook --group {} --kind {} --conversion`",
            new.kind.version, new.kind.group, new.kind.name
        ));
    } else if let (true, Some(stored)) = (new.resource, stored) {
        report::note(&format!(
            "\n`{}` stays the version that is stored; give `{}` the same fields, as `make manifests` will check, \
             or convert objects, with `kubewright create webhook --group {} --kind {} --conversion`",
            stored.name, new.kind.version, new.kind.group, new.kind.name
        ));
    }
    if let Some(controller) = kind.served_by(&new.kind.version) {
        report::note(&format!(
            "controller `{0}` uses `{1}` and serves the objects of both; move it with `kubewright edit controller {0} --version {2}`",
            controller.name, controller.version, new.kind.version
        ));
    }
}

fn next(new: &NewApi, changed: bool, dry_run: bool) {
    match (changed, dry_run) {
        (false, _) => report::note(&format!("nothing to do: `{}` exists already", new.kind.name)),
        (true, true) => {}
        (true, false) => {
            let written = match new.kind.origin {
                Origin::Project => "the CRD and the RBAC role",
                Origin::Kubernetes | Origin::Crd => "the RBAC role",
            };
            report::note(&format!(
                "\nnext:\n  make manifests   writes {written}\n  make help        lists all targets"
            ));
        }
    }
}

impl Args {
    fn complete(self, project: &Project) -> Result<NewApi> {
        self.check()?;
        let (subject, inputs) = self.answers(project)?;
        self.resolve(project, subject, inputs)
    }

    /// The kind and the inputs of its pattern: from flags or a CRD, and from questions for what is missing.
    fn answers(&self, project: &Project) -> Result<(RequestedKind, pattern::Inputs)> {
        let mut ask = Ask::new(self.yes);
        let (group, version, kind) = (self.group.clone(), self.version.clone(), self.kind.clone());
        let requested = match (&self.from_crd, self.own) {
            (Some(from), true) => Some(crd::adopted(project, from, group, kind)?),
            (Some(from), false) => Some(crd::foreign(from, group, version, kind)?),
            (None, _) => self.named(project, &mut ask)?,
        };
        let subject = requested.map(|it| self.subject(project, it)).transpose()?;
        let inputs = self.pattern.inputs(&mut ask, subject.as_ref())?;
        ask.done("create api")?;
        let subject = subject.ok_or_else(|| Usage::error("the group, version or kind is missing"))?;
        Ok((subject, inputs))
    }

    /// The kind of these names. If it is `None`, [`Ask::done`] fails.
    fn named(&self, project: &Project, ask: &mut Ask) -> Result<Option<RequestedKind>> {
        let (group, version, kind) = (self.group.clone(), self.version.clone(), self.kind.clone());
        let group = ask.need("--group", "Group, without the domain", group, None)?;
        let version = match self.makes_type() {
            true => version,
            false => version.or_else(|| external::version(project, group.as_ref(), kind.as_ref())),
        };
        let version = ask.need("--version", "Version", version, "v1".parse().ok())?;
        let kind = ask.need("--kind", "Kind", kind, None)?;
        let own = |((group, version), kind)| RequestedKind::own(group, version, kind);
        Ok(group.zip(version).zip(kind).map(own))
    }

    /// The kind with its owner.
    fn subject(&self, project: &Project, requested: RequestedKind) -> Result<RequestedKind> {
        if self.from_crd.is_some() {
            return Ok(requested);
        }
        if self.makes_type() {
            external::without_domain(project, &requested.group)?;
            self.not_kubernetes(project, &requested.group, &requested.name)?;
            return Ok(requested);
        }
        Ok(external::kubernetes(project, requested))
    }

    /// The kind and the controller that these answers add to the project.
    fn resolve(self, project: &Project, subject: RequestedKind, inputs: pattern::Inputs) -> Result<NewApi> {
        let known = project.kind(&subject.group, &subject.name);
        let whose = pattern::Whose {
            origin: subject.origin,
            adopted: subject.adopted || known.is_some_and(|kind| kind.adopted),
        };
        let pattern = match self.makes_controller(known, &subject.version)? {
            true => Some(self.pattern.resolve(inputs, whose)?),
            false => None,
        };
        let cluster = self.cluster.then_some(true).or(self.namespaced.map(|_| false));
        if (subject.cluster, cluster) == (Some(true), Some(false)) {
            return Err(Usage::error(format!(
                "objects of `{}` are cluster-scoped\n\nhint: leave out `--namespaced`",
                subject.name
            )));
        }
        Ok(NewApi {
            resource: self.makes_type() || subject.origin == Origin::Kubernetes,
            // The CRD contains it.
            storage: self.storage || (subject.adopted && self.force),
            controller: pattern.map(|pattern| NewController {
                name: self.controller_name,
                pattern,
                finalizer: self.pattern.finalizer(),
            }),
            kind: RequestedKind {
                plural: subject.plural.or(self.plural),
                short_names: subject
                    .short_names
                    .or((!self.short_names.is_empty()).then_some(self.short_names)),
                cluster: subject.cluster.or(cluster),
                ..subject
            },
            replace: self.force,
        })
    }

    /// Whether to create the type.
    fn makes_type(&self) -> bool {
        self.resource.unwrap_or(true)
    }

    /// Refuses the group that is Kubernetes' own, unless the project has kinds there; and, unless `--resource` asks for it, a kind that
    /// Kubernetes has in a group of this name. A kind that the project has stays usable.
    fn not_kubernetes(&self, project: &Project, group: &Group, kind: &KindName) -> Result<()> {
        let mut own = project
            .kinds
            .iter()
            .filter(|it| it.group == *group && it.origin.is_project());
        if group.as_str() == kubernetes::CORE && own.clone().next().is_none() {
            return Err(Usage::error(format!(
                "`core` is Kubernetes' group without a name, so the project's own kinds need another group\n\n\
                 hint: `--group test` makes `test.{}`; for a kind of Kubernetes, such as `Pod`, add `--resource=false`",
                project.domain
            )));
        }
        let full = project.full_group(group);
        if kubernetes::serves(&full) && own.clone().next().is_none() {
            return Err(Usage::error(format!(
                "`{full}` is a group of Kubernetes itself, in which a cluster has no other kinds\n\n\
                 hint: choose another group, such as `--group x-{group}`; for a kind of Kubernetes add `--resource=false`"
            )));
        }
        if self.resource.is_some() || own.any(|it| it.name == *kind) {
            return Ok(());
        }
        let (there, instead) = match kubernetes::newest(group, kind) {
            Some(known) => (
                known.project_group(),
                "add `--resource=false` for a controller of Kubernetes' kind, or",
            ),
            None => match kubernetes::without_controllers(group, kind) {
                Some(there) => (there, "choose another group, or add"),
                None => return Ok(()),
            },
        };
        Err(Usage::error(format!(
            "Kubernetes has the kind `{kind}` in `{there}`, and this would create another one, in `{full}`\n\n\
             hint: {instead} `--resource` for a kind of your own"
        )))
    }

    /// Refuses flags that contradict each other.
    fn check(&self) -> Result<()> {
        let none = self.controller == Some(false);
        if !self.makes_type() && none {
            return Err(Usage::error(
                "`--resource=false --controller=false` leaves nothing to create",
            ));
        }
        if none && self.controller_name.is_some() {
            return Err(Usage::error(
                "`--controller-name` needs a controller, and `--controller=false` creates none",
            ));
        }
        if none {
            self.pattern.without_controller()?;
        }
        if !self.makes_type() && (self.plural.is_some() || self.cluster || !self.short_names.is_empty()) {
            return Err(Usage::error(
                "`--plural`, `--short-name`, `--cluster` and `--namespaced=false` need a type, and `--resource=false` creates none",
            ));
        }
        Ok(())
    }

    /// Whether to create a controller: by default, unless one of another version handles the same objects.
    fn makes_controller(&self, known: Option<&Kind>, version: &Version) -> Result<bool> {
        let is_named = self.controller_name.is_some();
        let asked = self.controller == Some(true) || !self.makes_type() || self.pattern.given() || is_named;
        match known {
            _ if self.controller == Some(false) => Ok(false),
            // An existing version becomes the stored one, and nothing else.
            Some(kind) if self.storage && !asked && kind.version(version).is_some() => Ok(false),
            Some(kind) if !is_named && kind.served_by(version).is_some() => match asked {
                true => Err(served_already(kind)),
                false => Ok(false),
            },
            _ => Ok(true),
        }
    }
}

fn served_already(kind: &Kind) -> anyhow::Error {
    let (name, version) = match kind.controllers_by_rank().next() {
        Some(controller) => (controller.name.as_str(), controller.version.as_str()),
        None => ("", ""),
    };
    anyhow!(
        "controller `{name}` acts on `{}` already, in version `{version}`: the objects of all versions are the same\n\n\
         hint: leave out the flags of a controller, or name a second one with `--controller-name`; \
         `kubewright edit controller {name}` moves the first to another version",
        kind.name
    )
}
