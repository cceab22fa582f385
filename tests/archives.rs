//! Projects whose crates of kubewright are archives: their files, their way to the other forms and back, and what cargo does with them.

mod cli;
mod earlier;

use cli::{CRATES, Run, Tree, assert_same, create, kubewright, read, replace, tree};
use kubewright::project::{Crates, Project, Release};
use kubewright::render::vendor::{self, Texts};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// The files of a crate that is an archive.
const FILES: [&str; 2] = ["Cargo.toml", "source.tar"];
/// The files that archives share.
const SHARED: [&str; 3] = ["crates/build.rs", "crates/lib.rs", "crates/rustfmt.toml"];

/// A project with one kind.
fn made(crates: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let init = ["init", "--domain", "example.com", "--project-name", "foobar-operator"];
    let crates = ["--license", "mit", "--crates", crates];
    kubewright(dir.path(), &[&init[..], &crates].concat()).succeeds();
    create(dir.path(), "test", "FooBar").succeeds();
    dir
}

fn moved(dir: &TempDir, to: &str) -> Run {
    kubewright(dir.path(), &["sync", "--crates", to])
}

/// The files of a crate in a project, by their path in it, without its release and hash.
fn unit(tree: &Tree, name: &str) -> Texts {
    let folder = format!("crates/{name}/");
    let inside = tree.iter().filter_map(|(path, file)| {
        let text = String::from_utf8(file.bytes.clone()).unwrap();
        Some((path.strip_prefix(&folder)?.to_owned(), text))
    });
    let mut unit: Texts = inside.filter(|(path, _)| path != "VERSION").collect();
    let manifest = unit.get_mut("Cargo.toml").unwrap();
    *manifest = vendor::stamped(manifest).map_or(manifest.clone(), |(_, rest)| rest.to_owned());
    unit
}

fn borrowed(texts: &Texts) -> BTreeMap<&str, &str> {
    let texts = texts.iter();
    texts.map(|(path, text)| (path.as_str(), text.as_str())).collect()
}

#[test]
fn an_archive_contains_what_a_folder_does() {
    let [archives, folders, registry] = ["archives", "vendored", "registry"].map(|form| tree(made(form).path()));
    let is_more = |path: &&String| !registry.contains_key(*path);
    let mut more: Vec<_> = archives.keys().filter(is_more).cloned().collect();
    let mut wanted: Vec<_> = CRATES
        .iter()
        .flat_map(|name| FILES.map(|file| format!("crates/{name}/{file}")))
        .collect();
    wanted.extend(SHARED.map(str::to_owned));
    more.sort();
    wanted.sort();
    assert_eq!(more, wanted);
    for name in CRATES {
        assert_eq!(
            vendor::unpacked(&unit(&archives, name)).unwrap(),
            unit(&folders, name),
            "{name}"
        );
    }
    assert_eq!(archives["Cargo.toml"], folders["Cargo.toml"]);
    assert_eq!(archives["Cargo.lock"], folders["Cargo.lock"]);
}

/// Projects compare archives with those of a release: who changes these bytes, by another tar, cannot upgrade them.
#[test]
fn the_bytes_of_an_archive_are_the_same_on_each_machine() {
    let files = [
        ("src/lib.rs", "//! Tiny.\n\npub const NAME: &str = \"tiny\";\n"),
        ("src/a.txt", "a"),
        ("Cargo.toml", "[package]\n"),
    ];
    let unit = vendor::packed(&files.into()).unwrap();
    assert_eq!(vendor::hash(&unit), PINNED);
    assert_same(&tree(made("archives").path()), &tree(made("archives").path()));
}

const PINNED: &str = "74178f3d66839c8736c8e11f0248bea5764b5848197720c2db45447b378a4c11";

#[test]
fn a_project_moves_between_all_forms_and_is_what_init_makes() {
    let forms = ["archives", "vendored", "registry"];
    let made = forms.map(made);
    let trees = made.each_ref().map(|dir| tree(dir.path()));
    let dir = &made[0];
    // Each way, in both directions.
    for to in [1, 0, 2, 0, 2, 1, 0] {
        moved(dir, forms[to]).succeeds();
        assert_same(&trees[to], &tree(dir.path()));
        if forms[to] == "registry" {
            build(dir);
        }
    }
    assert!(moved(dir, "archives").succeeds().stderr.contains("nothing to do"));
}

