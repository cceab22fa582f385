//! On Unix each folder of a path is opened relative to the one above it, and never through a link, so that replacing folders by links at the
//! same time has no effect. Only calls that Linux and macOS share are used.

use super::{EntryType, RefusedPath};
use crate::plan::RelPath;
use rustix::fs::{self, AtFlags, CWD, Dir, FileType, Mode, OFlags, RawMode, Stat};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// An open folder.
pub type Root = OwnedFd;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

pub fn open(path: &Path) -> io::Result<Root> {
    Ok(fs::openat(CWD, path, FOLDER, Mode::empty())?)
}

pub fn identity(root: &Root) -> io::Result<(u64, u64)> {
    let found = File::from(root.try_clone()?).metadata()?;
    Ok((found.dev(), found.ino()))
}

pub fn entry(root: &Root, path: &RelPath) -> io::Result<EntryType> {
    let (folder, name) = parent(root, path)?;
    of(folder.fd(root), name)
}

fn of(folder: BorrowedFd<'_>, name: &str) -> io::Result<EntryType> {
    let found = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(match FileType::from_raw_mode(found.st_mode as RawMode) {
        FileType::RegularFile => EntryType::File,
        FileType::Directory => EntryType::Folder,
        FileType::Symlink => EntryType::Link,
        _ => EntryType::Special,
    })
}

/// The folder of a path.
enum Parent {
    Root,
    Below(OwnedFd),
}

impl Parent {
    fn fd<'a>(&'a self, root: &'a Root) -> BorrowedFd<'a> {
        match self {
            Self::Root => root.as_fd(),
            Self::Below(folder) => folder.as_fd(),
        }
    }
}

/// The folder of a path, and the name in it.
fn parent<'a>(root: &Root, path: &'a RelPath) -> io::Result<(Parent, &'a str)> {
    match path.as_str().rsplit_once('/') {
        None => Ok((Parent::Root, path.as_str())),
        Some((above, name)) => Ok((Parent::Below(folder(root, above)?), name)),
    }
}

/// Opens a folder, one part of its path after the other.
fn folder(root: &Root, path: &str) -> io::Result<OwnedFd> {
    let mut above = Parent::Root;
    let mut end = 0;
    for part in path.split('/') {
        end += part.len();
        let next = match fs::openat(above.fd(root), part, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(next) => next,
            // The errors for links differ between systems.
            Err(error) => {
                return Err(match of(above.fd(root), part) {
                    Ok(EntryType::Link) => RefusedPath::Link(path[..end].to_owned()).into(),
                    _ => error.into(),
                });
            }
        };
        above = Parent::Below(next);
        end += 1;
    }
    match above {
        Parent::Below(folder) => Ok(folder),
        Parent::Root => Ok(root.try_clone()?),
    }
}

pub fn read(root: &Root, path: &RelPath) -> io::Result<File> {
    let (folder, name) = parent(root, path)?;
    // Does not wait for a writer if the file has become a FIFO.
    let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(fs::openat(folder.fd(root), name, how, Mode::empty())?))
}

pub fn names(root: &Root, path: Option<&RelPath>) -> io::Result<Vec<OsString>> {
    let folder = match path {
        Some(path) => folder(root, path.as_str())?,
        None => root.try_clone()?,
    };
    let mut names = Vec::new();
    for entry in Dir::read_from(&folder)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if ![&b"."[..], b".."].contains(&name.as_slice()) {
            names.push(OsString::from_vec(name));
        }
    }
    Ok(names)
}

pub fn create(root: &Root, path: &RelPath, executable: bool) -> io::Result<File> {
    create_with(root, path, if executable { 0o777 } else { 0o666 })
}

/// Permissions of owner, group and others. A set-user-ID bit is not copied.
const PERMISSIONS: RawMode = 0o777;

pub fn create_like(root: &Root, path: &RelPath, other: &RelPath, executable: bool) -> io::Result<File> {
    let (folder, name) = parent(root, other)?;
    let found = fs::statat(folder.fd(root), name, AtFlags::SYMLINK_NOFOLLOW)?;
    let mut mode = found.st_mode as RawMode & PERMISSIONS;
    if executable {
        mode |= (mode & 0o444) >> 2;
    }
    let file = create_with(root, path, 0o600)?;
    keep_owner(&file, &found)?;
    fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    Ok(file)
}

/// Gives a file to the owner and the group of another: a container often works as root on a checkout of the user. If this user may not, or the
/// file system has no owners, the file belongs to the user who runs the command.
fn keep_owner(file: &File, other: &Stat) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (other.st_uid, other.st_gid) {
        _ = std::os::unix::fs::fchown(file, Some(other.st_uid), Some(other.st_gid));
    }
    Ok(())
}

fn create_with(root: &Root, path: &RelPath, mode: RawMode) -> io::Result<File> {
    let (folder, name) = parent(root, path)?;
    let how = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(fs::openat(
        folder.fd(root),
        name,
        how,
        Mode::from_raw_mode(mode),
    )?))
}

pub fn rename(root: &Root, from: &RelPath, to: &RelPath) -> io::Result<()> {
    let ((from, old), (to, new)) = (parent(root, from)?, parent(root, to)?);
    Ok(fs::renameat(from.fd(root), old, to.fd(root), new)?)
}

pub fn remove_file(root: &Root, path: &RelPath) -> io::Result<()> {
    let (folder, name) = parent(root, path)?;
    Ok(fs::unlinkat(folder.fd(root), name, AtFlags::empty())?)
}

pub fn create_dir(root: &Root, path: &RelPath) -> io::Result<()> {
    let (folder, name) = parent(root, path)?;
    Ok(fs::mkdirat(folder.fd(root), name, Mode::from_raw_mode(0o777))?)
}

pub fn remove_dir(root: &Root, path: &RelPath) -> io::Result<()> {
    let (folder, name) = parent(root, path)?;
    Ok(fs::unlinkat(folder.fd(root), name, AtFlags::REMOVEDIR)?)
}
