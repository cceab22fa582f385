//! Reads manifests from a folder.

use serde_json::Value;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Every document of every `.yaml` file in `folder`, in the order of the file names; empty if the folder does not exist. Hidden files are not
/// read: Emacs leaves a dangling link beside an unsaved file, and macOS binary data.
///
/// # Errors
/// The first file that cannot be read, with the reason.
pub fn documents(folder: &Path) -> Result<Vec<Value>, String> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| cannot(folder, &error))?,
    };
    let files = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut files: Vec<PathBuf> = files
        .collect::<Result<_, _>>()
        .map_err(|error| cannot(folder, &error))?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "yaml") && !is_hidden(file));
    files.sort();
    let mut documents = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).map_err(|error| cannot(&file, &error))?;
        let read: Vec<Value> = serde_saphyr::from_multiple(&text).map_err(|error| cannot(&file, &error))?;
        documents.extend(read);
    }
    Ok(documents)
}

fn is_hidden(file: &Path) -> bool {
    file.file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

fn cannot(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("cannot read `{}`: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::documents;
    use std::fs;

    #[test]
    fn all_documents_of_a_folder_are_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(documents(&folder.path().join("none")), Ok(Vec::new()));
        fs::write(folder.path().join("b.yaml"), "c: 3\n").unwrap();
        fs::write(folder.path().join("a.yaml"), "a: 1\n---\nb: 2\n").unwrap();
        for unread in ["README.md", ".#a.yaml", "._a.yaml"] {
            fs::write(folder.path().join(unread), "[").unwrap();
        }
        let read = documents(folder.path()).unwrap();
        assert_eq!(
            serde_json::json!(read),
            serde_json::json!([{"a": 1}, {"b": 2}, {"c": 3}])
        );
        fs::write(folder.path().join("c.yaml"), "[").unwrap();
        let error = documents(folder.path()).unwrap_err();
        assert!(error.contains("c.yaml`"), "{error}");
    }
}
