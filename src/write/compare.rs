//! Compares the wanted files with the disk: which files change, which stay because the user owns them, and every reason
//! to fail, before anything is written.

use super::change::Change;
use super::merge::{Seeded, Succession, has_conflicts, join, succeed};
use super::root::Root;
use super::union::{is_reformatted, is_union};
use crate::plan::{FileKind, RelPath};
use crate::render::File;
use crate::render::header::{self, Found};
use anyhow::{Result, bail};
use std::collections::{BTreeMap, BTreeSet};

/// The intent of a command for one file.
#[derive(Clone, Debug)]
pub enum Intent<'a> {
    /// Create it; an existing file with other contents is an error.
    Seed(&'a File),
    /// Create it; an existing file stays. A list of ignored files, or of attributes, gets the lines that it lacks.
    Keep(&'a File),
    /// Rewrite a managed file. `before` is its text in the earlier project.
    Manage {
        /// Its new text.
        after: &'a File,
        /// Its expected text; `None` for a file that is new to the project.
        before: Option<&'a File>,
    },
    /// Rewrite a seeded file that is not edited; a deleted one stays deleted, and its lines are listed: they may be in another file.
    Follow {
        /// Its new text.
        after: &'a File,
        /// Its text when it was written.
        before: &'a File,
    },
    /// Bring a seeded file to another PROJECT, with its edits, unless they are in the way; a deleted one stays deleted, and its lines are
    /// listed.
    Join {
        /// Its new text.
        after: &'a File,
        /// Its text when it was written.
        before: &'a File,
    },
    /// Bring a seeded file to another release; a deleted one stays deleted.
    Merge(Succession<'a>),
    /// Delete a file that is not edited.
    Remove(&'a File),
}

/// The intents of a command, by path.
pub type Intents<'a> = BTreeMap<RelPath, Intent<'a>>;

/// The result of comparing intents with the disk.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The changes to make.
    pub changes: Vec<Change>,
    /// Files that would be deleted, but that the user has changed.
    pub kept: Vec<RelPath>,
    /// Files that would be created, but that the user has.
    pub present: Vec<RelPath>,
    /// Changes for the user to make in files that the user owns.
    pub by_hand: Vec<ByHand>,
    /// Changed files that get conflict markers.
    pub conflicts: Vec<RelPath>,
    /// Files that would be changed, but that the user has deleted.
    pub deleted: Vec<RelPath>,
}

/// Lines to change by hand, in a managed file without a header or in an edited seeded file.
#[derive(Debug, PartialEq, Eq)]
pub struct ByHand {
    /// The file.
    pub path: RelPath,
    /// Lines to add.
    pub add: Vec<String>,
    /// Lines to remove.
    pub remove: Vec<String>,
}

/// Works out the changes. With `force`, seeds replace what is in their way and changed files are removed.
pub fn compare(root: &Root, intents: &Intents<'_>, force: bool) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut refused = RefusedWrites::default();
    for (path, intent) in intents {
        let found = root.read(path)?;
        match intent {
            Intent::Seed(file) => match &found {
                Some(bytes) if !force && !same(bytes, file) => refused.in_the_way.push(path.clone()),
                _ => outcome.replace(path, found, file.text.clone(), file),
            },
            Intent::Keep(file) => match &found {
                Some(bytes) if [".gitattributes", ".gitignore"].contains(&path.as_str()) => {
                    match std::str::from_utf8(bytes) {
                        Ok(own) => {
                            let text = with_lines(own, &file.text);
                            outcome.replace(path, found.clone(), text, file);
                        }
                        // Lines could only be added to it by changing the others.
                        Err(_) => outcome.present.push(path.clone()),
                    }
                }
                Some(bytes) if !same(bytes, file) => outcome.present.push(path.clone()),
                _ => outcome.replace(path, found, file.text.clone(), file),
            },
            Intent::Manage { after, before } => {
                let file = Managed {
                    path,
                    after,
                    before: *before,
                };
                manage(&file, found, &mut outcome, &mut refused);
            }
            Intent::Follow { after, before } => follow(&Followed { path, after, before }, found, &mut outcome),
            Intent::Join { .. } if path.as_str() == "Cargo.lock" && found.as_deref().is_some_and(is_conflicted) => {
                refused.conflicted.push(path.clone());
            }
            Intent::Join { after, before } => join(path, [before, after], found, &mut outcome),
            Intent::Merge(file) => {
                let seeded = Seeded {
                    path,
                    file,
                    present: match file.from {
                        Some(from) => root.read(from)?,
                        None => found.clone(),
                    },
                    target: found,
                };
                succeed(seeded, &mut outcome, &mut refused);
            }
            Intent::Remove(file) => match &found {
                None => {}
                Some(bytes) if force || is_ours(bytes, file) => {
                    outcome.changes.push(Change {
                        path: path.clone(),
                        before: found,
                        after: None,
                    });
                }
                Some(_) => outcome.kept.push(path.clone()),
            },
        }
    }
    refused.check(root)?;
    Ok(outcome)
}

/// A `.gitignore` or `.gitattributes` with the lines of another that it lacks; `target`, `/target` and `target/` are the same folder at the
/// top. Attributes of all files are not added: they would replace those that the user gave to some.
fn with_lines(own: &str, wanted: &str) -> String {
    let folder = |line: &str| line.trim().trim_matches('/').to_owned();
    let has: BTreeSet<_> = own.lines().map(folder).collect();
    let mut includes = false;
    let lacks: Vec<_> = wanted
        .lines()
        .filter(|line| !line.starts_with("* "))
        .filter(|line| {
            // The last line that matches a file counts, so lines below a new `!` follow it.
            let lacks = includes || !has.contains(&folder(line));
            includes |= lacks && line.starts_with('!');
            lacks
        })
        .collect();
    let gap = if own.is_empty() || own.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    match lacks.is_empty() {
        true => own.to_owned(),
        false => format!("{own}{gap}{}\n", lacks.join("\n")),
    }
}

/// A managed file of PROJECT before and after a command.
struct Managed<'a> {
    path: &'a RelPath,
    after: &'a File,
    before: Option<&'a File>,
}

fn manage(file: &Managed, found: Option<Vec<u8>>, outcome: &mut Outcome, refused: &mut RefusedWrites) {
    let Managed { path, after, before } = *file;
    let Some(bytes) = &found else {
        return outcome.replace(path, found, after.text.clone(), after);
    };
    let Ok(text) = std::str::from_utf8(bytes) else {
        return refused.edited.push(path.clone());
    };
    match header::find(text) {
        Found::Intact { above } | Found::Conflicted { above } => {
            let wanted = with_above(above, text, after);
            outcome.replace(path, found, wanted, after);
        }
        // A merge by git can be correct except for the hash.
        Found::Edited { above } if header::below(&text.replace("\r\n", "\n")) == header::below(&after.text) => {
            let wanted = with_above(above, text, after);
            outcome.replace(path, found, wanted, after);
        }
        Found::Edited { .. } if is_reformatted(text, &after.text) => {}
        Found::Edited { .. } if before.is_some_and(|before| before.text == after.text) => {}
        Found::Edited { above }
            if is_union(text, above, &after.text) || before.is_some_and(|it| is_reformatted(text, &it.text)) =>
        {
            let wanted = with_above(above, text, after);
            outcome.replace(path, found, wanted, after);
        }
        Found::Edited { .. } => refused.edited.push(path.clone()),
        Found::None => match before {
            // Another release may manage a file that was seeded.
            Some(before) if before.kind == FileKind::Seeded && is_ours(bytes, before) => {
                outcome.replace(path, found, after.text.clone(), after);
            }
            Some(before) => outcome.by_hand.extend(by_hand(path, text, before, after)),
            None if same(bytes, after) => {}
            None => refused.in_the_way.push(path.clone()),
        },
    }
}

/// The new text of a file below the lines that a tool or a person put on top, with the line ends of `text`.
fn with_above(above: &str, text: &str, after: &File) -> String {
    let wanted = format!("{}{}", above.replace("\r\n", "\n"), after.text);
    match text.contains("\r\n") {
        true => wanted.replace('\n', "\r\n"),
        false => wanted,
    }
}

/// A seeded file of PROJECT before and after a command.
struct Followed<'a> {
    path: &'a RelPath,
    after: &'a File,
    before: &'a File,
}

