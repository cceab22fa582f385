//! URLs, as Go's `net/url` parses them.

use std::collections::BTreeMap;

use crate::go::quote;

/// A URL in its parts.
#[derive(Clone, Debug, Default)]
pub struct Url {
    /// In lower case; empty if the URL has no scheme.
    pub scheme: String,
    /// The part before an `@`, as it was written.
    pub user: Option<String>,
    /// The host with its port.
    pub host: String,
    /// Still escaped.
    pub path: String,
    /// The part after a `?`, as it was written.
    pub query: String,
    /// The part after a `#`, as it was written.
    pub fragment: String,
}

fn failed(text: &str, why: &str) -> String {
    format!("parse {}: {why}", quote(text))
}

/// Parses a URL. With `request`, as in a request line: an absolute URI or an absolute path.
fn read(text: &str, request: bool) -> Result<Url, String> {
    if text.bytes().any(|c| c < 0x20 || c == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if text.is_empty() && request {
        return Err("empty url".to_owned());
    }
    let mut url = Url::default();
    if text == "*" {
        url.path = text.to_owned();
        return Ok(url);
    }
    let (scheme, rest) = split_scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    url.query = query.to_owned();
    let mut rest = rest;
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            return Ok(url);
        }
        if request {
            return Err("invalid URI for request".to_owned());
        }
        if rest.split('/').next().is_some_and(|first| first.contains(':')) {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    if rest.starts_with("//") && (!url.scheme.is_empty() || (!request && !rest.starts_with("///"))) {
        let end = rest[2..].find('/').map_or(rest.len(), |at| at + 2);
        let authority = &rest[2..end];
        url.host = host(authority)?;
        url.user = authority.rsplit_once('@').map(|(user, _)| user.to_owned());
        rest = &rest[end..];
    }
    unescaped(rest)?;
    rest.clone_into(&mut url.path);
    Ok(url)
}

fn split_scheme(text: &str) -> Result<(&str, &str), String> {
    for (at, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            ':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            ':' => return Ok((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

/// The host with its port, without the user information before an `@`.
fn host(text: &str) -> Result<String, String> {
    let host = match text.rsplit_once('@') {
        Some((user, host)) => {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
            if !user.chars().all(plain) {
                return Err("net/url: invalid userinfo".to_owned());
            }
            unescaped(user)?;
            host
        }
        None => text,
    };
    let port = if host.starts_with('[') {
        let end = host.rfind(']').ok_or("missing ']' in host")?;
        &host[end + 1..]
    } else {
        host.rfind(':').map_or("", |at| &host[at..])
    };
    if !port.is_empty()
        && !port
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|c| c.is_ascii_digit()))
    {
        return Err(format!("invalid port {} after host", quote(port)));
    }
    let allowed = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(c);
    if let Some(c) = host.chars().find(|c| !allowed(*c)) {
        return Err(format!("invalid character {} in host name", quote(&c.to_string())));
    }
    let host = unescaped(host)?;
    Ok(String::from_utf8_lossy(&host).into_owned())
}

/// Decodes `%XX`.
fn unescaped(text: &str) -> Result<Vec<u8>, String> {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        if *byte != b'%' {
            out.push(*byte);
            at += 1;
            continue;
        }
        let digits = bytes.get(at + 1..at + 3).and_then(|it| std::str::from_utf8(it).ok());
        let digits = digits.filter(|it| it.bytes().all(|c| c.is_ascii_hexdigit()));
        match digits.and_then(|it| u8::from_str_radix(it, 16).ok()) {
            Some(byte) => out.push(byte),
            None => {
                let shown = String::from_utf8_lossy(&bytes[at..bytes.len().min(at + 3)]);
                return Err(format!("invalid URL escape {}", quote(&shown)));
            }
        }
        at += 3;
    }
    Ok(out)
}

