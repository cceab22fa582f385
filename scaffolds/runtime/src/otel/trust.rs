//! The certificate authorities that are trusted for a collector.

use std::{fmt::Display, path::PathBuf, sync::Arc};

use hyper_rustls::ConfigBuilderExt;
use tokio_rustls::rustls::{
    ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};

use crate::error::{Error, Result};

/// The file of authorities that one of OpenTelemetry's variables names; without one, the system's authorities are
/// trusted.
#[derive(Default)]
pub(super) struct Trust(Option<(String, PathBuf)>);

impl Trust {
    /// Reads the variables; those for traces take precedence over those for all signals.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the variables configure a client certificate.
    pub(super) fn from_variables(is_set: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let named = |what: &str| {
            let mut names = ["_TRACES", ""]
                .map(|of| format!("OTEL_EXPORTER_OTLP{of}_{what}"))
                .into_iter();
            names.find_map(|name| Some((is_set(&name)?, name)))
        };
        if let Some((_, name)) = named("CLIENT_CERTIFICATE").or_else(|| named("CLIENT_KEY")) {
            let text = format!("{name} is set: to show a collector a certificate of the client is not built in");
            let hint = "name a collector in the cluster that requires none, and let it forward the spans";
            return Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
        }
        Ok(Self(named("CERTIFICATE").map(|(path, name)| (name, path.into()))))
    }

    /// # Errors
    ///
    /// [`Error::Setup`], which names the variable whose file cannot be used, or the one to set if the system has no
    /// authorities.
    pub(super) fn config(&self) -> Result<ClientConfig> {
        let trusting = match &self.0 {
            Some(_) => builder().with_root_certificates(self.roots()?),
            None => builder().with_native_roots().map_err(|error| {
                let text = format!("this system's certificate authorities cannot be used: {error}");
                let hint = "name the collector's in OTEL_EXPORTER_OTLP_CERTIFICATE";
                Error::Setup(format!("{text}\n\nhint: {hint}"))
            })?,
        };
        Ok(trusting.with_no_client_auth())
    }

    fn roots(&self) -> Result<RootCertStore> {
        let mut roots = RootCertStore::empty();
        let Some((name, path)) = &self.0 else { return Ok(roots) };
        let unusable =
            |error: &dyn Display| Error::Setup(format!("{name} `{}` cannot be used: {error}", path.display()));
        for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unusable(&error))? {
            let certificate = certificate.map_err(|error| unusable(&error))?;
            roots.add(certificate).map_err(|error| unusable(&error))?;
        }
        if roots.is_empty() {
            return Err(unusable(&"there is no certificate in it"));
        }
        Ok(roots)
    }
}

/// The protocol versions and ciphers of all other connections of this process.
pub(super) fn builder() -> ConfigBuilder<ClientConfig, WantsVerifier> {
    let versions = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    // Ring's provider has cipher suites for both TLS 1.2 and 1.3.
    let versions = versions.with_safe_default_protocol_versions();
    versions.expect("the provider supports the default versions")
}
