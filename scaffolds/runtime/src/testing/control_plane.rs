//! `etcd` and `kube-apiserver` of KUBEBUILDER_ASSETS as child processes on loopback, killed on drop.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use ring::{
    rand::SystemRandom,
    signature::{self, KeyPair},
};
use tokio::time::{Instant, sleep};

use super::{PERIOD, client_of, config_of, free_ports, random};
use crate::error::{Error, Result};

/// The API server needs three seconds, and longer on a busy machine.
const START_UP: Duration = Duration::from_secs(60);

/// Another process may take a free port between the choice of the port and listening on it.
const TRIES: u32 = 3;

/// A running API server and its store.
pub(super) struct ControlPlane {
    // Dropped first to last: the programs before their files.
    api_server: Program,
    etcd: Program,
    folder: Folder,
}

impl ControlPlane {
    /// `namespace` is the default one of the kubeconfig; it is not created here.
    pub(super) async fn start(assets: &Path, namespace: &str) -> Result<Self> {
        let mut tries = 1;
        loop {
            match Self::try_start(assets, namespace).await {
                Err(StartFailure::Port) if tries < TRIES => tries += 1,
                Err(failure) => return Err(failure.into()),
                Ok(running) => return Ok(running),
            }
        }
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        &self.folder.kubeconfig
    }

    async fn try_start(assets: &Path, namespace: &str) -> Result<Self, StartFailure> {
        let folder = Folder::make()?;
        let [etcd_port, api_port] = free_ports()?;
        folder.write_credentials(api_port, namespace)?;
        let etcd = Program::spawn(assets, "etcd", &folder.path, &etcd_flags(&folder.path, etcd_port))?;
        let flags = api_server_flags(&folder.path, etcd_port, api_port);
        let api_server = Program::spawn(assets, "kube-apiserver", &folder.path, &flags)?;
        let mut running = Self {
            api_server,
            etcd,
            folder,
        };
        running.ready().await?;
        Ok(running)
    }

    async fn ready(&mut self) -> Result<(), StartFailure> {
        let deadline = Instant::now() + START_UP;
        loop {
            self.etcd.check()?;
            self.api_server.check()?;
            // The server creates the certificate that the kubeconfig names while it starts.
            if let Ok(config) = config_of(&self.folder.kubeconfig).await {
                let request = http::Request::get("/readyz")
                    .body(Vec::new())
                    .map_err(io::Error::other)?;
                let client = client_of(config)?;
                if client.request_text(request).await.is_ok() {
                    return Ok(());
                }
            }
            if Instant::now() >= deadline {
                let seconds = START_UP.as_secs();
                return Err(self
                    .api_server
                    .failure(&format!("was not ready after {seconds} s"))
                    .into());
            }
            sleep(PERIOD).await;
        }
    }
}

fn etcd_flags(folder: &Path, port: u16) -> Vec<String> {
    vec![
        format!("--data-dir={}", folder.join("etcd").display()),
        format!("--listen-client-urls=http://127.0.0.1:{port}"),
        format!("--advertise-client-urls=http://127.0.0.1:{port}"),
        "--listen-peer-urls=http://127.0.0.1:0".to_owned(),
        // The data need not outlive the test.
        "--unsafe-no-fsync".to_owned(),
    ]
}

fn api_server_flags(folder: &Path, etcd_port: u16, port: u16) -> Vec<String> {
    let file = |name: &str| folder.join(name).display().to_string();
    vec![
        format!("--etcd-servers=http://127.0.0.1:{etcd_port}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={port}"),
        format!("--cert-dir={}", file("certificates")),
        format!("--token-auth-file={}", file("tokens.csv")),
        "--authorization-mode=RBAC".to_owned(),
        "--service-account-issuer=https://127.0.0.1".to_owned(),
        format!("--service-account-key-file={}", file("service-account.pub")),
        format!("--service-account-signing-key-file={}", file("service-account.key")),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        // No controller creates the service accounts that it requires.
        "--disable-admission-plugins=ServiceAccount".to_owned(),
    ]
}

