//! Crates as archives: a `.crate` file for each, as `cargo package` makes them, and its line in the index of a cargo local-registry. The bytes
//! depend on the files of the crate alone: no time, no user, no order of a disk, one level of compression.

use super::{File, Rendered, Sources, header};
use crate::plan::{FileKind, RelPath, indexed};
use anyhow::{Context, Result, anyhow, bail};
use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Read;
use tar::{Archive as Tar, Builder, EntryType, Header};
use toml_edit::{DocumentMut, InlineTable, Item, TableLike, Value};

/// The registry that the manifests and `Cargo.lock` name. Its host never exists: `.cargo/config.toml` replaces it with `crates/`.
pub const URL: &str = "sparse+https://kubewright.invalid/";
/// The name of the registry in manifests and in `.cargo/config.toml`.
pub const NAME: &str = "kubewright";
/// The registry of all other dependencies, as an index names it.
const CRATES_IO: &str = "https://github.com/rust-lang/crates.io-index";
/// The manifest of a crate.
const MANIFEST: &str = "Cargo.toml";
/// The licence text of each archive, and the crate that has it in its folder.
const LICENSE: (&str, &str) = ("LICENSE-MIT", "runtime");
/// The most that an archive may hold, so that a forged one cannot fill the memory. Ours hold 2 MiB each at most.
const MAX_UNPACKED: u64 = 64 << 20;

/// The files of a crate, by their path in it.
pub type Contents = BTreeMap<String, String>;

/// A crate as cargo reads it from a local registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrateArchive {
    /// The name in `scaffolds/`.
    pub name: String,
    /// The version in its manifest.
    pub version: String,
    /// The bytes of the `.crate` file.
    pub bytes: Vec<u8>,
    /// The file of the crate in the index, a line.
    pub index: String,
}

impl CrateArchive {
    /// Makes the archive of a crate with these files.
    ///
    /// # Errors
    /// If the manifest is not one.
    pub fn pack(name: &str, contents: &Contents) -> Result<Self> {
        let manifest = manifest(contents)?;
        let version = version(&manifest)?;
        let bytes = packed(&format!("kubewright-{name}-{version}"), contents)
            .with_context(|| format!("crate `{name}` cannot be packed"))?;
        let index = index_line(&manifest, &header::sha256_of(&bytes))?;
        Ok(Self {
            name: name.to_owned(),
            version,
            bytes,
            index,
        })
    }

    /// The checksum that the index and `Cargo.lock` contain.
    pub fn checksum(&self) -> String {
        header::sha256_of(&self.bytes)
    }
}

/// The path of the archive of a crate in a project.
pub fn archive_path(name: &str, version: &str) -> String {
    format!("crates/kubewright-{name}-{version}.crate")
}

/// Whether a file is the archive of a crate, in any version, or its file in the index.
pub fn is_of(name: &str, path: &str) -> bool {
    let archive = path.strip_prefix(&format!("crates/kubewright-{name}-"));
    path == indexed(name) || archive.is_some_and(|rest| rest.ends_with(".crate"))
}

/// The two files of an archive in a project.
pub fn files(archive: &CrateArchive, index: &RelPath) -> Result<Rendered> {
    let file = |text: &str, archive| File {
        kind: FileKind::Vendored,
        executable: false,
        text: text.to_owned(),
        archive,
    };
    let path = archive_path(&archive.name, &archive.version).parse()?;
    Ok(Rendered::from([
        (index.clone(), file(&archive.index, None)),
        (path, file("", Some(archive.bytes.clone()))),
    ]))
}

/// The files of a crate in its archive: its sources with a licence, and a manifest whose dependencies on the other crates name the registry.
pub fn contents(sources: &Sources, name: &str) -> Result<Contents> {
    let files = sources.crate_files(name).into_iter();
    let mut contents: Contents = files.map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
    if let Some(text) = sources.crate_files(LICENSE.1).get(LICENSE.0) {
        contents.insert(LICENSE.0.to_owned(), (*text).to_owned());
    }
    let mut manifest = manifest(&contents)?;
    manifest.remove("dev-dependencies");
    for table in dependencies_mut(&mut manifest) {
        for (_, dependency) in table.iter_mut() {
            if let Some(dependency) = dependency.as_inline_table_mut()
                && dependency.remove("path").is_some()
            {
                dependency.insert("registry-index", URL.into());
                dependency.fmt();
            }
        }
    }
    contents.insert(MANIFEST.to_owned(), manifest.to_string());
    Ok(contents)
}

/// The files in an archive.
///
/// # Errors
/// For bytes that are no archive of a crate of this name and version, with text files alone.
pub fn unpack(name: &str, version: &str, bytes: &[u8]) -> Result<Contents> {
    let top = format!("kubewright-{name}-{version}/");
    let mut tar = Tar::new(GzDecoder::new(bytes).take(MAX_UNPACKED));
    let mut contents = Contents::new();
    for entry in tar.entries()? {
        let mut entry = entry?;
        let path = String::from_utf8(entry.path_bytes().into_owned())?;
        let Some(inside) = path.strip_prefix(&top) else {
            bail!("the archive has `{path}`, which is not below `{top}`");
        };
        let inside: RelPath = inside.parse()?;
        if entry.header().entry_type() != EntryType::Regular {
            bail!("`{path}` in the archive is not a file");
        }
        let mut text = String::new();
        entry.read_to_string(&mut text)?;
        if contents.insert(inside.to_string(), text).is_some() {
            bail!("the archive has `{path}` twice");
        }
    }
    Ok(contents)
}

