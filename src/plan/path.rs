//! A path inside a project.

use anyhow::{Error, Result, bail};
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A path relative to the project's root: parts with `/` between them, none of them empty, `.` or `..`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RelPath(String);

impl RelPath {
    /// With `/` between the parts, on every system.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As a path of this system, below `root`.
    pub fn under(&self, root: &Path) -> PathBuf {
        let mut path = root.to_owned();
        path.extend(self.0.split('/'));
        path
    }

    /// The folders above it, the nearest first; none for a file at the root.
    pub fn folders(&self) -> impl Iterator<Item = RelPath> + '_ {
        self.0.rmatch_indices('/').map(|(at, _)| Self(self.0[..at].to_owned()))
    }

    /// A path below this one.
    pub fn join(&self, below: &str) -> Result<Self> {
        format!("{}/{below}", self.0).parse()
    }

    /// What stands behind the last dot of the file's name, if there is one.
    pub fn extension(&self) -> Option<&str> {
        let name = self.0.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.')
            .filter(|(stem, _)| !stem.is_empty())
            .map(|(_, extension)| extension)
    }
}

impl FromStr for RelPath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text
            .split('/')
            .any(|part| ["", ".", ".."].contains(&part) || part.contains(['\\', '\0']))
        {
            bail!("`{text}` is not a path inside the project");
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
