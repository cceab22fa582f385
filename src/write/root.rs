//! The locked folder of a project, for reading, or for reading and writing.

use super::beneath::{Beneath, EntryType};
use super::change::Change;
use super::disk::{Disk, RealDisk};
use super::journal;
use super::lock::Lock;
use super::record::Records;
use super::writer::Writer;
use crate::plan::RelPath;
use anyhow::{Context, Result, bail};
use std::io;
use std::path::{Path, PathBuf};

/// The access of a command to a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It only reads. It reports an interrupted command, but does not complete it.
    Read,
    /// It writes, after it has completed an interrupted command of the same user.
    Write,
}

/// The folder of a project. No other command writes there while this value exists.
pub struct Root {
    path: PathBuf,
    /// `None` if the folder does not exist.
    tree: Option<Beneath>,
    access: Access,
    disk: Box<dyn Disk>,
    _lock: Option<Lock>,
    /// Folders that were created for the project, outermost first; removed again if nothing is written.
    made: Vec<PathBuf>,
    completed: bool,
}

impl Root {
    /// Locks a folder, and completes an interrupted command of the same user. With [`Access::Read`] an interrupted command is an error.
    pub fn open(path: &Path, access: Access, waiting: impl FnOnce()) -> Result<Self> {
        let disk = RealDisk::new(Records::of(path));
        Self::open_on(path, access, Box::new(disk), waiting)
    }

    /// As [`Root::open`], on a given disk.
    pub fn open_on(path: &Path, access: Access, disk: Box<dyn Disk>, waiting: impl FnOnce()) -> Result<Self> {
        if !path.is_dir() {
            bail!("`{}` is not a folder", path.display());
        }
        let lock = Lock::take(path, waiting)?;
        let tree = Beneath::open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
        let completed = match access {
            Access::Write => Writer::new(path, &tree, disk.as_ref()).roll_forward()?,
            Access::Read => {
                refuse_pending(path, &tree, disk.as_ref())?;
                false
            }
        };
        Ok(Self {
            path: path.to_owned(),
            tree: Some(tree),
            access,
            disk,
            _lock: Some(lock),
            made: Vec::new(),
            completed,
        })
    }

    /// As [`Root::open`] for writing; creates the folder if needed.
    pub fn create(path: &Path, waiting: impl FnOnce()) -> Result<Self> {
        let missing: Vec<_> = path
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
            .map(Path::to_owned)
            .collect();
        std::fs::create_dir_all(path).with_context(|| format!("cannot make the folder `{}`", path.display()))?;
        let mut root = Self::open(path, Access::Write, waiting)?;
        root.made = missing.into_iter().rev().collect();
        Ok(root)
    }

    /// As [`Root::open`] for reading; a missing folder is not an error, and is not locked.
    pub fn look(path: &Path, waiting: impl FnOnce()) -> Result<Self> {
        match path.exists() {
            true => Self::open(path, Access::Read, waiting),
            false => Ok(Self {
                path: path.to_owned(),
                tree: None,
                access: Access::Read,
                disk: Box::new(RealDisk::new(Records::of(path))),
                _lock: None,
                made: Vec::new(),
                completed: false,
            }),
        }
    }

    /// Whether opening it completed an interrupted command.
    pub fn completed_another(&self) -> bool {
        self.completed
    }

    /// The bytes of a file; `None` if it does not exist.
    pub fn read(&self, path: &RelPath) -> Result<Option<Vec<u8>>> {
        self.on(path, None, |tree| tree.read(path))
    }

    /// The entry at a path, if there is one.
    pub fn entry(&self, path: &RelPath) -> Result<Option<EntryType>> {
        self.on(path, None, |tree| tree.entry(path))
    }

    /// Whether the path is a folder.
    pub fn is_folder(&self, path: &RelPath) -> Result<bool> {
        self.on(path, false, |tree| tree.is_folder(path))
    }

    /// The paths in a folder, if it is one; `None` for a name that is invalid in a project.
    pub fn below(&self, folder: &RelPath) -> Result<Vec<Option<RelPath>>> {
        let names = self.on(folder, Vec::new(), |tree| tree.names(Some(folder)))?;
        let path = |name: &std::ffi::OsString| folder.join(name.to_str()?).ok();
        Ok(names.iter().map(path).collect())
    }

    /// A git command about a path of the project, for the user to run in the current folder.
    pub fn git(&self, what: &str) -> String {
        match self.path == Path::new(".") {
            true => format!("git {what}"),
            false => format!("git -C {} {what}", quoted(&self.path)),
        }
    }

    fn on<T>(&self, path: &RelPath, missing: T, read: impl FnOnce(&Beneath) -> io::Result<T>) -> Result<T> {
        match &self.tree {
            Some(tree) => read(tree).with_context(|| format!("cannot read `{path}`")),
            None => Ok(missing),
        }
    }

    /// Makes all changes, or no change.
    pub fn commit(mut self, changes: &[Change]) -> Result<()> {
        let Some(tree) = self.tree.as_ref().filter(|_| self.access == Access::Write) else {
            bail!("`{}` is open for reading only", self.path.display());
        };
        Writer::new(&self.path, tree, self.disk.as_ref()).commit(changes)?;
        self.made.clear();
        Ok(())
    }
}

/// The nearest folder around `here` that has this file, if `here` has none. Like git, this stops at a folder of another owner: a shared
/// folder such as `/tmp` may have a file of anybody.
pub fn around(here: &Path, file: &str) -> Option<PathBuf> {
    let own = owner(here)?;
    let folders = here.ancestors().take_while(|folder| owner(folder) == Some(own));
    let found = folders.into_iter().find(|folder| folder.join(file).is_file())?;
    (found != here).then(|| found.to_owned())
}

/// A path as a word of a shell.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    match text.chars().all(|c| c.is_alphanumeric() || "/._-+@".contains(c)) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// The user who owns a folder.
#[cfg(unix)]
fn owner(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    Some(folder.metadata().ok()?.uid())
}

#[cfg(not(unix))]
fn owner(folder: &Path) -> Option<u32> {
    folder.is_dir().then_some(0)
}

/// Refuses to read a project in which a command was interrupted, because its files may be inconsistent.
fn refuse_pending(path: &Path, tree: &Beneath, disk: &dyn Disk) -> Result<()> {
    match journal::pending(path, tree, disk)? {
        None => Ok(()),
        Some(_) => bail!(
            "an earlier command was interrupted while it wrote, and this command only reads\n\nhint: run `kubewright sync`, which completes it first"
        ),
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        for folder in self.made.iter().rev() {
            // Not empty, so it is in use.
            if std::fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}
