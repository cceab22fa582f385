//! The proxy between this process and the API server, as client-go chooses it: `proxy-url` of the kubeconfig, or else the
//! environment as `golang.org/x/net/http/httpproxy` reads it.

use std::net::IpAddr;

use http::{HeaderValue, Uri};

use super::authorization;

/// Schemes of proxies, with their default ports.
const SCHEMES: [(&str, u16); 4] = [("http", 80), ("https", 443), ("socks5", 1080), ("socks5h", 1080)];

/// Checks the URL of a proxy, and adds the scheme `http` if it has none.
///
/// # Errors
/// The reason that a text is not the URL of a proxy. The message does not contain the password.
pub(super) fn url(text: &str) -> Result<Uri, String> {
    let shown = text.rsplit_once('@').map_or(text, |(_, host)| host);
    let full = match text.contains("://") {
        true => text.to_owned(),
        false => format!("http://{text}"),
    };
    let url: Uri = full
        .parse()
        .map_err(|error| format!("`{shown}` is not the URL of a proxy: {error}"))?;
    let scheme = url.scheme_str().unwrap_or_default().to_lowercase();
    if !SCHEMES.iter().any(|(name, _)| *name == scheme) {
        return Err(format!(
            "proxies of the scheme `{scheme}` are not supported: it must be http, https, socks5 or socks5h"
        ));
    }
    match url.host() {
        None | Some("") => Err(format!("`{shown}` is not the URL of a proxy: it has no host")),
        Some(_) => Ok(url),
    }
}

/// A proxy, in the parts that a connection needs.
#[derive(Clone)]
pub(super) struct Proxy {
    pub(super) is_socks: bool,
    /// The address to connect to, of the scheme `http`, or `https` if the proxy is to be spoken to in TLS.
    pub(super) address: Uri,
    /// User and password, decoded.
    pub(super) credentials: Option<(Vec<u8>, Vec<u8>)>,
}

impl Proxy {
    /// # Errors
    /// As [`url`].
    pub(super) fn new(proxy: &Uri) -> Result<Self, String> {
        let proxy = url(&proxy.to_string())?;
        let scheme = proxy.scheme_str().unwrap_or_default().to_lowercase();
        let (is_socks, default) = SCHEMES
            .iter()
            .find(|(name, _)| *name == scheme)
            .map_or((false, 80), |(name, port)| (name.starts_with("socks"), *port));
        let host = proxy.host().unwrap_or_default();
        let port = proxy.port_u16().unwrap_or(default);
        let spoken = if is_socks { "http" } else { &scheme };
        let address = format!("{spoken}://{host}:{port}/");
        let user = proxy.authority().and_then(|it| it.as_str().rsplit_once('@'));
        Ok(Self {
            is_socks,
            address: address.parse().map_err(|error| format!("`{address}`: {error}"))?,
            credentials: user.map(|(user, _)| {
                let (user, password) = user.split_once(':').unwrap_or((user, ""));
                (decoded(user), decoded(password))
            }),
        })
    }

    /// The value of the header `Proxy-Authorization`.
    pub(super) fn authorization(&self) -> Option<HeaderValue> {
        let (user, password) = self.credentials.as_ref()?;
        authorization::basic(user, password).ok()
    }
}

/// Decodes `%XX`.
fn decoded(text: &str) -> Vec<u8> {
    let (text, mut out, mut at) = (text.as_bytes(), Vec::new(), 0);
    let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    while let Some(byte) = text.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                // Two digits of four bits each.
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    out
}

