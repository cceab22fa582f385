//! File operations below a folder that follow no symbolic link. Every file operation inside a project uses this module. The path of the
//! folder itself may have links, because the user named it.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use other as system;
#[cfg(unix)]
use unix as system;

use crate::plan::RelPath;
use std::fmt;
use std::io::{self, Read};
use std::path::{Component, Path};

/// The largest file that is read; generated files, CRDs and sources are much smaller.
pub const MAX_FILE: u64 = 16 << 20;

/// An open folder. On Unix this stays the same folder even if it is renamed or replaced.
#[derive(Debug)]
pub struct Beneath {
    root: system::Root,
}

/// The type of the entry at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryType {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, wherever it leads.
    Link,
    /// A device, a FIFO or a socket.
    Special,
}

/// The reason to refuse a path.
#[derive(Debug)]
enum RefusedPath {
    Link(String),
    Special(String),
    Large(String),
}

impl fmt::Display for RefusedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(path) => write!(
                f,
                "`{path}` is a symbolic link, and links inside a project are not followed\n\n\
                 hint: replace it with the file or folder that it points to"
            ),
            Self::Special(path) => write!(
                f,
                "`{path}` is a device, a FIFO or a socket, not a file\n\nhint: remove it, or move it away"
            ),
            Self::Large(path) => write!(
                f,
                "`{path}` is larger than {} MiB\n\nhint: move it away",
                MAX_FILE >> 20
            ),
        }
    }
}

impl std::error::Error for RefusedPath {}

impl From<RefusedPath> for io::Error {
    fn from(refused: RefusedPath) -> Self {
        Self::new(io::ErrorKind::InvalidInput, refused)
    }
}

impl Beneath {
    /// Opens a folder, through links if its path has any.
    pub fn open(path: &Path) -> io::Result<Self> {
        system::open(path).map(|root| Self { root })
    }

    /// Opens a folder whose path is untrusted, relative to `base`: no part of `path` may be a link. If the folder is
    /// replaced by a link at the same moment, the link may be followed.
    pub fn open_without_links(base: &Path, path: &str) -> io::Result<Self> {
        let mut folder = base.to_owned();
        for part in Path::new(path).components() {
            folder.push(part);
            if matches!(part, Component::Normal(_)) && folder.is_symlink() {
                return Err(RefusedPath::Link(path.to_owned()).into());
            }
        }
        Self::open(&folder)
    }

    /// The device and the inode of the folder, which identify it; zeros on systems without them.
    pub fn identity(&self) -> io::Result<(u64, u64)> {
        system::identity(&self.root)
    }

    /// The entry at a path, if there is one. A link above it is an error.
    pub fn entry(&self, path: &RelPath) -> io::Result<Option<EntryType>> {
        match system::entry(&self.root, path) {
            Ok(entry) => Ok(Some(entry)),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the path is a folder.
    pub fn is_folder(&self, path: &RelPath) -> io::Result<bool> {
        Ok(self.folder_entry(path)? == Some(EntryType::Folder))
    }

    /// The bytes of a file; `None` if it does not exist, or if the path is a folder. A file above [`MAX_FILE`] is an error.
    pub fn read(&self, path: &RelPath) -> io::Result<Option<Vec<u8>>> {
        match self.entry(path)? {
            None | Some(EntryType::Folder) => Ok(None),
            Some(EntryType::Link) => Err(RefusedPath::Link(path.to_string()).into()),
            Some(EntryType::Special) => Err(RefusedPath::Special(path.to_string()).into()),
            Some(EntryType::File) => {
                let file = system::read(&self.root, path)?;
                // It may have changed in the meantime.
                if !file.metadata()?.is_file() {
                    return Err(RefusedPath::Special(path.to_string()).into());
                }
                bounded(file, path.as_str()).map(Some)
            }
        }
    }

    /// The names in a folder, sorted; `None` is the folder itself. Empty if there is no such folder.
    pub fn names(&self, folder: Option<&RelPath>) -> io::Result<Vec<std::ffi::OsString>> {
        if let Some(folder) = folder
            && !self.is_folder(folder)?
        {
            return Ok(Vec::new());
        }
        let mut names = system::names(&self.root, folder)?;
        names.sort();
        Ok(names)
    }

    /// Creates a new file.
    pub fn create(&self, path: &RelPath, executable: bool) -> io::Result<std::fs::File> {
        system::create(&self.root, path, executable)
    }

    /// Creates a new file with the permissions of another, and with its owner if this user may set it, whatever the umask. With `executable`, those who may read it may also execute it.
    /// No other user can read the file before it has these permissions. Systems without modes create an ordinary file.
    pub fn create_like(&self, path: &RelPath, other: &RelPath, executable: bool) -> io::Result<std::fs::File> {
        system::create_like(&self.root, path, other, executable)
    }

    /// Moves a file, and replaces an existing file or link.
    pub fn rename(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        system::rename(&self.root, from, to)
    }

    /// Removes a file, or a link itself.
    pub fn remove_file(&self, path: &RelPath) -> io::Result<()> {
        system::remove_file(&self.root, path)
    }

    /// Creates a folder.
    pub fn create_dir(&self, path: &RelPath) -> io::Result<()> {
        system::create_dir(&self.root, path)
    }

    /// Removes an empty folder.
    pub fn remove_dir(&self, path: &RelPath) -> io::Result<()> {
        system::remove_dir(&self.root, path)
    }

    /// As [`Beneath::entry`], for a path that should be a folder: a link there is an error.
    pub fn folder_entry(&self, path: &RelPath) -> io::Result<Option<EntryType>> {
        match self.entry(path)? {
            Some(EntryType::Link) => Err(RefusedPath::Link(path.to_string()).into()),
            other => Ok(other),
        }
    }
}

/// Reads a file to its end, or to the limit.
fn bounded(file: std::fs::File, name: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if file.metadata()?.len() <= MAX_FILE {
        file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= MAX_FILE {
            return Ok(bytes);
        }
    }
    Err(RefusedPath::Large(name.to_owned()).into())
}

/// Whether the path does not exist, also because a part of it is a file.
fn is_absence(error: &io::Error) -> bool {
    [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind())
}
