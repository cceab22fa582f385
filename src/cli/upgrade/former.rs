//! Projects of a kubewright 0.2.0 that was built before its release: the folder of each archive had a VERSION, a build script and a root of its
//! own, and two bindings were in files of their own. The binary does not contain the templates of such a build.

use super::crates::written;
use crate::cli::crates::deleted;
use crate::cli::report;
use crate::cli::session::Session;
use crate::plan::{FileKind, Plan, RelPath};
use crate::render::{header, vendor};
use crate::write::{Change, Intent, Outcome, compare, vendored_files, vendored_stamp};
use anyhow::{Result, bail};

/// The files of an archive that are no longer in its folder.
const FILES: [&str; 5] = [
    "LICENSE-APACHE",
    "LICENSE-MIT",
    vendor::VERSION,
    "build.rs",
    "src/lib.rs",
];
/// The folders and the roles whose bindings have no files of their own any more.
const ROLES: [(&str, &str); 2] = [("metrics", "auth_role"), ("rbac", "leader_election_role")];

/// Brings such a project to the present form; changes no other project of this release.
///
/// # Errors
/// If an archive was edited.
pub fn upgrade(session: Session, dry_run: bool) -> Result<()> {
    let outcome = outcome(&session)?;
    let project = session.project.clone();
    if outcome.changes.is_empty() {
        let own = &project.version;
        report::note(&format!("nothing to do: the project is at kubewright {own} already"));
        return Ok(());
    }
    session.finish(&project, outcome, dry_run).map(drop)
}

/// The changes; none for any other project.
fn outcome(session: &Session) -> Result<Outcome> {
    let plan = session.plan(&session.project)?;
    let (mut changes, mut edited) = (Vec::new(), Vec::new());
    let vendored = plan
        .entries
        .iter()
        .filter(|(_, entry)| entry.kind == FileKind::Vendored);
    for (folder, _) in vendored {
        let archive = folder.join(vendor::SOURCE)?;
        if session.root.read(&folder.join(vendor::VERSION)?)?.is_none() || session.root.read(&archive)?.is_none() {
            continue;
        }
        // The crate is replaced, so its own hash is sufficient.
        let stamp = vendored_stamp(&session.root, folder)?.unwrap_or_default();
        if header::recorded(&stamp) != Some(vendor::hash(&vendored_files(&session.root, folder)?).as_str()) {
            edited.push(format!("`{folder}`"));
            continue;
        }
        changes.extend(written(
            session,
            &session.render(&session.project, &only(&plan, folder))?,
        )?);
        let former = FILES.map(|file| folder.join(file));
        changes.extend(deleted(session, &former.into_iter().collect::<Result<Vec<_>>>()?)?);
    }
    if !edited.is_empty() {
        bail!(
            "edited: {}\n\nhint: restore each with git; then run the command again",
            edited.join(", ")
        );
    }
    if changes.is_empty() {
        return Ok(Outcome::default());
    }
    let is_shared = |path: &RelPath| path.as_str().starts_with("crates/");
    let shared = plan
        .clone()
        .only(|path, entry| entry.kind == FileKind::Managed && is_shared(path));
    let will = session.render(&session.project, &shared)?;
    let intents = will
        .iter()
        .map(|(path, after)| (path.clone(), Intent::Manage { after, before: None }));
    let mut outcome = compare(&session.root, &intents.collect(), false)?;
    outcome.changes.extend(changes);
    for (folder, role) in ROLES {
        outcome.changes.extend(with_binding(session, &plan, [folder, role])?);
    }
    Ok(outcome)
}

fn only(plan: &Plan, wanted: &RelPath) -> Plan {
    plan.clone().only(|path, _| path == wanted)
}

/// The changes that move a binding into the file of its role; none if the user has changed or deleted one of the files.
fn with_binding(session: &Session, plan: &Plan, [folder, role]: [&str; 2]) -> Result<Vec<Change>> {
    let path = |file: &str| format!("config/{folder}/{file}.yaml").parse::<RelPath>();
    let [at, binding, kustomization] = [path(role)?, path(&format!("{role}_binding"))?, path("kustomization")?];
    let read = |path| session.root.read(path);
    let (Some(first), Some(second), Some(list)) = (read(&at)?, read(&binding)?, read(&kustomization)?) else {
        return Ok(Vec::new());
    };
    let rendered = session.render(&session.project, &only(plan, &at))?;
    let Some(joined) = rendered.get(&at) else {
        return Ok(Vec::new());
    };
    let line = format!("  - {role}_binding.yaml\n");
    let list = String::from_utf8_lossy(&list).into_owned();
    if [&first[..], b"---\n", &second].concat() != joined.bytes() || !list.contains(&line) {
        return Ok(Vec::new());
    }
    let mut file = joined.clone();
    file.text = list.replacen(&line, "", 1);
    Ok(vec![
        Change {
            path: at,
            before: Some(first),
            after: Some(joined.clone()),
        },
        Change {
            path: binding,
            before: Some(second),
            after: None,
        },
        Change {
            path: kustomization,
            before: Some(list.into_bytes()),
            after: Some(file),
        },
    ])
}
