//! A stamp file beside the program, written after a run has brought a folder up to date. While nothing has changed since, the next run has
//! nothing to do, as with make. It records names, lengths and modification times of files, not their contents.
//! Not make's own rules, which see neither arguments nor files that were deleted.

use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The stamp of one program: its file, and what must not have changed.
pub(crate) struct Stamp {
    file: PathBuf,
    /// The program, its arguments and its working directory.
    program: String,
    /// The folders that it reads and writes.
    folders: Vec<PathBuf>,
}

impl Stamp {
    /// The stamp of this program with these arguments; `None` if the program's own file cannot be read: then every run does its work.
    pub(crate) fn of_this_program(words: &[String], folders: Vec<PathBuf>) -> Option<Self> {
        let program = std::env::current_exe().ok()?;
        Self::of(&program, words, folders).ok()
    }

    fn of(program: &Path, words: &[String], folders: Vec<PathBuf>) -> io::Result<Self> {
        let mut file = OsString::from(program);
        file.push(".done");
        let mut seen = String::new();
        look(program, &mut seen)?;
        // Writing to a string cannot fail.
        _ = writeln!(seen, "{words:?} in {:?}", std::env::current_dir()?);
        Ok(Self {
            file: file.into(),
            program: seen,
            folders,
        })
    }

    /// Whether nothing has changed since the last run.
    pub(crate) fn holds(&self) -> bool {
        matches!((fs::read_to_string(&self.file), self.seen()), (Ok(then), Ok(now)) if then == now)
    }

    /// Writes the stamp. If that fails, the next run does its work again.
    pub(crate) fn set(&self) {
        let set = self.seen().and_then(|now| fs::write(&self.file, now));
        if set.is_err() {
            _ = fs::remove_file(&self.file);
        }
    }

    fn seen(&self) -> io::Result<String> {
        let mut seen = self.program.clone();
        for folder in &self.folders {
            look(folder, &mut seen)?;
        }
        Ok(seen)
    }
}

/// Adds a file, or a folder with everything in it, to `seen`.
fn look(path: &Path, seen: &mut String) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        let mut inner: Vec<PathBuf> = fs::read_dir(path)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()?;
        inner.sort();
        _ = writeln!(seen, "{path:?}");
        return inner.iter().try_for_each(|path| look(path, seen));
    }
    let since = metadata.modified()?.duration_since(SystemTime::UNIX_EPOCH);
    let time = since.map_or(0, |time| time.as_nanos());
    let writable = !metadata.permissions().readonly();
    _ = writeln!(seen, "{path:?} {} {time} {writable}", metadata.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Stamp;
    use std::fs;
    use std::path::Path;

    #[test]
    fn a_stamp_holds_until_a_file_an_argument_or_the_program_changes() {
        let dir = tempfile::tempdir().unwrap();
        let (program, folder) = (dir.path().join("program"), dir.path().join("folder"));
        fs::write(&program, "one").unwrap();
        fs::create_dir_all(folder.join("inner")).unwrap();
        fs::write(folder.join("inner/a"), "a").unwrap();
        let stamp = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            Stamp::of(&program, &words, vec![folder.clone()]).unwrap()
        };
        assert!(!stamp(&[]).holds(), "there was no run yet");
        stamp(&[]).set();
        assert!(stamp(&[]).holds());
        assert!(!stamp(&["--keep-nullable"]).holds());
        let changes = |change: &dyn Fn()| {
            stamp(&[]).set();
            change();
            assert!(!stamp(&[]).holds());
        };
        changes(&|| fs::write(folder.join("inner/a"), "ab").unwrap());
        changes(&|| fs::write(folder.join("b"), "").unwrap());
        changes(&|| fs::remove_file(folder.join("b")).unwrap());
        changes(&|| fs::write(&program, "another").unwrap());
        // The same length at another time.
        changes(&|| {
            let file = fs::File::options().write(true).open(folder.join("inner/a")).unwrap();
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
        });
        changes(&|| fs::remove_dir_all(&folder).unwrap());
        stamp(&[]).set();
        assert!(!stamp(&[]).holds(), "a removed folder is a change");
        assert!(Stamp::of(Path::new("/nowhere/at/all"), &[], Vec::new()).is_err());
    }
}
