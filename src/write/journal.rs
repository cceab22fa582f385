//! The journal: every change of a transaction with its new contents, durable before the first file changes. While it stands the
//! transaction is decided; whoever finds it completes it.

use super::change::Change;
use super::disk::Disk;
use crate::plan::RelPath;
use crate::render::header::sha256;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// The folder at the project's root that exists only while a command writes.
pub const FOLDER: &str = ".kubewright";
const JOURNAL: &str = "journal";
const INCOMPLETE: &str = "journal.new";
const STAGED: &str = "new";
const REPLACED: &str = "old-";

#[derive(Serialize, Deserialize)]
struct Journal {
    steps: Vec<Step>,
}

#[derive(Serialize, Deserialize)]
struct Step {
    path: String,
    executable: bool,
    /// The hash of what stood there, so that an edit made in the meantime is not lost.
    before: Option<String>,
    after: Option<String>,
}

/// Writes files of one project.
pub struct Writer<'a> {
    root: &'a Path,
    disk: &'a dyn Disk,
}

/// What has been done and could be undone.
#[derive(Default)]
struct Done {
    /// Whether it is the command itself that writes, and not one that completes it.
    first: bool,
    steps: Vec<(usize, RelPath, bool)>,
    folders: Vec<PathBuf>,
    known_folders: BTreeSet<RelPath>,
}

impl<'a> Writer<'a> {
    /// For the project at `root`, which has to be locked.
    pub fn new(root: &'a Path, disk: &'a dyn Disk) -> Self {
        Self { root, disk }
    }

