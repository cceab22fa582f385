//! Secrets: random tokens, and the files and folders that only this user can open, because kubeconfigs contain tokens and keys.

use std::{
    env,
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use kubewright_machinery::base64::{self, Encoding};
use ring::rand::{SecureRandom, SystemRandom};

/// A bearer token of 256 random bits, for [`Listener::bind`](super::Listener::bind) and [`Options::tokens`](crate::Options).
///
/// # Errors
/// The system has no random numbers.
pub fn random_token() -> io::Result<String> {
    let mut bits = [0; 32];
    let random = SystemRandom::new().fill(&mut bits);
    random.map_err(|_| io::Error::other("no random numbers"))?;
    Ok(base64::encode(&bits, Encoding::RawUrl))
}

/// A temporary folder that only its user can open (on Unix its mode is 0700). It is removed with its contents on drop;
/// a process that is killed leaves it behind.
#[derive(Debug)]
pub struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Creates a folder with an unpredictable name.
    ///
    /// # Errors
    /// The system's error.
    pub fn new() -> io::Result<Self> {
        let mut name = [0; 8];
        let random = SystemRandom::new();
        random
            .fill(&mut name)
            .map_err(|_| io::Error::other("no random numbers"))?;
        let path = env::temp_dir().join(format!("kubewright-{:016x}", u64::from_ne_bytes(name)));
        // Fails if the path exists.
        private_builder().create(&path)?;
        Ok(Self(path))
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // If this fails, the system cleans up temporary files later.
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

/// Creates a file that must not exist. On Unix its mode is 0600.
pub(super) fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
