//! A real API server on loopback, reached over plain HTTP through `kubectl proxy`. It runs until the value is dropped.

use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The response to a request.
pub struct Answer {
    pub status: u16,
    pub body: Value,
    pub warnings: BTreeSet<String>,
}

pub struct ControlPlane {
    processes: Vec<Child>,
    proxy: String,
    _folder: tempfile::TempDir,
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().rev() {
            _ = process.kill();
            _ = process.wait();
        }
    }
}

impl ControlPlane {
    /// Starts etcd, kube-apiserver and the proxy from the folder in KUBEBUILDER_ASSETS, and waits until they respond; or
    /// uses a running server behind a `kubectl proxy` with the address in CONTROL_PLANE.
    pub fn start() -> Self {
        if let Ok(proxy) = std::env::var("CONTROL_PLANE") {
            return Self {
                processes: Vec::new(),
                proxy,
                _folder: tempfile::tempdir().unwrap(),
            };
        }
        let assets = PathBuf::from(std::env::var_os("KUBEBUILDER_ASSETS").expect("KUBEBUILDER_ASSETS is set"));
        let folder = tempfile::tempdir().unwrap();
        let mut this = Self {
            processes: Vec::new(),
            proxy: String::new(),
            _folder: folder,
        };
        let at = this._folder.path().to_owned();
        let etcd = format!("http://127.0.0.1:{}", free_port());
        this.spawn(
            Command::new(assets.join("etcd"))
                .args(["--unsafe-no-fsync", "--listen-peer-urls=http://127.0.0.1:0"])
                .args([
                    format!("--data-dir={}", at.join("etcd").display()),
                    format!("--listen-client-urls={etcd}"),
                    format!("--advertise-client-urls={etcd}"),
                ]),
        );
        let port = free_port();
        this.spawn(api_server(&assets, &at).args([format!("--etcd-servers={etcd}"), format!("--secure-port={port}")]));
        let mut proxy = Command::new(assets.join("kubectl"));
        proxy.args(["proxy", "--port=0", "--token=secret", "--insecure-skip-tls-verify"]);
        proxy
            .arg(format!("--server=https://127.0.0.1:{port}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut proxy = proxy.spawn().expect("kubectl starts");
        let mut line = String::new();
        BufReader::new(proxy.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        this.processes.push(proxy);
        this.proxy = line.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        let deadline = Instant::now() + Duration::from_secs(60);
        while this.request("GET", "/readyz", "").status != 200 {
            assert!(Instant::now() < deadline, "the API server is not ready after a minute");
            std::thread::sleep(Duration::from_millis(200));
        }
        this
    }

    fn spawn(&mut self, command: &mut Command) {
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.processes
            .push(child.unwrap_or_else(|error| panic!("{command:?}: {error}")));
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.request("POST", path, &body.to_string())
    }

    /// Sends a request with HTTP/1.0, so that the end of the connection is the end of the response.
    pub fn request(&self, method: &str, path: &str, body: &str) -> Answer {
        let kind = if method == "PATCH" {
            "application/apply-patch+yaml"
        } else {
            "application/json"
        };
        let mut stream = TcpStream::connect(&self.proxy).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.0\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body.as_bytes()))
            .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
        // `Warning: 299 - "text"`, with quotes inside escaped.
        let warning = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            let text = value.split_once('"')?.1.strip_suffix('"')?;
            name.eq_ignore_ascii_case("warning").then(|| text.replace("\\\"", "\""))
        };
        Answer {
            status,
            body: serde_json::from_str(body).unwrap_or(Value::Null),
            warnings: head.lines().filter_map(warning).collect(),
        }
    }
}

fn api_server(assets: &Path, at: &Path) -> Command {
    let key = at.join("key.pem");
    let made = Command::new("openssl")
        .args(["genrsa", "-out"])
        .arg(&key)
        .stderr(Stdio::null())
        .status();
    assert!(made.is_ok_and(|status| status.success()), "openssl makes a key");
    std::fs::write(at.join("tokens"), "secret,admin,admin,system:masters\n").unwrap();
    let mut command = Command::new(assets.join("kube-apiserver"));
    command.args([
        "--bind-address=127.0.0.1",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--authorization-mode=RBAC",
    ]);
    command.args([
        "--disable-admission-plugins=ServiceAccount",
        "--service-account-issuer=https://localhost",
    ]);
    command.args([
        format!("--cert-dir={}", at.join("certificates").display()),
        format!("--token-auth-file={}", at.join("tokens").display()),
        format!("--service-account-key-file={}", key.display()),
        format!("--service-account-signing-key-file={}", key.display()),
    ]);
    command
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .unwrap()
        .port()
}
