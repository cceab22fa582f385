//! A generated project: made through the public command line, built with cargo, kept from run to run.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs, io,
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

/// What `kubewright create api` is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Api {
    /// Without the domain.
    pub group: &'static str,
    /// Where it is not `v1`.
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
    /// Generates the project `name` with these APIs in the domain `example.com`, by the command line that
    /// KUBEWRIGHT_BIN names (else `target/debug/kubewright`), and runs `make manifests` in it.
    ///
    /// It ends up in `target/conformance/<name>`, where files that come out as last time keep their time of change: cargo
    /// then builds what has changed only.
    ///
    /// # Errors
    ///
    /// When a step fails, with what it printed.
    pub fn generate(name: &str, apis: &[Api]) -> Result<Self> {
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
        fs::create_dir_all(&folder)?;
        mirror(&fresh, &folder)?;
        remove(&fresh)?;
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

    /// Its name, which is also the prefix of what it deploys.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The namespace that it deploys to.
    pub fn namespace(&self) -> String {
        format!("{}-system", self.name)
    }

    /// The service account that it deploys.
    pub fn service_account(&self) -> String {
        format!("{}-controller-manager", self.name)
    }

    /// `make` in its folder.
    pub fn make(&self) -> Command {
        let mut command = Command::new("make");
        self.inside(&mut command);
        command
    }

    /// The operator as `make manifests` has built it; a copy, so that it stays while the project is built again.
    pub fn operator(&self) -> PathBuf {
        root().join("target/conformance/bin").join(&self.name)
    }

    /// Builds the operator as it is released, and says where it is.
    ///
    /// # Errors
    ///
    /// When it does not compile.
    pub fn release(&self) -> Result<PathBuf> {
        let mut cargo = Command::new("cargo");
        self.inside(&mut cargo);
        run(cargo
            .args(["build", "--release", "--bin", &self.name])
            .stderr(Stdio::inherit()))?;
        Ok(target_folder().join("release").join(&self.name))
    }

    fn inside(&self, command: &mut Command) {
        command
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", target_folder())
            .env("CARGO_BUILD_BUILD_DIR", build_folder());
        // An outer make's jobs are not this one's.
        for variable in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"] {
            command.env_remove(variable);
        }
        // Nor is what `cargo test` says of this crate: build scripts (ring's) that read it would run once more, and all that is
        // on them would compile again.
        for (variable, _) in std::env::vars_os() {
            let name = variable.to_string_lossy();
            if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&variable);
            }
        }
    }
}

/// Where the programs of generated projects are. Not where `tests/golden/check` has those of its projects: some have the same
/// names, and `cargo run` runs whichever was built last.
fn target_folder() -> PathBuf {
    root().join("target/generated")
}

/// Where cargo keeps intermediate files: what the golden projects have compiled of the dependencies is not compiled again. A
/// package is known there by its name and its place in its workspace, so no project may have the name of a golden one; nor may one
/// be below that folder, by which cargo remembers sources.
fn build_folder() -> PathBuf {
    root().join("target/projects")
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

/// Runs it to its end; its standard output.
///
/// # Errors
///
/// When it fails, with all that it printed and that was not shown.
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

/// Makes `to` the same tree as `from`, writing only what differs.
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
