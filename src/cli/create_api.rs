//! `kubewright create api`: a kind with its controller.

use super::ask::{Ask, Usage, confirm};
use super::report;
use super::session::Session;
use crate::plan::{FileKind, Plan};
use crate::project::change::{NewApi, NewController};
use crate::project::{ControllerName, Group, Kind, Pattern, Plural, Project, ShortName, Version};
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
    --controller-name foobar-audit --pattern minimal")]
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
    /// The reconciler to start from: `child` keeps one owned ConfigMap in step, `minimal` is empty
    #[arg(long, value_name = "PATTERN", default_value = "child", value_parser = pattern)]
    pattern: Pattern,
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

/// Adds a kind to the project in `dir`.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    let (force, dry_run, yes) = (args.force, args.dry_run, args.yes);
    let session = Session::open(dir)?;
    let new = args.complete()?;
    let project = session.project.with_api(&new)?;
    let before = match force {
        // What a force starts afresh counts as not there.
        true => session
            .project
            .without_api(&new.group, &new.version, &new.kind)
            .unwrap_or_else(|_| session.project.clone()),
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
        let group = ask.need("--group", "Group, without the domain", self.group, None)?;
        let version = ask.need("--version", "Version", self.version, "v1".parse().ok())?;
        let kind = ask.need("--kind", "Kind", self.kind, None)?;
        ask.done("create api")?;
        let (Some(group), Some(version), Some(kind)) = (group, version, kind) else {
            return Err(Usage::error("the group, version or kind is missing"));
        };
        if !self.resource && !self.controller {
            return Err(Usage::error(
                "`--resource=false --controller=false` leaves nothing to make",
            ));
        }
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
        let controller = self.controller.then_some(NewController {
            name: self.controller_name,
            pattern: self.pattern,
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
}

fn pattern(text: &str) -> Result<Pattern, String> {
    match text {
        "child" => Ok(Pattern::Child),
        "minimal" => Ok(Pattern::Minimal),
        "deployment" | "replicas" | "internal" => Err(format!(
            "pattern `{text}` is not built yet; there are `child` and `minimal`"
        )),
        _ => Err("there are `child` and `minimal`".into()),
    }
}
