//! Projects whose crates of kubewright are archives: their files, their way to the other forms and back, and what cargo does with them.

mod cli;
mod earlier;

use cli::{CRATES, Run, Tree, assert_same, create, kubewright, read, replace, tree};
use kubewright::project::{Crates, Project, Release};
use kubewright::render::local_registry::{CrateArchive, URL, index_of, unpack};
use kubewright::render::{Sources, header};
use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Output};
use tempfile::TempDir;

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

fn archive(name: &str) -> String {
    format!("crates/kubewright-{name}-{}.crate", Release::own())
}

fn index(name: &str) -> String {
    format!("crates/index/ku/be/kubewright-{name}")
}

/// The files of the archive of a crate.
fn contents(tree: &Tree, name: &str) -> BTreeMap<String, String> {
    unpack(name, &Release::own().to_string(), &tree[&archive(name)].bytes).unwrap()
}

#[test]
fn settings_of_cargo_that_are_there_stay_and_get_the_archives() {
    let own = "# Our mirror.\n[net]\nretry = 3\n\n[source.crates-io]\nreplace-with = \"mirror\"\n\n[source.mirror]\n\
               registry = \"sparse+https://mirror.example.com/\"\n";
    let init = [
        "init",
        "--domain",
        "example.com",
        "--project-name",
        "foobar-operator",
        "--crates",
    ];
    let text = |dir: &TempDir| read(dir.path(), ".cargo/config.toml");
    for form in ["archives", "vendored"] {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".cargo")).unwrap();
        fs::write(dir.path().join(".cargo/config.toml"), own).unwrap();
        kubewright(dir.path(), &[&init[..], &[form]].concat()).succeeds();
        moved(&dir, "archives");
        let both = text(&dir);
        assert!(
            both.starts_with(own) && both.contains("local-registry = \"crates\""),
            "{both}"
        );
        moved(&dir, "vendored").succeeds();
        assert_eq!(text(&dir), own);
    }
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".cargo")).unwrap();
    fs::write(
        dir.path().join(".cargo/config.toml"),
        "[source.kubewright]\nreplace-with = \"x\"\n",
    )
    .unwrap();
    kubewright(dir.path(), &[&init[..], &["archives"]].concat()).refuses(1, &["`.cargo/config.toml` exists already"]);
    fs::rename(dir.path().join(".cargo/config.toml"), dir.path().join(".cargo/config")).unwrap();
    let older = [
        "cargo reads `.cargo/config`, and ignores",
        "`mv .cargo/config .cargo/config.toml`",
    ];
    kubewright(dir.path(), &[&init[..], &["archives"]].concat()).refuses(1, &older);
    assert!(!dir.path().join("PROJECT").exists());
}

#[test]
fn a_project_has_two_files_for_each_crate() {
    let [archives, registry] = ["archives", "registry"].map(|form| tree(made(form).path()));
    let mut more: Vec<_> = archives
        .keys()
        .filter(|path| !registry.contains_key(*path))
        .cloned()
        .collect();
    let mut wanted: Vec<_> = CRATES.iter().flat_map(|name| [archive(name), index(name)]).collect();
    wanted.push(".cargo/config.toml".to_owned());
    more.sort();
    wanted.sort();
    assert_eq!(more, wanted);
    let lock = String::from_utf8_lossy(&archives["Cargo.lock"].bytes).into_owned();
    for name in CRATES {
        let checksum = header::sha256_of(&archives[&archive(name)].bytes);
        let package = format!(
            "name = \"kubewright-{name}\"\nversion = \"{}\"\nsource = \"{URL}\"\nchecksum = \"{checksum}\"\n",
            Release::own()
        );
        assert!(lock.contains(&package), "{package}");
    }
}

#[test]
fn an_archive_has_the_crate_without_tests_and_one_licence_text() {
    let archives = tree(made("archives").path());
    for name in CRATES {
        let contents = contents(&archives, name);
        let own = Sources::own().crate_files(name);
        let sources = |path: &&String| path.starts_with("src/");
        for path in contents.keys().filter(sources) {
            assert_eq!(contents[path], own[path.as_str()], "{path}");
        }
        assert_eq!(
            contents.keys().filter(sources).count(),
            own.keys().filter(|path| path.starts_with("src/")).count()
        );
        let others: Vec<_> = contents
            .keys()
            .filter(|path| !sources(path))
            .map(String::as_str)
            .collect();
        let wanted: &[&str] = match name {
            "runtime" => &["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"],
            _ => &["Cargo.toml", "LICENSE-MIT", "README.md"],
        };
        assert_eq!(others, wanted, "{name}");
        let manifest = &contents["Cargo.toml"];
        assert!(
            !manifest.contains("path = ") && !manifest.contains("[dev-dependencies]"),
            "{manifest}"
        );
    }
}

