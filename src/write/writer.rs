//! Executes transactions: commits them with a journal, makes their changes, reverts them if one fails, and completes transactions of
//! interrupted commands.

use super::beneath::{Beneath, EntryType, MAX_FILE};
use super::change::Change;
use super::concurrent::{open_steps, refuse_edits};
use super::disk::{Disk, NewFile};
use super::journal::{self, DONE, FOLDER, INCOMPLETE, JOURNAL, Journal, Step, own};
use crate::plan::RelPath;
use crate::render::header::sha256;
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

const STAGED: &str = "new";
const REPLACED: &str = "old-";

/// Writes the files of one project.
pub struct Writer<'a> {
    root: &'a Path,
    tree: &'a Beneath,
    disk: &'a dyn Disk,
}

/// The steps done so far, which can be undone.
#[derive(Default)]
struct Done {
    /// Whether this is the command itself, and not a later one that completes it.
    first: bool,
    steps: Vec<(usize, RelPath, bool)>,
    folders: Vec<RelPath>,
    known_folders: BTreeSet<RelPath>,
}

impl<'a> Writer<'a> {
    /// For the project at `root`, which has to be locked.
    pub fn new(root: &'a Path, tree: &'a Beneath, disk: &'a dyn Disk) -> Self {
        Self { root, tree, disk }
    }

