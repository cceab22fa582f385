//! Credentials in files that rotate. Tokens and client certificates are read again once per minute, as client-go and kubelet
//! expect of clients.

use std::{
    fs,
    future::Future,
    path::PathBuf,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use http::{HeaderValue, Request, Response, header::AUTHORIZATION};
use kube::{
    Config,
    client::{Body, DynBody},
};
use tokio::time::Instant;
use tower::{BoxError, Service};

use super::{Transport, transport};

/// As `k8s.io/client-go/transport/token_source.go` reads token files.
const PERIOD: Duration = Duration::from_secs(60);

/// Sends requests with the credentials that the files contain now. If a file cannot be read or used any more, the last valid
/// contents stay in use: some operators remove a token file once it was read.
pub(crate) struct Credentials {
    config: Config,
    transport: Transport,
    token: Option<Token>,
    certificate: Vec<(PathBuf, Option<Vec<u8>>)>,
    next: Instant,
}

/// A token file, and the header of its last contents.
struct Token {
    file: PathBuf,
    header: HeaderValue,
}

impl Token {
    /// Reads a token file. Space around the token is not part of it.
    fn read(file: PathBuf) -> Result<Self, String> {
        let failed = |why: &dyn std::fmt::Display| format!("token file `{}`: {why}", file.display());
        let token = fs::read_to_string(&file).map_err(|error| failed(&error))?;
        let token = token.trim();
        if token.is_empty() {
            return Err(failed(&"it is empty"));
        }
        let mut header = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| failed(&"it contains characters that a header cannot have"))?;
        header.set_sensitive(true);
        Ok(Self { file, header })
    }
}

impl Credentials {
    pub(super) fn new(mut config: Config) -> Result<Self, String> {
        let user = &mut config.auth_info;
        let other = user.username.is_some() || user.auth_provider.is_some();
        let token = match user.token_file.take_if(|_| !other) {
            Some(file) => {
                // client-go: the file is used, whatever `token` contains.
                user.token = None;
                Some(Token::read(file.into())?)
            }
            None => None,
        };
        let certificate = certificate(&config).into_iter().map(|file| {
            let contents = fs::read(&file).ok();
            (file, contents)
        });
        Ok(Self {
            certificate: certificate.collect(),
            transport: transport(config.clone())?,
            token,
            config,
            next: Instant::now() + PERIOD,
        })
    }

    /// Reads the files again. A new certificate needs new connections.
    pub(super) fn refresh(&mut self) {
        if let Some(token) = &mut self.token
            && let Ok(fresh) = Token::read(token.file.clone())
        {
            *token = fresh;
        }
        let fresh: Vec<_> = self
            .certificate
            .iter()
            .map(|(file, _)| (file.clone(), fs::read(file).ok()))
            .collect();
        if fresh != self.certificate
            && let Ok(transport) = transport(self.config.clone())
        {
            (self.transport, self.certificate) = (transport, fresh);
        }
    }
}

/// The files of the client certificate and its key, if the kubeconfig names files.
fn certificate(config: &Config) -> Vec<PathBuf> {
    let user = &config.auth_info;
    let certificate = user
        .client_certificate
        .as_ref()
        .filter(|_| user.client_certificate_data.is_none());
    let key = user.client_key.as_ref().filter(|_| user.client_key_data.is_none());
    certificate.into_iter().chain(key).map(PathBuf::from).collect()
}

impl Service<Request<Body>> for Credentials {
    type Response = Response<Box<DynBody>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        let now = Instant::now();
        if now >= self.next {
            self.next = now + PERIOD;
            self.refresh();
        }
        self.transport.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        if let Some(token) = &self.token {
            request.headers_mut().insert(AUTHORIZATION, token.header.clone());
        }
        self.transport.call(request)
    }
}
