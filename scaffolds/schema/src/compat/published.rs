//! Reads the CRDs of a git revision.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The documents of every `.yaml` file directly in `folder` at `revision`; none if the folder did not exist.
///
/// # Errors
/// Git is missing, the revision does not exist, or a file is not YAML; the message names the command or the file.
pub(crate) fn at(revision: &str, folder: &Path) -> Result<Vec<Value>, String> {
    in_folder(Path::new("."), revision, folder)
}

/// As [`at`], in the repository that contains `root`; `folder` is relative to `root`.
pub(crate) fn in_folder(root: &Path, revision: &str, folder: &Path) -> Result<Vec<Value>, String> {
    let git = |arguments: &[&str]| git(root, arguments);
    git(&["rev-parse", "--git-dir"])
        .map_err(|error| format!("{error}\n\nhint: git init, and commit the published manifests"))?;
    git(&["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")]).map_err(|_| {
        format!(
            "`{revision}` is not a revision of this git repository\n\n\
             hint: `git fetch` it, or name another: `make verify-api BASE=HEAD`"
        )
    })?;
    let folder = folder.display();
    let listing = git(&["ls-tree", "--name-only", revision, &format!("./{folder}/")])?;
    let mut documents = Vec::new();
    for path in listing.lines().filter(|path| path.ends_with(".yaml")) {
        let text = git(&["show", &format!("{revision}:./{path}")])?;
        let read =
            crate::yaml::documents(&text).map_err(|error| format!("cannot read `{path}` of `{revision}`: {error}"))?;
        documents.extend(
            read.into_iter()
                .filter(|document| document["spec"]["versions"].is_array()),
        );
    }
    Ok(documents)
}

fn git(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").args(arguments).current_dir(root).output();
    let output = output.map_err(|error| format!("cannot run git: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("`git {}` failed: {}", arguments.join(" "), stderr.trim()))
}