fn follow(file: &Followed, found: Option<Vec<u8>>, outcome: &mut Outcome) {
    let Followed { path, after, before } = *file;
    let Some(bytes) = &found else {
        // Its code may be in another file.
        outcome.deleted.push(path.clone());
        outcome.by_hand.extend(by_hand(path, &before.text, before, after));
        return;
    };
    let text = String::from_utf8_lossy(bytes);
    let plain = text.replace("\r\n", "\n");
    match plain.strip_suffix(&before.text).filter(|above| is_comment(above)) {
        Some(above) => {
            let wanted = with_above(above, &text, after);
            outcome.replace(path, found.clone(), wanted, after);
        }
        None if is_ours(bytes, after) => {}
        None => outcome.by_hand.extend(by_hand(path, &text, before, after)),
    }
}

impl Outcome {
    /// Adds a change, unless the file is as wanted.
    pub(super) fn replace(&mut self, path: &RelPath, before: Option<Vec<u8>>, text: String, file: &File) {
        let carried = file.carried.clone().filter(|_| text == file.text);
        let (kind, executable) = (file.kind, file.executable);
        let after = File {
            kind,
            executable,
            text,
            carried,
        };
        if before.as_deref() != Some(after.bytes()) {
            self.changes.push(Change {
                path: path.clone(),
                before,
                after: Some(after),
            });
        }
    }
}

