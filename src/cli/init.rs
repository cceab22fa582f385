//! `kubewright init`: a new project.

use super::ask::{Ask, Usage};
use super::session::{commit, lock, project_change, project_path};
use super::{crates, host, kubebuilder, report, templates};
use crate::plan::{RelPath, plan};
use crate::project::{Crates, Domain, InvalidName, License, Owner, Project, ProjectName, file};
use crate::render::{Sources, Templates, cargo_lock, render};
use crate::write::{Beneath, Change, Intent, Root, compare, is_interrupted, parent_line, quoted};
use anyhow::{Error, Result, bail};
use k8s_openapi::jiff::{Timestamp, tz::TimeZone};
use std::path::{Path, PathBuf};

/// The template of the lock file, which names every dependency.
const LOCK: &str = "project/Cargo.lock.tera";

/// Flags of `init`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubewright init --domain example.com
  kubewright init --domain example.com --project-name foobar-operator \\
    --dir foobar-operator
  kubewright init --domain example.com --crates registry
  kubewright init --domain example.com --license mit --owner 'Jane Doe' \\
    --dry-run")]
pub struct Args {
    /// The folder of the project [default: the current one]
    #[arg(id = "dir", long = "dir", value_name = "PATH")]
    _dir: Option<PathBuf>,
    /// The domain of the API groups: group `test` becomes `test.example.com` [default with --yes: example.com]
    #[arg(long)]
    domain: Option<Domain>,
    /// Name of the package and of the objects: at most 28 characters [default: the folder's name]
    #[arg(long, value_name = "NAME")]
    project_name: Option<ProjectName>,
    /// Watch only the operator's own namespace, with a Role instead of a ClusterRole
    #[arg(long)]
    namespaced: bool,
    /// The licence of your code
    #[arg(long, value_enum, default_value = "none")]
    license: License,
    /// The owner in the licence [default: "The PROJECT_NAME authors"]
    #[arg(long, value_name = "NAME", value_parser = owner)]
    owner: Option<Owner>,
    /// The copyright year of the licence [default: this year]
    #[arg(long, value_name = "Y", value_parser = clap::value_parser!(u16).range(1970..=9999))]
    year: Option<u16>,
    /// Source of kubewright's crates
    #[arg(long, value_enum, default_value = "archives")]
    crates: Crates,
    /// A folder of your own templates, which replace built-in ones of the same path
    #[arg(long, value_name = "DIR")]
    templates: Option<PathBuf>,
    /// Use the defaults instead of asking
    #[arg(long, short)]
    yes: bool,
    /// Show the changes as a diff, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    theirs: kubebuilder::Given<kubebuilder::Init>,
}

/// Makes a project in `dir`.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    args.theirs.refuse()?;
    let dry_run = args.dry_run;
    let own = args
        .templates
        .as_deref()
        .map(templates::read)
        .transpose()?
        .unwrap_or_default();
    let is_named = args.owner.is_some() || args.year.is_some();
    let found = project_of(dir)?;
    let is_new = found.is_none();
    let args = args.or_those_of(found);
    let project = args.project(dir, &own)?;
    if is_new {
        project
            .name
            .fits_objects()
            .map_err(|why| Usage::error(why.to_string()))?;
        check_packages(&project.name)?;
    }
    let root = lock(dir, |dir, waiting| {
        if dry_run {
            Root::look(dir, waiting)
        } else {
            Root::create(dir, waiting)
        }
    })?;
    if let Some(found) = root.read(&project_path())? {
        return again(&String::from_utf8_lossy(&found), &project);
    }
    let templates = Templates::load(&own)?;
    let rendered = render(&project, &plan(&project, templates.catalogue())?, &templates)?;
    let seed = |path: &RelPath, file| match host::is_of_host(path.as_str()) {
        true => Intent::Keep(file),
        false => Intent::Seed(file),
    };
    let intents = rendered
        .iter()
        .map(|(path, file)| (path.clone(), seed(path, file)))
        .collect();
    let mut outcome = compare(&root, &intents, false)?;
    outcome.changes.push(project_change(None, file::format(&project)));
    host::keep(&root, &mut outcome)?;
    write(root, dir, &outcome.changes, dry_run)?;
    if is_named && project.license == License::None {
        report::note(
            "no file names the owner or the year, because the project has no licence; `--license` gives it one",
        );
    }
    if !dry_run && project.crates == Crates::Registry {
        report::note(&format!("\n{}", crates::to_be_locked(&project)));
    }
    Ok(())
}

/// Refuses a name whose packages Cargo could not tell from dependencies of the project. Projects of earlier releases keep such a name.
fn check_packages(name: &ProjectName) -> Result<()> {
    let lock = Sources::own().templates().get(LOCK).copied().unwrap_or_default();
    let packages = [name.to_string(), format!("{name}-api")];
    match packages.iter().find(|name| cargo_lock::has(lock, name)) {
        Some(package) => Err(Usage::error(format!(
            "`{name}` cannot name a project: a dependency of every project is the package `{package}`\n\n\
             hint: choose another name with `--project-name`; the folder may have another one"
        ))),
        None => Ok(()),
    }
}

