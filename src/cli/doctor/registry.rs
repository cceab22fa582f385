//! Projects whose crates of kubewright are from a registry: whether Cargo.lock and `crates/` fit PROJECT.

use super::{Finding, Verdict};
use crate::cli::session::Session;
use crate::project::Release;
use crate::render::cargo_lock;
use crate::write::vendored_stamp;
use anyhow::Result;

/// The finding about the crates of a project that has no vendored ones.
pub fn finding(session: &Session) -> Result<Finding> {
    let left = left(session)?;
    if !left.is_empty() {
        let text = format!("PROJECT has `crates: registry`, and there are {}", left.join(", "));
        return Ok(
            Finding::new("project", Verdict::Warning, text).hint("delete them, if `Cargo.toml` does not name them")
        );
    }
    let lock = session.root.read(&"Cargo.lock".parse()?)?.unwrap_or_default();
    let lock = String::from_utf8_lossy(&lock).replace("\r\n", "\n");
    let locked = cargo_lock::versions(&lock, &session.templates.packages());
    let locked: Vec<_> = locked.into_iter().collect();
    if locked.is_empty() {
        let text = "`Cargo.lock` does not have kubewright's crates yet, and builds with `--locked` fail";
        return Ok(Finding::new("project", Verdict::Warning, text)
            .hint("run `make manifests`, which adds them, and commit `Cargo.lock`"));
    }
    let release: Release = session.project.version.parse()?;
    let is_same = |version: &String| {
        version
            .parse()
            .is_ok_and(|other: Release| other.is_same_minor(&release))
    };
    Ok(match locked.iter().all(is_same) {
        true => Finding::new(
            "project",
            Verdict::Ok,
            format!(
                "all managed files match PROJECT; kubewright's crates are {} of a registry",
                locked.join(", ")
            ),
        ),
        false => {
            let text = format!(
                "the project was written by kubewright {release}, and `Cargo.lock` has kubewright's crates in version {}",
                locked.join(", ")
            );
            Finding::new("project", Verdict::Warning, text)
                .hint("run `make manifests`, and commit `Cargo.lock`; or correct the versions in `Cargo.toml`")
        }
    })
}

/// Folders of vendored crates, which nothing in the project uses.
fn left(session: &Session) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for name in &session.templates.catalogue().crates {
        if vendored_stamp(&session.root, &format!("crates/{name}").parse()?)?.is_some() {
            found.push(format!("`crates/{name}`"));
        }
    }
    Ok(found)
}
