//! Reads the manifests of a project from its `config` folder. Writes no files and sends no requests.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::request::yaml;

/// The file that lists the contents of a folder.
const KUSTOMIZATION: &str = "kustomization.yaml";
/// Fields of a kustomization that are followed, or that change only labels and annotations.
const UNDERSTOOD: [&str; 7] = [
    "apiVersion",
    "kind",
    "metadata",
    "resources",
    "labels",
    "commonLabels",
    "commonAnnotations",
];

/// An object and the file that contains it.
#[derive(Clone, Debug)]
pub(super) struct Manifest {
    pub file: PathBuf,
    pub object: Value,
}

/// The objects of every `.yaml` file of a folder, in the order of the files' names; none if the folder does not exist. Hidden files are not
/// read: Emacs leaves a dangling link beside an unsaved file, and macOS binary data.
///
/// # Errors
/// The first file that cannot be read, with the reason.
pub(super) fn in_folder(folder: &Path) -> Result<Vec<Manifest>, String> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| cannot_read(folder, &error))?,
    };
    let mut files: Vec<_> = entries
        .filter_map(Result::ok)
        .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
        .map(|entry| entry.path())
        .collect();
    files.retain(|file| file.extension().is_some_and(|it| it == "yaml") && !file.ends_with(KUSTOMIZATION));
    files.sort();
    let mut manifests = Vec::new();
    for file in files {
        manifests.extend(in_file(&file)?);
    }
    Ok(manifests)
}

/// The objects that a folder's kustomization lists, including those of the folders that it lists. Other fields of a
/// kustomization are ignored: `warn` gets a sentence about each of them.
///
/// # Errors
/// The first file that is missing or cannot be read, with a hint for files that `make manifests` writes.
pub(super) fn of_kustomization(folder: &Path, warn: &mut dyn FnMut(String)) -> Result<Vec<Manifest>, String> {
    let file = folder.join(KUSTOMIZATION);
    let (kustomization, _) = read(&file).and_then(|text| parse(&file, &text))?;
    for field in kustomization.as_object().into_iter().flat_map(|fields| fields.keys()) {
        if !UNDERSTOOD.contains(&field.as_str()) {
            warn(format!("`{}`: `{field}` is not applied here", file.display()));
        }
    }
    let resources = kustomization["resources"].as_array().into_iter().flatten();
    let mut manifests = Vec::new();
    for resource in resources.filter_map(Value::as_str) {
        let path = folder.join(resource);
        if path.is_dir() {
            manifests.extend(of_kustomization(&path, warn)?);
        } else if path.exists() {
            manifests.extend(in_file(&path)?);
        } else {
            return Err(format!(
                "`{}` does not exist, but `{}` lists it\n\nhint: run `make manifests`",
                path.display(),
                file.display()
            ));
        }
    }
    Ok(manifests)
}

fn in_file(file: &Path) -> Result<Vec<Manifest>, String> {
    let text = read(file)?;
    let mut manifests = Vec::new();
    for document in text.split("\n---") {
        let (object, _) = parse(file, document)?;
        if !object.is_null() {
            let file = file.to_owned();
            manifests.push(Manifest { file, object });
        }
    }
    Ok(manifests)
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| cannot_read(file, &error))
}

fn parse(file: &Path, text: &str) -> Result<(Value, Vec<String>), String> {
    yaml::read(text.as_bytes()).map_err(|error| cannot_read(file, &error))
}

fn cannot_read(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("cannot read `{}`: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(manifests: &[Manifest]) -> Vec<&str> {
        let names = manifests.iter().map(|it| it.object["name"].as_str().unwrap());
        names.collect()
    }

    #[test]
    fn only_files_and_folders_listed_in_a_kustomization_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let write = |file: &str, text: &str| fs::write(path.join(file), text).unwrap();
        fs::create_dir(path.join("bases")).unwrap();
        write("kustomization.yaml", "resources: [b.yaml, bases]\nnamePrefix: x-\n");
        write("bases/kustomization.yaml", "resources: [c.yaml]\n");
        write("a.yaml", "name: a\n");
        write("b.yaml", "# Two.\n---\nname: b1\n---\nname: b2\n");
        write("bases/c.yaml", "name: c\n");

        let mut warnings = Vec::new();
        let listed = of_kustomization(path, &mut |warning| warnings.push(warning)).unwrap();
        assert_eq!(names(&listed), ["b1", "b2", "c"]);
        assert!(
            warnings[0].ends_with("`namePrefix` is not applied here"),
            "{warnings:?}"
        );
        assert_eq!(warnings.len(), 1);
        // As Emacs and macOS leave them beside a file.
        write(".#a.yaml", "[");
        write("._a.yaml", "[");
        assert_eq!(names(&in_folder(path).unwrap()), ["a", "b1", "b2"]);
        assert!(in_folder(&path.join("none")).unwrap().is_empty());
    }

    #[test]
    fn the_error_for_a_missing_file_names_the_command_that_writes_it() {
        let folder = tempfile::tempdir().unwrap();
        let text = "resources:\n  - role.yaml\n";
        fs::write(folder.path().join("kustomization.yaml"), text).unwrap();
        let error = of_kustomization(folder.path(), &mut |_| {}).unwrap_err();
        assert!(error.contains("role.yaml` does not exist, but"), "{error}");
        assert!(error.ends_with("\n\nhint: run `make manifests`"), "{error}");
    }
}
