//! The vendored crates. Each is one unit with one hash, in `crates/<crate>/VERSION` or, for an archive, in the first line of its Cargo.toml;
//! its other files have no header. The source of a crate is in its folder, or in a tar that the build script of all crates unpacks.

use super::{Rendered, Sources, file, header};
use crate::plan::{FileKind, RelPath};
use crate::project::{Crates, Project};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::io::Read;
use tar::{Archive, Builder, EntryType, Header};

/// The file in a vendored crate that names its release and hash. An archive has them in its manifest.
pub const VERSION: &str = "VERSION";
/// The manifest of a crate.
pub const MANIFEST: &str = "Cargo.toml";
/// The root of a crate.
const ROOT: &str = "src/lib.rs";
/// The source of a crate in an archive.
pub const SOURCE: &str = "source.tar";
/// The most that an archive may contain, so that a forged one cannot fill the memory. Ours contain 4 MiB each at most.
const MAX_UNPACKED: u64 = 64 << 20;
/// The part of the manifest of an archive that names the build script and the root, which all archives share.
const TARGETS: &str = "build = \"../build.rs\"\n\n[lib]\npath = \"../lib.rs\"\n";

/// The texts of a crate, by their path in it.
pub type Texts = BTreeMap<String, String>;

/// The files of a crate, below its target folder.
///
/// # Errors
/// If the release cannot make archives.
pub fn files(sources: &Sources, folder: &RelPath, name: &str, project: &Project) -> Result<Rendered> {
    let mut texts = sources.unit(name, project.crates)?;
    let mut hashes = hashes(&texts);
    let stamp = format!("# {}\n", header::line(&project.version, &hash_of(&hashes)));
    // The manifest of an archive gets the stamp, and other releases are in other programs.
    hashes.retain(|path, _| path != MANIFEST && project.version == env!("CARGO_PKG_VERSION"));
    match texts.contains_key(SOURCE) {
        true => texts.entry(MANIFEST.to_owned()).or_default().insert_str(0, &stamp),
        false => drop(texts.insert(VERSION.to_owned(), stamp)),
    }
    let mut files = Rendered::new();
    for (path, text) in texts {
        let mut file = file(FileKind::Vendored, text);
        file.carried = hashes.remove(&path);
        files.insert(folder.join(&path)?, file);
    }
    Ok(files)
}

/// The texts in vendored crates that this program can make again, by their hashes. It takes a while.
///
/// # Errors
/// If the release cannot make archives.
pub fn carried() -> Result<BTreeMap<String, String>> {
    let own = Sources::own();
    let mut all = BTreeMap::new();
    for name in own.crates() {
        for form in [Crates::Archives, Crates::Vendored] {
            let texts = own.unit(&name, form)?.into_values();
            all.extend(texts.map(|text| (header::sha256(&text), text)));
        }
    }
    Ok(all)
}

/// The first line of the manifest of an archive, and the rest; `None` for another manifest.
pub fn stamped(manifest: &str) -> Option<(&str, &str)> {
    let (line, rest) = manifest.split_once('\n')?;
    header::release(line).map(|_| (line, rest))
}

/// The hash of all paths and texts of a crate without its release and hash.
pub fn hash<P: AsRef<str> + Ord, T: AsRef<str>>(texts: &BTreeMap<P, T>) -> String {
    hash_of(&hashes(texts))
}

fn hashes<P: AsRef<str>, T: AsRef<str>>(texts: &BTreeMap<P, T>) -> BTreeMap<String, String> {
    let texts = texts.iter();
    let hash = |(path, text): (&P, &T)| (path.as_ref().to_owned(), header::sha256(text.as_ref()));
    texts.map(hash).collect()
}

fn hash_of(hashes: &BTreeMap<String, String>) -> String {
    let lines = hashes.iter().map(|(path, hash)| format!("{hash} {path}\n"));
    header::sha256(&lines.collect::<String>())
}

