//! The unified diff of two texts, as `diff -u` prints it, by Myers' greedy algorithm.
//! Not `similar`, which every project would compile for the diff of a stale manifest.

use std::fmt::Write;

/// Unchanged lines around a change, as in `diff -u`.
const CONTEXT: usize = 3;

/// The most changed lines for which the shortest edit script is searched. Beyond that the search is too expensive, and everything
/// between the common start and end is shown as replaced.
const LONGEST_SCRIPT: usize = 2000;

#[derive(Clone, Copy, PartialEq)]
enum Edit {
    Keep,
    Remove,
    Add,
}

/// The unified diff of a file; `None` for one that does not exist. Empty when both are equal.
pub(super) fn unified(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    let before: Vec<&str> = old.unwrap_or_default().lines().collect();
    let after: Vec<&str> = new.unwrap_or_default().lines().collect();
    let script = script(&before, &after);
    let name = |exists: Option<&str>| {
        if exists.is_some() {
            path.to_owned()
        } else {
            "/dev/null".to_owned()
        }
    };
    let mut out = String::new();
    for hunk in hunks(&script) {
        if out.is_empty() {
            // Writing to a string cannot fail.
            _ = writeln!(out, "--- {}\n+++ {}", name(old), name(new));
        }
        write_hunk(&mut out, &script, hunk, (&before, &after));
    }
    out
}

/// One edit for each line of either text, in order.
fn script(before: &[&str], after: &[&str]) -> Vec<Edit> {
    let head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let rest = (&before[head..], &after[head..]);
    let tail = rest
        .0
        .iter()
        .rev()
        .zip(rest.1.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let middle = (&rest.0[..rest.0.len() - tail], &rest.1[..rest.1.len() - tail]);
    let mut script = vec![Edit::Keep; head];
    script.extend(myers(middle.0, middle.1).unwrap_or_else(|| {
        let removed = std::iter::repeat_n(Edit::Remove, middle.0.len());
        removed.chain(std::iter::repeat_n(Edit::Add, middle.1.len())).collect()
    }));
    script.extend(std::iter::repeat_n(Edit::Keep, tail));
    script
}

/// The shortest edit script: reaches as far as possible with 0, 1, 2… changes on every diagonal.
fn myers(before: &[&str], after: &[&str]) -> Option<Vec<Edit>> {
    let (n, m) = (before.len() as isize, after.len() as isize);
    let limit = (n + m).min(LONGEST_SCRIPT as isize);
    let size = 2 * limit as usize + 3;
    let slot = |k: isize| (k + limit + 1) as usize;
    let mut reach = vec![0isize; size];
    let mut trace = Vec::new();
    for d in 0..=limit {
        trace.push(reach.clone());
        for k in (-d..=d).step_by(2) {
            let down = k == -d || (k != d && reach[slot(k - 1)] < reach[slot(k + 1)]);
            let mut x = if down {
                reach[slot(k + 1)]
            } else {
                reach[slot(k - 1)] + 1
            };
            while x < n && x - k < m && before[x as usize] == after[(x - k) as usize] {
                x += 1;
            }
            reach[slot(k)] = x;
            if x >= n && x - k >= m {
                return Some(walk_back(&trace, (n, m), slot));
            }
        }
    }
    None
}

fn walk_back(trace: &[Vec<isize>], end: (isize, isize), slot: impl Fn(isize) -> usize) -> Vec<Edit> {
    let (mut x, mut y) = end;
    let mut edits = Vec::new();
    for (d, reach) in trace.iter().enumerate().rev() {
        let (d, k) = (d as isize, x - y);
        let down = k == -d || (k != d && reach[slot(k - 1)] < reach[slot(k + 1)]);
        let previous = if down { k + 1 } else { k - 1 };
        let (from_x, from_y) = if d == 0 {
            (0, 0)
        } else {
            (reach[slot(previous)], reach[slot(previous)] - previous)
        };
        while x > from_x && y > from_y {
            edits.push(Edit::Keep);
            (x, y) = (x - 1, y - 1);
        }
        if d > 0 {
            edits.push(if down { Edit::Add } else { Edit::Remove });
            (x, y) = (from_x, from_y);
        }
    }
    edits.reverse();
    edits
}

/// Ranges of the script with a change and its context. Changes whose contexts touch are in one range.
fn hunks(script: &[Edit]) -> Vec<std::ops::Range<usize>> {
    let mut hunks: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, edit) in script.iter().enumerate() {
        if *edit == Edit::Keep {
            continue;
        }
        let (start, end) = (at.saturating_sub(CONTEXT), (at + 1 + CONTEXT).min(script.len()));
        match hunks.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => hunks.push(start..end),
        }
    }
    hunks
}

