//! Files and folders that this user alone can open: kubeconfigs hold the administrator's key.

use std::{
    env,
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use ring::rand::{SecureRandom, SystemRandom};

/// A folder among the temporary files that its user alone can open (on Unix its mode is 0700), removed with all that is in it on drop. A
/// process that is killed leaves it.
#[derive(Debug)]
pub struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Makes one, with a name that nobody can know before.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> io::Result<Self> {
        let mut name = [0; 8];
        let random = SystemRandom::new();
        random
            .fill(&mut name)
            .map_err(|_| io::Error::other("no random numbers"))?;
        let path = env::temp_dir().join(format!("kubewright-{:016x}", u64::from_ne_bytes(name)));
        // Fails when something stands there.
        private_builder().create(&path)?;
        Ok(Self(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // Left to the system's own cleaning of temporary files where it fails.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(unix)]
fn private_builder() -> DirBuilder {
    use std::os::unix::fs::DirBuilderExt;

    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

#[cfg(not(unix))]
fn private_builder() -> DirBuilder {
    DirBuilder::new()
}

/// Makes a file that is not there yet. On Unix its mode is 0600.
pub(super) fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