/// Whether both have the same files, with CRLF read as LF.
pub fn same<P: AsRef<str>, T: AsRef<str>>(ours: &BTreeMap<P, T>, found: &Texts) -> bool {
    let is_same = |((path, text), (at, found)): ((&P, &T), (&String, &String))| {
        let (path, text) = (path.as_ref(), text.as_ref());
        path == at && (text == found || found.contains("\r\n") && text == found.replace("\r\n", "\n"))
    };
    ours.len() == found.len() && ours.iter().zip(found).all(is_same)
}

/// The crate with its source in an archive. The bytes depend on the source alone: no time, no user, no order of a disk. They are not
/// compressed, so that the script needs no dependency, and git stores the difference of two releases.
///
/// # Errors
/// For a crate whose root has inner attributes, or documentation below its top, or whose manifest names its targets.
pub fn packed(source: &BTreeMap<&str, &str>) -> Result<Texts> {
    let root = source.get(ROOT).context("the crate has no `src/lib.rs`")?;
    let is_inner = |line: &str| line.starts_with("#![") || line.starts_with("//!");
    if root.lines().skip_while(|line| line.starts_with("//!")).any(is_inner) {
        bail!("`src/lib.rs` has inner attributes, which cannot be included");
    }
    let mut manifest = (*source.get(MANIFEST).context("the crate has no `Cargo.toml`")?).to_owned();
    if manifest.contains("[lib]") || manifest.contains("\nbuild =") {
        bail!("`Cargo.toml` names its build script or its root");
    }
    // At the end of the table `[package]`.
    let at = manifest.find("\n\n").map_or(manifest.len(), |end| end + 1);
    manifest.insert_str(at, TARGETS);
    // Headers and padding take less than 1 KiB for each file.
    let size = source.values().map(|text| text.len() + 1024).sum();
    let mut tar = Builder::new(Vec::with_capacity(size));
    for (&path, &text) in source.iter().filter(|(path, _)| **path != MANIFEST) {
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_size(u64::try_from(text.len())?);
        header.set_mode(0o644);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        tar.append_data(&mut header, path, text.as_bytes())?;
    }
    let source = String::from_utf8(tar.into_inner()?)?;
    Ok(Texts::from([
        (MANIFEST.to_owned(), manifest),
        (SOURCE.to_owned(), source),
    ]))
}

