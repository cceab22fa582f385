//! `kubewright create api`: a kind with its controller.

use super::ask::{Ask, Usage, confirm};
use super::report;
use super::session::Session;
use crate::plan::{FileKind, Plan};
use crate::project::change::{NewApi, NewController};
use crate::project::{ControllerName, Group, Image, Kind, Pattern, Plural, Project, ShortName, Version};
use crate::render::Rendered;
use crate::write::{Intent, Intents, compare, diff};
use anyhow::Result;
use std::path::Path;

/// Flags of `create api`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubewright create api --group test --version v1 --kind FooBar
  kubewright create api --group test --version v1 --kind Datum --short-name dt --cluster
  kubewright create api --group test --version v1 --kind FooBar --resource=false \\
    --controller-name foobar-audit --pattern minimal
  kubewright create api --group test --version v1 --kind FooBar \\
    --pattern deployment --image registry.k8s.io/pause:3.10
  kubewright create api --group test --version v1 --kind FooBar \\
    --pattern internal --internal-kind FooBarRun")]
pub struct Args {
    /// The API group without the domain, such as `test`
    #[arg(long)]
    group: Option<Group>,
    /// The API version, such as `v1` or `v1beta2` [default with --yes: v1]
    #[arg(long)]
    version: Option<Version>,
    /// The kind, such as `FooBar`
    #[arg(long)]
    kind: Option<Kind>,
    /// The plural, as it stands in URLs [default: by the rules of English]
    #[arg(long)]
    plural: Option<Plural>,
    /// Objects live outside of namespaces
    #[arg(long)]
    cluster: bool,
    /// Make the type; without it the kind has to be in the project
    #[arg(long, value_name = "BOOL", action = clap::ArgAction::Set, default_value_t = true, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    resource: bool,
    /// Make a controller
    #[arg(long, value_name = "BOOL", action = clap::ArgAction::Set, default_value_t = true, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    controller: bool,
    /// The controller's name, unique in the project [default: the kind in lower case]
    #[arg(long, value_name = "NAME")]
    controller_name: Option<ControllerName>,
    /// The reconciler to start from
    #[arg(long, value_name = "PATTERN", value_enum, default_value_t = PatternName::Child)]
    pattern: PatternName,
    /// What the patterns `deployment` and `replicas` run: an image that needs no root
    #[arg(long, value_name = "IMAGE")]
    image: Option<Image>,
    /// What the pattern `internal` turns objects into: a kind beside this one, made unless it is there
    #[arg(long, value_name = "KIND")]
    internal_kind: Option<Kind>,
    /// A short name for kubectl; may be repeated
    #[arg(long = "short-name", value_name = "NAME")]
    short_names: Vec<ShortName>,
    /// Start the kind's files afresh, after showing what is lost
    #[arg(long)]
    force: bool,
    /// Take the defaults instead of asking
    #[arg(long, short)]
    yes: bool,
    /// Show as a diff what would be written
    #[arg(long)]
    dry_run: bool,
}

/// The patterns by name; what else one needs has a flag of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum PatternName {
    /// keeps one owned ConfigMap in step
    Child,
    /// runs an image as an owned Deployment
    Deployment,
    /// turns each object into one of an internal kind, which a second controller acts on
    Internal,
    /// an empty reconciler
    Minimal,
    /// keeps Pods of an image, as a ReplicaSet does
    Replicas,
}

/// Adds a kind to the project in `dir`.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    let (force, dry_run, yes) = (args.force, args.dry_run, args.yes);
    let session = Session::open(dir)?;
    let new = args.complete()?;
    let project = session.project.with_api(&new)?;
    let before = match force {
        // What a force starts afresh counts as not there.
        true => session.project.forgetting(&new.group, &new.version, &new.kind),
        false => session.project.clone(),
    };
    let known = session.plan(&before)?;
    let was = session.render(&session.project, |_| false)?;
    let will = session.render(&project, |path| !known.entries.contains_key(path))?;
    let replaced = replaced(&session, &project)?;
    let mut intents = intents(&known, &was, &will, force);
    intents.extend(replaced.iter().map(|(path, file)| (path.clone(), Intent::Remove(file))));
    let outcome = compare(&session.root, &intents, force)?;
    let lost: Vec<_> = outcome
        .changes
        .iter()
        .filter(|change| change.before.is_some())
        .cloned()
        .collect();
    if force && !dry_run && !lost.is_empty() {
        report::note(&diff(&lost));
        if !confirm(yes, "Write this over what is there?")? {
            return Ok(());
        }
    }
    let changed = session.finish(&project, outcome, dry_run)?;
    next(&new, changed, dry_run);
    Ok(())
}

