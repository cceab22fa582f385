//! On systems that cannot open a path relative to a folder, each part of a path is checked right before its use. If a
//! folder is replaced by a link between the two, the operation may leave the project.

use super::{EntryType, RefusedPath};
use crate::plan::RelPath;
use std::ffi::OsString;
use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The folder's path.
pub type Root = PathBuf;

pub fn open(path: &Path) -> io::Result<Root> {
    path.canonicalize()
}

pub fn identity(_root: &Root) -> io::Result<(u64, u64)> {
    Ok((0, 0))
}

pub fn entry(root: &Root, path: &RelPath) -> io::Result<EntryType> {
    Ok(of(fs::symlink_metadata(checked(root, path)?)?.file_type()))
}

fn of(found: FileType) -> EntryType {
    match () {
        () if found.is_symlink() => EntryType::Link,
        () if found.is_dir() => EntryType::Folder,
        () if found.is_file() => EntryType::File,
        () => EntryType::Special,
    }
}

/// The path, if no folder of it is a link.
fn checked(root: &Root, path: &RelPath) -> io::Result<PathBuf> {
    for folder in path.folders() {
        if fs::symlink_metadata(folder.under(root)).is_ok_and(|found| found.is_symlink()) {
            return Err(RefusedPath::Link(folder.to_string()).into());
        }
    }
    Ok(path.under(root))
}

pub fn read(root: &Root, path: &RelPath) -> io::Result<File> {
    File::open(checked(root, path)?)
}

pub fn names(root: &Root, path: Option<&RelPath>) -> io::Result<Vec<OsString>> {
    let folder = path.map_or(Ok(root.clone()), |path| checked(root, path))?;
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
}

pub fn create(root: &Root, path: &RelPath, _executable: bool) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(checked(root, path)?)
}

pub fn create_like(root: &Root, path: &RelPath, _other: &RelPath, executable: bool) -> io::Result<File> {
    create(root, path, executable)
}

pub fn rename(root: &Root, from: &RelPath, to: &RelPath) -> io::Result<()> {
    fs::rename(checked(root, from)?, checked(root, to)?)
}

pub fn remove_file(root: &Root, path: &RelPath) -> io::Result<()> {
    fs::remove_file(checked(root, path)?)
}

pub fn create_dir(root: &Root, path: &RelPath) -> io::Result<()> {
    fs::create_dir(checked(root, path)?)
}

pub fn remove_dir(root: &Root, path: &RelPath) -> io::Result<()> {
    fs::remove_dir(checked(root, path)?)
}
