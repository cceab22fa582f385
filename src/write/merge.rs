//! Brings a seeded file to another release: what the user changed since the earlier release, and what the release changes,
//! in one text. Where both changed the same lines, both stand between conflict markers, with the earlier text.

use super::change::Change;
use super::compare::{ByHand, Outcome, RefusedWrites, is_comment, same};
use super::relicense::{Relicensed, relicense};
use crate::plan::{FileKind, RelPath};
use crate::render::header::{self, Found};
use crate::render::{File, cargo_lock, licence};
use similar::{Algorithm, ConflictStyle, DiffTag, TextMerge, capture_diff_slices};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A seeded file in two releases.
#[derive(Clone, Debug)]
pub struct Succession<'a> {
    /// As the earlier release wrote it.
    pub before: &'a File,
    /// As the new release writes it.
    pub after: &'a File,
    /// Its path in the earlier release, if the new one has another.
    pub from: Option<&'a RelPath>,
    /// The names of the earlier and of the new release, for conflict markers.
    pub releases: [&'a str; 2],
}

/// The text of both.
#[derive(Debug, PartialEq, Eq)]
enum Merged {
    Clean(String),
    Conflicts(String),
    /// A managed file that was edited: its text is neither the old nor the new one of a release.
    Edited,
    /// Not text.
    Binary,
}

/// A seeded file on the disk.
pub(super) struct Seeded<'a> {
    /// Its path in the new release.
    pub(super) path: &'a RelPath,
    /// Its texts.
    pub(super) file: &'a Succession<'a>,
    /// The contents at its path in the earlier release.
    pub(super) present: Option<Vec<u8>>,
    /// The contents at its path in the new release.
    pub(super) target: Option<Vec<u8>>,
}

/// Works out the changes of one file. A file that the user deleted stays deleted.
pub(super) fn succeed(seeded: Seeded, outcome: &mut Outcome, refused: &mut RefusedWrites) {
    let (path, file) = (seeded.path, seeded.file);
    let Some(bytes) = seeded.present else {
        return outcome.deleted.push(path.clone());
    };
    let is_taken = |target: &Vec<u8>| !same(target, file.after);
    if file.from.is_some() && seeded.target.as_ref().is_some_and(is_taken) {
        return refused.in_the_way.push(path.clone());
    }
    let text = match merged(path, &bytes, file) {
        Merged::Clean(text) => text,
        Merged::Conflicts(text) => {
            outcome.conflicts.push(path.clone());
            text
        }
        Merged::Edited => return refused.edited.push(path.clone()),
        Merged::Binary => return outcome.kept.push(path.clone()),
    };
    if let Some(from) = file.from {
        outcome.changes.push(Change {
            path: from.clone(),
            before: Some(bytes),
            after: None,
        });
    }
    outcome.replace(path, seeded.target, text, file.after);
}

/// Brings a seeded file from the first to the second text, with its edits. Where they are in the way, it stays, and the
/// user gets the lines to change.
pub(super) fn join(path: &RelPath, texts: [&File; 2], found: Option<Vec<u8>>, outcome: &mut Outcome) {
    let Some(bytes) = &found else {
        // Its code may be in another file, unlike that of a file at the top, such as Cargo.lock.
        if path.folders().next().is_some() {
            outcome.by_hand.extend(changed_lines(path, &texts[0].text, texts));
        }
        return outcome.deleted.push(path.clone());
    };
    let Ok(text) = std::str::from_utf8(bytes) else {
        let lines = changed_lines(path, &String::from_utf8_lossy(bytes), texts);
        return outcome.by_hand.extend(lines);
    };
    let plain = text.replace("\r\n", "\n");
    let mut joined = joined(path, texts, &plain, &mut outcome.by_hand);
    if joined == plain {
        return;
    }
    if text.contains("\r\n") {
        joined = joined.replace('\n', "\r\n");
    }
    outcome.replace(path, found, joined, texts[1]);
}

/// The same for a text with line feeds alone. A licence header is replaced on its own, so that no edit below it is in its way.
fn joined(path: &RelPath, texts: [&File; 2], text: &str, by_hand: &mut Vec<ByHand>) -> String {
    let [was, will] = texts.map(|file| licence::split(&file.text));
    if was.0 == will.0 {
        return joined_lines(path, texts, text, by_hand);
    }
    let part = |nth: usize, text: &str| File {
        text: text.to_owned(),
        carried: None,
        ..texts[nth].clone()
    };
    let found = relicense(text, [was.0, will.0]).unwrap_or_else(|| {
        by_hand.extend(changed_lines(path, text, [&part(0, was.0), &part(1, will.0)]));
        Relicensed {
            head: String::new(),
            body: text,
        }
    });
    let body = joined_lines(path, [&part(0, was.1), &part(1, will.1)], found.body, by_hand);
    found.head + &body
}

