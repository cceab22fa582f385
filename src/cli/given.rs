//! Files that the user names on the command line, read up to a limit. Unlike the files of a project, they may be links,
//! FIFOs and devices, such as `<(command)`.

use crate::write::MAX_FILE;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The text of a file.
pub fn file(path: &Path) -> io::Result<String> {
    text(File::open(path)?)
}

/// The text of the standard input.
pub fn standard_input() -> io::Result<String> {
    text(io::stdin().lock())
}

fn text(from: impl Read) -> io::Result<String> {
    let mut text = String::new();
    from.take(MAX_FILE + 1).read_to_string(&mut text)?;
    match text.len() as u64 > MAX_FILE {
        true => Err(io::Error::other(format!("it is larger than {} MiB", MAX_FILE >> 20))),
        false => Ok(text),
    }
}
