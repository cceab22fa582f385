//! The address of the webhook server for API servers, and the names that its certificate needs.

use std::net::Ipv4Addr;

use http::uri::{InvalidUri, Uri};
use kubewright_machinery::names::is_subdomain;

use super::Options;

/// A name that a certificate can have.
pub(super) fn host(text: &str) -> std::result::Result<String, String> {
    if text.parse::<Ipv4Addr>().is_ok() || is_subdomain(text) {
        Ok(text.to_owned())
    } else {
        Err("write a DNS name in small letters, or an IPv4 address".to_owned())
    }
}

/// The address of this machine, as `https://HOST` or `https://HOST:PORT`.
#[cfg(feature = "testing")]
pub(crate) struct LocalAddress {
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
}

#[cfg(feature = "testing")]
impl std::str::FromStr for LocalAddress {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parsed: Uri = url(text)?.parse().map_err(|error: InvalidUri| error.to_string())?;
        match (parsed.host(), parsed.path()) {
            (Some(host), "" | "/") => Ok(Self {
                host: host.to_owned(),
                port: parsed.port_u16(),
            }),
            _ => Err("write https, a DNS name or an IPv4 address, and the port, without a path".to_owned()),
        }
    }
}

/// A URL that a CustomResourceDefinition can have.
pub(super) fn url(text: &str) -> std::result::Result<String, String> {
    let parsed: Uri = text.parse().map_err(|error: InvalidUri| error.to_string())?;
    let is_https = parsed.scheme_str() == Some("https");
    match parsed.host() {
        Some(name) if is_https && parsed.query().is_none() && host(name).is_ok() => Ok(text.to_owned()),
        _ => Err("write https, a DNS name or an IPv4 address, and the port".to_owned()),
    }
}

impl Options {
    /// The further names and addresses of the webhook server, from `--webhook-host` and `--webhook-url`.
    pub fn webhook_hosts(&self) -> Vec<String> {
        let url: Option<Uri> = self.webhook_url.as_ref().and_then(|url| url.parse().ok());
        let of_url = url.as_ref().and_then(Uri::host).map(str::to_owned);
        let mut hosts = self.webhook_host.clone();
        hosts.extend(of_url.filter(|host| !self.webhook_host.contains(host)));
        hosts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::tests::parse;

    #[test]
    fn the_host_of_the_url_is_in_the_certificate_once() {
        let hosts = |flags: &[&str]| parse(flags).unwrap().webhook_hosts();
        assert_eq!(hosts(&[]), Vec::<String>::new());
        assert_eq!(
            hosts(&["--webhook-host=a.b", "--webhook-url=https://127.0.0.1:9443"]),
            ["a.b", "127.0.0.1"]
        );
        assert_eq!(hosts(&["--webhook-host=a.b", "--webhook-url=https://a.b/x"]), ["a.b"]);
    }

    #[test]
    fn a_url_that_no_definition_can_have_is_refused() {
        for text in ["http://a.b", "a.b", "https://a.b?x=y", "https://A B", "https://[::1]:1"] {
            assert!(url(text).is_err(), "{text}");
        }
    }
}