fn joined_lines(path: &RelPath, texts: [&File; 2], text: &str, by_hand: &mut Vec<ByHand>) -> String {
    let file = Succession {
        before: texts[0],
        after: texts[1],
        from: None,
        releases: [""; 2],
    };
    match merged_lines(path, text, &file) {
        Merged::Clean(text) => text,
        _ => {
            by_hand.extend(changed_lines(path, text, texts));
            text.to_owned()
        }
    }
}

/// The difference between the first and the second text, without changes that the user has made already: whole blocks of lines,
/// to be pasted, and lines to be removed.
fn changed_lines(path: &RelPath, found: &str, texts: [&File; 2]) -> Option<ByHand> {
    let present: BTreeSet<&str> = found.lines().map(str::trim).collect();
    let is_missing = |line: &&str| !line.trim().is_empty() && !present.contains(line.trim());
    let [before, after] = texts.map(|file| file.text.lines().collect::<Vec<_>>());
    let (mut add, mut remove) = (Vec::new(), Vec::new());
    for change in capture_diff_slices(Algorithm::Patience, &before, &after) {
        let (old, new) = (&before[change.old_range()], &after[change.new_range()]);
        if change.tag() == DiffTag::Equal {
            continue;
        }
        remove.extend(
            old.iter()
                .filter(|line| present.contains(line.trim()) && !new.contains(line)),
        );
        if let Some(first) = new.iter().position(&is_missing) {
            add.extend(&new[first..]);
        }
    }
    let owned = |lines: Vec<&&str>| lines.into_iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    (!add.is_empty() || !remove.is_empty()).then(|| ByHand {
        path: path.clone(),
        add: owned(add),
        remove: owned(remove),
    })
}

/// The words of lines for webhooks, conversions and policies.
const EXTENSIONS: [&str; 3] = ["webhook", "conversion", "polic"];

/// The lines for webhooks, conversions or policies that only the second text has. Lines such as `components:` do not count: a file can have them
/// for another reason.
fn extension_lines([without, with]: [&File; 2]) -> BTreeSet<&str> {
    let known: BTreeSet<&str> = without.text.lines().map(str::trim).collect();
    let names = |line: &&str| EXTENSIONS.iter().any(|word| line.contains(word)) && !known.contains(line);
    with.text.lines().map(str::trim).filter(names).collect()
}

/// Whether a file has one of these lines.
pub fn has_extension_line(found: &str, texts: [&File; 2]) -> bool {
    let needed = extension_lines(texts);
    found.lines().any(|line| needed.contains(line.trim()))
}

/// The lines to change by hand in a file that has none of these lines; `None` if it needs none.
pub fn lost_lines(path: &RelPath, found: &str, texts: [&File; 2]) -> Option<ByHand> {
    let is_needed = !extension_lines(texts).is_empty() && !has_extension_line(found, texts);
    is_needed.then(|| changed_lines(path, found, texts)).flatten()
}

fn merged(path: &RelPath, bytes: &[u8], file: &Succession) -> Merged {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Merged::Binary;
    };
    let windows = text.contains("\r\n");
    let restore = |text: String| if windows { text.replace('\n', "\r\n") } else { text };
    match merged_lines(path, &text.replace("\r\n", "\n"), file) {
        Merged::Clean(text) => Merged::Clean(restore(text)),
        Merged::Conflicts(text) => Merged::Conflicts(restore(text)),
        other => other,
    }
}

