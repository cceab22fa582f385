//! Reads the CRDs of a git revision.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The CRDs in every `.yaml` file directly in `folder` at `revision`.
///
/// # Errors
/// Git is missing, the revision does not exist, it has no CRD there, or a file is not YAML; the message names the command or the file.
pub(crate) fn at(revision: &str, folder: &Path) -> Result<Vec<Value>, String> {
    let root = std::env::current_dir().map_err(|error| format!("cannot find the current folder: {error}"))?;
    in_folder(&root, revision, folder)
}

/// As [`at`], in the repository that contains `root`; `folder` is relative to `root`.
pub(crate) fn in_folder(root: &Path, revision: &str, folder: &Path) -> Result<Vec<Value>, String> {
    let repository = Repository::of(root)?;
    let commit = repository.commit(revision)?;
    let folder = folder.strip_prefix(root).unwrap_or(folder).display();
    let listing = repository.git(&["ls-tree", "-z", "--name-only", &commit, &format!("./{folder}/")])?;
    let mut documents = Vec::new();
    for path in listing.split('\0').filter(|path| path.ends_with(".yaml")) {
        let text = repository.git(&["show", &format!("{commit}:./{path}")])?;
        let unread = |error: &dyn std::fmt::Display| format!("cannot read `{path}` of `{revision}`: {error}");
        let read = kubewright_schema::yaml::documents(&text).map_err(|error| unread(&error))?;
        if !read.iter().all(|document| document.is_object() || document.is_null()) {
            return Err(unread(&"it is not a manifest"));
        }
        documents.extend(
            read.into_iter()
                .filter(|document| document["spec"]["versions"].is_array()),
        );
    }
    match documents.is_empty() {
        false => Ok(documents),
        true => Err(format!(
            "`{revision}` has no CRD in `{folder}`, so there is nothing to compare with\n\n\
             hint: name a revision to which the output of `make manifests` was committed: `make verify-api BASE=HEAD`"
        )),
    }
}

/// The git repository of a folder.
struct Repository<'a> {
    root: &'a Path,
    /// The variables of git that are not passed on.
    left_out: &'static [&'static str],
}

/// Variables that select a repository, as `git rev-parse --local-env-vars` lists them. Git sets some of them for hooks, for the
/// top folder of the work tree; here the folder of the project selects it.
const OF_ONE_REPOSITORY: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

impl<'a> Repository<'a> {
    /// The repository around `root`; or, if none exists, the repository that the environment selects with both `GIT_DIR` and
    /// `GIT_WORK_TREE`: without the latter git takes any folder for the top one.
    fn of(root: &'a Path) -> Result<Self, String> {
        let around = Self {
            root,
            left_out: OF_ONE_REPOSITORY,
        };
        let Err(why) = around.git(&["rev-parse", "--git-dir"]) else {
            return Ok(around);
        };
        let named = Self { root, left_out: &[] };
        let is_whole = ["GIT_DIR", "GIT_WORK_TREE"]
            .iter()
            .all(|it| std::env::var_os(it).is_some());
        if is_whole
            && named
                .git(&["rev-parse", "--show-toplevel"])
                .is_ok_and(|top| within(root, &top))
        {
            return Ok(named);
        }
        match why.contains("not a git repository") {
            true => Err(format!("{why}\n\nhint: `git init`, and commit the published manifests")),
            false => Err(why),
        }
    }

    /// The commit of a revision.
    fn commit(&self, revision: &str) -> Result<String, String> {
        let wanted = format!("{revision}^{{commit}}");
        if let Ok(commit) = self.git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]) {
            return Ok(commit.trim().to_owned());
        }
        let is_shallow = self.git(&["rev-parse", "--is-shallow-repository"]);
        let (what, fetch) = match is_shallow.is_ok_and(|text| text.trim() == "true") {
            true => ("is not in this shallow clone", "`git fetch --unshallow`"),
            false => ("is not a revision of this git repository", "`git fetch` it"),
        };
        Err(format!(
            "`{revision}` {what}\n\nhint: {fetch}, or name another: `make verify-api BASE=HEAD`"
        ))
    }

    fn git(&self, arguments: &[&str]) -> Result<String, String> {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(self.root).env("LC_ALL", "C");
        self.left_out.iter().for_each(|variable| {
            git.env_remove(variable);
        });
        let output = git.output().map_err(|error| format!("cannot run git: {error}"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        Err(format!("`git {}` failed: {}", arguments.join(" "), stderr.trim()))
    }
}

/// Whether `root` is in the folder that git printed.
fn within(root: &Path, top: &str) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| PathBuf::from(path));
    real(root).starts_with(real(Path::new(top.trim_end_matches('\n'))))
}
