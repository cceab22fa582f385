//! The state of a crate that is an archive: its file in the index has the checksum of the `.crate` file, and that one has the contents of a release.

use super::root::Root;
use super::vendored::{Origin, crate_origin};
use crate::plan::RelPath;
use crate::render::{header, local_registry, vendor};
use anyhow::Result;
use serde::Deserialize;

/// The file of a crate in the index, as far as the archive is found by it.
#[derive(Deserialize)]
struct IndexEntry {
    vers: String,
    cksum: String,
}

/// An archive in a project.
pub struct Archived {
    /// The version that the index names.
    pub version: String,
    /// The path of the `.crate` file.
    pub path: RelPath,
    /// The files in it.
    pub contents: local_registry::Contents,
}

/// The archive of a crate, by its file in the index; `None` if that, or the archive that it names, is missing, damaged or not of this crate.
pub fn archived(root: &Root, index: &RelPath, name: &str) -> Result<Option<Archived>> {
    let line = root.read(index)?.unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace("\r\n", "\n");
    let Ok(IndexEntry { vers, cksum }) = serde_json::from_str(&line) else {
        return Ok(None);
    };
    let Ok(path) = local_registry::archive_path(name, &vers).parse() else {
        return Ok(None);
    };
    let bytes = root.read(&path)?.unwrap_or_default();
    if header::sha256_of(&bytes) != cksum {
        return Ok(None);
    }
    let contents = local_registry::unpack(name, &vers, &bytes).ok();
    let contents = contents.filter(|it| local_registry::index_of(it, &cksum).is_ok_and(|expected| expected == line));
    Ok(contents.map(|contents| Archived {
        version: vers,
        path,
        contents,
    }))
}

/// The files of an archive in `crates/`: its file in the index, and each archive of that crate, of whatever version.
pub fn archive_files(root: &Root, name: &str) -> Result<Vec<RelPath>> {
    let mut found = Vec::new();
    for folder in ["crates", "crates/index/ku/be"] {
        let paths = root.below(&folder.parse()?)?.into_iter().flatten();
        found.extend(paths.filter(|path| local_registry::is_of(name, path.as_str())));
    }
    Ok(found)
}

/// The origin of the archive of a crate.
pub(super) fn archive_origin(root: &Root, index: &RelPath, name: &str) -> Result<Origin> {
    match archived(root, index, name)? {
        Some(found) => crate_origin(&found.version, |sources| {
            let contents = local_registry::contents(sources, name);
            contents.is_ok_and(|contents| vendor::hash(&contents) == vendor::hash(&found.contents))
        }),
        None => Ok(Origin::Nobody),
    }
}
