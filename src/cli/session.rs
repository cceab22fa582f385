//! An open project: locked, with an interrupted command completed, PROJECT read and the templates loaded.

use super::{report, templates};
use crate::plan::{FileKind, Plan, RelPath, plan};
use crate::project::crd::{Definition, Wanted};
use crate::project::{Declared, Group, Kind, KindName, KindVersion, Project, conversion, file};
use crate::render::{File, Rendered, Templates, render};
use crate::write::{Access, ByHand, Change, Outcome, Root, diff, swaps};
use anyhow::{Context, Result, anyhow, bail};
use std::path::Path;

/// An open project.
pub struct Session {
    /// The folder, locked.
    pub root: Root,
    /// The contents of PROJECT.
    pub project: Project,
    /// The templates of the project.
    pub templates: Templates,
    /// The user's own ones among them, by name.
    pub own_templates: Vec<(String, String)>,
    text: Vec<u8>,
}

impl Session {
    /// Opens the project in `dir`.
    pub fn open(dir: &Path, access: Access) -> Result<Self> {
        Self::open_with(dir, access, None)
    }

    /// Opens the project in `dir`, with other templates than it records.
    pub fn open_with(dir: &Path, access: Access, other: Option<&Path>) -> Result<Self> {
        Self::open_as(dir, access, other, file::parse)
    }

    /// The same for a project of this minor release or of an earlier one.
    pub fn open_earlier(dir: &Path, access: Access, other: Option<&Path>) -> Result<Self> {
        Self::open_as(dir, access, other, file::parse_earlier)
    }

    fn open_as(dir: &Path, access: Access, other: Option<&Path>, parse: fn(&str) -> Result<Project>) -> Result<Self> {
        let root = lock(dir, |dir, waiting| Root::open(dir, access, waiting))?;
        let Some(text) = root.read(&project_path())? else {
            bail!(
                "`{}` has no `{}` file\n\nhint: run it in the folder of a project, or name one with `--dir`; `kubewright init` creates one",
                dir.display(),
                file::NAME
            );
        };
        let mut project = parse(&String::from_utf8_lossy(&text))?;
        for at in 0..project.kinds.len() {
            project.kinds[at].definition = definition(&root, &project, &project.kinds[at])?;
        }
        for at in 0..project.kinds.len() {
            // The author may have given them a form that only `create webhook` needs to understand.
            if project.kinds[at].conversion.is_some()
                && let Ok(types) = types(&root, &project, &project.kinds[at])
            {
                project.kinds[at].declare(types);
            }
        }
        let own = match (other, &project.templates) {
            (Some(folder), _) => {
                let texts = templates::read(folder)?;
                project.templates = Some(templates::record(dir, folder, &texts)?);
                texts
            }
            (None, Some(folder)) => templates::recorded(dir, folder)?,
            (None, None) => Vec::new(),
        };
        let templates = Templates::load(&own)?;
        for name in templates
            .catalogue()
            .crates
            .iter()
            .filter(|_| project.crates.are_in_project())
        {
            // No command follows a link there, and one that needs no crate would not notice it.
            root.is_folder(&format!("crates/{name}").parse()?)?;
        }
        Ok(Self {
            root,
            project,
            templates,
            own_templates: own,
            text,
        })
    }

    /// A project in which that kind has its types, as their source declares them.
    pub fn with_types(&self, mut project: Project, group: &Group, name: &KindName) -> Result<Project> {
        if let Some(at) = project.kinds.iter().position(|kind| kind.is(group, name)) {
            let types = types(&self.root, &project, &project.kinds[at])?;
            project.kinds[at].declare(types);
        }
        Ok(project)
    }

    /// The plan of a project with this session's templates.
    pub fn plan(&self, project: &Project) -> Result<Plan> {
        plan(project, self.templates.catalogue())
    }

    /// The files of a plan of a project.
    pub fn render(&self, project: &Project, plan: &Plan) -> Result<Rendered> {
        render(project, plan, &self.templates)
    }

    /// Writes the changes with PROJECT, or shows them, and reports what the user has to do. Returns whether there was a change.
    pub fn finish(self, project: &Project, mut outcome: Outcome, dry_run: bool) -> Result<bool> {
        let mut text = file::format(project);
        let before = String::from_utf8_lossy(&self.text);
        let same = file::parse_earlier(&before).is_ok_and(|before| file::format(&before) == text);
        if !same || file::is_flat(&before) {
            if self.text.windows(2).any(|pair| pair == b"\r\n") {
                text = text.replace('\n', "\r\n");
            }
            outcome.changes.push(project_change(Some(self.text), text));
        }
        let changed = !outcome.changes.is_empty();
        commit(self.root, &outcome.changes, dry_run)?;
        outcome
            .kept
            .iter()
            .for_each(|path| report::note(&format!("kept `{path}`, because it was changed by hand")));
        let has_lines = |path: &RelPath| outcome.by_hand.iter().any(|file| file.path == *path);
        for path in outcome.deleted.iter().filter(|path| !has_lines(path)) {
            report::note(&format!("`{path}` would change, but you have deleted it"));
        }
        for file in &outcome.by_hand {
            report::note(&by_hand(file, outcome.deleted.contains(&file.path)));
        }
        Ok(changed)
    }
}