/// The variables of the environment that name proxies. Those in upper case come before those in lower case, and an empty
/// one counts as absent.
#[derive(Debug, Default)]
pub(super) struct Environment {
    http: Option<(&'static str, String)>,
    https: Option<(&'static str, String)>,
    none: String,
    /// Whether `REQUEST_METHOD` is set: then the client of a CGI program sets `HTTP_PROXY`, with the header `Proxy`.
    is_cgi: bool,
}

impl Environment {
    pub(super) fn read() -> Self {
        Self::of(|name| std::env::var(name).ok())
    }

    pub(super) fn of(get: impl Fn(&str) -> Option<String>) -> Self {
        let get = |name: &'static str| Some((name, get(name).filter(|value| !value.is_empty())?));
        let either = |upper, lower| get(upper).or_else(|| get(lower));
        Self {
            http: either("HTTP_PROXY", "http_proxy"),
            https: either("HTTPS_PROXY", "https_proxy"),
            none: either("NO_PROXY", "no_proxy").map_or_else(String::new, |(_, value)| value),
            is_cgi: get("REQUEST_METHOD").is_some(),
        }
    }

    /// The proxy of requests to this server, if there is one.
    ///
    /// # Errors
    /// If the variable does not contain the URL of a proxy, or must not be trusted.
    pub(super) fn proxy_of(&self, server: &Uri) -> Result<Option<Uri>, String> {
        let (of_scheme, port) = match server.scheme_str() {
            Some("https") => (&self.https, 443),
            Some("http") => (&self.http, 80),
            _ => return Ok(None),
        };
        let Some((name, value)) = of_scheme else {
            return Ok(None);
        };
        let host = server.host().unwrap_or_default();
        if is_direct(host, server.port_u16().unwrap_or(port), &self.none) {
            return Ok(None);
        }
        if self.is_cgi && server.scheme_str() == Some("http") {
            return Err(format!(
                "`{name}` is not used, because `REQUEST_METHOD` is set: the client of a CGI program could have set it\n\n\
                 hint: unset REQUEST_METHOD or {name}, or name the proxy as `proxy-url` in the kubeconfig"
            ));
        }
        let hint = format!("hint: set {name}=http://HOST:PORT, or add `{host}` to NO_PROXY");
        let proxy = url(value).map_err(|why| format!("`{name}`: {why}\n\n{hint}"))?;
        Ok(Some(proxy))
    }
}

/// Whether requests to this host and port pass the proxy by: loopback addresses always, others if `NO_PROXY` lists them.
fn is_direct(host: &str, port: u16, none: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']').to_lowercase();
    let ip = host.parse::<IpAddr>().ok().map(|ip| ip.to_canonical());
    host == "localhost"
        || ip.is_some_and(|ip| ip.is_loopback())
        || none
            .split(',')
            .any(|entry| lists(&entry.trim().to_lowercase(), &host, ip, &port.to_string()))
}

/// Whether an entry of `NO_PROXY` lists a host.
fn lists(entry: &str, host: &str, ip: Option<IpAddr>, port: &str) -> bool {
    if entry == "*" {
        return true;
    }
    if let Some((network, bits)) = network(entry) {
        return ip.is_some_and(|ip| contains(network, bits, ip));
    }
    let (name, its_port) = split_port(entry);
    let of_port = its_port.is_empty() || its_port == port;
    if let Ok(address) = name.parse::<IpAddr>() {
        return ip == Some(address.to_canonical()) && of_port;
    }
    let name = name
        .strip_prefix('*')
        .filter(|rest| rest.starts_with('.'))
        .unwrap_or(name);
    if name.is_empty() || ip.is_some() || !of_port {
        return false;
    }
    // `example.com` lists itself and its subdomains, `.example.com` its subdomains alone.
    let suffix = format!(".{}", name.strip_prefix('.').unwrap_or(name));
    host.ends_with(&suffix) || host == name
}

/// The host and the port of `host:port` or `[address]:port`, as Go's `net.SplitHostPort`; else the whole entry.
fn split_port(entry: &str) -> (&str, &str) {
    let Some((host, port)) = entry.rsplit_once(':') else {
        return (entry, "");
    };
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => (address, port),
        None if host.contains([':', '[', ']']) => (entry, ""),
        None => (host, port),
    }
}

/// The address and the length of the prefix of a network in CIDR notation.
fn network(entry: &str) -> Option<(IpAddr, u32)> {
    let (address, bits) = entry.split_once('/')?;
    let (address, bits) = (address.parse::<IpAddr>().ok()?, bits.parse::<u32>().ok()?);
    let most = if address.is_ipv4() { 32 } else { 128 };
    let mapped = most - if address.to_canonical().is_ipv4() { 32 } else { 128 };
    (bits <= most).then(|| (address.to_canonical(), bits.saturating_sub(mapped)))
}

fn contains(network: IpAddr, bits: u32, ip: IpAddr) -> bool {
    match (network, ip) {
        (IpAddr::V4(network), IpAddr::V4(ip)) => (network.to_bits() ^ ip.to_bits()).leading_zeros() >= bits,
        (IpAddr::V6(network), IpAddr::V6(ip)) => (network.to_bits() ^ ip.to_bits()).leading_zeros() >= bits,
        _ => false,
    }
}
