//! The promise of `write`: whatever fails, and wherever the process dies, a command has happened or it has not.

mod cli;

use cli::{Tree, assert_same, tree};
use kubewright::plan::FileKind;
use kubewright::render::File;
use kubewright::write::{Change, Disk, RealDisk, Root};
use proptest::prelude::*;
use std::cell::Cell;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::rc::Rc;

/// What happens at the n-th operation.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// The process dies: it and everything after fails. A write dies halfway.
    Dies,
    /// The disk refuses this one.
    Full,
}

/// A disk with a fault at one operation.
struct FaultyDisk {
    left: Rc<Cell<i64>>,
    fault: Fault,
}

impl FaultyDisk {
    fn new(operations: i64, fault: Fault) -> (Box<Self>, Rc<Cell<i64>>) {
        let left = Rc::new(Cell::new(operations));
        (
            Box::new(Self {
                left: left.clone(),
                fault,
            }),
            left,
        )
    }

    fn step(&self) -> io::Result<()> {
        self.left.set(self.left.get() - 1);
        match self.fault {
            Fault::Dies if self.left.get() < 0 => Err(io::Error::other("dead")),
            Fault::Full if self.left.get() == -1 => Err(ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }
}

impl Disk for FaultyDisk {
    fn write(&self, path: &Path, bytes: &[u8], executable: bool, durable: bool) -> io::Result<()> {
        let alive = self.step();
        if alive.is_err() && self.left.get() == -1 {
            RealDisk.write(path, &bytes[..bytes.len() / 2], executable, durable)?;
        }
        alive?;
        RealDisk.write(path, bytes, executable, durable)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        RealDisk.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        RealDisk.remove_file(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        RealDisk.create_dir(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        RealDisk.remove_dir(path)
    }
}

/// A folder with files to keep, change and delete, and the changes.
fn scene() -> (tempfile::TempDir, Vec<Change>) {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("kept", "kept"),
        ("changed", "old"),
        ("sub/deleted/file", "gone"),
        ("sub/kept", "kept"),
    ] {
        fs::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
        fs::write(dir.path().join(path), text).unwrap();
    }
    let changes = vec![
        change("changed", Some("old"), Some("new")),
        change("new/deep/program", None, Some("#!/bin/sh\n")),
        change("sub/deleted/file", Some("gone"), None),
        change("new/other", None, Some("")),
    ];
    (dir, changes)
}

fn change(path: &str, before: Option<&str>, after: Option<&str>) -> Change {
    let file = |text: &str| File {
        kind: FileKind::Seeded,
        executable: text.starts_with("#!"),
        text: text.to_owned(),
    };
    Change {
        path: path.parse().unwrap(),
        before: before.map(|text| text.as_bytes().to_vec()),
        after: after.map(file),
    }
}

fn commit(dir: &Path, disk: Box<dyn Disk>, changes: &[Change]) -> anyhow::Result<()> {
    Root::lock_on(dir, disk, || {})?.commit(changes)
}

/// The trees before and after the scene's transaction.
fn outcomes() -> (Tree, Tree) {
    let (dir, changes) = scene();
    let before = tree(dir.path());
    commit(dir.path(), Box::new(RealDisk), &changes).unwrap();
    assert!(
        !dir.path().join("sub/deleted").exists(),
        "an emptied folder goes with its file"
    );
    (before, tree(dir.path()))
}

/// What the next command finds once it has the lock.
fn settled(dir: &Path) -> Tree {
    drop(Root::lock(dir, || {}).unwrap());
    assert!(!dir.join(".kubewright").exists());
    tree(dir)
}

#[test]
fn dying_at_any_operation_leaves_all_or_nothing_to_the_next_command() {
    let (before, after) = outcomes();
    let mut completed = [0, 0];
    for operations in 0.. {
        let (dir, changes) = scene();
        let (disk, left) = FaultyDisk::new(operations, Fault::Dies);
        let result = commit(dir.path(), disk, &changes);
        let found = settled(dir.path());
        assert!(
            found == before || found == after,
            "half done after {operations} operations"
        );
        completed[usize::from(found == after)] += 1;
        if result.is_ok() && left.get() >= 0 {
            break;
        }
    }
    assert!(completed[0] >= 3 && completed[1] >= 8, "{completed:?}");
}

#[test]
fn dying_again_while_completing_changes_nothing_about_that() {
    let (before, after) = outcomes();
    for first in 0..40 {
        for second in 0..40 {
            let (dir, changes) = scene();
            let _ = commit(dir.path(), FaultyDisk::new(first, Fault::Dies).0, &changes);
            let again = Root::lock_on(dir.path(), FaultyDisk::new(second, Fault::Dies).0, || {}).map(drop);
            let found = settled(dir.path());
            assert!(
                found == before || found == after,
                "half done after {first} and {second} operations"
            );
            if again.is_ok() {
                break;
            }
        }
    }
}

#[test]
fn an_error_at_any_operation_takes_everything_back_at_once() {
    let (before, after) = outcomes();
    for operations in 0.. {
        let (dir, changes) = scene();
        let (disk, left) = FaultyDisk::new(operations, Fault::Full);
        let result = commit(dir.path(), disk, &changes);
        if left.get() >= 0 {
            assert_eq!(tree(dir.path()), after);
            break;
        }
        // Past the last file a failure to tidy is no failure of the command, or is made good by the next one.
        match result {
            Ok(()) => assert_eq!(settled(dir.path()), after),
            Err(_) if dir.path().join(".kubewright/journal").exists() => assert_eq!(settled(dir.path()), after),
            Err(error) => {
                assert!(format!("{error:#}").contains("nothing was changed"), "{error:#}");
                assert_same(&before, &settled(dir.path()));
            }
        }
    }
}

#[test]
fn an_edit_after_an_interruption_is_not_lost() {
    let (dir, changes) = scene();
    // Dead after the journal is in place: folder, write, rename.
    commit(dir.path(), FaultyDisk::new(3, Fault::Dies).0, &changes).unwrap_err();
    fs::write(dir.path().join("changed"), "by hand").unwrap();
    let error = Root::lock(dir.path(), || {}).err().unwrap().to_string();
    assert!(
        error.contains("`changed` was edited since") && error.contains("hint: "),
        "{error}"
    );
    assert_eq!(fs::read_to_string(dir.path().join("changed")).unwrap(), "by hand");
}

#[test]
fn a_folder_in_a_files_place_is_refused_before_the_first_byte() {
    for (blocked, word) in [("changed", "is a folder"), ("new", "is a file")] {
        let (dir, changes) = scene();
        let _ = fs::remove_file(dir.path().join(blocked));
        match blocked {
            "new" => fs::write(dir.path().join("new"), "").unwrap(),
            _ => fs::create_dir(dir.path().join(blocked)).unwrap(),
        }
        let before = tree(dir.path());
        let error = commit(dir.path(), Box::new(RealDisk), &changes)
            .unwrap_err()
            .to_string();
        assert!(error.contains(word), "{error}");
        assert_same(&before, &tree(dir.path()));
        assert!(!dir.path().join(".kubewright").exists());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(200), ..ProptestConfig::default() })]

    #[test]
    fn any_transaction_dies_as_a_whole(
        files in prop::collection::btree_map("[ab]/[ab]/[ab]|[c-e]", (prop::option::of("[a-z\r\n]{0,9}"), prop::option::of("[a-z\r\n]{0,9}")), 1..8),
        operations in 0..60_i64,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let changes: Vec<_> = files.iter().filter(|(_, (a, b))| a != b).map(|(path, (a, b))| change(path, a.as_deref(), b.as_deref())).collect();
        for (path, (text, _)) in &files {
            if let Some(text) = text {
                fs::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
                fs::write(dir.path().join(path), text).unwrap();
            }
        }
        let before = tree(dir.path());
        let mut after = before.clone();
        for (path, (_, text)) in &files {
            after.remove(path);
            if let Some(text) = text {
                after.insert(path.clone(), cli::File { bytes: text.clone().into_bytes(), executable: false });
            }
        }
        let _ = commit(dir.path(), FaultyDisk::new(operations, Fault::Dies).0, &changes);
        let found = settled(dir.path());
        prop_assert!(found == before || found == after);
    }
}
