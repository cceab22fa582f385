//! A path inside a project.

use crate::project::printable::printable;
use anyhow::{Error, Result, bail};
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The longest name of a file on Linux, macOS and Windows.
const LONGEST_PART: usize = 255;

/// A path relative to the root of the project: parts separated by `/`, without empty ones, `.`, `..` and control
/// characters, and without names that a file system may treat as `.git`, because git executes files there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RelPath(String);

impl RelPath {
    /// With `/` between the parts, on every system.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path on this system, below `root`.
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

    /// The extension of the file's name, if it has one.
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
        let wrong = |part: &str| {
            ["", ".", ".."].contains(&part) || part.contains(|c: char| c == '\\' || c.is_control()) || is_git(part)
        };
        if text.split('/').any(wrong) {
            bail!("`{}` is not a path inside the project", printable(text));
        }
        if let Some(part) = text.split('/').find(|part| part.len() > LONGEST_PART) {
            bail!(
                "the file name `{}` has {} bytes; file systems take at most {LONGEST_PART}\n\n\
                 hint: choose a shorter group, version, kind or controller",
                printable(part),
                part.len()
            );
        }
        Ok(Self(text.to_owned()))
    }
}

/// Whether a file system may treat this name as `.git`, by git's own rules: case is ignored; NTFS drops trailing dots
/// and blanks and everything after a colon, and has a short name for it; HFS+ ignores characters without a width.
fn is_git(part: &str) -> bool {
    let unseen =
        |c: char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let seen: String = part.chars().filter(|c| !unseen(*c)).collect();
    let name = seen.split(':').next().unwrap_or_default().trim_end_matches([' ', '.']);
    [".git", "git~1"].iter().any(|git| name.eq_ignore_ascii_case(git))
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_of_a_file_is_accepted_and_one_more_byte_is_not() {
        let part = "a".repeat(LONGEST_PART);
        assert!(format!("{part}/{part}").parse::<RelPath>().is_ok());
        let error = format!("a/{part}a/b").parse::<RelPath>().unwrap_err().to_string();
        assert!(
            error.contains("has 256 bytes; file systems take at most 255"),
            "{error}"
        );
    }

    #[test]
    fn names_that_a_file_system_treats_as_git_are_refused_at_any_depth() {
        for name in [
            ".git",
            ".GIT",
            ".Git",
            ".git ",
            ".git.",
            ".git . .",
            ".git::$INDEX_ALLOCATION",
            "git~1",
            "GIT~1",
            ".g\u{200c}it",
            ".git\u{feff}",
        ] {
            for path in [
                name.to_owned(),
                format!("{name}/hooks/pre-commit"),
                format!("a/b/{name}"),
                format!("a/{name}/b"),
            ] {
                assert!(path.parse::<RelPath>().is_err(), "{path:?}");
            }
        }
        for path in [
            ".github/workflows/ci.yml",
            ".gitignore",
            ".gitattributes",
            "git",
            "a.git",
            "docs/.gitkeep",
            "git~10",
        ] {
            assert!(path.parse::<RelPath>().is_ok(), "{path:?}");
        }
    }

    #[test]
    fn paths_that_leave_the_project_are_refused() {
        for path in [
            "",
            "/",
            "/a",
            "a/",
            "a//b",
            ".",
            "a/..",
            "../a",
            "a\\b",
            "a\0b",
            "a\nb",
            "a\u{1b}[2J",
            "a\u{9b}2J",
        ] {
            let refused = path.parse::<RelPath>().unwrap_err().to_string();
            assert!(!refused.contains(char::is_control), "{refused:?}");
        }
    }
}
