//! The user's own templates: a folder, read as pairs of name and text; PROJECT records its path and hash. PROJECT is
//! untrusted and may name any folder, so links, devices and large folders are refused.

use crate::plan::RelPath;
use crate::project::TemplateFolder;
use crate::project::printable::printable;
use crate::render::{Sources, vendor};
use crate::write::{Beneath, EntryType, MAX_FILE, is_left_behind};
use anyhow::{Context, Result, anyhow, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// The limit on templates in a folder: ten times the number of built-in ones.
const MAX_FILES: usize = 1_000;
/// The limit on nesting of their folders.
const MAX_DEPTH: usize = 16;

/// Reads the folder of templates that the user names. One that would change nothing is refused.
pub fn read(folder: &Path) -> Result<Vec<(String, String)>> {
    let open = Beneath::open(folder).with_context(|| not_one(folder))?;
    let found =
        read_from(&open, folder).with_context(|| format!("cannot use the templates in `{}`", folder.display()))?;
    if found.is_empty() {
        bail!("{}: it has none", not_one(folder));
    }
    let unit = |name: &str| name.split_once('/').map_or(String::new(), |(unit, _)| unit.to_owned());
    let units: BTreeSet<_> = Sources::own().templates().into_keys().map(unit).collect();
    let is_used = |name: &str| name.starts_with('_') || units.contains(&unit(name));
    match found.iter().find(|(name, _)| !is_used(name)) {
        Some((name, _)) => bail!(
            "no file is made from template `{name}`: `{}` is not a unit\n\nhint: `kubewright plan --output json` lists the templates",
            unit(name)
        ),
        None => Ok(found),
    }
}

fn not_one(folder: &Path) -> String {
    format!("`{}` is not a folder of templates", folder.display())
}

fn read_from(open: &Beneath, folder: &Path) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut size = 0;
    let mut open_folders: Vec<Option<RelPath>> = vec![None];
    while let Some(at) = open_folders.pop() {
        for name in open.names(at.as_ref())? {
            // The folder may be a git repository.
            if at.is_none() && name == ".git" {
                continue;
            }
            if is_left_behind(&name) {
                continue;
            }
            let path = path_of(at.as_ref(), &name)?;
            match open.folder_entry(&path)? {
                Some(EntryType::Folder) if path.folders().count() < MAX_DEPTH => open_folders.push(Some(path)),
                Some(EntryType::Folder) => bail!("`{path}` lies deeper than {MAX_DEPTH} folders"),
                // Notes next to the units are not templates.
                _ if at.is_none() => {}
                _ => {
                    let text = open.read(&path)?.with_context(|| format!("`{path}` has gone"))?;
                    size += text.len();
                    let text = String::from_utf8(text)
                        .ok()
                        .with_context(|| format!("`{path}` is not text"))?;
                    // As the built-in ones; rendered files get the line ends of the files that they replace.
                    found.push((path.to_string(), text.replace("\r\n", "\n")));
                }
            }
            if found.len() > MAX_FILES || size as u64 > MAX_FILE {
                bail!(
                    "there are more than {MAX_FILES} files, or {} MiB\n\nhint: check that `{}` is the right folder",
                    MAX_FILE >> 20,
                    folder.display()
                );
            }
        }
    }
    found.sort();
    Ok(found)
}

fn path_of(folder: Option<&RelPath>, name: &OsStr) -> Result<RelPath> {
    let path = name.to_str().and_then(|name| match folder {
        Some(folder) => folder.join(name).ok(),
        None => name.parse().ok(),
    });
    path.with_context(|| {
        format!(
            "no file of a project can be called `{}`",
            printable(&name.to_string_lossy())
        )
    })
}

/// The entry in PROJECT for a folder.
pub fn record(project: &Path, folder: &Path, texts: &[(String, String)]) -> Result<TemplateFolder> {
    Ok(TemplateFolder {
        path: relative(project, folder)?
            .parse()
            .map_err(|refused| anyhow!("`{}` {refused}", printable(&folder.to_string_lossy())))?,
        sha256: hash(texts),
    })
}

/// The templates that PROJECT records, if they are unchanged.
pub fn recorded(project: &Path, folder: &TemplateFolder) -> Result<Vec<(String, String)>> {
    let path = project.join(folder.path.as_str());
    let open = Beneath::open_without_links(project, folder.path.as_str());
    let open = open
        .with_context(|| not_one(&path))
        .context("the project's templates cannot be read")?;
    let texts = read_from(&open, &path).context("the project's templates cannot be read")?;
    if hash(&texts) != folder.sha256 {
        bail!(
            "the templates in `{0}` have changed since the project was rendered from them\n\n\
             hint: restore them, or record them as they are now with `kubewright sync --templates {0}`",
            folder.path
        );
    }
    Ok(texts)
}

fn hash(texts: &[(String, String)]) -> String {
    vendor::hash(
        &texts
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect::<BTreeMap<_, _>>(),
    )
}

/// The path without links, as far as it exists.
fn resolved(path: &Path) -> Result<PathBuf> {
    let fail = || format!("cannot resolve `{}`", path.display());
    let path = std::path::absolute(path).with_context(fail)?;
    let known = path
        .ancestors()
        .find_map(|known| Some((known, known.canonicalize().ok()?)));
    let Some((known, real)) = known else { return Ok(path) };
    let rest = path.strip_prefix(known).with_context(fail)?;
    Ok(if rest.as_os_str().is_empty() {
        real
    } else {
        real.join(rest)
    })
}

/// The path from the project to the folder, with `/`, so that a checkout elsewhere finds it too. Of the folder itself, if the user
/// names a link to it: no later command follows one.
fn relative(project: &Path, folder: &Path) -> Result<String> {
    let (project, folder) = (resolved(project)?, resolved(folder)?);
    let parts = |path: &Path| {
        path.components()
            .filter(|part| *part != Component::CurDir)
            .map(|part| part.as_os_str().to_owned())
            .collect::<Vec<_>>()
    };
    let (from, to) = (parts(&project), parts(&folder));
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    if shared == 0 {
        return Ok(folder.display().to_string());
    }
    let mut path: PathBuf = std::iter::repeat_n("..", from.len() - shared).collect();
    path.extend(&to[shared..]);
    Ok(path
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect::<Vec<_>>()
        .join("/"))
}