/// A build adds the crates of a registry to the lock.
fn build(dir: &TempDir) {
    let package = |name: &str| {
        format!(
            "\n[[package]]\nname = \"kubewright-{name}\"\nversion = \"{}\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"00\"\n",
            Release::own()
        )
    };
    let lock = read(dir, "Cargo.lock") + &CRATES.map(package).concat();
    fs::write(dir.path().join("Cargo.lock"), lock).unwrap();
}

#[test]
fn an_edited_archive_is_reported_and_not_moved() {
    for edit in ["damaged", "other", "forged", "manifest"] {
        let dir = made("archives");
        let folder = dir.path().join("crates/schema");
        match edit {
            "damaged" => {
                let mut bytes = fs::read(folder.join("source.tar")).unwrap();
                // The size of the first file.
                bytes[124..135].fill(b'9');
                fs::write(folder.join("source.tar"), bytes).unwrap();
            }
            "other" => {
                fs::copy(dir.path().join("crates/cel/source.tar"), folder.join("source.tar")).unwrap();
            }
            // The hash in the manifest fits the forged archive.
            "forged" => {
                let forged = vendor::unpacked(&unit(&tree(dir.path()), "schema")).unwrap();
                let with_back_door = forged.into_iter().map(|(path, text)| match path.as_str() {
                    "src/lib.rs" => (path, text + "// a back door\n"),
                    _ => (path, text),
                });
                let forged = vendor::packed(&borrowed(&with_back_door.collect())).unwrap();
                let stamped = read(&dir, "crates/schema/Cargo.toml");
                let (line, _) = stamped.split_once("sha256:").unwrap();
                let stamp = format!("{line}sha256:{}; do not edit\n", vendor::hash(&forged));
                fs::write(folder.join("Cargo.toml"), stamp + &forged["Cargo.toml"]).unwrap();
                fs::write(folder.join("source.tar"), &forged["source.tar"]).unwrap();
            }
            _ => replace(
                &dir,
                "crates/schema/Cargo.toml",
                "\"../build.rs\"",
                "\"../../build.rs\"",
            ),
        }
        let before = tree(dir.path());
        let plan = kubewright(dir.path(), &["plan"]).succeeds().stdout;
        let line = plan.lines().find(|line| line.starts_with("crates/schema ")).unwrap();
        assert!(line.ends_with("vendored  edited"), "{edit}: {line}");
        let doctor = kubewright(dir.path(), &["doctor"]).stdout;
        assert!(doctor.contains("edited by hand: `crates/schema`"), "{edit}: {doctor}");
        let sync = kubewright(dir.path(), &["sync"]).succeeds().stderr;
        assert!(sync.contains("`crates/schema` was edited"), "{edit}: {sync}");
        let refused = moved(&dir, "registry");
        assert!(refused.stdout.len() < 2000, "{edit}: an archive is not printed");
        refused.refuses(1, &["`crates/schema`, edited: see the differences above"]);
        if ["damaged", "manifest"].contains(&edit) {
            kubewright(dir.path(), &["eject", "schema"]).refuses(1, &["`crates/schema` cannot be unpacked"]);
        }
        assert_same(&before, &tree(dir.path()));
    }
}

#[test]
fn an_edited_build_script_is_reported_and_kept() {
    for file in ["crates/build.rs", "crates/lib.rs"] {
        let dir = made("archives");
        fs::write(dir.path().join(file), read(&dir, file) + "// Mine.\n").unwrap();
        let plan = kubewright(dir.path(), &["plan"]).succeeds().stdout;
        let line = plan.lines().find(|line| line.starts_with(&format!("{file} "))).unwrap();
        assert!(line.ends_with("managed   edited"), "{line}");
        let doctor = kubewright(dir.path(), &["doctor"]).stdout;
        assert!(doctor.contains(&format!("edited by hand: `{file}`")), "{doctor}");
        kubewright(dir.path(), &["sync"]).refuses(1, &[&format!("`{file}` was edited by hand")]);
        let run = moved(&dir, "registry").succeeds();
        assert!(run.stderr.contains(&format!("kept `{file}`")), "{}", run.stderr);
        assert!(read(&dir, file).ends_with("// Mine.\n"));
    }
}

