//! `kubewright envtest`: its folder, and the programs in it, started as envtest starts them.
#![cfg(unix)]

mod cli;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder of programs, in a temporary one.
fn folder(dir: &Path) -> PathBuf {
    let run = cli::kubewright(
        dir,
        &["envtest", "-p", "path", "--bin-dir", dir.join("bin").to_str().unwrap()],
    );
    PathBuf::from(run.succeeds().stdout.trim_end())
}

fn run(program: &Path, args: &[&str]) -> Output {
    Command::new(program).args(args).stdin(Stdio::null()).output().unwrap()
}

/// A program that is killed at the end of the test.
struct Running(Child);

impl Running {
    fn start(program: &Path, args: &[String]) -> Self {
        Self(Command::new(program).args(args).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Sends SIGTERM and waits; the time that took.
    fn stop(mut self) -> (Option<i32>, Duration) {
        let began = Instant::now();
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        (self.0.wait().unwrap().code(), began.elapsed())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Connects as soon as something listens.
fn connect(port: u16) -> TcpStream {
    let began = Instant::now();
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => return stream,
            Err(error) if began.elapsed() > Duration::from_secs(20) => panic!("{error}"),
            Err(_) => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

#[test]
fn the_folder_has_programs_of_their_names_and_can_be_written_again() {
    let dir = tempfile::tempdir().unwrap();
    let first = folder(dir.path());
    for _ in 0..2 {
        assert_eq!(folder(dir.path()), first);
        for name in ["etcd", "kube-apiserver"] {
            let help = cli::Run::of(run(&first.join(name), &["--help"])).succeeds().stdout;
            assert!(help.contains(&format!("Usage: {name} [flags]")), "{help}");
        }
    }
    let names: Vec<_> = fs::read_dir(&first)
        .unwrap()
        .map(|it| it.unwrap().file_name())
        .collect();
    assert!(
        names
            .iter()
            .all(|name| ["etcd", "kube-apiserver", "kubectl"].iter().any(|it| name == it)),
        "{names:?}"
    );
    let same = fs::metadata(first.join("etcd")).unwrap().len() == fs::metadata(cli::binary()).unwrap().len();
    assert!(same && fs::metadata(first.join("etcd")).unwrap().mode() & 0o111 != 0);
}

#[test]
fn the_line_to_export_survives_any_path() {
    let dir = tempfile::tempdir().unwrap();
    let odd = dir.path().join("it's $HOME");
    let line = cli::kubewright(dir.path(), &["envtest", "--bin-dir", odd.to_str().unwrap()])
        .succeeds()
        .stdout;
    let script = format!("{line}printf %s \"$KUBEBUILDER_ASSETS\"");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(
        PathBuf::from(String::from_utf8(output.stdout).unwrap()),
        fs::canonicalize(odd).unwrap()
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_named_with_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let beneath = dir.path().join("file/bin");
    cli::kubewright(dir.path(), &["envtest", "--bin-dir", beneath.to_str().unwrap()]).refuses(
        1,
        &[beneath.to_str().unwrap(), "choose another folder with `--bin-dir`"],
    );
}

#[test]
fn kubectl_is_linked_if_there_is_one() {
    let dir = tempfile::tempdir().unwrap();
    let (path, bin) = (dir.path().join("path"), dir.path().join("bin"));
    fs::create_dir(&path).unwrap();
    let envtest = |bin: &Path| {
        let mut command = cli::command(
            dir.path(),
            &["envtest", "-p", "path", "--bin-dir", bin.to_str().unwrap()],
        );
        cli::Run::of(command.env("PATH", &path).output().unwrap()).succeeds()
    };
    assert!(envtest(&bin).stderr.contains("no `kubectl` in PATH"));
    fs::write(path.join("kubectl"), "#!/bin/sh\necho this one\n").unwrap();
    cli::set_executable(&path.join("kubectl"), true);
    assert_eq!(envtest(&bin).stderr, "");
    assert_eq!(run(&bin.join("kubectl"), &[]).stdout, b"this one\n");
}

#[test]
fn etcd_is_healthy_and_ends_with_sigterm() {
    let dir = tempfile::tempdir().unwrap();
    let port = free_port();
    // As controller-runtime's envtest starts it, and fabric8's kube-api-test.
    let args = [
        format!("--advertise-client-urls=http://127.0.0.1:{port}"),
        format!("-data-dir={}", dir.path().join("data").display()),
        format!("--listen-client-urls=http://0.0.0.0:{port}"),
        "--listen-peer-urls=http://localhost:0".to_owned(),
        "--unsafe-no-fsync=true".to_owned(),
        "-wal-dir".to_owned(),
        "wal".to_owned(),
    ];
    let etcd = Running::start(&folder(dir.path()).join("etcd"), &args);
    let mut stream = connect(port);
    write!(stream, "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains(r#""health":"true""#),
        "{answer}"
    );
    let (_, took) = etcd.stop();
    assert!(
        took < Duration::from_secs(5) && !dir.path().join("data").exists(),
        "{took:?}"
    );
}

#[test]
fn kube_apiserver_serves_with_a_certificate_that_it_leaves_in_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    let (port, certificates) = (free_port(), dir.path().join("certificates"));
    let program = folder(dir.path()).join("kube-apiserver");
    let args = [
        "--authorization-mode=RBAC".to_owned(),
        format!("--cert-dir={}", certificates.display()),
        format!("--secure-port={port}"),
        "--etcd-servers=http://127.0.0.1:2379".to_owned(),
        "--allow-privileged".to_owned(),
        "--disable-admission-plugins=ServiceAccount".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
    ];
    // A second one uses the certificate of the first.
    let mut texts = Vec::new();
    for _ in 0..2 {
        let server = Running::start(&program, &args);
        drop(connect(port));
        texts.push(fs::read_to_string(certificates.join("apiserver.crt")).unwrap());
        let (code, took) = server.stop();
        assert!(
            code == Some(0) && took < Duration::from_secs(5),
            "{code:?} after {took:?}"
        );
    }
    assert!(texts[0] == texts[1] && texts[0].matches("BEGIN CERTIFICATE").count() == 2);
    assert_eq!(
        fs::metadata(certificates.join("apiserver.key")).unwrap().mode() & 0o777,
        0o600
    );
}

/// As fabric8's kube-api-test starts it: RSA keys, a client certificate that is its own authority, flags given twice.
#[test]
fn the_arguments_of_fabric8_are_honoured() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    for (name, subject) in [
        ("apiserver", "/CN=example.org"),
        ("client", "/O=system:masters/CN=kubeapitest"),
    ] {
        let (key, crt) = (path(&format!("{name}.key")), path(&format!("{name}.crt")));
        let made = Command::new("openssl")
            .args([
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", &key, "-out", &crt, "-subj", subject,
            ])
            .args(["-addext", "subjectAltName=IP:127.0.0.1"])
            .output();
        if !made.is_ok_and(|made| made.status.success()) {
            return cli::skip("there is no openssl to make RSA keys");
        }
    }
    let port = free_port();
    let flags = [
        ("--cert-dir", path("")),
        ("--secure-port", port.to_string()),
        ("--etcd-servers", "http://0.0.0.0:2379".to_owned()),
        ("--authorization-mode", "RBAC".to_owned()),
        ("--service-account-issuer", "https://localhost".to_owned()),
        ("--service-account-signing-key-file", path("apiserver.key")),
        ("--service-account-signing-key-file", path("apiserver.key")),
        ("--service-account-key-file", path("apiserver.key")),
        ("--service-account-issuer", path("apiserver.crt")),
        ("--disable-admission-plugins", "ServiceAccount".to_owned()),
        ("--client-ca-file", path("client.crt")),
        ("--service-cluster-ip-range", "10.0.0.0/24".to_owned()),
    ];
    let mut args: Vec<String> = flags
        .into_iter()
        .flat_map(|(flag, value)| [flag.to_owned(), value])
        .collect();
    args.push("--allow-privileged".to_owned());
    let server = Running::start(&folder(dir.path()).join("kube-apiserver"), &args);
    drop(connect(port));
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn what_cannot_be_honoured_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let folder = folder(dir.path());
    fs::write(dir.path().join("file"), "nothing\n").unwrap();
    let file = dir.path().join("file").display().to_string();
    for (arguments, code, words) in [
        (
            ["--api-audiences=a"].as_slice(),
            2,
            [
                "`--api-audiences` needs `--service-account-issuer`",
                "signing-key-file`",
            ],
        ),
        (
            ["--audit-log-path=-"].as_slice(),
            2,
            ["`--audit-log-path` cannot be honoured", "hint: `kube-apiserver --help`"],
        ),
        (
            &["--feature-gates=A=true"],
            2,
            ["`--feature-gates` cannot", "is kubewright"],
        ),
        (
            &["--authorization-mode=Node,RBAC"],
            2,
            ["`--authorization-mode=Node`", "cannot be honoured"],
        ),
        (
            &["--enable-admission-plugins=ServiceAccount"],
            2,
            ["`--enable-admission-plugins=ServiceAccount`", "hint: "],
        ),
        (
            &["--service-cluster-ip-range=10.96.0.0/12"],
            2,
            ["only `10.0.0.0/24`", "hint: "],
        ),
        (
            &["--http2-max-streams-per-connection=-1"],
            2,
            ["streams-per-connection=-1`", "not a number of requests"],
        ),
        (&["--secure-port=0"], 2, ["`--secure-port=0`", "between 1 and 65535"]),
        (
            &["--bind-address=nowhere"],
            2,
            ["`--bind-address=nowhere`", "not an IP address"],
        ),
        (
            &["--enable-controllers=all"],
            2,
            ["`--enable-controllers=all`", "garbage-collector"],
        ),
        (
            &["--tls-cert-file", &file],
            2,
            ["`--tls-private-key-file`", "belong together"],
        ),
        (
            &["--client-ca-file", &file],
            1,
            ["--client-ca-file=", "no certificate in PEM"],
        ),
        (
            &[
                "--service-account-signing-key-file",
                &file,
                "--service-account-issuer=i",
            ],
            1,
            ["signing-key-file=", "no private key"],
        ),
        (
            &["--token-auth-file", &file],
            1,
            ["--token-auth-file=", "line 1 is not token,user,uid"],
        ),
        (
            &["--token-auth-file=/nowhere"],
            1,
            ["`--token-auth-file=/nowhere`", "No such file"],
        ),
    ] {
        cli::Run::of(run(&folder.join("kube-apiserver"), arguments)).refuses(code, &words);
    }
    cli::Run::of(run(&folder.join("etcd"), &["--cert-file=a"])).refuses(2, &["`--cert-file` cannot", "`etcd`"]);
    cli::Run::of(run(&folder.join("etcd"), &["--listen-client-urls=https://a:1"])).refuses(2, &["not a URL of http"]);
}
