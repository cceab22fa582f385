//! The certificate of a server: from files, read again when they change, self-signed, or set by its owner.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::{CryptoProvider, ring},
        pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject},
        server::{ClientHello, ResolvesServerCert},
        sign::CertifiedKey,
    },
};
use tracing::{info, warn};

use super::selfsigned;
use crate::{
    error::{Error, Result},
    metrics::{Counter, Metrics},
};

/// The interval of reading files (controller-runtime, `pkg/certwatcher/certwatcher.go`: `defaultWatchInterval`). Polling
/// notices every way of replacing them, and cannot miss a change as file system notifications can.
const LOOK: Duration = Duration::from_secs(10);

/// A server's certificate and key.
pub struct Identity {
    /// The server, in messages.
    of: &'static str,
    current: Arc<Current>,
    source: CertificateSource,
}

enum CertificateSource {
    Files(Files),
    SelfSigned,
    Held,
}

/// The certificate that handshakes use.
#[derive(Debug)]
struct Current(RwLock<Option<Arc<CertifiedKey>>>);

impl Current {
    fn new(pair: Option<CertifiedKey>) -> Arc<Self> {
        Arc::new(Self(RwLock::new(pair.map(Arc::new))))
    }

    fn set(&self, pair: CertifiedKey) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(pair));
    }
}

/// A certificate that its owner sets, also while a server uses it. Until then handshakes fail.
pub struct Held(Arc<Current>);

impl Default for Held {
    /// No certificate yet.
    fn default() -> Self {
        Self(Current::new(None))
    }
}

impl Held {
    /// The same certificate, for a server.
    pub fn shared(&self) -> Self {
        Self(self.0.clone())
    }

