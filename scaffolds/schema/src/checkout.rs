//! Whether a program was built from the project in which it runs. Cargo names what it compiles by paths inside a project, so two checkouts
//! of a project that share a target folder get each other's programs, without a word.

use std::path::{Path, PathBuf};

/// Compares `built`, a folder that was compiled into the program as `env!("CARGO_MANIFEST_DIR")`, with the current folder.
///
/// # Errors
/// The current folder is a project's, with the files `PROJECT` and `Cargo.toml`, and `built` is neither it nor below it. The message
/// names both.
pub fn check(built: &Path) -> Result<(), String> {
    match std::env::current_dir() {
        Ok(here) if ["PROJECT", "Cargo.toml"].iter().all(|file| here.join(file).is_file()) => check_in(built, &here),
        _ => Ok(()),
    }
}

/// As [`check`], for any current folder.
fn check_in(built: &Path, here: &Path) -> Result<(), String> {
    // A folder that does not exist any more was moved.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| PathBuf::from(path));
    if built.is_relative() || real(built).starts_with(real(here)) {
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