    /// Makes all changes or, if one of them fails, none.
    pub fn commit(&self, changes: &[Change]) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let mut known = BTreeSet::new();
        changes.iter().try_for_each(|change| self.check(change, &mut known))?;
        let journal = Journal {
            steps: changes.iter().map(Step::of).collect(),
        };
        if let Err(error) = self.decide(&journal) {
            self.tidy();
            return Err(error.context("nothing was changed"));
        }
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
            Ok(()) => self.finish(),
            Err(error) => Err(self.undo(done, error)),
        }
    }

    /// Completes what an interrupted command had decided. Says whether there was anything.
    pub fn roll_forward(&self) -> Result<bool> {
        let folder = self.root.join(FOLDER);
        let path = folder.join(JOURNAL);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if folder.is_dir() {
                    self.tidy();
                }
                return Ok(false);
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read `{}`", path.display())),
        };
        let journal: Journal = serde_json::from_str(&text).with_context(|| {
            format!(
                "`{FOLDER}/{JOURNAL}` is damaged\n\nhint: delete `{FOLDER}` and look at the project with `git status`"
            )
        })?;
        let mut done = Done::default();
        for (nth, step) in journal.steps.iter().enumerate() {
            if self.is_open(step)? {
                self.apply(nth, step, &mut done)
                    .context("an interrupted command could not be completed")?;
            }
        }
        self.finish()?;
        Ok(true)
    }

    /// Refuses what would fail halfway: a file where a folder should be, or a folder where a file should.
    fn check(&self, change: &Change, known: &mut BTreeSet<RelPath>) -> Result<()> {
        let mut inside = true;
        for folder in change.path.folders() {
            if !known.insert(folder.clone()) {
                break;
            }
            match std::fs::metadata(folder.under(self.root)) {
                Ok(found) if found.is_dir() => break,
                Ok(_) => bail!(
                    "`{folder}` is a file, and `{}` needs a folder there\n\nhint: move `{folder}` away",
                    change.path
                ),
                Err(_) => inside = false,
            }
        }
        // Nothing stands in a folder that is not there.
        if inside && change.path.under(self.root).is_dir() {
            bail!(
                "`{}` is a folder, and a file has to be there\n\nhint: move it away",
                change.path
            );
        }
        Ok(())
    }

    /// From its last line on, the transaction will happen.
    fn decide(&self, journal: &Journal) -> Result<()> {
        let folder = self.root.join(FOLDER);
        let text = serde_json::to_string(journal).context("the journal cannot be written")?;
        let fail = |what: &str| format!("cannot write `{}`", folder.join(what).display());
        self.disk
            .create_dir(&folder)
            .or_else(exists)
            .with_context(|| fail(""))?;
        let incomplete = folder.join(INCOMPLETE);
        self.disk
            .write(&incomplete, text.as_bytes(), false, true)
            .with_context(|| fail(INCOMPLETE))?;
        self.disk
            .rename(&incomplete, &folder.join(JOURNAL))
            .with_context(|| fail(JOURNAL))
    }

    fn apply(&self, nth: usize, step: &Step, done: &mut Done) -> Result<()> {
        let path: RelPath = step.path.parse()?;
        let target = path.under(self.root);
        let folder = self.root.join(FOLDER);
        let fail = || format!("cannot write `{path}`");
        let staged = folder.join(STAGED);
        if let Some(text) = &step.after {
            self.make_folders(&path, done).with_context(fail)?;
            if done.first && step.before.is_none() {
                // Nothing stands there to be kept whole, and what a crash leaves of it is known by its beginning.
                done.steps.push((nth, path.clone(), false));
                return self
                    .disk
                    .write(&target, text.as_bytes(), step.executable, false)
                    .with_context(fail);
            }
            self.disk
                .write(&staged, text.as_bytes(), step.executable, false)
                .with_context(fail)?;
        }
        let replaced = step.before.is_some() && target.exists();
        if replaced {
            // Kept beside the journal, so that taking it back needs no space.
            self.disk
                .rename(&target, &folder.join(format!("{REPLACED}{nth}")))
                .with_context(fail)?;
        }
        done.steps.push((nth, path.clone(), replaced));
        match &step.after {
            Some(_) => self.disk.rename(&staged, &target).with_context(fail),
            None => {
                self.remove_empty_folders(&path);
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
            let target = folder.under(self.root);
            if !target.is_dir() {
                self.disk.create_dir(&target)?;
                done.folders.push(target);
            }
            done.known_folders.insert(folder);
        }
        Ok(())
    }

    /// Folders that held only what was deleted go with it.
    fn remove_empty_folders(&self, path: &RelPath) {
        for folder in path.folders() {
            if self.disk.remove_dir(&folder.under(self.root)).is_err() {
                break;
            }
        }
    }

    /// Takes back what was done, in reverse; if that fails too, the journal stands and the next command goes on.
    fn undo(&self, done: Done, error: anyhow::Error) -> anyhow::Error {
        let mut undone = Ok(());
        for (nth, path, replaced) in done.steps.iter().rev() {
            let target = path.under(self.root);
            if target.exists() {
                undone = undone.and(self.disk.remove_file(&target));
            }
            if *replaced {
                let kept = self.root.join(FOLDER).join(format!("{REPLACED}{nth}"));
                undone = undone.and(self.restore(path, &kept));
            }
        }
        for folder in done.folders.iter().rev() {
            undone = undone.and(self.disk.remove_dir(folder));
        }
        match undone.map_err(anyhow::Error::from).and_then(|()| self.finish()) {
            Ok(()) => error.context("nothing was changed"),
            Err(_) => {
                error.context("some files were changed; the next command completes it once the cause below is gone")
            }
        }
    }

    fn restore(&self, path: &RelPath, kept: &Path) -> io::Result<()> {
        self.make_folders(path, &mut Done::default())?;
        self.disk.rename(kept, &path.under(self.root))
    }

    /// Removes the journal, which ends the transaction, and what lies around it.
    fn finish(&self) -> Result<()> {
        let journal = self.root.join(FOLDER).join(JOURNAL);
        self.disk
            .remove_file(&journal)
            .with_context(|| format!("cannot remove `{}`", journal.display()))?;
        self.tidy();
        Ok(())
    }

    /// Without a journal whatever lies in the folder means nothing.
    fn tidy(&self) {
        let folder = self.root.join(FOLDER);
        let Ok(entries) = std::fs::read_dir(&folder) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name == INCOMPLETE || name == STAGED || name.starts_with(REPLACED) {
                // What cannot be removed now is removed by the next command.
                let _ = self.disk.remove_file(&entry.path());
            }
        }
        let _ = self.disk.remove_dir(&folder);
    }

    /// Whether a step of a found journal is still to be done; an error if someone has edited the file since.
    fn is_open(&self, step: &Step) -> Result<bool> {
        let path: RelPath = step.path.parse()?;
        let found = match std::fs::read(path.under(self.root)) {
            Ok(bytes) => bytes,
            // To delete what is gone already still takes its empty folders along.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(error).with_context(|| format!("cannot read `{path}`")),
        };
        let wanted = step.after.as_deref().map(str::as_bytes);
        if wanted == Some(&found) {
            return Ok(false);
        }
        let torn = step.before.is_none() && wanted.is_some_and(|wanted| wanted.starts_with(&found));
        if !torn && Some(bytes_hash(&found)) != step.before {
            bail!(
                "a command was interrupted, and `{path}` was edited since\n\n\
                 hint: move `{path}` away to let the command be completed, or delete `{FOLDER}/{JOURNAL}` to give it up"
            );
        }
        Ok(true)
    }
}

impl Step {
    fn of(change: &Change) -> Self {
        Self {
            path: change.path.to_string(),
            executable: change.after.as_ref().is_some_and(|file| file.executable),
            before: change.before.as_deref().map(bytes_hash),
            after: change.after.as_ref().map(|file| file.text.clone()),
        }
    }
}

/// The length stands in front because the hash of a text does not tell line ends apart.
fn bytes_hash(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    format!("{}:{}", bytes.len(), sha256(&text))
}

fn exists(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::AlreadyExists => Ok(()),
        _ => Err(error),
    }
}
