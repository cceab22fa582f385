//! From one project to another: which files a change of PROJECT creates, rewrites and deletes.

use super::crates::{self, is_of};
use super::session::Session;
use crate::plan::{FileKind, Plan, RelPath, Source};
use crate::project::Project;
use crate::render::{File, Rendered};
use crate::write::{Intent, Intents, Outcome, State, compare, vendored_state};
use anyhow::Result;

/// The effect of a change on seeded files of both projects.
pub enum Seeded<'a> {
    /// Changes no file.
    Stay,
    /// Rewrites the files that this project does not have, even if they exist, and changes no other file.
    Afresh(&'a Project),
    /// Rewrites files whose templates the change affects, unless they are edited.
    Follow,
    /// Rewrites files whose templates the change affects, with the user's edits. Where the edits are in the way, the
    /// user gets the lines to change.
    Merge,
}

/// Both projects, planned once and rendered once.
pub struct Transition {
    /// The plan of the current project, without the files that are rewritten.
    known: Plan,
    was: Rendered,
    will: Rendered,
    /// Whether seeded files that both have are merged.
    merges: bool,
}

impl Transition {
    /// From the project of the session to `project`.
    pub fn new(session: &Session, project: &Project, seeded: &Seeded) -> Result<Self> {
        let (before, after) = (session.plan(&session.project)?, session.plan(project)?);
        let known = match seeded {
            Seeded::Afresh(rest) => session.plan(rest)?,
            Seeded::Stay | Seeded::Follow | Seeded::Merge => before.clone(),
        };
        let affected = matches!(seeded, Seeded::Follow | Seeded::Merge);
        let is_moved = session.project.crates != project.crates;
        let only_in = |mut plan: Plan, other: &Plan| {
            plan.entries.retain(|path, entry| {
                let differs = match entry.kind {
                    FileKind::Managed => true,
                    FileKind::Seeded => affected,
                    FileKind::Vendored => is_moved,
                    FileKind::Derived => false,
                };
                differs || !other.entries.contains_key(path)
            });
            plan
        };
        let owned = match is_moved {
            false => owned_crates(session, [&before, &after])?,
            // `sync --crates` has refused such crates.
            true => Vec::new(),
        };
        let absent = match is_moved {
            true => crates::absent(session, &before)?,
            false => Vec::new(),
        };
        let mut was = session.render(&session.project, &only_in(before, &after))?;
        was.retain(|path, _| !absent.iter().any(|source| is_of(source, path.as_str())));
        let will = session.render(project, &only_in(after, &known))?;
        let merges = matches!(seeded, Seeded::Merge);
        let mut transition = Self {
            known,
            was,
            will,
            merges,
        };
        for source in &owned {
            transition.leave_out(|path| is_of(source, path));
        }
        Ok(transition)
    }

    /// Does not write the files of either project for which `is_left` returns true, and leaves what is there.
    pub fn leave_out(&mut self, is_left: impl Fn(&str) -> bool) {
        self.was.retain(|path, _| !is_left(path.as_str()));
        self.will.retain(|path, _| !is_left(path.as_str()));
    }

    /// Compares the files with the disk. With `force`, seeded files replace what is in their way, and edited files are
    /// removed.
    pub fn outcome(&self, session: &Session, force: bool) -> Result<Outcome> {
        compare(&session.root, &self.intents(), force)
    }

    fn intents(&self) -> Intents<'_> {
        let mut intents = Intents::new();
        for (path, after) in &self.will {
            if let Some(intent) = self.intent(path, after) {
                intents.insert(path.clone(), intent);
            }
        }
        let gone = self.was.iter().filter(|(path, _)| !self.will.contains_key(*path));
        intents.extend(gone.map(|(path, file)| (path.clone(), Intent::Remove(file))));
        intents
    }

    fn intent<'a>(&'a self, path: &RelPath, after: &'a File) -> Option<Intent<'a>> {
        let before = self.was.get(path);
        match (after.kind, before) {
            (_, Some(before)) if before == after => None,
            (FileKind::Managed, before) => Some(Intent::Manage { after, before }),
            (_, Some(before)) if self.merges => Some(Intent::Join { after, before }),
            (_, Some(before)) if self.known.entries.contains_key(path) => Some(Intent::Follow { after, before }),
            _ => Some(Intent::Seed(after)),
        }
    }
}

/// The crates that one of these plans alone has and that the user owns: ejected or edited ones.
fn owned_crates(session: &Session, [before, after]: [&Plan; 2]) -> Result<Vec<Source>> {
    let mut owned = Vec::new();
    for (plan, other) in [(before, after), (after, before)] {
        for (path, entry) in &plan.entries {
            let is_changed = entry.kind == FileKind::Vendored && !other.entries.contains_key(path);
            if is_changed
                && session.root.is_folder(path)?
                && vendored_state(&session.root, path, &entry.source)? != State::Clean
            {
                owned.push(entry.source.clone());
            }
        }
    }
    Ok(owned)
}
