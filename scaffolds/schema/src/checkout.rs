//! Whether a program was built from the project in which it runs. Cargo names what it compiles by paths inside a project, so two checkouts
//! of a project that share a target folder get each other's programs, without a word.

use std::path::{Path, PathBuf};

/// Compares `built`, a folder that was compiled into the program as `env!("CARGO_MANIFEST_DIR")`, with the current folder.
///
/// # Errors
/// The current folder is a project's, with the files `PROJECT` and `Cargo.toml`, and `built` is not in that project: it is elsewhere,
/// or in another checkout below, as git's worktrees may be. The message names both.
pub fn check(built: &Path) -> Result<(), String> {
    match std::env::current_dir() {
        Ok(here) if is_project(&here) => check_in(built, &here),
        _ => Ok(()),
    }
}

fn is_project(folder: &Path) -> bool {
    ["PROJECT", "Cargo.toml"].iter().all(|file| folder.join(file).is_file())
}

/// As [`check`], for any current folder.
fn check_in(built: &Path, here: &Path) -> Result<(), String> {
    // A folder that does not exist any more was moved, or was a worktree.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| PathBuf::from(path));
    let (folder, project) = (real(built), real(here));
    let is_here = folder.exists() && folder.starts_with(&project);
    let is_in_another = folder.ancestors().take_while(|it| *it != project).any(is_project);
    if built.is_relative() || (is_here && !is_in_another) {
        return Ok(());
    }
    Err(format!(
        "this program was built from `{}`, and it runs in `{}`\n\n\
         hint: give each checkout a target folder of its own (see `CARGO_TARGET_DIR`, and `build.target-dir` and `build.build-dir` of \
         cargo's configuration), or run `cargo clean` here, if the project was moved",
        built.display(),
        here.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::check_in;
    use std::fs;

    #[test]
    fn a_program_of_another_checkout_is_refused_and_both_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
        for checkout in [&one, &two] {
            fs::create_dir_all(checkout.join("api/src")).unwrap();
        }
        assert_eq!(check_in(&one.join("api/src"), &one), Ok(()));
        assert_eq!(check_in(&one.join("api/../api/src"), &one), Ok(()));
        assert_eq!(
            check_in("api/src".as_ref(), &two),
            Ok(()),
            "a relative path is of the current folder"
        );
        for built in [one.join("api/src"), one.clone(), folder.path().join("gone/api/src")] {
            let refused = check_in(&built, &two).unwrap_err();
            for named in [built.display(), two.display()] {
                assert!(refused.contains(&format!("`{named}`")), "{refused}");
            }
        }
        // A worktree inside the checkout, and one that was removed.
        let worktree = one.join("worktrees/feature");
        fs::create_dir_all(worktree.join("api")).unwrap();
        for file in ["PROJECT", "Cargo.toml"] {
            fs::write(worktree.join(file), "").unwrap();
        }
        for built in [
            worktree.join("api"),
            worktree.clone(),
            one.join("worktrees/removed/api"),
        ] {
            let refused = check_in(&built, &one).unwrap_err();
            assert!(refused.contains(&format!("`{}`", built.display())), "{refused}");
        }
        assert_eq!(check_in(&worktree.join("api"), &worktree), Ok(()));
        #[cfg(unix)]
        {
            let link = folder.path().join("link");
            std::os::unix::fs::symlink(&one, &link).unwrap();
            assert_eq!(
                check_in(&one.join("api/src"), &link),
                Ok(()),
                "another path of the same folder"
            );
        }
    }
}
