//! A real API server on loopback, reached over plain HTTP through `kubectl proxy`. It runs until the value is dropped.

use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read, Write};
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
        let deadline = Instant::now() + Duration::from_secs(180);
        while this.request("GET", "/readyz", "").status != 200 {
            assert!(
                Instant::now() < deadline,
                "the API server is not ready after three minutes"
            );
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

    /// Sends a request. One that can be sent twice without another effect is sent again if its connection is lost.
    pub fn request(&self, method: &str, path: &str, body: &str) -> Answer {
        let is_repeatable = method != "POST" || path.contains("dryRun=All");
        let mut attempts = if is_repeatable { ATTEMPTS } else { 1 };
        loop {
            attempts -= 1;
            match self.exchange(method, path, body) {
                Ok(response) => return Answer::read(&response),
                Err(error) if attempts > 0 && is_lost(&error) => std::thread::sleep(PAUSE),
                Err(error) => panic!("{method} {path}: {error}"),
            }
        }
    }

    /// The response to a request with HTTP/1.0, which ends with the connection. An error after a complete response does not count.
    fn exchange(&self, method: &str, path: &str, body: &str) -> io::Result<String> {
        let kind = if method == "PATCH" {
            "application/apply-patch+yaml"
        } else {
            "application/json"
        };
        let mut stream = TcpStream::connect(&self.proxy)?;
        let request = format!(
            "{method} {path} HTTP/1.0\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes())?;
        let mut response = Vec::new();
        let end = stream.read_to_end(&mut response);
        if response.is_empty() {
            end.and(Err(io::ErrorKind::UnexpectedEof.into()))?;
        } else if !is_complete(&response) {
            end?;
        }
        Ok(String::from_utf8_lossy(&response).into_owned())
    }
}

/// The maximum of attempts for a request.
const ATTEMPTS: usize = 5;
/// Before a request is sent again.
const PAUSE: Duration = Duration::from_millis(200);

fn is_lost(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(
        error.kind(),
        BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof
    )
}

/// Whether a response has the length that it announces.
fn is_complete(response: &[u8]) -> bool {
    let Some(end) = response.windows(4).position(|it| it == b"\r\n\r\n") else {
        return false;
    };
    let head = String::from_utf8_lossy(&response[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    length.and_then(|it| it.trim().parse().ok()) == Some(response.len() - end - 4)
}

impl Answer {
    fn read(response: &str) -> Self {
        let (head, body) = response.split_once("\r\n\r\n").unwrap_or((response, ""));
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
        // `Warning: 299 - "text"`, with quotes inside escaped.
        let warning = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            let text = value.split_once('"')?.1.strip_suffix('"')?;
            name.eq_ignore_ascii_case("warning").then(|| text.replace("\\\"", "\""))
        };
        Self {
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
