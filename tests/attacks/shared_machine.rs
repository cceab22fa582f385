//! Other users of the machine: which data of the development server they can read, and which files they can place where
//! it writes.

use crate::cli;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A server with the usual umask, stopped at the end of the test.
struct Server {
    child: Child,
    kubeconfig: PathBuf,
}

impl Server {
    fn start(temporary: &Path, args: &[&str]) -> Self {
        let mut child = Command::new("sh")
            .args(["-c", "umask 022; exec \"$@\"", "sh", cli::binary(), "apiserver"])
            .args(args)
            .env("TMPDIR", temporary)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut ready)
            .unwrap();
        let kubeconfig = ready
            .trim_end()
            .rsplit_once("KUBECONFIG=")
            .unwrap_or_else(|| panic!("{ready}"))
            .1
            .into();
        Self { child, kubeconfig }
    }

    fn stop(&mut self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn files_of_the_server_are_private_to_its_user() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("a/data");
    let mut server = Server::start(dir.path(), &["--data-dir", data.to_str().unwrap()]);
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("objects.redb")), 0o600);
    assert_eq!(mode(&server.kubeconfig), 0o600);
    let folder = server.kubeconfig.parent().unwrap().to_owned();
    assert_eq!(mode(&folder), 0o700);
    server.stop();
    assert!(!folder.exists(), "the kubeconfig is removed with its server");

    // Permissions of files of an earlier release are tightened.
    fs::set_permissions(data.join("objects.redb"), fs::Permissions::from_mode(0o644)).unwrap();
    let server = Server::start(dir.path(), &["--data-dir", data.to_str().unwrap()]);
    assert_eq!(mode(&data.join("objects.redb")), 0o600);
    assert_ne!(server.kubeconfig.parent(), Some(&*folder), "its name can be predicted");
}

#[test]
fn existing_temporary_files_are_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let victim = dir.path().join("victim");
    fs::write(&victim, "mine").unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
        .to_string();
    symlink(
        &victim,
        dir.path().join(format!("kubewright-apiserver-{port}.kubeconfig")),
    )
    .unwrap();
    let server = Server::start(dir.path(), &["--port", &port]);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    assert_eq!(server.kubeconfig.parent().unwrap().parent(), Some(dir.path()));
}

#[test]
fn each_temporary_folder_is_new_and_private() {
    let folders = [0, 1].map(|_| kubewright_apiserver::serve::TemporaryFolder::new().unwrap());
    assert_ne!(folders[0].path(), folders[1].path());
    for folder in folders {
        let path = folder.path().to_owned();
        assert_eq!(mode(&path), 0o700);
        drop(folder);
        assert!(!path.exists());
    }
}

#[test]
fn a_token_file_keeps_the_token_out_of_the_process_list() {
    let dir = tempfile::tempdir().unwrap();
    let token = dir.path().join("token");
    fs::write(&token, "top-secret\n").unwrap();
    let server = Server::start(dir.path(), &["--token-file", token.to_str().unwrap()]);
    assert!(fs::read_to_string(&server.kubeconfig).unwrap().contains("top-secret"));
    let run = |args: &[&str]| cli::Run::of(cli::command(dir.path(), args).output().unwrap());
    run(&["apiserver", "--token-file", "/nonexistent"]).refuses(1, &["cannot read the token in `/nonexistent`"]);
    fs::write(&token, "two words\n").unwrap();
    run(&["apiserver", "--token-file", token.to_str().unwrap()])
        .refuses(1, &["does not hold a token", "without blanks"]);
    run(&["apiserver", "--token-file", "x", "--token", "y"]).refuses(2, &["cannot be used with"]);
}
