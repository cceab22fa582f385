//! Managed files that tools changed: a merge that left the lines of both branches, resolved in an editor with "accept both", and rustfmt.

use crate::render::header;
use std::collections::BTreeSet;

/// Whether the text is only a merge of managed files, so that writing `after` loses nothing of the user's: it has the headers of both branches, and
/// each of its lines is one of `after`. With one header, such lines may have been deleted, moved or repeated by hand.
pub(super) fn is_union(text: &str, above: &str, after: &str) -> bool {
    let (wanted, above) = (lines(after), lines(above));
    let is_known = |line: &&str| wanted.contains(line) || above.contains(line);
    header::count(text) > 1 && lines(text).iter().all(is_known)
}

/// Whether the text is `other` in another form, as rustfmt writes a file of Rust with the options of a project.
pub(super) fn is_reformatted(text: &str, other: &str) -> bool {
    let is_form = |c: char| c.is_whitespace() || [',', '{', '}'].contains(&c);
    let tokens = |text| header::below(text).chars().filter(|c| !is_form(*c));
    header::count(text) == 1 && other.starts_with("//") && tokens(text).eq(tokens(other))
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
    fn rust_in_another_form_is_not_an_edit_and_yaml_is() {
        let [short, long] = ["f(a, b);\n", "f(\n\ta,\n\tb,\n);\n"].map(stamped);
        assert!(is_reformatted(&long, &short));
        assert!(!is_reformatted(&long.replace("\tb", "\tc"), &short));
        assert!(!is_reformatted(&format!("{long}{long}"), &format!("{short}{short}")));
        let yaml = |text| header::stamp(&"a.yaml".parse().unwrap(), "0.1.0", text);
        assert!(!is_reformatted(&yaml("a:\n  b: c\n"), &yaml("a:\nb: c\n")));
    }

    #[test]
    fn comments_above_the_header_stay() {
        let (above, after) = ("// Copyright\n\n", stamped("pub mod a;\n"));
        let text = format!("{above}{after}{after}");
        assert!(is_union(&text, above, &after));
        assert!(!is_union(&text, "", &after));
    }
}