/// The bytes depend on tar, flate2 and miniz_oxide too: who changes these changes the checksums of the next release.
#[test]
fn the_bytes_of_an_archive_are_the_same_on_each_machine() {
    let manifest = "[package]\nname = \"kubewright-tiny\"\nversion = \"1.2.3\"\n".to_owned();
    let source = "pub const NAME: &str = \"tiny\";\n".repeat(1000);
    let files = [("Cargo.toml".to_owned(), manifest), ("src/lib.rs".to_owned(), source)];
    let packed = CrateArchive::pack("tiny", &files.into()).unwrap();
    assert_eq!(
        packed,
        CrateArchive::pack("tiny", &unpack("tiny", "1.2.3", &packed.bytes).unwrap()).unwrap()
    );
    assert_eq!(packed.checksum(), PINNED);
    assert_same(&tree(made("archives").path()), &tree(made("archives").path()));
}

const PINNED: &str = "c3de2b877872f7f795d4099fab21201b04e379136d1bab21009ca75fda0e0f49";

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
fn an_archive_of_the_same_files_by_another_compressor_is_as_good() {
    let dir = made("archives");
    let before = tree(dir.path());
    let path = dir.path().join(archive("machinery"));
    // Two members of gzip, as one: another encoder's bytes for the same files.
    let mut bytes = fs::read(&path).unwrap();
    let empty = [31, 139, 8, 0, 0, 0, 0, 0, 0, 255, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend(empty);
    fs::write(&path, &bytes).unwrap();
    let line = index_of(&contents(&before, "machinery"), &header::sha256_of(&bytes)).unwrap();
    fs::write(dir.path().join(index("machinery")), line).unwrap();
    let plan = kubewright(dir.path(), &["plan"]).succeeds().stdout;
    assert!(plan.contains("kubewright-machinery          vendored  clean"), "{plan}");
    moved(&dir, "vendored").succeeds();
    assert_same(&tree(made("vendored").path()), &tree(dir.path()));
}

#[test]
fn an_edited_archive_is_reported_and_neither_moved_nor_ejected() {
    for edit in ["archive", "index", "missing", "forged", "other"] {
        let dir = made("archives");
        let (crate_file, line) = (dir.path().join(archive("schema")), dir.path().join(index("schema")));
        match edit {
            "archive" => {
                let mut bytes = fs::read(&crate_file).unwrap();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                fs::write(&crate_file, bytes).unwrap();
            }
            "index" => replace(&dir, &index("schema"), "\"yanked\":false", "\"yanked\":true"),
            "missing" => fs::remove_file(&crate_file).unwrap(),
            // The checksums fit, and it names a release that had other files.
            "forged" => {
                let mut files = contents(&tree(dir.path()), "schema");
                files.get_mut("src/lib.rs").unwrap().push_str("// a back door\n");
                let forged = CrateArchive::pack("schema", &files).unwrap();
                fs::write(&crate_file, forged.bytes).unwrap();
                fs::write(&line, forged.index).unwrap();
            }
            _ => {
                fs::copy(dir.path().join(archive("runtime")), &crate_file).unwrap();
            }
        }
        let before = tree(dir.path());
        let plan = kubewright(dir.path(), &["plan"]).succeeds().stdout;
        assert!(
            plan.contains("kubewright-schema             vendored  edited"),
            "{edit}: {plan}"
        );
        let doctor = kubewright(dir.path(), &["doctor"]).stdout;
        assert!(
            doctor.contains("edited by hand: `crates/index/ku/be/kubewright-schema`"),
            "{edit}: {doctor}"
        );
        let sync = kubewright(dir.path(), &["sync"]).succeeds().stderr;
        assert!(
            sync.contains("the archive of `kubewright-schema` does not fit"),
            "{edit}: {sync}"
        );
        moved(&dir, "registry").refuses(1, &["archive is damaged or not of a release"]);
        if edit != "forged" {
            kubewright(dir.path(), &["eject", "schema"]).refuses(1, &["missing or damaged"]);
        }
        assert_same(&before, &tree(dir.path()));
    }
}

#[test]
fn an_ejected_crate_is_a_folder_that_all_packages_use() {
    let dir = made("archives");
    let before = tree(dir.path());
    for name in ["schema", "crates/machinery"] {
        let run = kubewright(dir.path(), &["eject", name]).succeeds();
        assert!(run.stderr.contains("is yours now"), "{}", run.stderr);
    }
    let manifest = read(&dir, "Cargo.toml");
    let patch = "\n[patch.kubewright]\nkubewright-schema = { path = \"crates/schema\" }\nkubewright-machinery = { path = \"crates/machinery\" }\n";
    assert!(manifest.ends_with(patch), "{manifest}");
    assert!(!dir.path().join(archive("schema")).exists() && !dir.path().join(index("schema")).exists());
    let (schema, own) = (read(&dir, "crates/schema/Cargo.toml"), Release::own());
    let machinery = format!("kubewright-machinery = {{ version = \"{own}\", registry = \"kubewright\" }}");
    assert!(schema.contains(&machinery), "{schema}");
    let lock = read(&dir, "Cargo.lock");
    let package = format!("name = \"kubewright-schema\"\nversion = \"{own}\"\ndependencies = [");
    assert!(lock.contains(&package), "{lock}");
    assert_eq!(lock.matches(URL).count(), 4);
    let plan = kubewright(dir.path(), &["plan"]).succeeds().stdout;
    assert!(
        plan.contains("kubewright-schema             vendored  ejected"),
        "{plan}"
    );
    let again = kubewright(dir.path(), &["eject", "schema"]).succeeds().stderr;
    assert!(
        again.contains("nothing to do: `crates/schema` is yours already"),
        "{again}"
    );
    moved(&dir, "vendored").refuses(1, &["`crates/index/ku/be/kubewright-schema`, ejected"]);
    create(dir.path(), "test", "Second").succeeds();
    // A folder that is in the way is not written to.
    let other = made("archives");
    fs::create_dir_all(other.path().join("crates/schema")).unwrap();
    kubewright(other.path(), &["eject", "schema"]).refuses(1, &["`crates/schema` exists already"]);
    fs::remove_dir_all(other.path().join("crates/schema")).unwrap();
    let dry = kubewright(other.path(), &["eject", "schema", "--dry-run"])
        .succeeds()
        .stdout;
    assert!(
        dry.contains("new crate crates/schema (") && dry.contains("deleted archive crates/kubewright-schema-"),
        "{dry}"
    );
    assert_same(&before, &tree(other.path()));
}

#[test]
fn a_crate_that_no_package_uses_is_not_in_the_project() {
    let dir = made("registry");
    fs::remove_dir_all(dir.path().join("dev")).unwrap();
    replace(&dir, "Cargo.toml", "\"dev\", ", "");
    let run = moved(&dir, "archives").succeeds();
    assert!(
        run.stderr.contains("`kubewright-apiserver` is left out"),
        "{}",
        run.stderr
    );
    let has = |name: &str| dir.path().join(archive(name)).exists() || dir.path().join(index(name)).exists();
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
    let old = "crates/kubewright-runtime-0.1.0.crate";
    assert!(dir.path().join(old).exists());
    let run = kubewright(dir.path(), &["upgrade", "--dry-run"]).succeeds();
    for said in [
        format!("deleted archive {old}\n"),
        format!("new archive {}\n", archive("runtime")),
    ] {
        assert!(run.stdout.contains(&said), "{}", run.stdout);
    }
    kubewright(dir.path(), &["upgrade"]).succeeds();
    let new = tree(dir.path());
    let wanted = tree(made("archives").path());
    for path in wanted.keys().filter(|path| path.starts_with("crates/")) {
        assert_eq!(wanted[path], new[path], "{path}");
    }
    assert!(new.keys().all(|path| !path.ends_with("-0.1.0.crate")));
    let plan = kubewright(dir.path(), &["plan"]).succeeds().stdout;
    assert_eq!(plan.matches("vendored  clean").count(), 6, "{plan}");
}

#[test]
fn an_upgrade_leaves_ejected_crates_and_refuses_damaged_archives() {
    let dir = of_the_first_release();
    kubewright(dir.path(), &["eject", "schema"]).succeeds();
    let run = kubewright(dir.path(), &["upgrade"]).succeeds();
    assert!(
        run.stderr.contains("`crates/schema` is yours, and stays as it is"),
        "{}",
        run.stderr
    );
    assert!(!dir.path().join(archive("schema")).exists() && dir.path().join(archive("runtime")).exists());
    let dir = of_the_first_release();
    fs::write(dir.path().join("crates/kubewright-runtime-0.1.0.crate"), "other bytes").unwrap();
    let before = tree(dir.path());
    kubewright(dir.path(), &["upgrade"]).refuses(
        1,
        &["not archives of a release: `crates/index/ku/be/kubewright-runtime`"],
    );
    assert_same(&before, &tree(dir.path()));
}

/// A package with the settings of a project and one archive, of a crate without dependencies. Each has a path of its own, so cargo has not
/// unpacked the archive before.
struct Tiny {
    dir: TempDir,
    home: TempDir,
}

impl Tiny {
    fn new() -> Self {
        let tiny = Self {
            dir: tempfile::tempdir().unwrap(),
            home: tempfile::tempdir().unwrap(),
        };
        let manifest = "[package]\nname = \"op\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nkubewright-tiny = { version = \"1\", registry = \"kubewright\" }\n";
        tiny.write("Cargo.toml", manifest.as_bytes());
        tiny.write(
            "src/main.rs",
            b"fn main() { println!(\"{}\", kubewright_tiny::NAME) }\n",
        );
        tiny.write(
            ".cargo/config.toml",
            &tree(made("archives").path())[".cargo/config.toml"].bytes,
        );
        tiny.archive("tiny");
        tiny
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Writes the archive of a crate with this text, and its line in the index.
    fn archive(&self, text: &str) {
        let files = [
            (
                "Cargo.toml",
                "[package]\nname = \"kubewright-tiny\"\nversion = \"1.2.3\"\nedition = \"2024\"\n".to_owned(),
            ),
            ("src/lib.rs", format!("pub const NAME: &str = \"{text}\";\n")),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text));
        let packed = CrateArchive::pack("tiny", &files.into()).unwrap();
        self.write("crates/kubewright-tiny-1.2.3.crate", &packed.bytes);
        self.write(&index("tiny"), packed.index.as_bytes());
    }

    fn cargo(&self, args: &[&str]) -> Output {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(args).arg("--offline").current_dir(self.dir.path());
        cargo.env("CARGO_HOME", self.home.path()).env_remove("CARGO_TARGET_DIR");
        cargo.env_remove("CARGO_BUILD_BUILD_DIR").output().unwrap()
    }

    fn refuses(&self, why: &str) {
        let output = self.cargo(&["run", "--quiet", "--locked"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(why), "{said}");
    }
}

#[test]
fn cargo_builds_with_an_archive_without_a_network() {
    let tiny = Tiny::new();
    let output = tiny.cargo(&["run", "--quiet"]);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "tiny\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lock = fs::read_to_string(tiny.dir.path().join("Cargo.lock")).unwrap();
    assert!(lock.contains(&format!("source = \"{URL}\"\nchecksum = ")), "{lock}");
}

/// The lock is of the true archive, the cargo of another machine has not seen it.
#[test]
fn cargo_refuses_a_damaged_archive_and_a_forged_one() {
    let locked = || {
        let tiny = Tiny::new();
        assert!(tiny.cargo(&["generate-lockfile"]).status.success());
        tiny
    };
    let damaged = locked();
    let path = "crates/kubewright-tiny-1.2.3.crate";
    let mut bytes = fs::read(damaged.dir.path().join(path)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    damaged.write(path, &bytes);
    damaged.refuses("failed to verify the checksum");
    // The line in the index fits the forged archive, the lock does not.
    let forged = locked();
    forged.archive("a back door");
    forged.refuses("changed between lock files");
    let missing = locked();
    fs::remove_file(missing.dir.path().join(path)).unwrap();
    assert!(!missing.cargo(&["run", "--locked"]).status.success());
}