fn write_hunk(out: &mut String, script: &[Edit], hunk: std::ops::Range<usize>, texts: (&[&str], &[&str])) {
    let count = |range: &[Edit], other: Edit| range.iter().filter(|edit| **edit != other).count();
    let (mut old, mut new) = (
        count(&script[..hunk.start], Edit::Add),
        count(&script[..hunk.start], Edit::Remove),
    );
    let lines = (
        count(&script[hunk.clone()], Edit::Add),
        count(&script[hunk.clone()], Edit::Remove),
    );
    // An empty side has the number of the line before it.
    let first = |line: usize, count: usize| if count == 0 { line } else { line + 1 };
    // Writing to a string cannot fail.
    _ = writeln!(
        out,
        "@@ -{},{} +{},{} @@",
        first(old, lines.0),
        lines.0,
        first(new, lines.1),
        lines.1
    );
    for edit in &script[hunk] {
        let (mark, line) = match edit {
            Edit::Keep => (' ', texts.0[old]),
            Edit::Remove => ('-', texts.0[old]),
            Edit::Add => ('+', texts.1[new]),
        };
        old += usize::from(*edit != Edit::Add);
        new += usize::from(*edit != Edit::Remove);
        out.push(mark);
        out.push_str(line);
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::{Edit, script, unified};
    use proptest::prelude::*;

    /// The old and the new text of an edit script.
    fn apply<'a>(script: &[Edit], before: &[&'a str], after: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for edit in script {
            if *edit != Edit::Add {
                old.push(before[old.len()]);
            }
            if *edit != Edit::Remove {
                new.push(after[new.len()]);
            }
            if *edit == Edit::Keep {
                assert_eq!(old.last(), new.last());
            }
        }
        (old, new)
    }

    fn longest_common(a: &[&str], b: &[&str]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut diagonal = 0;
            for (at, y) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if x == y { diagonal + 1 } else { row[at].max(above) };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    fn lines() -> impl Strategy<Value = Vec<&'static str>> {
        prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d"]), 0..20)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_script_leads_from_one_text_to_the_other_by_the_fewest_edits(before in lines(), after in lines()) {
            let script = script(&before, &after);
            let kept = script.iter().filter(|edit| **edit == Edit::Keep).count();
            prop_assert_eq!(apply(&script, &before, &after), (before.clone(), after.clone()));
            prop_assert_eq!(kept, longest_common(&before, &after));
        }
    }

    #[test]
    fn distant_changes_are_separate_hunks_and_new_files_are_diffed_with_dev_null() {
        let text = |n: usize| {
            (1..=20)
                .map(|i| format!("{}\n", if i == n { 0 } else { i }))
                .collect::<String>()
        };
        let mut both = text(2);
        both = both.replace("\n19\n", "\n0\n");
        let hunks = "@@ -1,5 +1,5 @@\n 1\n-2\n+0\n 3\n 4\n 5\n@@ -16,5 +16,5 @@\n 16\n 17\n 18\n-19\n+0\n 20\n";
        assert_eq!(
            unified("f", Some(&text(0)), Some(&both)),
            format!("--- f\n+++ f\n{hunks}")
        );
        assert_eq!(
            unified("f", None, Some("a\n")),
            "--- /dev/null\n+++ f\n@@ -0,0 +1,1 @@\n+a\n"
        );
        assert_eq!(unified("f", Some("a\n"), Some("a\n")), "");
    }

    #[test]
    fn two_long_texts_with_nothing_in_common_are_shown_as_replaced() {
        let text = |word: &str| (0..3000).map(|i| format!("{word}{i}\n")).collect::<String>();
        assert_eq!(
            unified("f", Some(&text("a")), Some(&text("b"))).lines().count(),
            3 + 6000
        );
    }
}