    /// Makes all changes, or none if one of them fails.
    pub fn commit(&self, changes: &[Change]) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let mut known = BTreeSet::new();
        changes.iter().try_for_each(|change| self.check(change, &mut known))?;
        refuse_edits(self.tree, changes)?;
        let journal = Journal::new(self.root, self.tree, changes)?;
        let hash = match self.decide(&journal) {
            Ok(hash) => hash,
            Err(error) => {
                self.tidy();
                return Err(error.context("nothing was changed"));
            }
        };
        let mut done = Done {
            first: true,
            ..Done::default()
        };
        let applied = journal
            .steps
            .iter()
            .enumerate()
            .try_for_each(|(nth, step)| self.apply(nth, step, &mut done));
        match applied {
            Ok(()) => self.finish(&hash),
            Err(error) => Err(self.undo(done, &hash, error)),
        }
    }

    /// Completes the transaction of an interrupted command. Returns whether there was one.
    pub fn roll_forward(&self) -> Result<bool> {
        let Some((journal, hash)) = journal::pending(self.root, self.tree, self.disk)? else {
            self.tidy();
            return Ok(false);
        };
        let mut done = Done::default();
        for (nth, step) in open_steps(self.tree, &journal.steps)? {
            self.apply(nth, step, &mut done)
                .context("an interrupted command could not be completed")?;
        }
        self.finish(&hash)?;
        Ok(true)
    }

    /// Refuses changes that would fail halfway: where a folder or a file is needed and something else exists.
    fn check(&self, change: &Change, known: &mut BTreeSet<RelPath>) -> Result<()> {
        let path = &change.path;
        if path
            .as_str()
            .split('/')
            .next()
            .is_some_and(|top| top.eq_ignore_ascii_case(FOLDER))
        {
            bail!("`{path}` is in `{FOLDER}`, the folder of the journal");
        }
        let mut inside = true;
        // The outermost first, because paths below a link cannot be checked.
        let folders: Vec<_> = path.folders().collect();
        for folder in folders.into_iter().rev() {
            if known.contains(&folder) {
                continue;
            }
            match self
                .tree
                .folder_entry(&folder)
                .with_context(|| format!("cannot write `{path}`"))?
            {
                Some(EntryType::Folder) => known.insert(folder),
                Some(_) => {
                    bail!("`{folder}` is a file, and `{path}` needs a folder there\n\nhint: move `{folder}` away")
                }
                None => {
                    inside = false;
                    break;
                }
            };
        }
        // A missing folder has no entries.
        if inside
            && self
                .tree
                .folder_entry(path)
                .with_context(|| format!("cannot write `{path}`"))?
                == Some(EntryType::Folder)
        {
            bail!("`{path}` is a folder, and a file is needed there\n\nhint: move it away");
        }
        Ok(())
    }

    /// Once it returns, the transaction is committed. Returns the hash of the journal.
    fn decide(&self, journal: &Journal<'_>) -> Result<String> {
        let text = serde_json::to_string(journal).context("the journal cannot be written")?;
        if text.len() as u64 > MAX_FILE {
            bail!("the changes are larger than {} MiB", MAX_FILE >> 20);
        }
        let fail = |what: &str| format!("cannot write `{FOLDER}/{what}`");
        self.disk
            .create_dir(self.tree, &journal::folder())
            .or_else(exists)
            .with_context(|| fail(""))?;
        let incomplete = NewFile {
            bytes: text.as_bytes(),
            executable: false,
            replaced: None,
            durable: true,
        };
        self.disk
            .create(self.tree, &own(INCOMPLETE), &incomplete)
            .with_context(|| fail(INCOMPLETE))?;
        let hash = sha256(&text);
        self.disk.record(&hash).context(
            "cannot record outside of the project that this user wrote the journal\n\n\
             hint: set `XDG_STATE_HOME` to a folder outside of the project that only you can write to",
        )?;
        self.disk
            .rename(self.tree, &own(INCOMPLETE), &own(JOURNAL))
            .with_context(|| fail(JOURNAL))?;
        Ok(hash)
    }

    fn apply(&self, nth: usize, step: &Step<'_>, done: &mut Done) -> Result<()> {
        let path: RelPath = step.path.parse()?;
        let fail = || format!("cannot write `{path}`");
        if let Some(contents) = &step.after {
            self.make_folders(&path, done).with_context(fail)?;
            let replaced = self.replaced(nth, &path, step).with_context(fail)?;
            let bytes = contents.text().as_bytes();
            let new = NewFile {
                bytes,
                executable: step.executable,
                replaced: replaced.as_ref(),
                // With the edits of the user, whose only other copy is deleted with the journal.
                durable: step.before.is_some(),
            };
            if done.first && step.before.is_none() {
                // There is no earlier file to keep, and a partial file after a crash is recognised by its beginning.
                done.steps.push((nth, path.clone(), false));
                let created = self.disk.create(self.tree, &path, &new);
                if created
                    .as_ref()
                    .is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
                {
                    // Another program created the file.
                    done.steps.pop();
                }
                return created.with_context(fail);
            }
            self.stage(&new).with_context(fail)?;
        }
        self.replace(nth, &path, step, done).with_context(fail)
    }

    /// The file that a step replaces: in its place, or next to the journal, where an interrupted command has moved it.
    fn replaced(&self, nth: usize, path: &RelPath, step: &Step<'_>) -> io::Result<Option<RelPath>> {
        if step.before.is_none() {
            return Ok(None);
        }
        for candidate in [path.clone(), kept(nth)] {
            if self.tree.entry(&candidate)? == Some(EntryType::File) {
                return Ok(Some(candidate));
            }
        }
        Ok(None)
    }

    /// Writes the new contents of a file next to the journal.
    fn stage(&self, new: &NewFile<'_>) -> io::Result<()> {
        if self.tree.entry(&own(STAGED))?.is_some() {
            self.disk.remove_file(self.tree, &own(STAGED))?;
        }
        self.disk.create(self.tree, &own(STAGED), new)
    }

    /// Moves a staged file into place, or deletes the file.
    fn replace(&self, nth: usize, path: &RelPath, step: &Step<'_>, done: &mut Done) -> io::Result<()> {
        let replaced = step.before.is_some() && self.tree.entry(path)?.is_some();
        if replaced {
            // Kept next to the journal, so that reverting needs no disk space.
            self.disk.rename(self.tree, path, &kept(nth))?;
        }
        done.steps.push((nth, path.clone(), replaced));
        match &step.after {
            Some(_) => self.disk.rename(self.tree, &own(STAGED), path),
            None => {
                self.remove_empty_folders(path);
                Ok(())
            }
        }
    }

    fn make_folders(&self, path: &RelPath, done: &mut Done) -> io::Result<()> {
        let missing: Vec<_> = path
            .folders()
            .take_while(|folder| !done.known_folders.contains(folder))
            .collect();
        for folder in missing.into_iter().rev() {
            if !self.tree.is_folder(&folder)? {
                self.disk.create_dir(self.tree, &folder)?;
                done.folders.push(folder.clone());
            }
            done.known_folders.insert(folder);
        }
        Ok(())
    }

    /// Deletes folders that are empty now.
    fn remove_empty_folders(&self, path: &RelPath) {
        for folder in path.folders() {
            if self.disk.remove_dir(self.tree, &folder).is_err() {
                break;
            }
        }
    }

    /// Reverts the steps, last first. If that fails too, the journal stays, and the next command completes the transaction.
    fn undo(&self, done: Done, hash: &str, error: anyhow::Error) -> anyhow::Error {
        let mut undone = Ok(());
        for (nth, path, replaced) in done.steps.iter().rev() {
            undone = undone.and(self.take_back(path));
            if *replaced {
                undone = undone.and(self.restore(path, &kept(*nth)));
            }
        }
        for folder in done.folders.iter().rev() {
            undone = undone.and(self.disk.remove_dir(self.tree, folder));
        }
        match undone.map_err(anyhow::Error::from).and_then(|()| self.finish(hash)) {
            Ok(()) => error.context("nothing was changed"),
            Err(_) => error.context(
                "some files were changed; the next command completes the change once the cause below is fixed",
            ),
        }
    }

    fn take_back(&self, path: &RelPath) -> io::Result<()> {
        match self.tree.entry(path)? {
            Some(_) => self.disk.remove_file(self.tree, path),
            None => Ok(()),
        }
    }

    fn restore(&self, path: &RelPath, kept: &RelPath) -> io::Result<()> {
        self.make_folders(path, &mut Done::default())?;
        self.disk.rename(self.tree, kept, path)
    }

    /// Removes the journal, which ends the transaction, and the files next to it.
    fn finish(&self, hash: &str) -> Result<()> {
        self.disk
            .rename(self.tree, &own(JOURNAL), &own(DONE))
            .with_context(|| format!("cannot remove `{}`", own(JOURNAL)))?;
        // A record without a journal has no effect; the next command tries again.
        if self.disk.forget(hash).is_ok() {
            // Before `tidy`, which reads a journal for its hash.
            let _ = self.disk.remove_file(self.tree, &own(DONE));
            self.tidy();
        }
        Ok(())
    }

    /// Removes files that a finished transaction left. Files that cannot be removed now are removed by the next
    /// command.
    fn tidy(&self) {
        if !self.tree.is_folder(&journal::folder()).unwrap_or(false) {
            return;
        }
        for name in self.tree.names(Some(&journal::folder())).unwrap_or_default() {
            let Some(name) = name.to_str() else { continue };
            if [INCOMPLETE, DONE].contains(&name) {
                self.forget(&own(name));
            }
            if [INCOMPLETE, DONE, STAGED].contains(&name) || name.starts_with(REPLACED) {
                let _ = name
                    .parse::<RelPath>()
                    .map(|_| self.disk.remove_file(self.tree, &own(name)));
            }
        }
        let _ = self.disk.remove_dir(self.tree, &journal::folder());
    }

    /// Removes the record of an invalid journal.
    fn forget(&self, journal: &RelPath) {
        if let Ok(Some(bytes)) = self.tree.read(journal) {
            let _ = self.disk.forget(&sha256(&String::from_utf8_lossy(&bytes)));
        }
    }
}

/// The path to which the file is moved that the n-th step replaces.
fn kept(nth: usize) -> RelPath {
    own(&format!("{REPLACED}{nth}"))
}

fn exists(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::AlreadyExists => Ok(()),
        _ => Err(error),
    }
}
