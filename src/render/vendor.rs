//! The vendored crates. Each is one unit with one hash in `crates/<crate>/VERSION`; its files have no header.

use super::{File, Rendered, Sources, file, header};
use crate::plan::{FileKind, RelPath};
use anyhow::Result;
use std::collections::BTreeMap;

/// The file in a vendored crate that names its release and hash.
pub const VERSION: &str = "VERSION";

/// The files of a crate, below its target folder.
pub fn files(sources: &Sources, folder: &RelPath, name: &str, version: &str) -> Result<Rendered> {
    let texts = sources.crate_files(name);
    let mut files = Rendered::new();
    for (path, text) in &texts {
        files.insert(folder.join(path)?, file(FileKind::Vendored, (*text).to_owned()));
    }
    let stamp = format!("# {}\n", header::line(version, &hash(&texts)));
    files.insert(
        folder.join(VERSION)?,
        File {
            kind: FileKind::Vendored,
            executable: false,
            text: stamp,
            archive: None,
        },
    );
    Ok(files)
}

/// The hash of all paths and texts of a crate without [`VERSION`].
pub fn hash<P: AsRef<str> + Ord, T: AsRef<str>>(texts: &BTreeMap<P, T>) -> String {
    let mut list = String::new();
    for (path, text) in texts {
        list.push_str(&format!("{} {}\n", header::sha256(text.as_ref()), path.as_ref()));
    }
    header::sha256(&list)
}