#[test]
fn an_ejected_archive_is_the_crate_in_its_folder() {
    let [dir, folders] = ["archives", "vendored"].map(made);
    let before = tree(dir.path());
    let dry = kubewright(dir.path(), &["eject", "schema", "--dry-run"])
        .succeeds()
        .stdout;
    assert!(dry.contains("replaced crate crates/schema ("), "{dry}");
    assert_same(&before, &tree(dir.path()));
    for dir in [&dir, &folders] {
        let run = kubewright(dir.path(), &["eject", "schema"]).succeeds();
        assert!(run.stderr.contains("is yours now"), "{}", run.stderr);
    }
    let [own, others] = [&dir, &folders].map(|dir| tree(dir.path()));
    assert_eq!(unit(&own, "schema"), unit(&others, "schema"));
    assert!(vendor::stamped(&read(&dir, "crates/schema/Cargo.toml")).is_none());
    assert!(!own.contains_key("crates/schema/VERSION") && !own.contains_key("crates/schema/source.tar"));
    let plan = kubewright(dir.path(), &["plan"]).succeeds().stdout;
    let line = plan.lines().find(|line| line.starts_with("crates/schema ")).unwrap();
    assert!(line.ends_with("vendored  ejected"), "{line}");
    let again = kubewright(dir.path(), &["eject", "crates/schema"]).succeeds().stderr;
    assert!(
        again.contains("nothing to do: `crates/schema` is yours already"),
        "{again}"
    );
    moved(&dir, "vendored").refuses(1, &["`crates/schema`, ejected"]);
    create(dir.path(), "test", "Second").succeeds();
}

#[test]
fn a_crate_that_no_package_uses_is_not_in_the_project() {
    let dir = made("registry");
    fs::remove_dir_all(dir.path().join("dev")).unwrap();
    replace(&dir, "Cargo.toml", "\"dev\", ", "");
    let run = moved(&dir, "archives").succeeds();
    assert!(run.stderr.contains("`crates/apiserver` is left out"), "{}", run.stderr);
    let has = |name: &str| dir.path().join("crates").join(name).exists();
    assert_eq!(CRATES.map(has), [false, true, true, true, true, true]);
    let again = kubewright(dir.path(), &["sync"]).succeeds();
    assert!(again.stderr.contains("nothing to do"), "{}", again.stderr);
    assert!(!again.stderr.contains("is missing"), "{}", again.stderr);
}

/// A project with archives, as the first release would have written it.
fn of_the_first_release() -> TempDir {
    let first: Release = "0.1.0".parse().unwrap();
    let project = Project {
        crates: Crates::Archives,
        ..earlier::project(&first, "one")
    };
    let dir = tempfile::tempdir().unwrap();
    for (path, file) in earlier::rendered(&project, &first) {
        let path = path.under(dir.path());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, file.bytes()).unwrap();
        cli::set_executable(&path, file.executable);
    }
    fs::write(dir.path().join("PROJECT"), kubewright::project::file::format(&project)).unwrap();
    dir
}

#[test]
fn an_upgrade_replaces_the_archives() {
    let dir = of_the_first_release();
    let run = kubewright(dir.path(), &["upgrade", "--dry-run"]).succeeds();
    for said in ["replaced crate crates/runtime (", "new crate crates/cel ("] {
        assert!(run.stdout.contains(said), "{}", run.stdout);
    }
    kubewright(dir.path(), &["upgrade"]).succeeds();
    let new = tree(dir.path());
    let wanted = tree(made("archives").path());
    for path in wanted.keys().filter(|path| path.starts_with("crates/")) {
        assert_eq!(wanted[path], new[path], "{path}");
    }
    let plan = kubewright(dir.path(), &["plan"]).succeeds().stdout;
    assert_eq!(plan.matches("vendored  clean").count(), 6, "{plan}");
}

#[test]
fn an_upgrade_leaves_ejected_crates_and_refuses_damaged_archives() {
    let dir = of_the_first_release();
    kubewright(dir.path(), &["eject", "schema"]).succeeds();
    let run = kubewright(dir.path(), &["upgrade"]).succeeds();
    let said = "`crates/schema` is ejected, so it is not upgraded";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let has = |path: &str| dir.path().join(path).exists();
    assert!(!has("crates/schema/source.tar") && has("crates/runtime/source.tar"));
    let dir = of_the_first_release();
    fs::write(dir.path().join("crates/runtime/source.tar"), "other bytes").unwrap();
    let before = tree(dir.path());
    kubewright(dir.path(), &["upgrade"]).refuses(1, &["`crates/runtime` was edited since kubewright 0.1.0 wrote it"]);
    assert_same(&before, &tree(dir.path()));
}

