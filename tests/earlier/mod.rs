//! Projects of earlier releases, written as those releases wrote them: `tests/releases/<release>/<case>` has the PROJECT of each golden
//! project of a release, and the hashes of its files.
#![allow(dead_code, reason = "every test binary uses its own part")]

use crate::cli::set_executable;
use kubewright::plan::plan;
use kubewright::project::crd::{Definition, Wanted};
use kubewright::project::{Kind, Project, Release, file};
use kubewright::render::{Rendered, Sources, Templates, render};
use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

/// The golden projects of a release.
pub fn folder(release: &Release) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/releases")
        .join(release.to_string())
}

/// The names of the golden projects of a release.
pub fn cases(release: &Release) -> Vec<String> {
    let entries = fs::read_dir(folder(release)).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<_> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The project of a golden one.
pub fn project(release: &Release, case: &str) -> Project {
    let folder = folder(release).join(case);
    let mut project = file::parse_earlier(&fs::read_to_string(folder.join("PROJECT")).unwrap()).unwrap();
    let paths: Vec<_> = project.kinds.iter().map(|kind| project.crd_path(kind)).collect();
    for (kind, path) in project.kinds.iter_mut().zip(paths) {
        kind.definition = definition(&folder.join(path), kind);
    }
    project
}

/// The CRD of a kind of another owner, or of one that was taken over.
pub fn definition(path: &Path, kind: &Kind) -> Option<Definition> {
    let wanted = Wanted {
        group: None,
        kind: Some(kind.name.clone()),
        version: None,
    };
    kind.has_definition()
        .then(|| Definition::find(&fs::read_to_string(path).unwrap(), &wanted).unwrap())
}

/// Its files, vendored crates included, by the templates of `release`.
pub fn rendered(project: &Project, release: &Release) -> Rendered {
    let sources = Sources::of(release).unwrap().expect("this binary carries it");
    let templates = Templates::of(Cow::Owned(sources), &[]).unwrap();
    render(project, &plan(project, templates.catalogue()).unwrap(), &templates).unwrap()
}

/// Writes a golden project of a release to `dir`.
pub fn write(release: &Release, case: &str, dir: &Path) {
    for (path, file) in rendered(&project(release, case), release) {
        let path = path.under(dir);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, file.bytes()).unwrap();
        set_executable(&path, file.executable);
    }
    fs::copy(folder(release).join(case).join("PROJECT"), dir.join("PROJECT")).unwrap();
}
