//! The files inside the binary, staged by build/main.rs: templates, crates to vendor, and the archives of earlier releases.

use super::archive::Texts;
use include_dir::{Dir, include_dir};
use std::borrow::Cow;

static ASSETS: Dir<'_> = include_dir!("$OUT_DIR/assets");

/// The folder of the archives.
const RELEASES: &str = "releases";
/// The ending of an archive.
const PACKED: &str = ".zlib";

/// The files of this release, by their paths in the repository.
pub fn files() -> Texts {
    let mut found = Texts::new();
    for folder in ["templates", "scaffolds"] {
        if let Some(dir) = ASSETS.get_dir(folder) {
            walk(dir, &mut found);
        }
    }
    found
}

/// The archive of a release.
pub fn archive(release: &str) -> Option<&'static [u8]> {
    Some(ASSETS.get_file(format!("{RELEASES}/{release}{PACKED}"))?.contents())
}

/// The releases that have an archive.
pub fn archives() -> Vec<&'static str> {
    let files = ASSETS.get_dir(RELEASES).into_iter().flat_map(Dir::files);
    files
        .filter_map(|file| file.path().file_name()?.to_str()?.strip_suffix(PACKED))
        .collect()
}

fn walk(dir: &'static Dir<'static>, found: &mut Texts) {
    for file in dir.files() {
        if let (Some(path), Some(text)) = (file.path().to_str(), file.contents_utf8()) {
            found.insert(path.to_owned(), Cow::Borrowed(text));
        }
    }
    dir.dirs().for_each(|dir| walk(dir, found));
}
