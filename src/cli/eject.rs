//! `kubewright eject`: makes a crate of kubewright the user's own.

use super::crates::deleted;
use super::report;
use super::session::{Session, access};
use crate::plan::{FileKind, RelPath, Source};
use crate::render::vendor::VERSION;
use crate::render::{File, cargo_lock, local_registry};
use crate::write::{Archived, Change, Outcome, archive_files, archived, folder};
use anyhow::{Context, Result, bail};
use std::path::Path;
use toml_edit::{DocumentMut, InlineTable, Item, Table, value};

/// Flags of `eject`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A vendored crate stays in its folder; only its VERSION file, which marks a crate
of kubewright, is deleted. An archive is unpacked into a folder, and
`Cargo.toml` gets a line below `[patch.kubewright]` that names it.

Example:
  kubewright eject runtime")]
pub struct Args {
    /// The crate, such as `runtime`
    #[arg(value_name = "CRATE")]
    name: String,
    /// Show the changes as a diff, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Ejects a crate of the project in `dir`.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    // Also before an upgrade, which refuses crates that were edited and are not ejected.
    let session = Session::open_earlier(dir, access(args.dry_run), None)?;
    let (path, source) = found(&session, &args.name)?;
    let folder = folder(&path, &source)?;
    let changes = match &source {
        Source::Archive(name) => unpacked(&session, &path, name)?,
        _ => unversioned(&session, &folder)?,
    };
    if changes.is_empty() {
        report::note(&format!("nothing to do: `{folder}` is yours already"));
        return Ok(());
    }
    let outcome = Outcome {
        changes,
        ..Outcome::default()
    };
    let project = session.project.clone();
    session.finish(&project, outcome, args.dry_run)?;
    if !args.dry_run {
        report::note(&format!(
            "`{folder}` is yours now: kubewright no longer checks or replaces it"
        ));
    }
    Ok(())
}

/// The change that ejects a crate in a folder; `None` if it is ejected already.
fn unversioned(session: &Session, folder: &RelPath) -> Result<Vec<Change>> {
    if !session.root.is_folder(folder)? {
        return Err(missing(session, folder));
    }
    deleted(session, &[folder.join(VERSION)?])
}

fn missing(session: &Session, path: &RelPath) -> anyhow::Error {
    let restore = session.root.git(&format!("checkout -- {path}"));
    anyhow::anyhow!("`{path}` is missing\n\nhint: restore it with `{restore}`")
}

/// The changes that unpack an archive and let the other crates use the folder; empty if it is ejected already.
fn unpacked(session: &Session, index: &RelPath, name: &str) -> Result<Vec<Change>> {
    let folder: RelPath = format!("crates/{name}").parse()?;
    if session.root.read(index)?.is_none() {
        return match session.root.is_folder(&folder)? {
            true => Ok(Vec::new()),
            false => Err(missing(session, index)),
        };
    }
    if session.root.is_folder(&folder)? {
        bail!("`{folder}` exists already, and the crate would be unpacked there\n\nhint: move it away");
    }
    let Some(archive) = archived(&session.root, index, name)? else {
        bail!(
            "the archive of `kubewright-{name}` is missing or damaged\n\nhint: restore it with `{}`",
            session.root.git("checkout -- crates")
        );
    };
    let mut changes = files(&folder, archive)?;
    changes.extend(deleted(session, &archive_files(&session.root, name)?)?);
    changes.push(edited(session, "Cargo.toml", |text| patched(text, name))?);
    changes.push(edited(session, "Cargo.lock", |text| {
        Ok(cargo_lock::from_folder(text, &format!("kubewright-{name}")))
    })?);
    Ok(changes)
}

/// The changes that write the files of an archive into a folder. The manifest names the registry as other manifests of a user do.
fn files(folder: &RelPath, archive: Archived) -> Result<Vec<Change>> {
    let index = format!("registry-index = \"{}\"", local_registry::URL);
    let change = |(path, text): (String, String)| {
        let text = match path == "Cargo.toml" {
            true => text.replace(&index, &format!("registry = \"{}\"", local_registry::NAME)),
            false => text,
        };
        let file = File {
            kind: FileKind::Vendored,
            executable: false,
            text,
            archive: None,
        };
        Ok(Change {
            path: folder.join(&path)?,
            before: None,
            after: Some(file),
        })
    };
    archive.contents.into_iter().map(change).collect()
}

/// The change of a user's file.
fn edited(session: &Session, path: &str, edit: impl FnOnce(&str) -> Result<String>) -> Result<Change> {
    let path: RelPath = path.parse()?;
    let before = session.root.read(&path)?;
    let text = String::from_utf8_lossy(before.as_deref().unwrap_or_default()).into_owned();
    let after = edit(&text).with_context(|| format!("`{path}` cannot be changed"))?;
    let file = File {
        kind: FileKind::Seeded,
        executable: false,
        text: after,
        archive: None,
    };
    Ok(Change {
        path,
        before,
        after: Some(file),
    })
}

/// The manifest with a line that replaces the crate of the registry, for all packages, by the folder.
fn patched(text: &str, name: &str) -> Result<String> {
    let mut manifest: DocumentMut = text.parse()?;
    let parent = manifest.entry("patch").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let patches = parent
        .as_table_like_mut()
        .context("`patch` is not a table")?
        .entry(local_registry::NAME)
        .or_insert_with(toml_edit::table);
    let mut folder = InlineTable::new();
    folder.insert("path", format!("crates/{name}").into());
    let patches = patches
        .as_table_like_mut()
        .context("`patch.kubewright` is not a table")?;
    patches.insert(&format!("kubewright-{name}"), value(folder));
    Ok(manifest.to_string())
}

/// A crate of the project, by any of its names.
fn found(session: &Session, name: &str) -> Result<(RelPath, Source)> {
    let short = name
        .trim_end_matches('/')
        .trim_start_matches("crates/")
        .trim_start_matches("kubewright-");
    let plan = session
        .plan(&session.project)?
        .only(|_, entry| entry.kind == FileKind::Vendored);
    if !session.project.crates.are_in_project() {
        bail!(
            "this project has no vendored crates: they are from a registry\n\nhint: take them into `crates/` with `kubewright sync --crates vendored`"
        );
    }
    let names: Vec<_> = plan
        .entries
        .values()
        .map(|entry| entry.source.name().to_owned())
        .collect();
    let mut entries = plan.entries.into_iter();
    let Some((path, entry)) = entries.find(|(_, entry)| entry.source.name() == short) else {
        bail!(
            "`{name}` is not a vendored crate\n\nhint: the vendored crates are `{}`",
            names.join("`, `")
        );
    };
    Ok((path, entry.source))
}
