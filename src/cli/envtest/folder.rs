//! The folder of programs: writes hard links of the running program, or copies of it, and links kubectl.

use anyhow::{Context, Result, bail};
use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Part of every program of kubewright, by which it is recognised under other names.
const MARK: &[u8] = b"this is kubewright under the name of another program";

/// A folder that was written.
pub struct Folder {
    /// Absolute.
    pub path: PathBuf,
    /// The kubectl of PATH that is linked in it.
    pub kubectl: Option<PathBuf>,
}

/// `kubewright/envtest` in the folder of this user's data: `XDG_DATA_HOME`, `~/.local/share`, on Windows `LOCALAPPDATA`.
pub fn usual() -> Option<PathBuf> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = variable("XDG_DATA_HOME")
        .or_else(|| variable("HOME").map(|home| home.join(".local/share")))
        .or_else(|| variable("LOCALAPPDATA"))?;
    Some(data.join("kubewright").join("envtest"))
}

/// Writes this program into `folder` under each of the names. Each file is replaced in one step, so that tests which start
/// it meanwhile find the earlier one or the new one. A kubectl that is there and is not a link stays.
///
/// # Errors
/// If a program of one of these names is not kubewright, such as an etcd that setup-envtest has written; then nothing is written.
pub fn write(folder: &Path, names: &[&str]) -> Result<Folder> {
    let own = env::current_exe().context("cannot find the running program")?;
    fs::create_dir_all(folder)?;
    let path = fs::canonicalize(folder)?;
    let end = env::consts::EXE_SUFFIX;
    let files = names.iter().map(|name| path.join(format!("{name}{end}")));
    let files: Vec<_> = files.collect();
    let mut there = files.iter().filter(|file| has(file));
    if let Some(other) = there.find(|file| !is_kubewright(file, &own)) {
        bail!(
            "`{}` exists, and is not a program that kubewright has written",
            other.display()
        );
    }
    for file in files {
        replace(&file, |beside| {
            fs::hard_link(&own, beside).or_else(|_| fs::copy(&own, beside).map(|_| ()))
        })
        .with_context(|| format!("cannot write `{}`", file.display()))?;
    }
    let kubectl = find(&format!("kubectl{end}"), &path);
    if let Some(kubectl) = &kubectl {
        let file = path.join(format!("kubectl{end}"));
        if !has(&file) || file.is_symlink() {
            replace(&file, |beside| link(kubectl, beside))
                .with_context(|| format!("cannot write `{}`", file.display()))?;
        }
    }
    Ok(Folder { path, kubectl })
}

/// Whether a file is the running program, or another release of kubewright.
fn is_kubewright(file: &Path, own: &Path) -> bool {
    let Ok(found) = fs::read(file) else {
        return false;
    };
    fs::read(own).is_ok_and(|own| own == found) || found.windows(MARK.len()).any(|part| part == MARK)
}

/// Whether there is a file.
pub fn has(file: &Path) -> bool {
    fs::metadata(file).is_ok()
}

/// Writes a new file that only this user can read (on Unix its mode is 0600), and the folder that it is in.
pub fn write_private(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(text.as_bytes())
}

/// Replaces a file by what `make` makes at another path beside it.
fn replace(file: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    let beside = Path::new(&beside);
    // A left-over of a process that had this number.
    absent(fs::remove_file(beside))?;
    make(beside)?;
    fs::rename(beside, file)?;
    // Renaming does nothing if both are the same file already.
    absent(fs::remove_file(beside))
}

/// Ignores that a file is not there.
fn absent(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// The first file of this name in PATH, other than in `except`.
fn find(name: &str, except: &Path) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let mut found = env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .filter_map(|folder| fs::canonicalize(folder.join(name)).ok());
    found.find(|file| file.parent() != Some(except) && file.is_file())
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

#[cfg(not(unix))]
fn link(to: &Path, at: &Path) -> io::Result<()> {
    fs::copy(to, at).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_others_stay_and_those_of_another_release_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let end = env::consts::EXE_SUFFIX;
        let [etcd, kubectl] = ["etcd", "kubectl"].map(|name| dir.path().join(format!("{name}{end}")));
        fs::write(&etcd, "of others").unwrap();
        fs::write(&kubectl, "of others").unwrap();
        let why = write(dir.path(), &["other", "etcd"]).err().unwrap().to_string();
        assert!(
            why.contains("etcd") && why.contains("not a program that kubewright"),
            "{why}"
        );
        assert_eq!(fs::read_to_string(&etcd).unwrap(), "of others");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
        fs::write(&etcd, [b"an older release: ", MARK].concat()).unwrap();
        write(dir.path(), &["etcd"]).unwrap();
        assert!(is_kubewright(&etcd, &env::current_exe().unwrap()));
        assert!(fs::metadata(&etcd).unwrap().len() > 100);
        assert_eq!(fs::read_to_string(&kubectl).unwrap(), "of others");
    }

    #[test]
    fn the_folder_can_be_written_again_and_has_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a/b");
        for _ in 0..2 {
            let written = write(&folder, &["etcd", "other"]).unwrap();
            assert!(written.path.is_absolute());
            let mut files: Vec<_> = fs::read_dir(&folder)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .filter(|name| !name.starts_with("kubectl"))
                .collect();
            files.sort();
            let end = env::consts::EXE_SUFFIX;
            assert_eq!(files, [format!("etcd{end}"), format!("other{end}")]);
        }
    }
}
