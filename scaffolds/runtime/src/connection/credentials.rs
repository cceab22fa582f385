//! Credentials of requests, which may rotate: the files of tokens, client certificates and certificate authorities are read
//! again once per minute, and credential plugins run again.

use std::{
    fs,
    future::Future,
    mem,
    path::{Path, PathBuf},
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll},
    time::Duration,
};

use http::{HeaderValue, Request, Response, StatusCode, header::AUTHORIZATION};
use kube::{
    Config,
    client::{Body, DynBody},
    config::AuthInfo,
};
use kubewright_machinery::base64::{Encoding, encode};
use tokio::{sync::Mutex, time::Instant};
use tower::{BoxError, Service, ServiceExt as _};

use super::{
    Note, Transport, authorization,
    fields::{self, Fields},
    plugin::{self, ClientCertificate, IssuedCredentials},
    renewal::{self, Renewal},
    transport,
};

/// As `k8s.io/client-go/transport/token_source.go` reads token files.
const PERIOD: Duration = Duration::from_secs(60);
/// A token that the server refuses may have been replaced in its file already; a file that stays as it is, is read this often.
const REFUSED: Duration = Duration::from_secs(1);

/// Sends requests with the credentials that are valid now. If a file cannot be read or used any more, the last valid contents
/// stay in use: some operators remove a token file once it was read.
pub(crate) struct Credentials(Arc<Mutex<Session>>);

/// Connections, and what authenticates the requests in them.
struct Session {
    /// Its user has no credentials but the client certificate.
    config: Config,
    transport: Transport,
    source: CredentialSource,
    issued: Arc<IssuedCredentials>,
    /// The files of certificates and keys, with their last contents.
    files: Vec<(PathBuf, Option<Vec<u8>>)>,
    /// The time at which files were read last.
    read_at: Instant,
}

/// The source of the credentials.
enum CredentialSource {
    Fixed,
    /// A token file.
    File(PathBuf),
    Plugin(Arc<Mutex<Renewal>>),
}

impl Credentials {
    pub(super) fn new(mut config: Config, note: Note) -> Result<Self, String> {
        let (source, issued) = source(&mut config.auth_info, note)?;
        if let Some(certificate) = &issued.certificate {
            install(&mut config.auth_info, certificate);
        }
        let files = files(&config).into_iter().map(|file| {
            let contents = fs::read(&file).ok();
            (file, contents)
        });
        Ok(Self(Arc::new(Mutex::new(Session {
            files: files.collect(),
            transport: transport(&config)?,
            source,
            issued,
            config,
            read_at: Instant::now(),
        }))))
    }
}

/// Takes the credentials of a user, but for the client certificate of the kubeconfig. As in client-go, the contents of a
/// token file come before `token`, and a plugin is run only without other credentials.
fn source(user: &mut AuthInfo, note: Note) -> Result<(CredentialSource, Arc<IssuedCredentials>), String> {
    if user.auth_provider.is_some() {
        return Err(fields::no_provider());
    }
    let plugin = plugin::of(user).map(mem::take);
    let set = Fields::of(user);
    (user.token, user.token_file, user.username, user.password, user.exec) = (None, None, None, None, None);
    let token = set.text("token").map(authorization::bearer).transpose();
    let token = token.map_err(|why| format!("`token`: {why}"))?;
    if let Some(file) = set.text("tokenFile").map(PathBuf::from) {
        let first = read(&file).or_else(|why| token.ok_or(why))?;
        return Ok((
            CredentialSource::File(file),
            IssuedCredentials::always(Some(first)).into(),
        ));
    }
    if let Some(name) = set.text("username") {
        let password = set.text("password").unwrap_or_default();
        let basic = authorization::basic(name.as_bytes(), password.as_bytes());
        let basic = basic.map_err(|why| format!("`username`: {why}"))?;
        return Ok((CredentialSource::Fixed, IssuedCredentials::always(Some(basic)).into()));
    }
    match plugin {
        Some(exec) => renewal::start(exec, note).map(|(renewal, issued)| (CredentialSource::Plugin(renewal), issued)),
        None => Ok((CredentialSource::Fixed, IssuedCredentials::always(token).into())),
    }
}

