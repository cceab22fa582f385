//! Stages what the binary carries: the templates, of each vendored crate what a project needs of it, and of earlier releases the files
//! that differ from today's. `include_dir` does not notice added or removed files, so every folder is watched here.

#[path = "../src/render/archive.rs"]
mod archive;
mod strip;

use archive::Texts;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The files of a crate that a project gets; tests and benches stay here.
const SHIPPED: [&str; 3] = ["Cargo.toml", "README.md", "src"];
/// The licences of all crates are in the folder of one that each project has.
const LICENSES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];
const LICENSED: &str = "runtime";
/// A package cannot hold a folder with a `Cargo.toml`, so `make package` gives the manifests this ending.
const PACKAGED: &str = ".verbatim";

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let staged = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("assets");
    if staged.exists() {
        fs::remove_dir_all(&staged)?;
    }
    println!("cargo::rerun-if-changed={}", root.join("templates").display());
    copy(&root.join("templates"), &staged.join("templates"))?;
    println!("cargo::rerun-if-changed={}", root.join("scaffolds").display());
    for crate_folder in fs::read_dir(root.join("scaffolds")).into_iter().flatten() {
        let from = crate_folder?.path();
        let name = from.file_name().expect("an entry of a folder has a name");
        let to = staged.join("scaffolds").join(name);
        let licenses = LICENSES.iter().filter(|_| name == LICENSED);
        for part in SHIPPED.iter().chain(licenses) {
            for from in [from.join(part), from.join(format!("{part}{PACKAGED}"))] {
                copy(&from, &to.join(part))?;
            }
        }
        if to.is_dir() {
            ship(&to)?;
        }
    }
    // A package made anywhere but in the stage of `make package` lacks the crates.
    assert!(
        staged.join("scaffolds").join(LICENSED).join("Cargo.toml").is_file(),
        "no crates in `{}`: publish from target/package-stage",
        root.join("scaffolds").display()
    );
    releases(&root.join("releases"), &staged)
}

/// Leaves of a staged crate what is not a test.
fn ship(folder: &Path) -> io::Result<()> {
    let mut texts = Texts::new();
    read(folder, folder, &mut texts)?;
    let mut kept = texts
        .into_iter()
        .map(|(path, text)| (path, text.into_owned()))
        .collect();
    strip::without_tests(&mut kept);
    if let Some(manifest) = kept.get_mut("Cargo.toml") {
        *manifest = strip::without_table(manifest, "[dev-dependencies]");
    }
    fs::remove_dir_all(folder)?;
    for (path, text) in kept {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("below the crate"))?;
        fs::write(path, text)?;
    }
    Ok(())
}

/// Stages the archives of earlier releases, without the files that are equal to today's: the binary has those already.
fn releases(from: &Path, staged: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", from.display());
    let mut today = Texts::new();
    for folder in ["templates", "scaffolds"] {
        read(staged, &staged.join(folder), &mut today)?;
    }
    let to = staged.join("releases");
    fs::create_dir_all(&to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "zlib") {
            let files = archive::unpack(&fs::read(&path)?, &Texts::new())?;
            let name = path.file_name().expect("an entry of a folder has a name");
            fs::write(to.join(name), archive::pack(&files, &today)?)?;
        }
    }
    Ok(())
}

/// Reads the staged files of a folder, by their paths below `staged`.
fn read(staged: &Path, folder: &Path, texts: &mut Texts) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read(staged, &path, texts)?;
        } else {
            let parts = path.strip_prefix(staged).expect("it is below").iter();
            let name: Vec<_> = parts.map(|part| part.to_str().expect("all names are ASCII")).collect();
            texts.insert(name.join("/"), fs::read_to_string(&path)?.into());
        }
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