/// New files are seeded; managed ones that change are managed.
fn intents<'a>(known: &Plan, was: &'a Rendered, will: &'a Rendered, force: bool) -> Intents<'a> {
    let mut intents = Intents::new();
    for (path, file) in will {
        let before = was.get(path);
        let intent = match file.kind {
            FileKind::Managed if before == Some(file) && !force => continue,
            FileKind::Managed => Intent::Manage { after: file, before },
            _ if known.entries.contains_key(path) => continue,
            _ => Intent::Seed(file),
        };
        intents.insert(path.clone(), intent);
    }
    intents
}

/// Files that other inputs of the kind had made and these do not, as after a change of pattern.
fn replaced(session: &Session, project: &Project) -> Result<Rendered> {
    let stay = session.plan(project)?;
    let mut gone = session.render(&session.project, |path| !stay.entries.contains_key(path))?;
    gone.retain(|path, _| !stay.entries.contains_key(path));
    Ok(gone)
}

fn next(new: &NewApi, changed: bool, dry_run: bool) {
    match (changed, dry_run) {
        (false, _) => report::note(&format!("nothing to do: `{}` is there", new.kind)),
        (true, true) => {}
        (true, false) => report::note(
            "\nnext:\n  make manifests   writes the CRD and the RBAC role\n  make help        lists what else there is",
        ),
    }
}

impl Args {
    fn complete(self) -> Result<NewApi> {
        let mut ask = Ask::new(self.yes);
        let group = ask.need("--group", "Group, without the domain", self.group.clone(), None)?;
        let version = ask.need("--version", "Version", self.version.clone(), "v1".parse().ok())?;
        let kind = ask.need("--kind", "Kind", self.kind.clone(), None)?;
        let pattern = match kind.as_ref().filter(|_| self.controller) {
            Some(kind) => self.pattern(&mut ask, kind)?,
            None => None,
        };
        ask.done("create api")?;
        let (Some(group), Some(version), Some(kind)) = (group, version, kind) else {
            return Err(Usage::error("the group, version or kind is missing"));
        };
        if !self.resource && !self.controller {
            return Err(Usage::error(
                "`--resource=false --controller=false` leaves nothing to make",
            ));
        }
        self.check_pattern()?;
        if !self.controller && self.controller_name.is_some() {
            return Err(Usage::error(
                "`--controller-name` needs a controller, and `--controller=false` makes none",
            ));
        }
        if !self.resource && (self.plural.is_some() || self.cluster || !self.short_names.is_empty()) {
            return Err(Usage::error(
                "`--plural`, `--short-name` and `--cluster` are the type's, and `--resource=false` makes none",
            ));
        }
        let controller = pattern.map(|pattern| NewController {
            name: self.controller_name,
            pattern,
        });
        Ok(NewApi {
            group,
            version,
            kind,
            plural: self.plural,
            short_names: self.short_names,
            cluster: self.cluster,
            resource: self.resource,
            controller,
            replace: self.force,
        })
    }

    /// The pattern with what it needs to be told.
    fn pattern(&self, ask: &mut Ask, kind: &Kind) -> Result<Option<Pattern>> {
        let mut image = || ask.need("--image", "Image that it runs", self.image.clone(), None);
        Ok(match self.pattern {
            PatternName::Child => Some(Pattern::Child),
            PatternName::Minimal => Some(Pattern::Minimal),
            PatternName::Deployment => image()?.map(Pattern::Deployment),
            PatternName::Replicas => image()?.map(Pattern::Replicas),
            PatternName::Internal => {
                let run = format!("{kind}Run").parse().ok();
                ask.need("--internal-kind", "Internal kind", self.internal_kind.clone(), run)?
                    .map(Pattern::Internal)
            }
        })
    }

    /// Refuses what the pattern would not use.
    fn check_pattern(&self) -> Result<()> {
        let (runs, makes) = match self.pattern {
            PatternName::Deployment | PatternName::Replicas => (self.controller, false),
            PatternName::Internal => (false, self.controller),
            PatternName::Child | PatternName::Minimal => (false, false),
        };
        if self.image.is_some() && !runs {
            return Err(Usage::error(
                "`--image` is what a controller of pattern `deployment` or `replicas` runs, and none is made\n\n\
                 hint: add `--pattern deployment`, or leave it out",
            ));
        }
        if self.internal_kind.is_some() && !makes {
            return Err(Usage::error(
                "`--internal-kind` is what a controller of pattern `internal` makes, and none is made\n\n\
                 hint: add `--pattern internal`, or leave it out",
            ));
        }
        Ok(())
    }
}
