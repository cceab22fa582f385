//! The Dockerfile of a generated project: which compiler each platform gets, and which files its build reads. The commands of the build stage run
//! here, in a folder in the place of the file system of an image.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// A file of a new project.
fn seeded(name: &str) -> String {
    fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/golden/one")
            .join(name),
    )
    .unwrap()
}

/// The instructions of the build stage, each with its arguments.
fn instructions() -> Vec<(String, String)> {
    let text = seeded("Dockerfile");
    let (build, _) = text.split_once("\nFROM gcr.io").unwrap();
    let lines: Vec<_> = build
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .collect();
    // An instruction ends with the line that has no backslash.
    let mut found = vec![String::new()];
    for line in lines {
        let last = found.last_mut().unwrap();
        last.push_str(line);
        last.push('\n');
        if !line.ends_with('\\') {
            found.push(String::new());
        }
    }
    found.retain(|it| !it.is_empty());
    let divided = found.iter().map(|it| it.trim_end().split_once(' ').unwrap());
    divided.map(|(name, rest)| (name.to_owned(), rest.to_owned())).collect()
}

/// The command that chooses the Rust target and installs its linker.
fn choice() -> String {
    let (_, command) = instructions()
        .into_iter()
        .find(|(name, rest)| name == "RUN" && rest.starts_with("case "))
        .unwrap();
    command
}