/// A temporary folder that only this user can read, because it contains an administrator's token.
struct Folder {
    path: PathBuf,
    kubeconfig: PathBuf,
}

impl Folder {
    fn make() -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("kubewright-test-{:016x}", random()));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path)?;
        Ok(Self {
            kubeconfig: path.join("kubeconfig"),
            path,
        })
    }

    fn write_credentials(&self, port: u16, namespace: &str) -> Result<(), StartFailure> {
        let token = format!("{:016x}{:016x}", random(), random());
        fs::write(
            self.path.join("tokens.csv"),
            format!("{token},admin,admin,\"system:masters\"\n"),
        )?;
        let [private, public] = new_keys()?;
        fs::write(self.path.join("service-account.key"), private)?;
        fs::write(self.path.join("service-account.pub"), public)?;
        let kubeconfig = serde_json::json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": {
                "server": format!("https://127.0.0.1:{port}"),
                "certificate-authority": self.path.join("certificates").join("apiserver.crt"),
            }}],
            "users": [{"name": "admin", "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin", "namespace": namespace}}],
            "current-context": "test",
        });
        Ok(fs::write(&self.kubeconfig, kubeconfig.to_string())?)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If this fails, the system's own cleaning of temporary files removes it.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A key pair for service account tokens, private and public, as PEM.
fn new_keys() -> Result<[String; 2], StartFailure> {
    // RFC 5480: a public key on the curve P-256, up to the 65 bytes of the point itself.
    const P256: [u8; 26] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
        0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ];
    let no_key = || io::Error::other("no key pair could be generated");
    let (algorithm, random) = (&signature::ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
    let private = signature::EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(|_| no_key())?;
    let pair = signature::EcdsaKeyPair::from_pkcs8(algorithm, private.as_ref(), &random).map_err(|_| no_key())?;
    let public = [&P256, pair.public_key().as_ref()].concat();
    Ok([pem("PRIVATE KEY", private.as_ref()), pem("PUBLIC KEY", &public)])
}

/// DER as PEM, in one line, which all readers of kubeconfigs and of key files here accept.
pub(super) fn pem(label: &str, der: &[u8]) -> String {
    let base64 = serde_json::json!(k8s_openapi::ByteString(der.to_vec()));
    let base64 = base64.as_str().unwrap_or_default();
    format!("-----BEGIN {label}-----\n{base64}\n-----END {label}-----\n")
}

/// A child process, killed on drop.
struct Program {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Program {
    fn spawn(assets: &Path, name: &'static str, folder: &Path, flags: &[String]) -> Result<Self, StartFailure> {
        let (path, log) = (assets.join(name), folder.join(format!("{name}.log")));
        let output = File::create(&log)?;
        let mut command = Command::new(&path);
        command
            .args(flags)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        match command.spawn() {
            Ok(child) => Ok(Self { name, child, log }),
            Err(error) => Err(Error::Setup(format!("`{}` of KUBEBUILDER_ASSETS: {error}", path.display())).into()),
        }
    }

    /// Returns an error if the program has ended.
    fn check(&mut self) -> Result<(), StartFailure> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(_) if self.log_end(usize::MAX).contains("address already in use") => Err(StartFailure::Port),
            Some(status) => Err(self.failure(&format!("ended with {status}")).into()),
        }
    }

    fn failure(&self, what: &str) -> Error {
        Error::Setup(format!(
            "`{}` {what}; the end of its log:\n{}",
            self.name,
            self.log_end(15)
        ))
    }

    fn log_end(&self, lines: usize) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let all: Vec<_> = log.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Both fail only if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

enum StartFailure {
    /// Another process took the port before the program listened on it.
    Port,
    Other(Error),
}

impl From<Error> for StartFailure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<io::Error> for StartFailure {
    fn from(error: io::Error) -> Self {
        Self::Other(Error::Setup(format!("cannot start the control plane: {error}")))
    }
}

impl From<StartFailure> for Error {
    fn from(failure: StartFailure) -> Self {
        match failure {
            StartFailure::Port => {
                Error::Setup("cannot start the control plane: its ports were taken each time".to_owned())
            }
            StartFailure::Other(error) => error,
        }
    }
}
