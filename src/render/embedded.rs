//! The files inside the binary: templates, crates to vendor and files to copy, staged by build.rs.

use include_dir::{Dir, include_dir};
use std::collections::BTreeMap;

static ASSETS: Dir<'_> = include_dir!("$OUT_DIR/assets");

/// The templates by name.
pub fn templates() -> BTreeMap<&'static str, &'static str> {
    texts("templates")
}

/// The crates to vendor, by the name of their folder.
pub fn crates() -> Vec<String> {
    ["apiserver", "machinery", "runtime", "schema"]
        .map(str::to_owned)
        .to_vec()
}

/// The files of a crate to vendor, by their path in it.
pub fn crate_files(name: &str) -> BTreeMap<&'static str, &'static str> {
    texts(&format!("scaffolds/{name}"))
}

/// The paths of the files that are copied without rendering.
pub fn verbatim_paths() -> Vec<String> {
    texts("scaffolds/project").into_keys().map(str::to_owned).collect()
}

/// The text of one of them.
pub fn verbatim(path: &str) -> Option<&'static str> {
    ASSETS.get_file(format!("scaffolds/project/{path}"))?.contents_utf8()
}

fn texts(folder: &str) -> BTreeMap<&'static str, &'static str> {
    let mut found = BTreeMap::new();
    if let Some(dir) = ASSETS.get_dir(folder) {
        walk(dir, folder.len() + 1, &mut found);
    }
    found
}

fn walk(dir: &'static Dir<'static>, skip: usize, found: &mut BTreeMap<&'static str, &'static str>) {
    for file in dir.files() {
        if let (Some(path), Some(text)) = (file.path().to_str(), file.contents_utf8()) {
            found.insert(&path[skip..], text);
        }
    }
    dir.dirs().for_each(|dir| walk(dir, skip, found));
}