/// The source of a crate from its unit with an archive.
///
/// # Errors
/// For an archive that is damaged, or has anything but text files with paths below the crate.
pub fn unpacked(unit: &Texts) -> Result<Texts> {
    let manifest = unit.get(MANIFEST).map(|manifest| manifest.replace("\r\n", "\n"));
    let manifest = manifest.filter(|manifest| manifest.contains(TARGETS));
    let manifest = manifest.context("`Cargo.toml` does not name the build script that unpacks the archive")?;
    let mut source = Texts::from([(MANIFEST.to_owned(), manifest.replacen(TARGETS, "", 1))]);
    let mut tar = Archive::new(unit.get(SOURCE).map_or("", String::as_str).as_bytes());
    let mut left = MAX_UNPACKED;
    for entry in tar.entries()? {
        let mut entry = entry?;
        let path: RelPath = String::from_utf8(entry.path_bytes().into_owned())?.parse()?;
        if entry.header().entry_type() != EntryType::Regular {
            bail!("`{path}` in the archive is not a file");
        }
        let Some(rest) = left.checked_sub(entry.size()) else {
            bail!("the archive contains more than {} MiB", MAX_UNPACKED >> 20);
        };
        left = rest;
        let mut text = String::new();
        entry.read_to_string(&mut text)?;
        if source.insert(path.to_string(), text).is_some() {
            bail!("the archive has `{path}` twice");
        }
    }
    match source.contains_key(ROOT) {
        true => Ok(source),
        false => bail!("the archive has no `src/lib.rs`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(files: &[(&str, &str)]) -> Texts {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        files.iter().map(owned).collect()
    }

    fn borrowed(texts: &Texts) -> BTreeMap<&str, &str> {
        let texts = texts.iter();
        texts.map(|(path, text)| (path.as_str(), text.as_str())).collect()
    }

    #[test]
    fn a_crate_is_unpacked_as_it_was_packed() {
        let long = format!("src/{}/mod.rs", ["a-folder-with-a-name"; 8].join("/"));
        for manifest in [
            "[package]\nname = \"a\"\n",
            "[package]\nname = \"a\"\n\n[dependencies]\nb = \"1\"\n",
        ] {
            let source = texts(&[
                ("Cargo.toml", manifest),
                ("LICENSE-MIT", "MIT\n"),
                ("README.md", "ä\n"),
                ("src/lib.rs", "//! Docs.\n//!\n//! More.\n\n// Why.\nmod a;\n"),
                ("src/empty.txt", ""),
                (&long, "fn main() {}\n"),
            ]);
            let mut unit = packed(&borrowed(&source)).unwrap();
            let names: Vec<_> = unit.keys().map(String::as_str).collect();
            assert_eq!(names, [MANIFEST, SOURCE]);
            assert!(unit[MANIFEST].starts_with(&format!("[package]\nname = \"a\"\n{TARGETS}")));
            assert_eq!(unpacked(&unit).unwrap(), source);
            assert_eq!(packed(&borrowed(&source)).unwrap(), unit);
            let windows = unit[MANIFEST].replace('\n', "\r\n");
            unit.insert(MANIFEST.to_owned(), windows);
            assert_eq!(unpacked(&unit).unwrap(), source);
        }
    }

    #[test]
    fn a_crate_that_cannot_be_included_is_refused() {
        for (manifest, root) in [
            ("[package]\n", "//! Docs.\n\n#![no_std]\n"),
            ("[package]\n", "mod a;\n//! Docs.\n"),
            ("[package]\n\n[lib]\nname = \"b\"\n", ""),
            ("[package]\nbuild = \"a.rs\"\n", ""),
        ] {
            let source = texts(&[("Cargo.toml", manifest), ("src/lib.rs", root)]);
            assert!(packed(&borrowed(&source)).is_err(), "{manifest:?} {root:?}");
        }
        assert!(packed(&borrowed(&texts(&[("Cargo.toml", "[package]\n")]))).is_err());
    }

    #[test]
    fn a_checkout_with_other_line_ends_has_the_same_files() {
        let ours = texts(&[("a", "x\ny\n"), ("b", "")]);
        for (found, is_same) in [
            ("x\ny\n", true),
            ("x\r\ny\r\n", true),
            ("x\ry\n", false),
            ("x\n", false),
        ] {
            assert_eq!(same(&ours, &texts(&[("a", found), ("b", "")])), is_same, "{found:?}");
        }
        assert!(!same(&ours, &texts(&[("a", "x\ny\n")])) && !same(&ours, &texts(&[("a", "x\ny\n"), ("c", "")])));
    }

    #[test]
    fn forged_archives_are_refused() {
        let tar = |path: &str, kind| {
            let mut header = Header::new_ustar();
            header.set_entry_type(kind);
            header.set_size(1);
            header.as_ustar_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_cksum();
            let mut tar = Builder::new(Vec::new());
            tar.append(&header, &b"x"[..]).unwrap();
            String::from_utf8(tar.into_inner().unwrap()).unwrap()
        };
        let refused = |tar: String| {
            unpacked(&texts(&[(SOURCE, &tar), (MANIFEST, TARGETS)]))
                .unwrap_err()
                .to_string()
        };
        for path in ["../x", "/etc/x", "a/../../x"] {
            assert!(refused(tar(path, EntryType::Regular)).contains("path"), "{path}");
        }
        assert!(refused(tar("src/lib.rs", EntryType::Symlink)).contains("not a file"));
        assert!(refused(tar("src/a.rs", EntryType::Regular)).contains("no `src/lib.rs`"));
        let whole = tar("src/lib.rs", EntryType::Regular);
        assert!(unpacked(&texts(&[(SOURCE, &whole), (MANIFEST, TARGETS)])).is_ok());
        let other = unpacked(&texts(&[(SOURCE, &whole), (MANIFEST, "[package]\n")]));
        assert!(
            other
                .unwrap_err()
                .to_string()
                .contains("does not name the build script")
        );
        assert!(!refused(whole[..520].to_owned()).is_empty());
    }
}