fn write(root: Root, dir: &Path, changes: &[Change], dry_run: bool) -> Result<()> {
    commit(root, changes, dry_run)?;
    if let Some((manifest, line)) = parent_line(dir) {
        report::note(&format!(
            "\nthe workspace of `{}` claims this folder, and a project is a workspace of its own; add there, under [workspace]:\n  {line}",
            manifest.display()
        ));
    }
    if let Some(note) = host::idle_workflows(dir) {
        report::note(&note);
    }
    if !dry_run {
        let enter = if dir == Path::new(".") {
            String::new()
        } else {
            format!("  cd {}\n", quoted(dir))
        };
        report::note(&format!(
            "\nnext:\n{enter}  kubewright create api --group test --version v1 --kind FooBar"
        ));
    }
    Ok(())
}

/// Succeeds for the inputs of the existing project: a second run has nothing to do.
fn again(found: &str, project: &Project) -> Result<()> {
    let mut existing = file::parse(found)?;
    existing.kinds.clear();
    // PROJECT contains the version of the binary that ran first; the same minor release writes the same project.
    existing.version = project.version.clone();
    if existing == *project {
        report::note("nothing to do: the project exists already");
        return Ok(());
    }
    let differs = [
        ("--domain", existing.domain != project.domain),
        ("--project-name", existing.name != project.name),
        ("--namespaced", existing.namespaced != project.namespaced),
        ("--license", existing.license != project.license),
        ("--owner", existing.owner != project.owner),
        ("--year", existing.year != project.year),
        ("--crates", existing.crates != project.crates),
        ("--templates", existing.templates != project.templates),
    ];
    let differs: Vec<_> = differs.iter().filter(|(_, differs)| *differs).collect();
    let flags: Vec<_> = differs.iter().map(|(flag, _)| format!("`{flag}`")).collect();
    bail!(
        "this folder has a project already, `{}`, with another value of {}\n\nhint: choose another folder with `--dir`",
        existing.name,
        flags.join(", ")
    )
}

/// The project in the folder, if there is one that is complete. A `PROJECT` of another tool is an error.
fn project_of(dir: &Path) -> Result<Option<Project>> {
    let Ok(folder) = Beneath::open(dir) else {
        return Ok(None);
    };
    if is_interrupted(&folder) {
        // It is completed as soon as the folder is locked.
        return Ok(None);
    }
    match folder.read(&project_path()) {
        Ok(Some(text)) => file::parse(&String::from_utf8_lossy(&text)).map(Some),
        _ => Ok(None),
    }
}

impl Args {
    /// In the folder of a project, its settings are the defaults, so that the command asks no question before it fails.
    fn or_those_of(mut self, found: Option<Project>) -> Self {
        if let Some(project) = found {
            self.domain.get_or_insert(project.domain);
            self.project_name.get_or_insert(project.name);
            self.year.get_or_insert(project.year);
        }
        self
    }

    fn project(self, dir: &Path, own: &[(String, String)]) -> Result<Project> {
        let mut ask = Ask::new(self.yes);
        let domain = ask.need(
            "--domain",
            "Domain of the API groups",
            self.domain,
            "example.com".parse().ok(),
        )?;
        let folder = folder_name(dir);
        let name = match (self.project_name, &folder) {
            (None, Some(folder)) => match folder.parse::<ProjectName>() {
                Ok(name) if ask.asks() && name.fits_objects().is_err() => None,
                Ok(name) => Some(name),
                Err(_) if domain.is_none() || ask.asks() => None,
                Err(why) => return Err(unfit(folder, &why)),
            },
            (given, _) => given,
        };
        let name = ask.need("--project-name", "Name of the project", name, None)?;
        ask.done("init")?;
        let (Some(domain), Some(name)) = (domain, name) else {
            return Err(Usage::error("the project's name or domain is missing"));
        };
        let templates = match &self.templates {
            Some(folder) => Some(templates::record(dir, folder, own)?),
            None => None,
        };
        Ok(Project {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            owner: match self.owner {
                Some(owner) => owner,
                None => format!("The {name} authors").parse()?,
            },
            year: self.year.unwrap_or_else(this_year),
            name,
            domain,
            namespaced: self.namespaced,
            crates: self.crates,
            license: self.license,
            templates,
            kinds: Vec::new(),
        })
    }
}

fn folder_name(dir: &Path) -> Option<String> {
    let path = dir.canonicalize().or_else(|_| std::path::absolute(dir)).ok()?;
    Some(path.file_name()?.to_str()?.to_owned())
}

fn unfit(folder: &str, why: &InvalidName) -> Error {
    Usage::error(format!(
        "the folder's name, `{folder}`, {why}, so it cannot be the project's\n\nhint: name the project with `--project-name`"
    ))
}

/// An owner as flags name it.
pub fn owner(text: &str) -> Result<Owner, InvalidName> {
    text.trim().parse()
}

/// The year by UTC.
fn this_year() -> u16 {
    let now = Timestamp::now().to_zoned(TimeZone::UTC);
    u16::try_from(now.year()).unwrap_or_default()
}
