//! The user's own templates: a folder read as pairs of name and text, which PROJECT records with its hash.

use crate::project::TemplateFolder;
use crate::render::vendor;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Reads a folder of templates.
pub fn read(folder: &Path) -> Result<Vec<(String, String)>> {
    if !folder.is_dir() {
        bail!("`{}` is not a folder of templates", folder.display());
    }
    let mut found = Vec::new();
    walk(folder, "", &mut found)?;
    found.sort();
    Ok(found)
}

fn walk(folder: &Path, prefix: &str, found: &mut Vec<(String, String)>) -> Result<()> {
    let fail = || format!("cannot read `{}`", folder.display());
    for entry in fs::read_dir(folder).with_context(fail)? {
        let entry = entry.with_context(fail)?;
        let Ok(name) = entry.file_name().into_string() else {
            bail!("a name in `{}` is not text", folder.display())
        };
        let path = entry.path();
        match path.is_dir() {
            true => walk(&path, &format!("{prefix}{name}/"), found)?,
            // Notes beside the units are not templates.
            false if prefix.is_empty() => {}
            false => {
                let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
                found.push((format!("{prefix}{name}"), text));
            }
        }
    }
    Ok(())
}

/// What PROJECT records of a folder.
pub fn record(project: &Path, folder: &Path, texts: &[(String, String)]) -> Result<TemplateFolder> {
    Ok(TemplateFolder {
        path: relative(project, folder)?,
        sha256: hash(texts),
    })
}

/// The templates that PROJECT records, if they still are what they were.
pub fn recorded(project: &Path, folder: &TemplateFolder) -> Result<Vec<(String, String)>> {
    let texts = read(&project.join(&folder.path)).context("the project's templates cannot be read")?;
    if hash(&texts) != folder.sha256 {
        bail!(
            "the templates in `{0}` have changed since the project was rendered from them\n\n\
             hint: restore them, or take them over with `kubewright sync --templates {0}`",
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

/// From the project to the folder, with `/`, so that a checkout elsewhere finds it too.
fn relative(project: &Path, folder: &Path) -> Result<String> {
    let absolute =
        |path: &Path| std::path::absolute(path).with_context(|| format!("cannot resolve `{}`", path.display()));
    let (project, folder) = (absolute(project)?, absolute(folder)?);
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
