//! Times of the command line and of the generated project's make targets, next to controller-gen on the same types.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use control_plane::{Project, root, run};

use crate::stats::{Row, Table};

/// `make manifests` is fast, so it has more rounds.
const REPEATS: usize = 10;

/// Measures everything that does not need a control plane.
pub fn measure(project: &Project, rounds: usize, first_build: bool) -> Result<Table> {
    let scratch = root().join("target/bench/scratch");
    let mut rows = vec![
        one("`init` + `create api`, ms", repeat(2 * REPEATS, || scaffold(&scratch))?),
        one(
            "`make manifests`, nothing changed, ms",
            repeat(REPEATS, || timed(project.make().arg("manifests")))?,
        ),
    ];
    let [crds, all] = after_an_edit(project, rounds.max(3))?;
    rows.push(one("`make manifests` after an edit of a type: the CRDs, ms", crds));
    rows.push(one(
        "`make manifests` after an edit of a type: CRDs, operator and role, ms",
        all,
    ));
    let generator = root().join("target/bench/controller-gen");
    if generator.is_file() {
        let peer = root().join("benches/peers/controller-runtime");
        let output = scratch.with_file_name("controller-gen.out");
        let output = format!("output:dir={}", output.display());
        let mut command = Command::new(generator);
        command
            .args(["rbac:roleName=manager-role", "crd", "paths=./...", &output])
            .current_dir(peer);
        rows.push(one(
            "controller-gen crd and rbac on the same types, ms",
            repeat(REPEATS, || timed(&mut command))?,
        ));
    }
    if first_build {
        rows.push(one(
            "first build, `make manifests` included, s",
            vec![first(project.make().arg("manifests"))?],
        ));
        let mut cargo = Command::new("cargo");
        cargo.arg("build").current_dir(root().join("benches/peers/kube-rs"));
        rows.push(one(
            "first build of the operator on plain kube-rs, s",
            vec![first(&mut cargo)?],
        ));
    }
    Ok(Table {
        title: "The command line".to_owned(),
        columns: vec!["time".to_owned()],
        reference: None,
        rows,
    })
}

fn one(what: &str, values: Vec<f64>) -> Row {
    Row::new(what, std::iter::once(values))
}

fn repeat(times: usize, mut action: impl FnMut() -> Result<f64>) -> Result<Vec<f64>> {
    // The first run reads the programs from the disk.
    action()?;
    (0..times).map(|_| action()).collect()
}

/// The duration of a command in milliseconds.
fn timed(command: &mut Command) -> Result<f64> {
    let began = Instant::now();
    run(command)?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

/// Runs the two commands that create a project, in an empty folder; the duration of both in milliseconds.
fn scaffold(folder: &Path) -> Result<f64> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let binary = std::env::var_os("KUBEWRIGHT_BIN").context("KUBEWRIGHT_BIN is not set\n\nhint: run `make bench`")?;
    let kubewright = |arguments: &[&str]| timed(Command::new(&binary).args(arguments).current_dir(folder));
    let init = kubewright(&["init", "--domain", "example.com", "--project-name", "foobar-operator"])?;
    Ok(init
        + kubewright(&[
            "create",
            "api",
            "--group",
            "test",
            "--version",
            "v1",
            "--kind",
            "FooBar",
        ])?)
}

/// Changes the documentation of a type, which changes its CRD, and runs `make manifests`; milliseconds until the CRD
/// has changed, and until the end.
fn after_an_edit(project: &Project, rounds: usize) -> Result<[Vec<f64>; 2]> {
    let types = project.folder().join("api/src/test/v1/foobar.rs");
    let crd = project.folder().join("config/crd/bases/test.example.com_foobars.yaml");
    let before = fs::read_to_string(&types)?;
    let (mut crds, mut all) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let field = "    pub target: String,";
        ensure!(before.contains(field), "`{}` has no `{field}`", types.display());
        let (text, old) = (format!("    /// Round {round}.\n{field}"), fs::read_to_string(&crd)?);
        fs::write(&types, before.replace(field, &text))?;
        let began = Instant::now();
        let mut make = project
            .make()
            .arg("manifests")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut changed = None;
        let status = loop {
            if changed.is_none() && fs::read_to_string(&crd).is_ok_and(|text| text != old) {
                changed = Some(began.elapsed());
            }
            if let Some(status) = make.try_wait()? {
                break status;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        };
        ensure!(status.success(), "`make manifests` failed after an edit");
        crds.push(changed.context("the CRD has not changed")?.as_secs_f64() * 1e3);
        all.push(began.elapsed().as_secs_f64() * 1e3);
    }
    fs::write(&types, before)?;
    run(project.make().arg("manifests"))?;
    Ok([crds, all])
}

/// The duration in seconds of a build with nothing compiled yet.
fn first(command: &mut Command) -> Result<f64> {
    let folder = root().join("target/bench/first");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let milliseconds = timed(
        command
            .env("CARGO_TARGET_DIR", &folder)
            .env_remove("RUSTFLAGS")
            .stderr(Stdio::inherit()),
    )?;
    fs::remove_dir_all(&folder)?;
    Ok(milliseconds / 1e3)
}
