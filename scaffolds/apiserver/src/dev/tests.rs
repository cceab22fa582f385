//! `make dev` as a process of its own: a copy of this test program runs it, in the folder of a generated project.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{block_on, develop};

/// The operator's program; only set for children.
const CHILD: &str = "KUBEWRIGHT_DEV_TEST_OPERATOR";
const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/one");

/// Not a test of its own: the child process that is stopped.
#[test]
fn child() {
    let Ok(operator) = env::var(CHILD) else { return };
    assert_eq!(block_on(develop(&operator, Vec::new())), Ok(ExitCode::from(143)));
}

/// A folder with a copy of this program, and an operator that records its process in the file `operator.PARENT`.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let this = env::current_exe().unwrap();
        let folder = tempfile::tempdir_in(this.parent().unwrap()).unwrap();
        fs::hard_link(this, folder.path().join("dev")).unwrap();
        let operator = folder.path().join("operator");
        let script = format!(
            "#!/bin/sh\necho $$ > '{0}/new' && mv '{0}/new' '{0}'/operator.$PPID\nexec sleep 600\n",
            folder.path().display()
        );
        fs::write(&operator, script).unwrap();
        fs::set_permissions(operator, fs::Permissions::from_mode(0o755)).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Starts the program; returns it and its operator's process once that runs.
    fn start(&self) -> (Child, String) {
        let mut command = Command::new(self.path("dev"));
        command
            .args(["dev::tests::child", "--exact", "--nocapture"])
            .env(CHILD, self.path("operator"))
            .current_dir(PROJECT)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let file = self.path(&format!("operator.{}", child.id()));
        until(|| file.exists());
        (child, fs::read_to_string(file).unwrap().trim().to_owned())
    }
}

/// Waits, for half a minute at most.
fn until(mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(30));
        thread::sleep(Duration::from_millis(20));
    }
}

fn terminate(child: &mut Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(child.wait().unwrap().success(), "the exit code differs");
}

#[test]
fn sigterm_stops_the_operator_and_deletes_the_kubeconfig() {
    let folder = Folder::new();
    let (mut child, operator) = folder.start();
    let kubeconfig = folder.path("dev.kubeconfig");
    assert!(kubeconfig.exists());
    terminate(&mut child);
    assert!(!Path::new("/proc").join(operator).join("exe").exists());
    assert!(!kubeconfig.exists());
}

#[test]
fn each_of_two_servers_has_a_kubeconfig_of_its_own() {
    let folder = Folder::new();
    let (mut first, _) = folder.start();
    let kubeconfig = folder.path("dev.kubeconfig");
    let text = fs::read_to_string(&kubeconfig).unwrap();
    let (mut second, _) = folder.start();
    let other = folder.path(&format!("dev-{}.kubeconfig", second.id()));
    assert!(other.exists());
    terminate(&mut second);
    assert!(!other.exists());
    assert_eq!(fs::read_to_string(&kubeconfig).unwrap(), text);
    // A file that another program has written meanwhile remains.
    fs::write(&kubeconfig, "notes").unwrap();
    terminate(&mut first);
    assert_eq!(fs::read_to_string(&kubeconfig).unwrap(), "notes");
}
