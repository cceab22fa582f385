//! Managed files that a merge left with the lines of both branches, resolved in an editor with "accept both".

use crate::render::header;
use std::collections::BTreeMap;

/// Whether the text is only a merge of managed files, so that writing `after` loses nothing of the user's: each of its lines is one of `after`.
/// Deleting lines by hand, or moving them out of the file, also leaves only such lines, and is refused as any edit. So either two headers have
/// to show the merge, or no line of `after` may be missing: then lines are repeated, or in another order.
pub(super) fn is_union(text: &str, above: &str, after: &str) -> bool {
    let (found, wanted, above) = (counted(text), counted(after), counted(above));
    let is_known = found
        .keys()
        .all(|line| wanted.contains_key(line) || above.contains_key(line));
    let is_whole = || wanted.iter().all(|(line, count)| found.get(line) >= Some(count));
    is_known && (header::count(text) > 1 || is_whole())
}

/// How often each line occurs, without empty lines and headers.
fn counted(text: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    let lines = text.lines().map(str::trim_end);
    for line in lines.filter(|line| !line.is_empty() && header::count(line) == 0) {
        *counts.entry(line).or_insert(0) += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamped(text: &str) -> String {
        header::stamp(&"a/mod.rs".parse().unwrap(), "0.1.0", text)
    }

    #[test]
    fn lines_of_both_branches_are_a_merge_and_edits_are_not() {
        let after = stamped("pub mod a;\npub mod b;\npub mod c;\n");
        let (left, right) = (stamped("pub mod a;\npub mod b;\n"), stamped("pub mod a;\npub mod c;\n"));
        let is_union = |text: &str| is_union(text, "", &after);
        assert!(is_union(&format!("{left}{right}")));
        assert!(
            is_union(&left.replace("pub mod b;", "pub mod c;\r\npub mod b;")),
            "another order"
        );
        assert!(!is_union(&left), "a line was deleted");
        assert!(!is_union(&format!("{left}{right}pub mod mine;\n")), "a line was added");
        assert!(!is_union(&format!("{left}<<<<<<< ours\n{right}")), "a marker was left");
    }

    #[test]
    fn comments_above_the_header_stay() {
        let (above, after) = ("// Copyright\n\n", stamped("pub mod a;\n"));
        let text = format!("{above}{after}{after}");
        assert!(is_union(&text, above, &after));
        assert!(!is_union(&text, "", &after));
    }
}