/// The CRD of a kind of another owner, or of one that was taken over, from its file.
fn definition(root: &Root, project: &Project, kind: &Kind) -> Result<Option<Definition>> {
    if !kind.has_definition() {
        return Ok(None);
    }
    let path = project.crd_path(kind);
    let Some(text) = root.read(&path.parse()?)? else {
        bail!(
            "`{path}` does not exist, and the types of `{}` were generated from it\n\nhint: restore it with `{}`",
            kind.name,
            root.git(&format!("checkout -- {path}"))
        );
    };
    let wanted = Wanted {
        group: project.group_of(kind).parse().ok(),
        kind: Some(kind.name.clone()),
        version: None,
    };
    let found = Definition::find(&String::from_utf8_lossy(&text), &wanted);
    let found = found.and_then(|found| {
        // One that was taken over may have got other versions since.
        let mut versions = kind.versions.iter().filter(|_| !kind.adopted);
        versions.try_for_each(|version| found.version(Some(&version.name)).map(drop))?;
        Ok(found)
    });
    found
        .with_context(|| format!("`{path}` is not the CRD of `{}`", kind.name))
        .map(Some)
}

/// The types of a kind of the project in each of its versions.
fn types(root: &Root, project: &Project, kind: &Kind) -> Result<Vec<Declared>> {
    let one = |version: &KindVersion| {
        let path = project.type_path(kind, &version.name);
        let Some(text) = root.read(&path.parse()?)? else {
            bail!("`{path}` does not exist, and the conversion is generated from the types in it");
        };
        Declared::read(&String::from_utf8_lossy(&text), &kind.name).map_err(|why| {
            anyhow!(
                "no conversion can be generated from `{path}`: {why}\n\nhint: write it by hand: {}",
                conversion::GUIDE
            )
        })
    };
    kind.versions.iter().map(one).collect()
}

/// A dry run only reads.
pub fn access(dry_run: bool) -> Access {
    match dry_run {
        true => Access::Read,
        false => Access::Write,
    }
}

/// The path of PROJECT.
pub fn project_path() -> RelPath {
    file::NAME.parse().expect("a plain name is a path")
}

/// The change that writes PROJECT.
pub fn project_change(before: Option<Vec<u8>>, text: String) -> Change {
    Change {
        path: project_path(),
        before,
        after: Some(File {
            kind: FileKind::Managed,
            executable: false,
            text,
            carried: None,
        }),
    }
}

/// Locks a folder, with a note while another command holds it.
pub fn lock(dir: &Path, how: impl FnOnce(&Path, fn()) -> Result<Root>) -> Result<Root> {
    let root = how(dir, || {
        report::note("waiting for another kubewright command in this project")
    })
    .with_context(|| format!("cannot open the project in `{}`", dir.display()))?;
    if root.completed_another() {
        report::note("completed a command that was interrupted");
    }
    Ok(root)
}

/// Makes the changes and lists them, or only shows them.
pub fn commit(root: Root, changes: &[Change], dry_run: bool) -> Result<()> {
    if dry_run {
        return report::result(&diff(changes));
    }
    root.commit(changes)?;
    report::result(&listed(changes))
}

/// One line per file; a vendored crate is one line.
fn listed(changes: &[Change]) -> String {
    let crates = swaps(changes);
    let mut lines = Vec::new();
    for change in changes {
        let verb = match (&change.before, &change.after) {
            (None, _) => "create",
            (_, Some(_)) => "update",
            (_, None) => "delete",
        };
        let unit = change.crate_name().and_then(|name| crates.get_key_value(name));
        lines.push(match unit {
            Some((name, swap)) => format!("{} crates/{name}/\n", swap.verb()),
            None => format!("{verb} {}\n", change.path),
        });
    }
    lines.dedup();
    lines.concat()
}

fn by_hand(file: &ByHand, is_deleted: bool) -> String {
    let line = |sign: char| move |line: &String| format!("\n  {sign} {line}");
    let lines: String = file
        .remove
        .iter()
        .map(line('-'))
        .chain(file.add.iter().map(line('+')))
        .collect();
    let why = match is_deleted {
        true => "is deleted or moved; make these changes by hand where its code is now",
        false => "is yours and was not changed; make these changes by hand",
    };
    format!("`{}` {why}:{lines}", file.path)
}