    /// Sets the certificate and its key (PKCS #8), both DER, for all handshakes from now on.
    ///
    /// # Errors
    ///
    /// The reason, if they cannot be used.
    pub fn set(&self, certificate: &[u8], key: &[u8]) -> Result<(), String> {
        let chain = vec![CertificateDer::from(certificate.to_vec())];
        let key = PrivatePkcs8KeyDer::from(key.to_vec()).into();
        let pair = CertifiedKey::from_der(chain, key, &provider()).map_err(|error| error.to_string())?;
        self.0.set(pair);
        Ok(())
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Identity {
    /// The certificate and key of these PEM files. `of` names the server in messages.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if they cannot be read, or do not match.
    pub fn files(of: &'static str, [certificate, key]: [PathBuf; 2], metrics: &Metrics) -> Result<Self> {
        let counter = |name, help| metrics.counter(name, help, &[]);
        let mut files = Files {
            certificate,
            key,
            last: None,
            reads: counter(
                "certwatcher_read_certificate_total",
                "Times that a certificate was read.",
            ),
            errors: counter(
                "certwatcher_read_certificate_errors_total",
                "Times that a certificate could not be read.",
            ),
        };
        let Some(read) = files.read().map_err(|error| Error::Setup(error.to_string()))? else {
            // The first read always returns a certificate.
            return Err(Error::Setup("the certificate was not read".to_owned()));
        };
        Ok(Self {
            of,
            current: Current::new(Some(read)),
            source: CertificateSource::Files(files),
        })
    }

    /// A self-signed certificate. Clients cannot verify it, but the connection is encrypted; kube-controller-manager
    /// does the same.
    pub(super) fn self_signed(of: &'static str) -> Result<Self> {
        let made = make().map_err(Error::Setup)?;
        Ok(Self {
            of,
            current: Current::new(Some(made)),
            source: CertificateSource::SelfSigned,
        })
    }

    /// A certificate that its owner sets.
    pub fn held(of: &'static str, held: &Held) -> Self {
        Self {
            of,
            current: held.0.clone(),
            source: CertificateSource::Held,
        }
    }

    /// Accepts TLS connections. A task of the current runtime updates the certificate.
    pub(super) fn acceptor(self) -> TlsAcceptor {
        let versions = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
        // Ring's provider has cipher suites for both TLS 1.2 and 1.3.
        let builder = versions
            .expect("the provider supports the default versions")
            .with_no_client_auth();
        let mut config = builder.with_cert_resolver(self.current.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        tokio::spawn(self.keep_fresh());
        TlsAcceptor::from(Arc::new(config))
    }

    async fn keep_fresh(mut self) {
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick is immediate.
        look.tick().await;
        let mut made = Instant::now();
        loop {
            look.tick().await;
            let fresh = match &mut self.source {
                CertificateSource::Files(files) => files.read().map_err(|error| error.to_string()),
                CertificateSource::SelfSigned if made.elapsed() > selfsigned::VALID / 2 => {
                    made = Instant::now();
                    make().map(Some)
                }
                CertificateSource::SelfSigned => Ok(None),
                CertificateSource::Held => return,
            };
            match fresh {
                Ok(Some(fresh)) => {
                    self.current.set(fresh);
                    info!("{} has a new certificate", self.of);
                }
                Ok(None) => {}
                Err(error) => warn!("{} keeps its certificate: {error}", self.of),
            }
        }
    }
}

/// Certificate and key as PEM files, such as a Secret's `tls.crt` and `tls.key`.
struct Files {
    certificate: PathBuf,
    key: PathBuf,
    /// The bytes of the last valid pair.
    last: Option<[Vec<u8>; 2]>,
    reads: Counter,
    errors: Counter,
}

impl Files {
    /// Reads the files; `None` if they have not changed. A half-written pair is an error until the next read.
    fn read(&mut self) -> io::Result<Option<CertifiedKey>> {
        self.reads.inc();
        self.read_pair().inspect_err(|_| self.errors.inc())
    }

    fn read_pair(&mut self) -> io::Result<Option<CertifiedKey>> {
        let bytes = [read(&self.certificate)?, read(&self.key)?];
        if self.last.as_ref() == Some(&bytes) {
            return Ok(None);
        }
        let wrong = |path: &Path, error: &dyn std::fmt::Display| {
            io::Error::other(format!("`{}` cannot be used: {error}", path.display()))
        };
        let chain: Vec<_> = CertificateDer::pem_slice_iter(&bytes[0])
            .collect::<Result<_, _>>()
            .map_err(|error| wrong(&self.certificate, &error))?;
        if chain.is_empty() {
            return Err(wrong(&self.certificate, &"there is no certificate in it"));
        }
        let key = PrivateKeyDer::from_pem_slice(&bytes[1]).map_err(|error| wrong(&self.key, &error))?;
        let pair = CertifiedKey::from_der(chain, key, &provider()).map_err(|error| wrong(&self.key, &error))?;
        self.last = Some(bytes);
        Ok(Some(pair))
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path).map_err(|error| io::Error::other(format!("`{}` cannot be read: {error}", path.display())))
}

fn make() -> Result<CertifiedKey, String> {
    let (certificate, key) = selfsigned::make(&["localhost"])?;
    CertifiedKey::from_der(vec![certificate.into()], key, &provider()).map_err(|error| error.to_string())
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

#[cfg(test)]
mod tests {
    use k8s_openapi::ByteString;

    use super::*;

    /// Writes a new key pair to these files.
    fn write(certificate: &Path, key: &Path) {
        let pem = |label: &str, der: Vec<u8>| {
            let text = serde_json::to_value(ByteString(der)).unwrap();
            format!(
                "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
                text.as_str().unwrap()
            )
        };
        let (der, pkcs8) = selfsigned::make(&["localhost"]).unwrap();
        fs::write(certificate, pem("CERTIFICATE", der)).unwrap();
        fs::write(key, pem("PRIVATE KEY", pkcs8.secret_der().to_vec())).unwrap();
    }

    fn shown(identity: &Current) -> CertificateDer<'static> {
        identity.0.read().unwrap().as_ref().unwrap().cert[0].clone()
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_certificate_is_used_within_ten_seconds_and_an_invalid_one_is_not() {
        let folder = std::env::temp_dir().join(format!("kubewright-tls-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (certificate, key) = (folder.join("tls.crt"), folder.join("tls.key"));
        let metrics = Metrics::new();
        let error = Identity::files("a server", [certificate.clone(), key.clone()], &metrics)
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("tls.crt") && error.contains("cannot be read"), "{error}");

        write(&certificate, &key);
        let identity = Identity::files("a server", [certificate.clone(), key.clone()], &metrics).unwrap();
        let current = identity.current.clone();
        let (first, good_key) = (shown(&current), fs::read(&key).unwrap());
        let _acceptor = identity.acceptor();
        let look = || tokio::time::sleep(LOOK + Duration::from_millis(10));
        look().await;
        assert_eq!(shown(&current), first, "nothing changed");

        write(&certificate, &key);
        let new_key = fs::read(&key).unwrap();
        fs::write(&key, &good_key).unwrap();
        look().await;
        assert_eq!(shown(&current), first, "a pair that does not match is not used");
        fs::write(&key, new_key).unwrap();
        look().await;
        assert_ne!(shown(&current), first);
        let text = metrics.encode();
        assert!(
            text.contains("\ncertwatcher_read_certificate_errors_total 2\n"),
            "{text}"
        );
        assert!(text.contains("\ncertwatcher_read_certificate_total 5\n"), "{text}");
        fs::remove_dir_all(folder).unwrap();
    }
}