/// The reasons to write no file.
#[derive(Default)]
pub(super) struct RefusedWrites {
    /// Files of the user where new ones are to be created.
    pub(super) in_the_way: Vec<RelPath>,
    /// Managed files that were edited.
    pub(super) edited: Vec<RelPath>,
    /// Locks with conflict markers: their packages cannot be told apart.
    conflicted: Vec<RelPath>,
}

impl RefusedWrites {
    fn check(&self, root: &Root) -> Result<()> {
        let list = |paths: &[RelPath]| {
            paths
                .iter()
                .map(|path| format!("`{path}`"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let verb = |paths: &[RelPath], one: &'static str, many: &'static str| if paths.len() == 1 { one } else { many };
        if !self.edited.is_empty() {
            let names: Vec<_> = self.edited.iter().map(RelPath::as_str).collect();
            let them = verb(&self.edited, "it", "them");
            bail!(
                "{} {} edited by hand\n\nhint: run `{}`; restore {them}, delete {them} so that `kubewright sync` writes {them} again, or delete the line \
                 with `@generated by kubewright` to own {them}",
                list(&self.edited),
                verb(&self.edited, "was", "were"),
                root.git(&format!("diff {}", names.join(" "))),
            );
        }
        if let Some(path) = self.conflicted.first() {
            bail!(
                "`{path}` has merge conflict markers\n\nhint: take the lock of one side with `{}`, then run the command again; \
                 the next build adds what the other side needs",
                root.git(&format!("checkout --ours -- {path}")),
            );
        }
        if !self.in_the_way.is_empty() {
            bail!(
                "{} {} already, with other contents\n\nhint: move {} away",
                list(&self.in_the_way),
                verb(&self.in_the_way, "exists", "exist"),
                verb(&self.in_the_way, "it", "them"),
            );
        }
        Ok(())
    }
}

fn is_conflicted(bytes: &[u8]) -> bool {
    has_conflicts(&String::from_utf8_lossy(bytes))
}

/// Equal except for line ends.
pub(super) fn same(bytes: &[u8], file: &File) -> bool {
    bytes == file.bytes() || std::str::from_utf8(bytes).is_ok_and(|text| text.replace("\r\n", "\n") == file.text)
}

/// Equal except for line ends and for comments on top. A managed file may also be one of an earlier PROJECT.
pub(super) fn is_ours(bytes: &[u8], file: &File) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    if file.kind == FileKind::Managed {
        return matches!(header::find(text), Found::Intact { .. }) || is_reformatted(text, &file.text);
    }
    let text = text.replace("\r\n", "\n");
    text.strip_suffix(&file.text).is_some_and(is_comment)
}

/// Whether a text has comments and empty lines only, as a licence tool puts them on top of files.
pub(super) fn is_comment(text: &str) -> bool {
    let marks = ["//", "#", "/*", "*", " *", "<!--"];
    let comment = |line: &str| line.trim().is_empty() || marks.iter().any(|mark| line.starts_with(mark));
    text.lines().all(comment)
}

/// The lines that a change of PROJECT would add to, or remove from, a file that the user owns.
fn by_hand(path: &RelPath, text: &str, before: &File, after: &File) -> Option<ByHand> {
    // The first line of a managed file is its header.
    let lines = |file: &File| {
        let header = usize::from(file.kind == FileKind::Managed);
        file.text.lines().skip(header).map(str::to_owned).collect::<Vec<_>>()
    };
    let (old, new) = (lines(before), lines(after));
    let present: BTreeSet<&str> = text.lines().map(str::trim).collect();
    let missing = |line: &&String| !line.trim().is_empty() && !present.contains(line.trim());
    let wanted: BTreeSet<&str> = new.iter().map(|line| line.trim()).collect();
    let add: Vec<_> = new
        .iter()
        .filter(missing)
        .filter(|line| !old.contains(line))
        .cloned()
        .collect();
    let gone = |line: &&String| !wanted.contains(line.trim()) && present.contains(line.trim());
    let remove: Vec<_> = old.iter().filter(gone).cloned().collect();
    (!add.is_empty() || !remove.is_empty()).then(|| ByHand {
        path: path.clone(),
        add,
        remove,
    })
}
