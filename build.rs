//! Stages what the binary carries: the templates and, of each vendored crate, what a project needs of it. `include_dir` does not notice
//! added or removed files, so every folder is watched here.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// What a project gets of a crate; tests and benches stay here.
const SHIPPED: [&str; 5] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "src"];
/// A package cannot hold a folder with a `Cargo.toml`, so `make package` gives the manifests this ending.
const PACKAGED: &str = ".verbatim";
/// Crates that `init` vendors, and the folder of files that it copies as they are.
const SCAFFOLDS: [&str; 5] = ["apiserver", "machinery", "runtime", "schema", "project"];

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let staged = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("assets");
    if staged.exists() {
        fs::remove_dir_all(&staged)?;
    }
    println!("cargo::rerun-if-changed={}", root.join("templates").display());
    copy(&root.join("templates"), &staged.join("templates"))?;
    println!("cargo::rerun-if-changed={}", root.join("scaffolds").display());
    for name in SCAFFOLDS {
        let from = root.join("scaffolds").join(name);
        let to = staged.join("scaffolds").join(name);
        fs::create_dir_all(&to)?;
        if name == "project" {
            copy(&from, &to)?;
            continue;
        }
        for part in SHIPPED {
            for from in [from.join(part), from.join(format!("{part}{PACKAGED}"))] {
                copy(&from, &to.join(part))?;
            }
        }
        // A package made anywhere but in the stage of `make package` lacks the crates.
        assert!(
            to.join("Cargo.toml").is_file(),
            "no crate in `{}`: publish from target/package-stage",
            from.display()
        );
    }
    Ok(())
}

/// Copies a file or a folder, if it is there.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
    } else if from.is_file() {
        fs::create_dir_all(to.parent().expect("below the staging folder"))?;
        fs::write(to, fs::read(from)?)?;
    }
    Ok(())
}
