//! The guarantee of `write`: after any failure, and after a crash at any operation, a command has either happened
//! completely or not at all.

use crate::cli::{self, Tree, assert_same, tree};
use kubewright::plan::{FileKind, RelPath};
use kubewright::render::File;
use kubewright::write::{Access, Beneath, Change, Disk, NewFile, RealDisk, Records, Root};
use proptest::prelude::*;
use std::cell::Cell;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::rc::Rc;

/// The fault at the n-th operation.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// The process dies: this operation and all later ones fail. A write is cut halfway.
    Dies,
    /// This operation fails, because the disk is full.
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
    fn create(&self, tree: &Beneath, path: &RelPath, file: &NewFile<'_>) -> io::Result<()> {
        let alive = self.step();
        if alive.is_err() && self.left.get() == -1 {
            let bytes = &file.bytes[..file.bytes.len() / 2];
            real().create(tree, path, &NewFile { bytes, ..*file })?;
        }
        alive?;
        real().create(tree, path, file)
    }

    fn rename(&self, tree: &Beneath, from: &RelPath, to: &RelPath) -> io::Result<()> {
        self.step()?;
        real().rename(tree, from, to)
    }

    fn remove_file(&self, tree: &Beneath, path: &RelPath) -> io::Result<()> {
        self.step()?;
        real().remove_file(tree, path)
    }

    fn create_dir(&self, tree: &Beneath, path: &RelPath) -> io::Result<()> {
        self.step()?;
        real().create_dir(tree, path)
    }

    fn remove_dir(&self, tree: &Beneath, path: &RelPath) -> io::Result<()> {
        self.step()?;
        real().remove_dir(tree, path)
    }

    fn record(&self, journal: &str) -> io::Result<()> {
        self.step()?;
        real().record(journal)
    }

    fn is_recorded(&self, journal: &str) -> bool {
        real().is_recorded(journal)
    }

    fn forget(&self, journal: &str) -> io::Result<()> {
        self.step()?;
        real().forget(journal)
    }
}

/// The file system, with records of this test only.
fn real() -> RealDisk {
    thread_local!(static RECORDS: tempfile::TempDir = tempfile::tempdir().unwrap());
    let folder = RECORDS.with(|folder| folder.path().join("records"));
    RealDisk::new(Records::in_folders(Path::new("/nonexistent"), vec![folder]))
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
        carried: None,
    };
    Change {
        path: path.parse().unwrap(),
        before: before.map(|text| text.as_bytes().to_vec()),
        after: after.map(file),
    }
}

fn commit(dir: &Path, disk: Box<dyn Disk>, changes: &[Change]) -> anyhow::Result<()> {
    Root::open_on(dir, Access::Write, disk, || {})?.commit(changes)
}

/// The trees before and after the scene's transaction.
fn outcomes() -> (Tree, Tree) {
    let (dir, changes) = scene();
    let before = tree(dir.path());
    commit(dir.path(), Box::new(real()), &changes).unwrap();
    assert!(
        !dir.path().join("sub/deleted").exists(),
        "an empty folder is deleted with its file"
    );
    (before, tree(dir.path()))
}

/// The state that the next command finds once it has the lock.
fn settled(dir: &Path) -> Tree {
    drop(Root::open_on(dir, Access::Write, Box::new(real()), || {}).unwrap());
    assert!(!dir.join(".kubewright").exists());
    tree(dir)
}

