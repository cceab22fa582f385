//! The vendored crates. Each is one unit with one hash in `crates/<crate>/VERSION`; its files have no header. The source of a crate is
//! in its folder, or in a tar that its build script unpacks, so that the folder has five files.

use super::{Rendered, Sources, file, header};
use crate::plan::{FileKind, RelPath};
use crate::project::Project;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::io::Read;
use tar::{Archive, Builder, EntryType, Header};

/// The file in a vendored crate that names its release and hash.
pub const VERSION: &str = "VERSION";
/// The manifest of a crate, the same in both forms.
const MANIFEST: &str = "Cargo.toml";
/// The root of a crate.
const ROOT: &str = "src/lib.rs";
/// The source of a crate in an archive.
pub const SOURCE: &str = "source.tar";
/// The script that unpacks it.
pub const SCRIPT: &str = "build.rs";
/// The beginning of the names of licence texts, which stay readable.
const LICENSE: &str = "LICENSE-";
/// The most that an archive may contain, so that a forged one cannot fill the memory. Ours contain 4 MiB each at most.
const MAX_UNPACKED: u64 = 64 << 20;
/// The end of the root of a crate in an archive.
const INCLUDE: &str = "\
// The source is in `source.tar`, which build.rs unpacks. `kubewright eject` puts it into this folder.
include!(concat!(env!(\"OUT_DIR\"), \"/src/lib.rs\"));
";

/// The texts of a crate, by their path in it.
pub type Texts = BTreeMap<String, String>;

/// The files of a crate, below its target folder.
///
/// # Errors
/// If the release cannot make archives.
pub fn files(sources: &Sources, folder: &RelPath, name: &str, project: &Project) -> Result<Rendered> {
    let texts = sources.unit(name, project.crates)?;
    let stamp = format!("# {}\n", header::line(&project.version, &hash(&texts)));
    let mut files = Rendered::from([(folder.join(VERSION)?, file(FileKind::Vendored, stamp))]);
    for (path, text) in texts {
        files.insert(folder.join(&path)?, file(FileKind::Vendored, text));
    }
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
pub fn packed(source: &BTreeMap<&str, &str>, script: &str) -> Result<Texts> {
    let root = source.get(ROOT).context("the crate has no `src/lib.rs`")?;
    let (head, body) = split(root);
    let mut unit = Texts::from([
        (SCRIPT.to_owned(), script.to_owned()),
        (ROOT.to_owned(), format!("{head}{INCLUDE}")),
    ]);
    // Headers and padding take less than 1 KiB for each file.
    let size = source.values().map(|text| text.len() + 1024).sum();
    let mut tar = Builder::new(Vec::with_capacity(size));
    for (&path, &text) in source {
        if path == MANIFEST || path.starts_with(LICENSE) {
            unit.insert(path.to_owned(), text.to_owned());
            continue;
        }
        let text = if path == ROOT { body } else { text };
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_size(u64::try_from(text.len())?);
        header.set_mode(0o644);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        tar.append_data(&mut header, path, text.as_bytes())?;
    }
    unit.insert(SOURCE.to_owned(), String::from_utf8(tar.into_inner()?)?);
    Ok(unit)
}

/// The source of a crate from its unit with an archive.
///
/// # Errors
/// For an archive that is damaged, or has anything but text files with paths below the crate.
pub fn unpacked(unit: &Texts) -> Result<Texts> {
    let keeps = |path: &str| path == MANIFEST || path.starts_with(LICENSE);
    let mut source = unit.clone();
    source.retain(|path, _| keeps(path));
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
    let head = unit.get(ROOT).and_then(|root| root.strip_suffix(INCLUDE));
    let body = source.get_mut(ROOT).context("the archive has no `src/lib.rs`")?;
    body.insert_str(0, head.context("`src/lib.rs` does not include the archive")?);
    Ok(source)
}

/// The root of a crate up to its last inner attribute or comment, which cannot be included, and the rest.
fn split(root: &str) -> (&str, &str) {
    let (mut end, mut at, mut is_attribute) = (0, 0, false);
    for line in root.split_inclusive('\n') {
        is_attribute |= line.starts_with("#![");
        let is_inner = is_attribute || line.starts_with("//!");
        if !is_inner && !line.trim().is_empty() && !line.starts_with("//") {
            break;
        }
        at += line.len();
        if is_inner {
            end = at;
        }
        is_attribute &= !line.trim_end().ends_with(']');
    }
    // The empty line behind them.
    let end = if root[end..].starts_with('\n') { end + 1 } else { end };
    root.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(files: &[(&str, &str)]) -> Texts {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        files.iter().map(owned).collect()
    }

    #[test]
    fn a_crate_is_unpacked_as_it_was_packed() {
        let long = format!("src/{}/mod.rs", ["a-folder-with-a-name"; 8].join("/"));
        let root = "//! Docs.\n\n#![cfg_attr(\n    docsrs,\n    feature(doc_cfg)\n)]\n\n// Why.\nmod a;\n";
        let source = texts(&[
            ("Cargo.toml", "[package]\n"),
            ("LICENSE-MIT", "MIT\n"),
            ("README.md", "ä\n"),
            ("src/lib.rs", root),
            ("src/empty.txt", ""),
            (&long, "fn main() {}\n"),
        ]);
        let borrowed = source
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        let unit = packed(&borrowed, "fn main() {}\n").unwrap();
        let names: Vec<_> = unit.keys().map(String::as_str).collect();
        assert_eq!(names, ["Cargo.toml", "LICENSE-MIT", SCRIPT, SOURCE, ROOT]);
        assert!(unit[ROOT].ends_with(&format!(")]\n\n{INCLUDE}")), "{}", unit[ROOT]);
        assert_eq!(unpacked(&unit).unwrap(), source);
        assert_eq!(packed(&borrowed, "fn main() {}\n").unwrap(), unit);
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
    fn a_root_without_inner_attributes_is_included_whole() {
        for root in ["", "mod a;\n", "// Why.\nmod a;\n"] {
            assert_eq!(split(root), ("", root));
        }
        assert_eq!(split("//! Docs.\n"), ("//! Docs.\n", ""));
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
            let unit = Texts::from([(SOURCE.to_owned(), tar), (ROOT.to_owned(), INCLUDE.to_owned())]);
            unpacked(&unit).unwrap_err().to_string()
        };
        for path in ["../x", "/etc/x", "a/../../x"] {
            assert!(refused(tar(path, EntryType::Regular)).contains("path"), "{path}");
        }
        assert!(refused(tar("src/lib.rs", EntryType::Symlink)).contains("not a file"));
        assert!(refused(tar("src/a.rs", EntryType::Regular)).contains("no `src/lib.rs`"));
        let whole = tar("src/lib.rs", EntryType::Regular);
        assert!(unpacked(&texts(&[(SOURCE, &whole), (ROOT, INCLUDE)])).is_ok());
        assert!(!refused(whole[..520].to_owned()).is_empty());
    }
}
