//! Changes as a unified diff, in git's format.

use super::change::{Change, Swap, swaps};
use similar::TextDiff;
use std::fmt::Write as _;

/// The diff of a transaction. A vendored crate is one line, because there is nothing to review.
pub fn diff(changes: &[Change]) -> String {
    let crates = swaps(changes);
    let single = |change: &&Change| change.crate_name().is_none_or(|name| !crates.contains_key(name));
    let mut out: String = changes.iter().filter(single).map(one).collect();
    for (name, swap) in &crates {
        let Swap {
            created,
            updated,
            deleted,
            ..
        } = swap;
        let _ = match swap.verb() {
            "create" => writeln!(out, "new crate crates/{name} ({created} files)"),
            "delete" => writeln!(out, "deleted crate crates/{name} ({deleted} files)"),
            _ => writeln!(
                out,
                "replaced crate crates/{name} ({updated} files changed, {created} new, {deleted} deleted)"
            ),
        };
    }
    out
}

/// The difference between two texts of one file. Of an archive it is one line, as in git.
pub fn text_diff(path: &str, before: &str, after: &str) -> String {
    if [before, after].iter().any(|text| text.contains('\0')) {
        return format!("Binary files a/{path} and b/{path} differ\n");
    }
    unified([&format!("a/{path}"), &format!("b/{path}")], [before, after])
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
    unified([&old, &new], [before.as_ref(), after])
}

fn unified([old, new]: [&str; 2], [before, after]: [&str; 2]) -> String {
    let diff = TextDiff::from_lines(before, after);
    diff.unified_diff().context_radius(3).header(old, new).to_string()
}