/// A project as a kubewright of this version wrote it before the release: each crate with a VERSION, a script and a root of its own,
/// and two bindings beside their roles.
fn of_an_unreleased_kubewright() -> TempDir {
    let dir = made("archives");
    let files = tree(dir.path());
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for name in CRATES {
        let packed = unit(&files, name);
        let mut former = vendor::unpacked(&packed).unwrap();
        former.retain(|path, _| path == "Cargo.toml" || path.starts_with("LICENSE-"));
        former.insert("src/lib.rs".to_owned(), "include!(\"/dev/null\");\n".to_owned());
        former.insert("build.rs".to_owned(), "fn main() {}\n".to_owned());
        former.insert("source.tar".to_owned(), packed["source.tar"].clone());
        let line = kubewright::render::header::line(&Release::own().to_string(), &vendor::hash(&former));
        former.insert("VERSION".to_owned(), format!("# {line}\n"));
        for (path, text) in former {
            write(&format!("crates/{name}/{path}"), &text);
        }
    }
    for path in ["crates/build.rs", "crates/lib.rs"] {
        fs::remove_file(dir.path().join(path)).unwrap();
    }
    for (folder, role) in [("metrics", "auth_role"), ("rbac", "leader_election_role")] {
        let path = |name: &str| format!("config/{folder}/{name}.yaml");
        let joined = read(&dir, &path(role));
        let (first, second) = joined.split_once("---\n").unwrap();
        write(&path(role), first);
        write(&path(&format!("{role}_binding")), second);
        let line = format!("  - {role}.yaml\n");
        replace(
            &dir,
            &path("kustomization"),
            &line,
            &format!("{line}  - {role}_binding.yaml\n"),
        );
    }
    dir
}

#[test]
fn an_upgrade_brings_a_project_of_an_unreleased_kubewright_to_the_present_form() {
    let dir = of_an_unreleased_kubewright();
    let before = tree(dir.path());
    let run = kubewright(dir.path(), &["upgrade", "--dry-run"]).succeeds();
    assert!(run.stdout.contains("replaced crate crates/runtime ("), "{}", run.stdout);
    assert_same(&before, &tree(dir.path()));
    kubewright(dir.path(), &["upgrade"]).succeeds();
    assert_same(&tree(made("archives").path()), &tree(dir.path()));
    let again = kubewright(dir.path(), &["upgrade"]).succeeds();
    assert!(
        again.stdout.is_empty() && again.stderr.contains("nothing to do"),
        "{}",
        again.stderr
    );
}

#[test]
fn an_upgrade_from_an_unreleased_kubewright_keeps_what_the_user_changed() {
    let dir = of_an_unreleased_kubewright();
    kubewright(dir.path(), &["plan"]).succeeds();
    fs::remove_file(dir.path().join("crates/cel/VERSION")).unwrap();
    let list = "config/rbac/kustomization.yaml";
    replace(
        &dir,
        list,
        "  - user_roles.yaml\n",
        "  - user_roles.yaml\n  - mine.yaml\n",
    );
    replace(
        &dir,
        "config/metrics/auth_role.yaml",
        "      - create\n",
        "      - create\n      - get\n",
    );
    let before = tree(dir.path());
    kubewright(dir.path(), &["upgrade"]).succeeds();
    let after = tree(dir.path());
    assert!(read(&dir, list).contains("  - mine.yaml\n") && !read(&dir, list).contains("election_role_binding"));
    let is_mine = |path: &&String| path.starts_with("config/metrics/") || path.starts_with("crates/cel/");
    for path in before.keys().filter(is_mine) {
        assert!(before[path] == after[path], "{path}");
    }
    let dir = of_an_unreleased_kubewright();
    fs::write(dir.path().join("crates/cel/build.rs"), "fn main() { /* mine */ }\n").unwrap();
    let before = tree(dir.path());
    kubewright(dir.path(), &["upgrade"]).refuses(1, &["edited: `crates/cel`"]);
    assert_same(&before, &tree(dir.path()));
}

/// A package with a crate that is an archive.
struct Tiny(TempDir);

