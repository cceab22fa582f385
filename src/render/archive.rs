//! The format of `releases/*.zlib`: the files of a release, compressed. Each file is a line `PATH LENGTH`, then its text and a line feed; a
//! line `PATH =` stands for a file that is equal to today's. build.rs compiles this module too, so it imports nothing of the crate.

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};

/// Texts by path.
pub type Texts = BTreeMap<String, Cow<'static, str>>;

/// The mark in the place of the length of a file that equals today's.
const SAME: &str = "=";

/// Compresses the files of a release; those that `today` has with the same text are named only.
pub fn pack(files: &Texts, today: &Texts) -> io::Result<Vec<u8>> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    for (path, text) in files {
        match today.get(path) == Some(text) {
            true => writeln!(packed, "{path} {SAME}")?,
            false => writeln!(packed, "{path} {}\n{text}", text.len())?,
        }
    }
    packed.finish()
}

/// The files of a release. Files that the release only names are taken from `today`.
///
/// # Errors
/// For bytes that [`pack`] did not write, or wrote for another `today`.
pub fn unpack(packed: &[u8], today: &Texts) -> io::Result<Texts> {
    let mut all = String::new();
    ZlibDecoder::new(packed).read_to_string(&mut all)?;
    let mut files = Texts::new();
    let mut rest = all.as_str();
    while let Some((line, below)) = rest.split_once('\n') {
        let (path, length) = line.rsplit_once(' ').ok_or_else(invalid)?;
        let text = match length {
            SAME => {
                rest = below;
                today.get(path).ok_or_else(invalid)?.clone()
            }
            length => {
                let length = length.parse().map_err(|_| invalid())?;
                let (text, next) = below.split_at_checked(length).ok_or_else(invalid)?;
                rest = next.strip_prefix('\n').ok_or_else(invalid)?;
                Cow::Owned(text.to_owned())
            }
        };
        files.insert(path.to_owned(), text);
    }
    match rest.is_empty() {
        true => Ok(files),
        false => Err(invalid()),
    }
}

fn invalid() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the archive is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(files: &[(&str, &'static str)]) -> Texts {
        files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).into()))
            .collect()
    }

    #[test]
    fn files_are_unpacked_as_they_were_packed() {
        let files = texts(&[
            ("a b/c", "text\nwithout an end"),
            ("empty", ""),
            ("same", "as today\n"),
            ("z", "ä =\n"),
        ]);
        let today = texts(&[("empty", "no longer"), ("same", "as today\n"), ("new", "")]);
        for today in [Texts::new(), today, files.clone()] {
            let packed = pack(&files, &today).unwrap();
            assert_eq!(unpack(&packed, &today).unwrap(), files);
        }
    }

    #[test]
    fn a_damaged_archive_and_one_of_other_files_are_refused() {
        let files = texts(&[("a", "text"), ("b", "more text")]);
        let packed = pack(&files, &files).unwrap();
        assert!(unpack(&packed, &Texts::new()).is_err());
        let packed = pack(&files, &Texts::new()).unwrap();
        assert!(unpack(&packed[..packed.len() / 2], &Texts::new()).is_err());
        let mut flipped = packed.clone();
        flipped[packed.len() / 2] ^= 1;
        assert!(unpack(&flipped, &Texts::new()).is_err());
    }
}
