//! Managed files that a merge left with the lines of both branches, resolved in an editor with "accept both".

use crate::render::header;
use std::collections::BTreeSet;

/// Whether the text is only a merge of managed files, so that writing `after` loses nothing of the user's: it has the headers of both branches, and
/// each of its lines is one of `after`. With one header, such lines may have been deleted, moved or repeated by hand.
pub(super) fn is_union(text: &str, above: &str, after: &str) -> bool {
    let (wanted, above) = (lines(after), lines(above));
    let is_known = |line: &&str| wanted.contains(line) || above.contains(line);
    header::count(text) > 1 && lines(text).iter().all(is_known)
}

/// The lines without empty ones and headers.
fn lines(text: &str) -> BTreeSet<&str> {
    let lines = text.lines().map(str::trim_end);
    lines
        .filter(|line| !line.is_empty() && header::count(line) == 0)
        .collect()
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
            !is_union(&after.replace("pub mod b;", "pub mod c;\r\npub mod b;")),
            "lines were moved or repeated by hand"
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
