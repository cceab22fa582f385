//! URLs in expressions.

use crate::language::value::{Fault, Key, Map, Outcome, Val};
use kubewright_machinery::url::Url as Parsed;

/// A URL, and its text as it was written.
#[derive(Clone, Debug)]
pub(in crate::language) struct Url {
    pub(in crate::language) raw: String,
    parsed: Parsed,
}

pub(super) fn is_uri(text: &str) -> bool {
    Parsed::check_request(text).is_ok()
}

/// Go's error for an invalid URI.
pub(super) fn trouble(text: &str) -> Option<String> {
    Parsed::check_request(text).err()
}

pub(super) fn parse(text: &str) -> Outcome<Url> {
    let parsed = Parsed::check_request(text).and_then(|()| Parsed::parse(text));
    let parsed = parsed.map_err(|why| Fault::new(format!("URL parse error during conversion from string: {why}")))?;
    Ok(Url {
        raw: text.to_owned(),
        parsed,
    })
}

pub(super) fn of<'a>(function: &str, Url { parsed: url, .. }: &Url) -> Option<Outcome<Val<'a>>> {
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
            return Some(Ok(Val::Map(Map::own(
                url.parameters().into_iter().map(entry).collect(),
            ))));
        }
        _ => return None,
    })))
}