/// The header of a token file.
fn read(file: &Path) -> Result<HeaderValue, String> {
    let read = fs::read_to_string(file).map_err(|error| error.to_string());
    let header = read.and_then(|token| authorization::bearer(&token));
    header.map_err(|why| format!("`tokenFile` `{}`: {why}", file.display()))
}

/// Puts the certificate of a plugin, and its key, into the place of the kubeconfig's.
fn install(user: &mut AuthInfo, certificate: &ClientCertificate) {
    user.client_certificate_data = Some(encode(certificate.chain.as_bytes(), Encoding::Standard));
    user.client_key_data = Some(encode(certificate.key.as_bytes(), Encoding::Standard).into());
}

/// The files of certificates and keys that the kubeconfig names.
fn files(config: &Config) -> Vec<PathBuf> {
    let user = &config.auth_info;
    let certificate = user
        .client_certificate
        .as_ref()
        .filter(|_| user.client_certificate_data.is_none());
    let key = user.client_key.as_ref().filter(|_| user.client_key_data.is_none());
    let of_user = certificate.into_iter().chain(key).map(PathBuf::from);
    of_user.chain(config.root_cert_file.clone()).collect()
}

impl Session {
    /// Renews what is due.
    ///
    /// # Errors
    /// If there are no valid credentials any more.
    async fn renew(&mut self) -> Result<(), String> {
        let now = Instant::now();
        let is_refused =
            matches!(self.source, CredentialSource::File(_)) && self.issued.refused.load(Ordering::Relaxed);
        if now - self.read_at >= if is_refused { REFUSED } else { PERIOD } {
            self.read_at = now;
            self.read_again();
        }
        if let CredentialSource::Plugin(renewal) = &self.source {
            let issued = renewal.lock().await.credentials().await?;
            if !Arc::ptr_eq(&issued, &self.issued) {
                self.accept(issued)?;
            }
        }
        Ok(())
    }

    /// Reads the files again. New certificates need new connections.
    fn read_again(&mut self) {
        if let CredentialSource::File(file) = &self.source
            && let Ok(fresh) = read(file)
        {
            self.issued = IssuedCredentials::always(Some(fresh)).into();
        }
        let read = |(file, _): &(PathBuf, _)| (file.clone(), fs::read(file).ok());
        let fresh: Vec<_> = self.files.iter().map(read).collect();
        if fresh != self.files
            && let Ok(transport) = transport(&self.config)
        {
            (self.transport, self.files) = (transport, fresh);
        }
    }

    /// Uses new credentials of the plugin. A new certificate needs new connections.
    fn accept(&mut self, issued: Arc<IssuedCredentials>) -> Result<(), String> {
        if issued.certificate != self.issued.certificate {
            let mut config = self.config.clone();
            (
                config.auth_info.client_certificate_data,
                config.auth_info.client_key_data,
            ) = (None, None);
            if let Some(certificate) = &issued.certificate {
                install(&mut config.auth_info, certificate);
            }
            self.transport = transport(&config)?;
            self.config = config;
        }
        self.issued = issued;
        Ok(())
    }
}

impl Service<Request<Body>> for Credentials {
    type Response = Response<Box<DynBody>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let session = self.0.clone();
        Box::pin(async move {
            let mut session = session.lock().await;
            session.renew().await?;
            let issued = session.issued.clone();
            if let Some(authorization) = &issued.authorization {
                request.headers_mut().insert(AUTHORIZATION, authorization.clone());
            }
            let sent = session.transport.ready().await?.call(request);
            drop(session);
            let response = sent.await?;
            if response.status() == StatusCode::UNAUTHORIZED {
                issued.refused.store(true, Ordering::Relaxed);
            }
            Ok(response)
        })
    }
}
