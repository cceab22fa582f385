//! The CRDs of a git revision, as they were committed.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The documents of every `.yaml` directly in `folder` at `revision`; none where the folder was not there yet.
///
/// # Errors
/// A sentence that names the command or the file: git is missing, the revision is not known, a file is no YAML.
pub(crate) fn at(revision: &str, folder: &Path) -> Result<Vec<Value>, String> {
    in_folder(Path::new("."), revision, folder)
}

/// The same, of the repository that `root` is in; `folder` is below it.
pub(crate) fn in_folder(root: &Path, revision: &str, folder: &Path) -> Result<Vec<Value>, String> {
    let git = |arguments: &[&str]| git(root, arguments);
    git(&["rev-parse", "--git-dir"])
        .map_err(|error| format!("{error}\n\nhint: git init, and commit what is published"))?;
    git(&["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")]).map_err(|_| {
        format!(
            "`{revision}` is no revision of this git repository\n\n\
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
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("`git {}` failed: {}", arguments.join(" "), said.trim()))
}