impl Url {
    /// Parses a URL.
    ///
    /// # Errors
    /// Go's message: `parse "…": why`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (bare, fragment) = text.split_once('#').unwrap_or((text, ""));
        let url = read(bare, false).map_err(|why| failed(bare, &why))?;
        unescaped(fragment).map_err(|why| failed(text, &why))?;
        Ok(Self {
            fragment: fragment.to_owned(),
            ..url
        })
    }

    /// Checks what may be the target of a request: an absolute URI, or an absolute path.
    ///
    /// # Errors
    /// Go's message: `parse "…": why`.
    pub fn check_request(text: &str) -> Result<(), String> {
        read(text, true).map(|_| ()).map_err(|why| failed(text, &why))
    }

    /// Whether a text is an absolute URI with a host that may be the target of a request.
    pub fn names_host(text: &str) -> bool {
        read(text, true).is_ok_and(|url| !url.scheme.is_empty() && !url.host.is_empty())
    }

    /// The path as it was written, if its escaping is valid.
    pub fn escaped_path(&self) -> String {
        let valid = |c: char| c.is_ascii_alphanumeric() || "-_.~$&+,/:;=@!'()*[]%".contains(c);
        if self.path.chars().all(valid) {
            return self.path.clone();
        }
        let mut out = String::new();
        // The path was parsed before, so its escapes are valid.
        for byte in unescaped(&self.path).unwrap_or_default() {
            let c = char::from(byte);
            if c.is_ascii_alphanumeric() || "-_.~$&+,/:;=@".contains(c) {
                out.push(c);
            } else {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
        out
    }

    /// Host and port; either may be empty.
    pub fn split_host(&self) -> (&str, &str) {
        let (host, port) = match self.host.rfind(':') {
            Some(at) if self.host[at + 1..].bytes().all(|c| c.is_ascii_digit()) => {
                (&self.host[..at], &self.host[at + 1..])
            }
            _ => (self.host.as_str(), ""),
        };
        (
            host.strip_prefix('[')
                .and_then(|it| it.strip_suffix(']'))
                .unwrap_or(host),
            port,
        )
    }

    /// The parameters of the query, decoded.
    pub fn parameters(&self) -> BTreeMap<String, Vec<String>> {
        let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let decode =
            |text: &str| unescaped(&text.replace('+', " ")).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        for pair in self
            .query
            .split('&')
            .filter(|pair| !pair.is_empty() && !pair.contains(';'))
        {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if let (Ok(key), Ok(value)) = (decode(key), decode(value)) {
                out.entry(key).or_default().push(value);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::Url;

    #[test]
    fn the_parts_of_a_url() {
        let url = Url::parse("HTTPS://me:pw@Host.example:8443/a%20b?x=1&y=%32#end").unwrap();
        assert_eq!(url.scheme, "https");
        assert_eq!(url.user.as_deref(), Some("me:pw"));
        assert_eq!(url.split_host(), ("Host.example", "8443"));
        assert_eq!((url.path.as_str(), url.fragment.as_str()), ("/a%20b", "end"));
        assert_eq!(url.parameters()["y"], ["2"]);
    }

    #[test]
    fn errors_are_those_of_go() {
        let why = |text| Url::parse(text).unwrap_err();
        assert_eq!(
            why("https://a:b"),
            "parse \"https://a:b\": invalid port \":b\" after host"
        );
        assert_eq!(why("://a"), "parse \"://a\": missing protocol scheme");
        assert!(Url::parse("").is_ok());
        assert_eq!(Url::check_request("").unwrap_err(), "parse \"\": empty url");
        for (text, names_host) in [
            ("ftp://a", true),
            ("http:/a", false),
            ("http://a#b", false),
            ("a:b", false),
        ] {
            assert_eq!(Url::names_host(text), names_host, "{text}");
        }
        assert!(
            Url::check_request("a")
                .unwrap_err()
                .ends_with("invalid URI for request")
        );
    }
}
