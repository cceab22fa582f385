//! Changes as a unified diff, in git's format.

use super::change::Change;
use similar::TextDiff;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The diff of a transaction. A new vendored crate is one line, because there is nothing to review.
pub fn diff(changes: &[Change]) -> String {
    let mut out = String::new();
    let mut crates: BTreeMap<&str, usize> = BTreeMap::new();
    for change in changes {
        match vendored(change) {
            Some(name) => *crates.entry(name).or_default() += 1,
            None => out.push_str(&one(change)),
        }
    }
    for (name, files) in crates {
        let _ = writeln!(out, "new crate crates/{name} ({files} files)");
    }
    out
}

fn vendored(change: &Change) -> Option<&str> {
    let new = change.before.is_none()
        && change
            .after
            .as_ref()
            .is_some_and(|file| file.kind == crate::plan::FileKind::Vendored);
    new.then(|| change.path.as_str().strip_prefix("crates/")?.split('/').next())
        .flatten()
}

fn one(change: &Change) -> String {
    let before = change
        .before
        .as_deref()
        .map(String::from_utf8_lossy)
        .unwrap_or_default();
    let after = change.after.as_ref().map_or("", |file| file.text.as_str());
    let name = |exists: bool, side: char| {
        if exists {
            format!("{side}/{}", change.path)
        } else {
            "/dev/null".to_owned()
        }
    };
    let (old, new) = (name(change.before.is_some(), 'a'), name(change.after.is_some(), 'b'));
    TextDiff::from_lines(before.as_ref(), after)
        .unified_diff()
        .context_radius(3)
        .header(&old, &new)
        .to_string()
}
