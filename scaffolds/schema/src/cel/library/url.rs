//! URLs, as Go's `net/url` parses them.

use crate::cel::value::{Fault, Key, Map, Outcome, Val};
use kubewright_machinery::go::quote;
use std::collections::BTreeMap;

/// A URL in its parts.
#[derive(Clone, Debug, Default)]
pub(in crate::cel) struct Url {
    /// As it was written.
    pub(in crate::cel) raw: String,
    scheme: String,
    host: String,
    /// Still escaped.
    path: String,
    query: String,
}

pub(super) fn is_uri(text: &str) -> bool {
    read(text, true).is_ok()
}

/// Go's error for an invalid URI.
pub(super) fn trouble(text: &str) -> Option<String> {
    read(text, true)
        .err()
        .map(|why| format!("parse {}: {why}", quote(text)))
}

pub(super) fn parse(text: &str) -> Outcome<Url> {
    let fail = |why: String| {
        Fault::new(format!(
            "URL parse error during conversion from string: parse {}: {why}",
            quote(text)
        ))
    };
    read(text, true).map_err(fail)?;
    let (bare, fragment) = text.split_once('#').unwrap_or((text, ""));
    unescaped(fragment).map_err(fail)?;
    let url = read(bare, false).map_err(fail)?;
    Ok(Url {
        raw: text.to_owned(),
        ..url
    })
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
        url.host = authority(&rest[2..end])?;
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
fn authority(text: &str) -> Result<String, String> {
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
    /// The path as it was written, if its escaping is valid.
    fn escaped_path(&self) -> String {
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

    fn split_host(&self) -> (&str, &str) {
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

    fn query(&self) -> BTreeMap<String, Vec<String>> {
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

pub(super) fn of<'a>(function: &str, url: &Url) -> Option<Outcome<Val<'a>>> {
    Some(Ok(Val::text(match function {
        "getScheme" => url.scheme.as_str(),
        "getHost" => url.host.as_str(),
        "getHostname" => url.split_host().0,
        "getPort" => url.split_host().1,
        "getEscapedPath" => return Some(Ok(Val::text(url.escaped_path()))),
        "getQuery" => {
            let entry = |(key, values): (String, Vec<String>)| {
                (Key::String(key), Val::list(values.into_iter().map(Val::text).collect()))
            };
            return Some(Ok(Val::Map(Map::own(url.query().into_iter().map(entry).collect()))));
        }
        _ => return None,
    })))
}