/// The same for a text with line feeds alone.
fn merged_lines(path: &RelPath, text: &str, file: &Succession) -> Merged {
    let after = &file.after.text;
    let mut before = Cow::Borrowed(file.before.text.as_str());
    if file.before.kind == FileKind::Managed {
        match header::find(text) {
            Found::Intact { above } => return Merged::Clean(format!("{above}{after}")),
            Found::None => before = Cow::Borrowed(header::below(&file.before.text)),
            Found::Edited { .. } | Found::Conflicted { .. } => return Merged::Edited,
        }
    }
    if text == after {
        return Merged::Clean(text.to_owned());
    }
    // As it was written, but for a licence on top.
    if let Some(above) = text.strip_suffix(before.as_ref()).filter(|above| is_comment(above)) {
        return Merged::Clean(format!("{above}{after}"));
    }
    if path.as_str() == "Cargo.lock" {
        return Merged::Clean(cargo_lock::merge(&before, text, after));
    }
    let mut merge = TextMerge::from_lines(before.as_ref(), text, after.as_str());
    let [earlier, new] = file.releases.map(|release| format!("kubewright {release}"));
    merge
        .labels(&earlier, "yours", &new)
        .conflict_style(ConflictStyle::Diff3);
    match merge.is_conflicted() {
        true => Merged::Conflicts(merge.to_string()),
        false => Merged::Clean(merge.to_string()),
    }
}

/// Whether a text has conflict markers, of git or of an upgrade.
pub fn has_conflicts(text: &str) -> bool {
    let mut lines = text.lines();
    lines.any(|line| line.starts_with("<<<<<<< ")) && lines.any(|line| line.starts_with(">>>>>>> "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

    fn file(kind: FileKind, text: &str) -> File {
        File {
            kind,
            executable: false,
            text: text.to_owned(),
            carried: None,
        }
    }

    fn merge(kinds: [FileKind; 2], texts: [&str; 2], found: &str) -> Merged {
        let (before, after) = (file(kinds[0], texts[0]), file(kinds[1], texts[1]));
        let file = Succession {
            before: &before,
            after: &after,
            from: None,
            releases: ["0.1.0", "0.2.0"],
        };
        merged(&"src/main.rs".parse().unwrap(), found.as_bytes(), &file)
    }

    fn seeded(after: &str, found: &str) -> Merged {
        merge([FileKind::Seeded; 2], [BEFORE, after], found)
    }

    #[test]
    fn changes_in_different_places_are_joined_also_with_line_ends_of_windows() {
        let (after, found) = (BEFORE.replace("five", "5"), BEFORE.replace("one", "1"));
        let both = found.replace("five", "5");
        assert_eq!(seeded(&after, &found), Merged::Clean(both.clone()));
        let windows = |text: &str| text.replace('\n', "\r\n");
        assert_eq!(seeded(&after, &windows(&found)), Merged::Clean(windows(&both)));
        let licensed = format!("// Copyright\n\n{BEFORE}");
        assert_eq!(
            seeded(&after, &licensed),
            Merged::Clean(format!("// Copyright\n\n{after}"))
        );
    }

    #[test]
    fn changes_of_the_same_line_stand_between_markers_with_the_earlier_text() {
        let merged = seeded(&BEFORE.replace("three", "3"), &BEFORE.replace("three", "drei"));
        let wanted = "one\ntwo\n<<<<<<< yours\ndrei\n||||||| kubewright 0.1.0\nthree\n=======\n3\n>>>>>>> kubewright 0.2.0\nfour\nfive\nsix\n";
        assert_eq!(merged, Merged::Conflicts(wanted.to_owned()));
        assert!(has_conflicts(wanted) && !has_conflicts(BEFORE));
    }

    #[test]
    fn the_same_change_on_both_sides_is_no_conflict() {
        let after = BEFORE.replace("three", "3");
        assert_eq!(seeded(&after, &after), Merged::Clean(after.clone()));
    }

    #[test]
    fn a_managed_file_that_becomes_seeded_is_replaced_merged_or_refused() {
        let managed = header::stamp(&"src/main.rs".parse().unwrap(), "0.1.0", BEFORE);
        let kinds = [FileKind::Managed, FileKind::Seeded];
        let after = BEFORE.replace("five", "5");
        let of = |found: &str| merge(kinds, [&managed, &after], found);
        assert_eq!(of(&managed), Merged::Clean(after.clone()));
        let ejected = BEFORE.replace("one", "1");
        assert_eq!(of(&ejected), Merged::Clean(ejected.replace("five", "5")));
        assert_eq!(of(&managed.replace("one", "1")), Merged::Edited);
    }

    #[test]
    fn what_is_not_text_is_left_alone() {
        let (before, after) = (file(FileKind::Seeded, "a"), file(FileKind::Seeded, "b"));
        let file = Succession {
            before: &before,
            after: &after,
            from: None,
            releases: ["0.1.0", "0.2.0"],
        };
        assert_eq!(merged(&"a".parse().unwrap(), &[0xff, 0xfe], &file), Merged::Binary);
    }
}
