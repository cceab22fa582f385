//! An API server and proxies with TLS on loopback, and the certificates of both sides.

use std::sync::{Arc, Mutex};

use kubewright_machinery::{
    base64::{Encoding, encode},
    x509::{self, CLIENT_AUTH, COMMON_NAME, Certificate, SERVER_AUTH, alternative_names, purpose},
};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        RootCertStore, ServerConfig,
        pki_types::{CertificateDer, PrivateKeyDer},
        server::WebPkiClientVerifier,
    },
};

/// A certificate with its key.
pub(super) struct Leaf {
    pub(super) der: Vec<u8>,
    pub(super) pem: String,
    /// PEM.
    pub(super) key: String,
    pkcs8: Vec<u8>,
}

/// A certificate authority. Servers also trust it for the certificates of clients.
pub(super) struct Authority {
    pair: EcdsaKeyPair,
    der: Vec<u8>,
}

fn new_pair() -> (EcdsaKeyPair, Vec<u8>) {
    let (algorithm, random) = (&ECDSA_P256_SHA256_ASN1_SIGNING, SystemRandom::new());
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).unwrap();
    (pair, pkcs8.as_ref().to_vec())
}

fn sign(subject: &str, key: &EcdsaKeyPair, signer: &EcdsaKeyPair, extensions: &[u8]) -> Vec<u8> {
    let random = SystemRandom::new();
    let certificate = Certificate {
        serial: ring::rand::generate(&random).unwrap().expose(),
        issuer: &x509::name(&[(COMMON_NAME, "authority")]),
        subject: &x509::name(&[(COMMON_NAME, subject)]),
        // From 2020 to 2049.
        validity: [1_577_836_800, 2_493_072_000],
        public_key: key.public_key().as_ref(),
        extensions,
    };
    let signed = certificate.sign(|body| signer.sign(&random, body).map(|signature| signature.as_ref().to_vec()));
    signed.unwrap()
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = encode(der, Encoding::Standard);
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}

impl Authority {
    pub(super) fn new() -> Self {
        let (pair, _) = new_pair();
        let der = sign("authority", &pair, &pair, &x509::authority());
        Self { pair, der }
    }

    pub(super) fn pem(&self) -> String {
        pem("CERTIFICATE", &self.der)
    }

    pub(super) fn client(&self, name: &str) -> Leaf {
        self.leaf(name, &purpose(CLIENT_AUTH))
    }

    /// The certificate of a server with this name, or this IPv4 address.
    fn server(&self, name: &str) -> Leaf {
        let address = name.parse::<std::net::Ipv4Addr>().map(|address| address.octets());
        let names = match address {
            Ok(octets) => alternative_names(&[], &[octets]),
            Err(_) => alternative_names(&[name], &[]),
        };
        self.leaf(name, &[names, purpose(SERVER_AUTH)].concat())
    }

    fn leaf(&self, name: &str, extensions: &[u8]) -> Leaf {
        let (pair, pkcs8) = new_pair();
        let der = sign(name, &pair, &self.pair, extensions);
        Leaf {
            pem: pem("CERTIFICATE", &der),
            key: pem("PRIVATE KEY", &pkcs8),
            der,
            pkcs8,
        }
    }

    fn acceptor(&self, name: &str, clients: &[u8]) -> TlsAcceptor {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(clients.to_vec())).unwrap();
        let verifier = WebPkiClientVerifier::builder(roots.into()).allow_unauthenticated();
        let leaf = self.server(name);
        let key = PrivateKeyDer::try_from(leaf.pkcs8).unwrap();
        let config = ServerConfig::builder().with_client_cert_verifier(verifier.build().unwrap());
        let config = config.with_single_cert(vec![leaf.der.into()], key).unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}

/// A request that arrived.
#[derive(Clone, Default)]
pub(super) struct SeenRequest {
    head: String,
    pub(super) certificate: Option<Vec<u8>>,
    pub(super) server_name: Option<String>,
}

