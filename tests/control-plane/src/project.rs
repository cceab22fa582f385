//! A generated project: created through the public command line, built with cargo, kept between runs.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

/// The root of the repository.
pub fn root() -> &'static Path {
    // This crate is at tests/control-plane.
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap_or(Path::new("."))
}

/// The arguments of `kubewright create api`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Api {
    /// Without the domain.
    pub group: &'static str,
    /// `v1` if absent.
    pub version: Option<&'static str>,
    /// In camel case.
    pub kind: &'static str,
    /// More flags of `create api`.
    pub flags: &'static [&'static str],
}

/// A project on the disk, with its manifests.
#[derive(Clone, Debug)]
pub struct Project {
    name: String,
    folder: PathBuf,
}

impl Project {
    /// Generates the project `name` with these APIs in the domain `example.com`, with the command line at
    /// KUBEWRIGHT_BIN (else `target/debug/kubewright`), and runs `make manifests` in it.
    ///
    /// The project is in `target/conformance/<name>`, where unchanged files keep their modification times, so that
    /// cargo builds only what has changed.
    ///
    /// # Errors
    ///
    /// If a step fails, with its output.
    pub fn generate(name: &str, apis: &[Api]) -> Result<Self> {
        Self::generate_with(name, apis, &[])
    }

    /// The same, with more commands of the command line: their arguments, separated by spaces.
    ///
    /// # Errors
    ///
    /// If a step fails, with its output.
    pub fn generate_with(name: &str, apis: &[Api], further: &[&str]) -> Result<Self> {
        let kubewright = kubewright()?;
        let place = root().join("target/conformance");
        let (fresh, folder) = (place.join(format!("{name}.new")), place.join(name));
        remove(&fresh)?;
        fs::create_dir_all(&fresh)?;
        let init = [
            "init",
            "--domain",
            "example.com",
            "--project-name",
            name,
            "--license",
            "none",
        ];
        run(Command::new(&kubewright).args(init).current_dir(&fresh))?;
        for api in apis {
            let create = [
                "create",
                "api",
                "--group",
                api.group,
                "--version",
                api.version.unwrap_or("v1"),
                "--kind",
                api.kind,
            ];
            run(Command::new(&kubewright)
                .args(create)
                .args(api.flags)
                .current_dir(&fresh))?;
        }
        for arguments in further {
            run(Command::new(&kubewright).args(arguments.split(' ')).current_dir(&fresh))?;
        }
        fs::create_dir_all(&folder)?;
        mirror(&fresh, &folder)?;
        remove(&fresh)?;
        keep_times(&folder.join("crates"), &root().join("target/golden/crates/archives"))?;
        let project = Self {
            name: name.to_owned(),
            folder,
        };
        run(project.make().arg("manifests").stderr(Stdio::inherit()))?;
        fs::create_dir_all(place.join("bin"))?;
        fs::copy(target_folder().join("debug").join(name), project.operator()).context("no operator was built")?;
        Ok(project)
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its name, which is also the prefix of its deployed objects.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The namespace of the deployed operator.
    pub fn namespace(&self) -> String {
        format!("{}-system", self.name)
    }

    /// The deployed service account.
    pub fn service_account(&self) -> String {
        format!("{}-controller-manager", self.name)
    }

    /// `make` in its folder.
    pub fn make(&self) -> Command {
        let mut command = Command::new("make");
        self.inside(&mut command);
        command
    }

    /// The operator that `make manifests` has built; a copy, which stays while the project is built again.
    pub fn operator(&self) -> PathBuf {
        root().join("target/conformance/bin").join(&self.name)
    }

    /// Builds the operator for release, and returns its path.
    ///
    /// # Errors
    ///
    /// If it does not compile.
    pub fn release(&self) -> Result<PathBuf> {
        let mut cargo = Command::new("cargo");
        self.inside(&mut cargo);
        run(cargo
            .args(["build", "--release", "--bin", &self.name])
            .stderr(Stdio::inherit()))?;
        Ok(target_folder().join("release").join(&self.name))
    }

    /// The folder and the environment of a command in it.
    pub fn inside(&self, command: &mut Command) {
        command
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", target_folder())
            .env("CARGO_BUILD_BUILD_DIR", build_folder());
        // The jobs of an outer make must not be used.
        for variable in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"] {
            command.env_remove(variable);
        }
        // Neither must the variables that `cargo test` sets for this crate: build scripts that read them (ring's) would
        // run again, and their dependents would be compiled again.
        for (variable, _) in std::env::vars_os() {
            let name = variable.to_string_lossy();
            if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&variable);
            }
        }
    }
}

/// The folder for the programs of generated projects. Not the one of `tests/golden/check`: some programs have the same
/// names, and `cargo run` runs the one that was built last.
fn target_folder() -> PathBuf {
    root().join("target/generated")
}

/// The folder for cargo's intermediate files. Not the one of golden projects and pages, which may be built and tested at
/// the same time: cargo identifies a vendored crate by its name and its path in the workspace, so it would write the files
/// that rustdoc reads for the doctests of a page. `.ci/run` copies that folder here, so that dependencies are compiled once.
fn build_folder() -> PathBuf {
    target_folder().join("build")
}

fn kubewright() -> Result<PathBuf> {
    let built = root().join("target/debug/kubewright");
    let path = std::env::var_os("KUBEWRIGHT_BIN").map_or(built, PathBuf::from);
    if !path.is_file() {
        bail!(
            "no command line at `{}`\n\nhint: run `make conformance`, which builds it",
            path.display()
        );
    }
    Ok(path)
}

/// Runs a command to its end, and returns its standard output.
///
/// # Errors
///
/// If it fails, with its captured output.
pub fn run(command: &mut Command) -> Result<String> {
    let line = [command.get_program()]
        .into_iter()
        .chain(command.get_args())
        .collect::<Vec<&OsStr>>();
    let line = line.join(OsStr::new(" ")).to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run `{line}`"))?;
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    if !output.status.success() {
        bail!("`{line}` failed: {}\n{out}{err}", output.status);
    }
    Ok(out.into_owned())
}

/// Makes the tree `to` equal to `from`, writing only differences.
fn mirror(from: &Path, to: &Path) -> Result<()> {
    let mut wanted = BTreeSet::new();
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        wanted.insert(entry.file_name());
        if entry.file_type()?.is_dir() {
            if !target.is_dir() {
                remove(&target)?;
                fs::create_dir(&target)?;
            }
            mirror(&source, &target)?;
        } else if !target.is_file() || fs::read(&source)? != fs::read(&target)? {
            remove(&target)?;
            fs::copy(&source, &target)?;
        }
    }
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        if !wanted.contains(&entry.file_name()) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Gives each file of a project's crates the time of the equal one in `kept`, where the first project of all gates puts it: cargo knows by
/// the times what it has compiled.
fn keep_times(crates: &Path, kept: &Path) -> Result<()> {
    fs::create_dir_all(kept)?;
    for entry in fs::read_dir(crates)? {
        let entry = entry?;
        let (path, kept) = (entry.path(), kept.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            keep_times(&path, &kept)?;
            continue;
        }
        let text = fs::read(&path)?;
        if fs::read(&kept).is_ok_and(|kept| kept == text) {
            let time = fs::metadata(&kept)?.modified()?;
            File::options().append(true).open(&path)?.set_modified(time)?;
        } else {
            let time = entry.metadata()?.modified()?;
            fs::write(&kept, text)?;
            File::options().append(true).open(&kept)?.set_modified(time)?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove `{}`", path.display()))
        }
        _ => Ok(()),
    }
}