#[test]
fn after_a_crash_at_any_operation_the_next_command_finds_all_or_nothing() {
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

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_mode_also_after_a_crash_at_any_operation() {
    use std::os::unix::fs::PermissionsExt;
    for mode in [0o600, 0o640, 0o666, 0o444, 0o755] {
        for operations in 0.. {
            let (dir, changes) = scene();
            let path = dir.path().join("changed");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let (disk, left) = FaultyDisk::new(operations, Fault::Dies);
            let result = commit(dir.path(), disk, &changes);
            settled(dir.path());
            let found = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(
                found, mode,
                "{found:o} instead of {mode:o} after {operations} operations"
            );
            if result.is_ok() && left.get() >= 0 {
                break;
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_owner_if_root_runs_the_command() {
    use std::os::unix::fs::{MetadataExt, chown};
    let (dir, changes) = scene();
    let path = dir.path().join("changed");
    if chown(&path, Some(1234), Some(5678)).is_err() {
        return cli::skip("only root can give files away");
    }
    commit(dir.path(), Box::new(real()), &changes).unwrap();
    let found = fs::metadata(&path).unwrap();
    assert_eq!((found.uid(), found.gid()), (1234, 5678));
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[test]
fn after_a_second_crash_during_completion_the_next_command_finds_all_or_nothing() {
    let (before, after) = outcomes();
    for first in 0..40 {
        for second in 0..40 {
            let (dir, changes) = scene();
            let _ = commit(dir.path(), FaultyDisk::new(first, Fault::Dies).0, &changes);
            let again =
                Root::open_on(dir.path(), Access::Write, FaultyDisk::new(second, Fault::Dies).0, || {}).map(drop);
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
fn an_error_at_any_operation_reverts_everything_at_once() {
    let (before, after) = outcomes();
    for operations in 0.. {
        let (dir, changes) = scene();
        let (disk, left) = FaultyDisk::new(operations, Fault::Full);
        let result = commit(dir.path(), disk, &changes);
        if left.get() >= 0 {
            assert_eq!(tree(dir.path()), after);
            break;
        }
        // After the last file, a failure to clean up is not a failure of the command, or the next command completes it.
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
    // Dead after the journal is in place: folder, file, record, rename.
    commit(dir.path(), FaultyDisk::new(4, Fault::Dies).0, &changes).unwrap_err();
    fs::write(dir.path().join("changed"), "by hand").unwrap();
    let again = Root::open_on(dir.path(), Access::Write, Box::new(real()), || {});
    let error = again.err().unwrap().to_string();
    assert!(
        error.contains("`changed` was edited since") && error.contains("hint: "),
        "{error}"
    );
    assert_eq!(fs::read_to_string(dir.path().join("changed")).unwrap(), "by hand");
}

#[test]
fn an_edit_while_a_command_waits_for_an_answer_is_not_lost() {
    for (path, text) in [
        ("changed", "by hand"),
        ("sub/deleted/file", "by hand"),
        ("new/other", "by hand"),
    ] {
        let (dir, changes) = scene();
        let root = Root::open_on(dir.path(), Access::Write, Box::new(real()), || {}).unwrap();
        fs::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
        fs::write(dir.path().join(path), text).unwrap();
        let before = tree(dir.path());
        let error = root.commit(&changes).unwrap_err().to_string();
        assert!(
            error.contains(&format!("`{path}` changed on the disk")) && error.contains("hint: run the command again"),
            "{error}"
        );
        assert_same(&before, &tree(dir.path()));
        assert!(!dir.path().join(".kubewright").exists());
    }
}

#[test]
fn an_interrupted_command_is_not_half_completed_before_an_edit_is_found() {
    // Right after the journal is in place, and after the first file too.
    let changed = "to abandon it; it has already changed `changed`";
    for (operations, advice) in [(4, "to abandon it"), (6, changed), (7, changed)] {
        let (dir, changes) = scene();
        commit(dir.path(), FaultyDisk::new(operations, Fault::Dies).0, &changes).unwrap_err();
        fs::write(dir.path().join("sub/deleted/file"), "by hand").unwrap();
        let before = tree(dir.path());
        let again = Root::open_on(dir.path(), Access::Write, Box::new(real()), || {});
        let error = again.err().unwrap().to_string();
        assert!(
            error.contains("`sub/deleted/file` was edited since") && error.ends_with(advice),
            "{error}"
        );
        assert_same(&before, &tree(dir.path()));
    }
}

#[test]
fn a_folder_at_the_path_of_a_file_is_refused_before_the_first_byte() {
    for (blocked, word) in [("changed", "is a folder"), ("new", "is a file")] {
        let (dir, changes) = scene();
        let _ = fs::remove_file(dir.path().join(blocked));
        match blocked {
            "new" => fs::write(dir.path().join("new"), "").unwrap(),
            _ => fs::create_dir(dir.path().join(blocked)).unwrap(),
        }
        let before = tree(dir.path());
        let error = commit(dir.path(), Box::new(real()), &changes).unwrap_err().to_string();
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

#[test]
fn a_reading_command_reports_an_interrupted_one_and_a_writing_command_completes_it() {
    let (_, after) = outcomes();
    let (dir, changes) = scene();
    commit(dir.path(), FaultyDisk::new(5, Fault::Dies).0, &changes).unwrap_err();
    let before = tree(dir.path());
    let error = Root::open_on(dir.path(), Access::Read, Box::new(real()), || {})
        .err()
        .unwrap();
    assert!(error.to_string().contains("hint: run `kubewright sync`"), "{error}");
    assert_same(&before, &tree(dir.path()));
    let root = Root::open_on(dir.path(), Access::Write, Box::new(real()), || {}).unwrap();
    assert!(root.completed_another());
    assert_same(&after, &tree(dir.path()));
}

#[test]
fn a_journal_is_completed_only_in_the_folder_of_its_command() {
    let (dir, changes) = scene();
    commit(dir.path(), FaultyDisk::new(5, Fault::Dies).0, &changes).unwrap_err();
    let journal = fs::read(dir.path().join(".kubewright/journal")).unwrap();
    let (other, _) = scene();
    fs::create_dir(other.path().join(".kubewright")).unwrap();
    fs::write(other.path().join(".kubewright/journal"), journal).unwrap();
    let before = tree(other.path());
    let error = Root::open_on(other.path(), Access::Write, Box::new(real()), || {})
        .err()
        .unwrap();
    assert!(
        error
            .to_string()
            .contains("was not written by a command that you ran in this folder"),
        "{error}"
    );
    assert_same(&before, &tree(other.path()));

    // A moved project is the same project.
    let moved = tempfile::tempdir().unwrap();
    let moved = moved.path().join("moved");
    fs::rename(dir.path(), &moved).unwrap();
    assert_same(&outcomes().1, &settled(&moved));
}

#[test]
fn a_text_that_another_release_carries_is_left_to_that_release() {
    let (dir, mut changes) = scene();
    changes[0].after.as_mut().unwrap().carried = Some("of another release".to_owned());
    commit(dir.path(), FaultyDisk::new(5, Fault::Dies).0, &changes).unwrap_err();
    let before = tree(dir.path());
    let open = || Root::open_on(dir.path(), Access::Write, Box::new(real()), || {});
    let error = format!("{:#}", open().err().unwrap());
    assert!(error.contains("and only that version can complete it"), "{error}");
    assert_same(&before, &tree(dir.path()));
    fs::remove_file(dir.path().join(".kubewright/journal")).unwrap();
    assert!(!open().unwrap().completed_another());
}

#[test]
fn no_record_is_left_behind() {
    for operations in 0..30 {
        let records = tempfile::tempdir().unwrap();
        let folder = records.path().join("records");
        let (dir, changes) = scene();
        let (disk, _) = FaultyDisk::new(operations, Fault::Dies);
        let _ = commit(dir.path(), disk, &changes);
        settled(dir.path());
        let disk = RealDisk::new(Records::in_folders(dir.path(), vec![folder.clone()]));
        commit(dir.path(), Box::new(disk), &[change("more", None, Some("more"))]).unwrap();
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
    }
    real().record("x").unwrap();
    real().forget("x").unwrap();
}

#[test]
fn records_are_kept_outside_of_the_project_and_private() {
    use kubewright::write::Records;
    let dir = tempfile::tempdir().unwrap();
    let (inside, outside) = (dir.path().join("project/state"), dir.path().join("state"));
    fs::create_dir(dir.path().join("project")).unwrap();
    let records = |folders: &[&Path]| {
        Records::in_folders(
            &dir.path().join("project"),
            folders.iter().map(|path| path.to_path_buf()).collect(),
        )
    };
    let both = records(&[&inside, &outside]);
    both.add("hash").unwrap();
    assert!(both.has("hash") && outside.join("hash").exists() && !inside.exists());
    fs::create_dir(&inside).unwrap();
    fs::write(inside.join("other"), "").unwrap();
    assert!(!both.has("other"), "a checkout can contain records");
    records(&[&inside]).add("hash").unwrap_err();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        fs::set_permissions(&outside, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!both.has("hash"), "anybody can write records there");
        both.add("hash").unwrap_err();
        let link = dir.path().join("link");
        symlink(dir.path().join("project"), &link).unwrap();
        records(&[&link.join("state")]).add("hash").unwrap_err();
    }
}
