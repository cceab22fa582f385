//! The journal: every change of a transaction with its new contents, durable before the first file changes. As long as it exists, the next
//! command of the same user that writes completes the transaction.

use super::beneath::Beneath;
use super::change::Change;
use super::disk::Disk;
use crate::plan::RelPath;
use crate::render::File;
use crate::render::{header::sha256, vendor};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// The folder at the project's root that exists only while a command writes.
pub const FOLDER: &str = ".kubewright";
/// The journal of a committed transaction.
pub const JOURNAL: &str = "journal";
/// A journal that is not committed yet.
pub const INCOMPLETE: &str = "journal.new";
/// A journal of a finished transaction.
pub const DONE: &str = "journal.done";

/// A transaction.
#[derive(Serialize, Deserialize)]
pub struct Journal<'a> {
    folder: Identity,
    /// The release of the program that wrote it.
    #[serde(default)]
    release: String,
    /// In the order of execution.
    pub steps: Vec<Step<'a>>,
}

/// The project of a journal; a copy of the journal in another project is invalid.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    path: String,
    device: u64,
    inode: u64,
}

/// The step of a transaction for one file.
#[derive(Serialize, Deserialize)]
pub struct Step<'a> {
    /// Relative to the project.
    pub path: String,
    /// Whether it becomes executable.
    pub executable: bool,
    /// The hash of the earlier contents, so that an edit in the meantime is not lost.
    pub before: Option<String>,
    /// The new contents; `None` to delete it.
    pub after: Option<Contents<'a>>,
}

/// The new contents of a file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Contents<'a> {
    /// A text in the journal.
    Text(Cow<'a, str>),
    /// A text that the program can make again, which is not in the journal: crates are megabytes.
    Carried {
        /// Its hash.
        carried: String,
        #[serde(skip)]
        text: Cow<'a, str>,
    },
}

impl Contents<'_> {
    /// The whole text.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Carried { text, .. } => text,
        }
    }
}

impl<'a> From<&'a File> for Contents<'a> {
    fn from(file: &'a File) -> Self {
        let text = Cow::Borrowed(file.text.as_str());
        match &file.carried {
            Some(hash) => Self::Carried {
                carried: hash.clone(),
                text,
            },
            None => Self::Text(text),
        }
    }
}

impl<'a> Journal<'a> {
    /// The transaction that makes these changes in the project at `root`.
    pub fn new(root: &Path, tree: &Beneath, changes: &'a [Change]) -> Result<Self> {
        let identity = Identity::of(root, tree)?;
        Ok(Self {
            folder: identity,
            release: env!("CARGO_PKG_VERSION").to_owned(),
            steps: changes.iter().map(Step::of).collect(),
        })
    }
}

impl Identity {
    fn of(root: &Path, tree: &Beneath) -> Result<Self> {
        let fail = || format!("cannot find out where `{}` is", root.display());
        let (device, inode) = tree.identity().with_context(fail)?;
        Ok(Self {
            path: root.canonicalize().with_context(fail)?.to_string_lossy().into_owned(),
            device,
            inode,
        })
    }

    /// Whether both are the same folder, which may have been moved, or be on a file system that has renumbered its
    /// files.
    fn is(&self, other: &Self) -> bool {
        let numbers = (self.device, self.inode);
        self.path == other.path || (numbers == (other.device, other.inode) && numbers != (0, 0))
    }
}

impl<'a> Step<'a> {
    fn of(change: &'a Change) -> Self {
        Self {
            path: change.path.to_string(),
            executable: change.after.as_ref().is_some_and(|file| file.executable),
            before: change.before.as_deref().map(bytes_hash),
            after: change.after.as_ref().map(Contents::from),
        }
    }
}

/// The path of a file in the journal's folder.
pub fn own(name: &str) -> RelPath {
    format!("{FOLDER}/{name}").parse().expect("a plain name makes a path")
}

/// The path of the journal's folder.
pub fn folder() -> RelPath {
    FOLDER.parse().expect("a plain name is a path")
}

/// Whether a command was interrupted and is not completed yet: files may be incomplete.
pub fn is_interrupted(tree: &Beneath) -> bool {
    matches!(tree.entry(&own(JOURNAL)), Ok(Some(_)))
}

/// The journal of an interrupted command of this user in this project, if there is one. Any other is an error.
pub fn pending(root: &Path, tree: &Beneath, disk: &dyn Disk) -> Result<Option<(Journal<'static>, String)>> {
    let path = own(JOURNAL);
    let Some(bytes) = tree.read(&path).with_context(|| format!("cannot read `{path}`"))? else {
        return Ok(None);
    };
    let foreign = || {
        format!(
            "`{path}` was not written by a command that you ran in this folder, so it is not carried out\n\n\
             hint: if it came with a checkout, do not trust that checkout; if one of your commands was interrupted on another machine, \
             `git status` shows what it left; then delete `{FOLDER}`"
        )
    };
    let text = String::from_utf8(bytes).ok().with_context(foreign)?;
    let hash = sha256(&text);
    if !disk.is_recorded(&hash) {
        bail!(foreign());
    }
    let mut journal: Journal = serde_json::from_str(&text).with_context(foreign)?;
    if !journal.folder.is(&Identity::of(root, tree)?) {
        bail!(foreign());
    }
    journal.fill(vendor::carried)?;
    Ok(Some((journal, hash)))
}

impl Journal<'_> {
    /// Adds the texts that are not in the journal.
    fn fill(&mut self, make: impl FnOnce() -> Result<BTreeMap<String, String>>) -> Result<()> {
        let contents = self.steps.iter_mut().filter_map(|step| step.after.as_mut());
        let mut lacking = contents.filter_map(|after| match after {
            Contents::Text(_) => None,
            Contents::Carried { carried, text } => Some((carried, text)),
        });
        let Some(first) = lacking.next() else { return Ok(()) };
        let texts = make()?;
        for (hash, text) in [first].into_iter().chain(lacking) {
            let Some(found) = texts.get(hash) else {
                bail!(
                    "a command of kubewright {} was interrupted, and only that version can complete it\n\n\
                     hint: run any command of it here, or delete `{FOLDER}/{JOURNAL}` to abandon what it has begun",
                    self.release
                );
            };
            *text = Cow::Owned(found.clone());
        }
        Ok(())
    }
}

/// The length comes first, because the hash of a text ignores line ends.
pub fn bytes_hash(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    format!("{}:{}", bytes.len(), sha256(&text))
}
