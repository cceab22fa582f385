//! The state of vendored crates, compared with the hash that they record and with the crate of the same release inside this binary,
//! because an edit of a crate can also change the hash.

use super::beneath::EntryType;
use super::root::Root;
use super::state::State;
use super::used::depends;
use crate::plan::{RelPath, Source};
use crate::project::Release;
use crate::render::{Sources, header, vendor};
use anyhow::Result;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::string::FromUtf8Error;

/// The origin of the contents of a vendored crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This binary, which has the same files.
    Embedded,
    /// An earlier release that this binary carries, which has the same files.
    Earlier(Release),
    /// Another release, which the crate names; this binary cannot check it.
    Unchecked(String),
    /// Unknown: the crate is edited, ejected or missing.
    Nobody,
}

/// The state of a crate in the project.
pub fn vendored_state(root: &Root, path: &RelPath, source: &Source) -> Result<State> {
    if !root.is_folder(path)? {
        return Ok(match needed(root, path, source.name())? {
            true => State::Missing,
            false => State::Ejected,
        });
    }
    if vendored_stamp(root, path)?.is_none() {
        return Ok(State::Ejected);
    }
    Ok(match vendored_origin(root, path, source)? {
        Origin::Nobody => State::Edited,
        Origin::Embedded | Origin::Earlier(_) | Origin::Unchecked(_) => State::Clean,
    })
}

/// The origin of a crate in the project.
pub fn vendored_origin(root: &Root, path: &RelPath, source: &Source) -> Result<Origin> {
    let stamp = vendored_stamp(root, path)?.unwrap_or_default();
    let files = vendored_files(root, path)?;
    match header::release(&stamp) {
        Some(release) if header::recorded(&stamp) == Some(vendor::hash(&files).as_str()) => {
            crate_origin(release, |sources| sources.has_crate(source.name(), &files))
        }
        _ => Ok(Origin::Nobody),
    }
}

/// The origin of a crate that names this release; `has` compares it with the crate of a release.
fn crate_origin(release: &str, has: impl Fn(&Sources) -> Result<bool>) -> Result<Origin> {
    if has(Sources::own())? {
        return Ok(Origin::Embedded);
    }
    let Ok(known) = release.parse::<Release>() else {
        return Ok(Origin::Nobody);
    };
    Ok(match Sources::of(&known)? {
        Some(sources) if has(&sources)? => Origin::Earlier(known),
        Some(_) => Origin::Nobody,
        None => Origin::Unchecked(release.to_owned()),
    })
}

/// The line with the release and the hash of a vendored crate: VERSION, or the first line of the manifest. An ejected crate has none.
pub fn vendored_stamp(root: &Root, folder: &RelPath) -> Result<Option<String>> {
    let read = |name| -> Result<Option<String>> {
        let bytes = root.read(&folder.join(name)?)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    if let Some(version) = read(vendor::VERSION)? {
        return Ok(Some(version.lines().next().unwrap_or_default().to_owned()));
    }
    let manifest = read(vendor::MANIFEST)?.unwrap_or_default();
    Ok(vendor::stamped(&manifest).map(|(line, _)| line.to_owned()))
}

/// The files in the folder of a vendored crate, by their path in it, without its release and hash, and without what cargo,
/// desktops and editors write there.
pub fn vendored_files(root: &Root, folder: &RelPath) -> Result<BTreeMap<String, String>> {
    let mut texts = BTreeMap::new();
    read_crate(root, folder, folder, &mut texts)?;
    if let Some(manifest) = texts.get_mut(vendor::MANIFEST)
        && let Some((_, rest)) = vendor::stamped(manifest)
    {
        *manifest = rest.to_owned();
    }
    Ok(texts)
}

/// Whether the project or another vendored crate uses the crate; a crate that was deleted with all its uses is not missing.
fn needed(root: &Root, folder: &RelPath, name: &str) -> Result<bool> {
    for manifest in ["Cargo.toml", "dev/Cargo.toml", "manifests/Cargo.toml"] {
        let text = root.read(&manifest.parse()?)?.unwrap_or_default();
        if String::from_utf8_lossy(&text).contains(folder.as_str()) {
            return Ok(true);
        }
    }
    for other in Sources::own().crates() {
        let text = root
            .read(&format!("crates/{other}/Cargo.toml").parse()?)?
            .unwrap_or_default();
        if depends(Some(&String::from_utf8_lossy(&text)), name) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether desktops or editors leave files of this name behind.
pub fn is_left_behind(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    // Emacs locks a file with a dangling link `.#name`, and macOS keeps attributes of a file in `._name`.
    let beside = [&b".#"[..], b"._"].iter().any(|start| name.starts_with(start));
    beside || name == b".DS_Store" || name.ends_with(b"~") || name.ends_with(b".swp")
}

fn read_crate(root: &Root, top: &RelPath, folder: &RelPath, texts: &mut BTreeMap<String, String>) -> Result<()> {
    for path in root.below(folder)? {
        let Some(path) = path else {
            // No vendored crate has a file of this name.
            texts.insert(format!("{folder}/?"), String::new());
            continue;
        };
        let below = path.as_str()[top.as_str().len() + 1..].to_owned();
        if is_left_behind(OsStr::new(below.rsplit('/').next().unwrap_or_default())) {
            continue;
        }
        if root.entry(&path)? == Some(EntryType::Folder) {
            // A crate that is built on its own gets a target folder and a lock.
            if below != "target" {
                read_crate(root, top, &path, texts)?;
            }
        } else if ![vendor::VERSION, "Cargo.lock"].contains(&below.as_str()) {
            let text = String::from_utf8(root.read(&path)?.unwrap_or_default());
            let lossy = |error: FromUtf8Error| String::from_utf8_lossy(error.as_bytes()).into_owned();
            texts.insert(below, text.unwrap_or_else(lossy));
        }
    }
    Ok(())
}