/// The line that the index has for an archive with this checksum and contents.
pub fn index_of(contents: &Contents, checksum: &str) -> Result<String> {
    index_line(&manifest(contents)?, checksum)
}

/// A tar of regular files, sorted by path, from 1 January 1970, of user 0, compressed at one level without a time or a name.
fn packed(top: &str, contents: &Contents) -> Result<Vec<u8>> {
    let zip = GzBuilder::new().mtime(0).operating_system(255);
    let mut tar = Builder::new(zip.write(Vec::new(), Compression::best()));
    for (path, text) in contents {
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_size(u64::try_from(text.len())?);
        header.set_mode(0o644);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        tar.append_data(&mut header, format!("{top}/{path}"), text.as_bytes())?;
    }
    Ok(tar.into_inner()?.finish()?)
}

fn manifest(contents: &Contents) -> Result<DocumentMut> {
    let text = contents.get(MANIFEST).map_or("", String::as_str);
    text.parse().context("the crate has no valid `Cargo.toml`")
}

fn version(manifest: &DocumentMut) -> Result<String> {
    let version = manifest.get("package").and_then(|package| package.get("version"));
    let version = version.and_then(Item::as_str);
    Ok(version
        .ok_or_else(|| anyhow!("the manifest of the crate has no version"))?
        .to_owned())
}

/// The tables of normal dependencies, including the tables of targets.
fn dependencies_mut(manifest: &mut DocumentMut) -> Vec<&mut dyn TableLike> {
    let mut found = Vec::new();
    for (key, item) in manifest.iter_mut() {
        match key.get() {
            "dependencies" => found.extend(item.as_table_like_mut()),
            "target" => {
                let targets = item.as_table_like_mut().into_iter().flat_map(|it| it.iter_mut());
                found.extend(targets.filter_map(|(_, target)| target.get_mut("dependencies")?.as_table_like_mut()));
            }
            _ => {}
        }
    }
    found
}

/// A crate in the index: <https://doc.rust-lang.org/cargo/reference/registry-index.html#json-schema>.
#[derive(Serialize)]
struct IndexEntry<'a> {
    name: &'a str,
    vers: &'a str,
    deps: Vec<IndexDependency<'a>>,
    cksum: &'a str,
    features: BTreeMap<&'a str, Vec<&'a str>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    features2: BTreeMap<&'a str, Vec<&'a str>>,
    yanked: bool,
    rust_version: Option<&'a str>,
    /// Features with `dep:` are in `features2`, which the second form of an entry has.
    v: u8,
}

#[derive(Serialize)]
struct IndexDependency<'a> {
    name: &'a str,
    req: String,
    features: Vec<&'a str>,
    optional: bool,
    default_features: bool,
    target: Option<&'a str>,
    kind: &'static str,
    /// `None`: the registry of the index itself.
    registry: Option<&'static str>,
}

fn index_line(manifest: &DocumentMut, checksum: &str) -> Result<String> {
    let package = |key: &str| manifest.get("package")?.get(key)?.as_str();
    let mut deps = Vec::new();
    let table = manifest.get("dependencies").and_then(Item::as_table_like);
    let targets = manifest.get("target").and_then(Item::as_table_like);
    let targets = targets.into_iter().flat_map(|it| it.iter());
    let of_targets = targets.filter_map(|(name, it)| Some((Some(name), it.get("dependencies")?.as_table_like()?)));
    for (target, table) in table.map(|table| (None, table)).into_iter().chain(of_targets) {
        for (name, item) in table.iter() {
            deps.push(dependency(name, item, target)?);
        }
    }
    let all = manifest.get("features").and_then(Item::as_table_like);
    let all = all.into_iter().flat_map(|it| it.iter());
    let all = all.map(|(name, item)| (name, strings(item.as_value())));
    let (features2, features) = all.partition(|(_, list): &(_, Vec<&str>)| list.iter().any(|it| is_new(it)));
    let entry = IndexEntry {
        name: package("name").context("the manifest of the crate has no name")?,
        vers: package("version").context("the manifest of the crate has no version")?,
        deps,
        cksum: checksum,
        features,
        features2,
        yanked: false,
        rust_version: package("rust-version"),
        v: 2,
    };
    Ok(format!("{}\n", serde_json::to_string(&entry)?))
}

/// Whether a feature needs the second form of an entry.
fn is_new(feature: &str) -> bool {
    feature.starts_with("dep:") || feature.contains("?/")
}

fn dependency<'a>(name: &'a str, item: &'a Item, target: Option<&'a str>) -> Result<IndexDependency<'a>> {
    let table = item.as_inline_table();
    let value = |key: &str| table.and_then(|table| table.get(key));
    let req = item.as_str().or_else(|| value("version")?.as_str());
    let req = req.with_context(|| format!("dependency `{name}` of the crate has no version"))?;
    let flag = |key: &str, default| value(key).and_then(Value::as_bool).unwrap_or(default);
    Ok(IndexDependency {
        name,
        req: match req.starts_with(|first: char| first.is_ascii_digit()) {
            true => format!("^{req}"),
            false => req.to_owned(),
        },
        features: strings(value("features")),
        optional: flag("optional", false),
        default_features: flag("default-features", true),
        target,
        kind: "normal",
        registry: (!table.is_some_and(is_ours)).then_some(CRATES_IO),
    })
}

fn is_ours(dependency: &InlineTable) -> bool {
    dependency.contains_key("registry-index")
}

fn strings(value: Option<&Value>) -> Vec<&str> {
    let array = value.and_then(Value::as_array).into_iter().flatten();
    array.filter_map(Value::as_str).collect()
}