/// Runs it on a build machine with amd64, with programs that only write down their arguments.
fn choose(arch: &str) -> (Output, String, String) {
    let dir = tempfile::tempdir().unwrap();
    for program in ["rustup", "apt-get", "rm"] {
        let path = dir.path().join(program);
        fs::write(&path, format!("#!/bin/sh\necho {program} \"$@\" >>\"$LOG\"\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", dir.path().display(), env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    let choice = choice().replace("/platform.sh", &dir.path().join("platform.sh").display().to_string());
    shell.args(["-c", &choice]).env("PATH", path);
    shell.env("TARGETARCH", arch).env("BUILDARCH", "amd64");
    shell.env("LOG", dir.path().join("log"));
    let output = shell.output().unwrap();
    let read = |file: &str| fs::read_to_string(dir.path().join(file)).unwrap_or_default();
    (output, read("log"), read("platform.sh"))
}

#[test]
fn each_platform_gets_its_rust_target_and_debians_cross_compiler_for_it() {
    for (arch, target, compiler) in [
        ("amd64", "x86_64-unknown-linux-gnu", None),
        (
            "arm64",
            "aarch64-unknown-linux-gnu",
            Some("gcc-aarch64-linux-gnu libc6-dev-arm64-cross"),
        ),
        (
            "ppc64le",
            "powerpc64le-unknown-linux-gnu",
            Some("gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross"),
        ),
        (
            "s390x",
            "s390x-unknown-linux-gnu",
            Some("gcc-s390x-linux-gnu libc6-dev-s390x-cross"),
        ),
    ] {
        let (output, log, settings) = choose(arch);
        assert!(
            output.status.success(),
            "{arch}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(log.contains(&format!("rustup target add {target}\n")), "{log}");
        match compiler {
            Some(packages) => assert!(log.contains(&format!(" {packages}\n")), "{log}"),
            None => assert!(!log.contains("apt-get"), "{log}"),
        }
        let gcc = target.replace("-unknown", "");
        let variable = target.to_uppercase().replace('-', "_");
        assert_eq!(
            settings,
            format!("export CARGO_BUILD_TARGET={target} CARGO_TARGET_{variable}_LINKER={gcc}-gcc\n")
        );
    }
}

#[test]
fn a_platform_without_a_compiler_is_refused_by_name() {
    let (output, log, _) = choose("riscv64");
    assert!(!output.status.success() && log.is_empty(), "{log}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("no compiler is known for riscv64"), "{errors}");
}

#[test]
fn the_page_names_a_line_of_the_dockerfile() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src/guide/deploy.md");
    let text = fs::read_to_string(page).unwrap();
    let (_, rest) = text.split_once("the first part before `").unwrap();
    let (line, _) = rest.split_once('`').unwrap();
    assert!(seeded("Dockerfile").lines().any(|it| it == line), "{line}");
}

/// Writes a file below a folder.
fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A project with what users add: a member of the workspace, a vendored crate, a crate behind a link, settings of cargo, a toolchain, and files
/// that the code includes.
fn project(root: &Path, greeting: &str) {
    let package = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{more}")
    };
    let dependencies =
        "[dependencies]\nshared.workspace = true\ntiny = \"0.1\"\nlinked = { path = \"crates/linked\" }\n";
    let workspace = "[workspace]\nmembers = [\"shared\"]\nexclude = [\"crates\", \"forks\"]\n[workspace.dependencies]\nshared = { path = \"shared\" }\n";
    write(
        root,
        "Cargo.toml",
        &format!("{workspace}{}", package("foobar-operator", dependencies)),
    );
    let main = "mod target;\nfn main() { println!(\"{} {} {} {} {}\", target::NAME, shared::NAME, tiny::NAME, linked::NAME, include_str!(\"../config/note\")) }\n";
    write(root, "src/main.rs", main);
    write(
        root,
        "src/target/mod.rs",
        &format!("pub const NAME: &str = \"{greeting}\";\n"),
    );
    write(root, "config/note", "note");
    for (crate_name, folder) in [
        ("shared", "shared"),
        ("tiny", "vendor/tiny"),
        ("linked", "forks/linked"),
    ] {
        write(root, &format!("{folder}/Cargo.toml"), &package(crate_name, ""));
        write(
            root,
            &format!("{folder}/src/lib.rs"),
            &format!("pub const NAME: &str = \"{crate_name}\";\n"),
        );
    }
    fs::create_dir(root.join("crates")).unwrap();
    std::os::unix::fs::symlink("../forks/linked", root.join("crates/linked")).unwrap();
    write(root, "vendor/tiny/.cargo-checksum.json", "{\"files\":{}}");
    let source = "[source.crates-io]\nreplace-with = \"vendored\"\n[source.vendored]\ndirectory = \"vendor\"\n";
    write(
        root,
        ".cargo/config.toml",
        &format!("{source}[build]\ntarget-dir = \"elsewhere\"\n"),
    );
    write(root, "rust-toolchain.toml", "[toolchain]\nchannel = \"stable\"\n");
    write(root, ".dockerignore", &seeded(".dockerignore"));
    for file in ["target/debug/old", "dist/install.yaml", ".git/config", ".env"] {
        write(root, file, "not for images");
    }
    let mut lock = Command::new("cargo");
    lock.args(["generate-lockfile", "--offline", "--quiet"])
        .current_dir(root)
        .env_remove("CARGO_TARGET_DIR");
    assert!(lock.status().unwrap().success());
}

/// Whether the lines of a .dockerignore exclude a path: the last line that matches it decides.
fn ignored(lines: &str, path: &str) -> bool {
    let lines = lines.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.fold(false, |is, line| {
        let pattern = line.strip_prefix('!').unwrap_or(line);
        let matches = pattern == "*" || path == pattern || path.starts_with(&format!("{pattern}/"));
        if matches { !line.starts_with('!') } else { is }
    })
}

/// The file system of the build stage.
struct Image(tempfile::TempDir);

impl Image {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let programs = [("rustup", "exit 0"), ("cargo-auditable", "shift && exec cargo \"$@\"")];
        for (name, text) in programs {
            write(dir.path(), &format!("bin/{name}"), &format!("#!/bin/sh\n{text}\n"));
            fs::set_permissions(dir.path().join("bin").join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        for folder in ["src", "target"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        Self(dir)
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.0.path().join(inside.trim_start_matches('/'))
    }

    /// Copies what a .dockerignore leaves of the context.
    fn copy(&self, context: &Path, arguments: &str) {
        assert_eq!(arguments, ". .", "the test copies whole contexts only");
        _ = fs::remove_dir_all(self.path("/src"));
        fs::create_dir(self.path("/src")).unwrap();
        let ignore = fs::read_to_string(context.join(".dockerignore")).unwrap();
        let found = Command::new("find")
            .args([".", "!", "-type", "d"])
            .current_dir(context)
            .output()
            .unwrap();
        let found = String::from_utf8(found.stdout).unwrap();
        for file in found
            .lines()
            .map(|line| line.trim_start_matches("./"))
            .filter(|file| !ignored(&ignore, file))
        {
            let to = self.path("/src").join(file);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            // With its time, as a COPY.
            let copied = Command::new("cp").arg("-a").arg(context.join(file)).arg(to).status();
            assert!(copied.unwrap().success());
        }
    }

    /// Builds a context; what the commands print. The caches are those of earlier builds.
    fn build(&self, context: &Path) -> String {
        let mut said = String::new();
        for (name, arguments) in instructions() {
            match name.as_str() {
                "COPY" => self.copy(context, &arguments),
                // There is no registry.
                "RUN" if arguments.starts_with("cargo install") => {}
                "RUN" => said.push_str(&self.run(&arguments)),
                _ => assert!(["FROM", "ARG", "WORKDIR"].contains(&name.as_str()), "{name}"),
            }
        }
        said
    }

    fn run(&self, arguments: &str) -> String {
        // The last mount is before the command.
        let command = arguments
            .trim_start()
            .split("\n")
            .skip_while(|line| line.trim().starts_with("--mount="))
            .collect::<Vec<_>>();
        let mut command = command.join("\n");
        for place in ["/target", "/operator", "/platform.sh"] {
            let inside = self.path(place);
            command = command.replace(&format!(" {place}"), &format!(" {}", inside.display()));
            command = command.replace(&format!(">{place}"), &format!(">{}", inside.display()));
            command = command.replace(&format!("={place}"), &format!("={}", inside.display()));
        }
        let path = format!("{}:{}", self.path("bin").display(), env::var("PATH").unwrap());
        let arch = if cfg!(target_arch = "aarch64") {
            "arm64"
        } else {
            "amd64"
        };
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &command])
            .env("PATH", path)
            .current_dir(self.path("/src"));
        for variable in [
            "CARGO_TARGET_DIR",
            "CARGO_BUILD_BUILD_DIR",
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
        ] {
            shell.env_remove(variable);
        }
        shell
            .env("TARGETARCH", arch)
            .env("BUILDARCH", arch)
            .env("CARGO_NET_OFFLINE", "true");
        // This machine has one toolchain.
        shell.env(
            "RUSTUP_TOOLCHAIN",
            env::var("RUSTUP_TOOLCHAIN").unwrap_or_else(|_| "stable".to_owned()),
        );
        let output = shell.output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{command}\n{errors}");
        errors
    }

    /// The output of the program.
    fn operator(&self) -> String {
        let output = Command::new(self.path("/operator")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn the_image_has_what_users_add_and_leaves_out_what_no_build_needs() {
    let (image, context) = (Image::new(), tempfile::tempdir().unwrap());
    project(context.path(), "hello");
    image.build(context.path());
    assert_eq!(image.operator(), "hello shared tiny linked note\n");
    for file in [
        "rust-toolchain.toml",
        ".cargo/config.toml",
        "vendor/tiny/Cargo.toml",
        "Cargo.lock",
    ] {
        assert!(image.path("/src").join(file).is_file(), "{file}");
    }
    for file in ["target", "dist", ".git", ".env", "elsewhere"] {
        assert!(!image.path("/src").join(file).exists(), "{file}");
    }
}

#[test]
fn a_second_build_is_of_its_own_checkout_and_keeps_the_dependencies() {
    let (image, context, other) = (Image::new(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    project(other.path(), "older");
    project(context.path(), "hello");
    write(context.path(), "src/bin/extra.rs", "fn main() {}");
    image.build(context.path());
    // Its files are older than what was compiled of the first.
    let said = image.build(other.path());
    assert_eq!(image.operator(), "older shared tiny linked note\n");
    assert!(!image.path("/src/src/bin/extra.rs").exists());
    assert!(!said.contains("Compiling tiny"), "{said}");
}