impl Tiny {
    fn new() -> Self {
        let tiny = Self(tempfile::tempdir().unwrap());
        let manifest = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"1.2.3\"\nedition = \"2024\"\n");
        let depends = "[dependencies]\ntiny = { path = \"crates/tiny\" }\n";
        tiny.write("Cargo.toml", &(manifest("op") + depends));
        tiny.write("src/main.rs", "fn main() {\n    println!(\"{}\", tiny::text());\n}\n");
        let long = ["a_folder_with_a_name"; 6].join("/");
        let deep: Vec<_> = (1..6)
            .map(|depth| ["a_folder_with_a_name"; 6][..depth].join("/"))
            .collect();
        let root = "//! Tiny.\n\n#[macro_use]\nmod words;\nmod a_folder_with_a_name;\n\n\
                    /// The text.\npub fn text() -> String {\n    format!(\"{}{}\", word!(), a_folder_with_a_name::TEXT)\n}\n";
        let mut source = Texts::from([
            ("Cargo.toml".to_owned(), manifest("tiny")),
            ("src/lib.rs".to_owned(), root.to_owned()),
            (
                "src/words.rs".to_owned(),
                "macro_rules! word { () => { include_str!(\"word.txt\") } }\n".to_owned(),
            ),
            ("src/word.txt".to_owned(), "hello ".to_owned()),
            (
                format!("src/{long}.rs"),
                "pub const TEXT: &str = \"from afar\";\n".to_owned(),
            ),
        ]);
        let inner = "mod a_folder_with_a_name;\npub use a_folder_with_a_name::TEXT;\n";
        source.extend(
            deep.into_iter()
                .map(|path| (format!("src/{path}.rs"), inner.to_owned())),
        );
        for (path, text) in vendor::packed(&borrowed(&source)).unwrap() {
            tiny.write(&format!("crates/tiny/{path}"), &text);
        }
        let project = made("archives");
        for path in SHARED {
            tiny.write(path, &read(&project, path));
        }
        tiny
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs cargo in any folder.
    fn cargo(&self, folder: &Path, args: &[&str]) -> Output {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(args).current_dir(folder);
        cargo.env_remove("CARGO_TARGET_DIR").env_remove("CARGO_BUILD_BUILD_DIR");
        cargo.output().unwrap()
    }
}

#[test]
fn cargo_builds_a_crate_from_its_archive_in_every_situation() {
    let tiny = Tiny::new();
    let prints = |output: &Output| {
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "hello from afar\n", "{said}");
    };
    prints(&tiny.cargo(tiny.0.path(), &["run", "--quiet"]));
    // From another folder, whose settings of cargo are not those of the project.
    let elsewhere = tempfile::tempdir().unwrap();
    let manifest = tiny.0.path().join("Cargo.toml");
    prints(&tiny.cargo(
        elsewhere.path(),
        &["run", "--quiet", "--manifest-path", manifest.to_str().unwrap()],
    ));
    // Installed from a repository.
    fs::remove_dir_all(tiny.0.path().join("target")).unwrap();
    let git = |args: &[&str]| {
        let identity = [
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.com",
            "-c",
            "init.defaultBranch=main",
        ];
        let git = Command::new("git")
            .args(identity)
            .args(args)
            .current_dir(tiny.0.path())
            .output();
        assert!(git.unwrap().status.success(), "git {args:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "a"]);
    let (url, root) = (
        format!("file://{}", tiny.0.path().display()),
        elsewhere.path().to_str().unwrap(),
    );
    let install = ["install", "--quiet", "--debug", "--git", &url, "--root", root];
    let installed = tiny.cargo(elsewhere.path(), &install);
    assert!(
        installed.status.success(),
        "{}",
        String::from_utf8_lossy(&installed.stderr)
    );
    prints(&Command::new(elsewhere.path().join("bin/op")).output().unwrap());
}

#[test]
fn a_damaged_archive_and_a_forged_one_do_not_build() {
    let tiny = Tiny::new();
    let path = "crates/tiny/source.tar";
    let whole = fs::read_to_string(tiny.0.path().join(path)).unwrap();
    let forged = whole.replacen("src/", "../a", 1);
    let sizeless = format!("{}{}{}", &whole[..124], "x".repeat(11), &whole[135..]);
    for (text, why) in [
        (&whole[..600], "it is cut off"),
        (&forged, "is not a path below the crate"),
        (&sizeless, "a size is damaged"),
    ] {
        tiny.write(path, text);
        let output = tiny.cargo(tiny.0.path(), &["build", "--quiet"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(why), "{said}");
    }
}