impl SeenRequest {
    pub(super) fn header(&self, name: &str) -> Vec<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| *key == name).map(|(_, value)| value).collect()
    }
}

/// The head of a request, unless the connection has ended.
async fn head(io: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(io.read_u8().await.ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// An API server that answers `{}`, in connections that stay open.
pub(super) struct TlsServer {
    address: String,
    clients: Vec<u8>,
    state: Arc<Mutex<ServerState>>,
}

struct ServerState {
    acceptor: TlsAcceptor,
    seen: SeenRequest,
    refused: Option<String>,
}

impl TlsServer {
    pub(super) async fn start(authority: &Authority, name: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap().to_string(),
            clients: authority.der.clone(),
            state: Arc::new(Mutex::new(ServerState {
                acceptor: authority.acceptor(name, &authority.der),
                seen: SeenRequest::default(),
                refused: None,
            })),
        };
        let state = server.state.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, state.clone()));
            }
        });
        server
    }

    pub(super) fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Another certificate for new connections.
    pub(super) fn present(&self, authority: &Authority, name: &str) {
        self.state.lock().unwrap().acceptor = authority.acceptor(name, &self.clients);
    }

    /// Answers 401 to requests with this header `Authorization`.
    pub(super) fn refuse(&self, authorization: &str) {
        self.state.lock().unwrap().refused = Some(authorization.to_owned());
    }

    /// The last request.
    pub(super) fn last(&self) -> SeenRequest {
        self.state.lock().unwrap().seen.clone()
    }
}

async fn serve(stream: TcpStream, state: Arc<Mutex<ServerState>>) -> Option<()> {
    let acceptor = state.lock().unwrap().acceptor.clone();
    let mut stream = acceptor.accept(stream).await.ok()?;
    let mut seen = SeenRequest::default();
    let connection = stream.get_ref().1;
    seen.server_name = connection.server_name().map(str::to_owned);
    let chain = connection.peer_certificates().unwrap_or_default();
    seen.certificate = chain.first().map(|certificate| certificate.to_vec());
    while let Some(head) = head(&mut stream).await {
        seen.head = head;
        let refused = {
            let mut state = state.lock().unwrap();
            state.seen = seen.clone();
            seen.header("authorization").first().copied() == state.refused.as_deref() && state.refused.is_some()
        };
        let (status, body) = match refused {
            true => ("401 Unauthorized", r#"{"kind":"Status","status":"Failure","code":401}"#),
            false => ("200 OK", "{}"),
        };
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(answer.as_bytes()).await.ok()?;
    }
    Some(())
}

/// A proxy whose tunnels all lead to one server.
pub(super) struct TunnelProxy {
    pub(super) address: String,
    seen: Arc<Mutex<String>>,
}

impl TunnelProxy {
    /// With TLS if there is an authority.
    pub(super) async fn start(authority: Option<&Authority>, server: &TlsServer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Self {
            address: listener.local_addr().unwrap().to_string(),
            seen: Arc::default(),
        };
        let acceptor = authority.map(|it| it.acceptor("127.0.0.1", &it.der));
        let (seen, server) = (proxy.seen.clone(), server.address.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, server, acceptor) = (seen.clone(), server.clone(), acceptor.clone());
                tokio::spawn(async move {
                    match acceptor {
                        Some(acceptor) => tunnel(acceptor.accept(stream).await.ok()?, seen, server).await,
                        None => tunnel(stream, seen, server).await,
                    }
                });
            }
        });
        proxy
    }

    /// The head of the last request.
    pub(super) fn last(&self) -> String {
        self.seen.lock().unwrap().clone()
    }
}

async fn tunnel(mut io: impl AsyncRead + AsyncWrite + Unpin, seen: Arc<Mutex<String>>, server: String) -> Option<()> {
    let head = head(&mut io).await?;
    *seen.lock().unwrap() = head;
    let mut server = TcpStream::connect(server).await.ok()?;
    io.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.ok()?;
    copy_bidirectional(&mut io, &mut server).await.ok()?;
    Some(())
}
