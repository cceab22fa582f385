//! The formats of strings that the server validates, each as the server's Go library does. The server ignores all others.

mod internet;
mod mail;
pub mod numbers;
pub mod time;
mod uri;

use crate::go;
use crate::names;
use crate::pattern::Pattern;
use std::sync::OnceLock;

type Check = fn(&str) -> bool;

/// Name, without dashes, and check (k8s.io/kube-openapi, pkg/validation/strfmt).
const OF_STRINGS: [(&str, Check); 26] = [
    ("bsonobjectid", |text| {
        text.len() == 24 && text.bytes().all(|b| b.is_ascii_hexdigit())
    }),
    ("uri", uri::is_request_uri),
    ("email", mail::is_address),
    ("hostname", internet::is_hostname),
    ("ipv4", internet::is_ipv4),
    ("ipv6", internet::is_ipv6),
    ("cidr", internet::is_cidr),
    ("mac", internet::is_mac),
    ("uuid", numbers::is_uuid),
    ("uuid3", |text| numbers::is_uuid_of(text, '3', false)),
    ("uuid4", |text| numbers::is_uuid_of(text, '4', true)),
    ("uuid5", |text| numbers::is_uuid_of(text, '5', true)),
    ("isbn", |text| numbers::is_isbn10(text) || numbers::is_isbn13(text)),
    ("isbn10", numbers::is_isbn10),
    ("isbn13", numbers::is_isbn13),
    ("creditcard", numbers::is_credit_card),
    ("ssn", numbers::is_social_security),
    ("hexcolor", numbers::is_hex_color),
    ("rgbcolor", numbers::is_rgb_color),
    ("byte", numbers::is_base64),
    ("password", |_| true),
    ("date", time::is_date),
    ("duration", |text| go::loose_duration(text).is_some()),
    ("datetime", time::is_date_time),
    ("k8sshortname", |text| text.len() <= 63 && names::is_label(text)),
    ("k8slongname", |text| text.len() <= 253 && names::is_subdomain(text)),
];

/// A format that the server supports.
#[derive(Clone, Debug, PartialEq)]
pub struct Format {
    /// The name as the schema spells it.
    pub name: String,
    check: Option<usize>,
}

impl Format {
    /// The format of that name, if the type has one; a schema without a type counts as string.
    pub fn known(kind: &str, name: &str) -> Option<Self> {
        let plain = name.replace('-', "");
        let check = match kind {
            "" | "string" => Some(OF_STRINGS.iter().position(|(known, _)| *known == plain)?),
            "integer" if ["int32", "int64"].contains(&name) => None,
            "number" if ["float", "double"].contains(&name) => None,
            _ => return None,
        };
        Some(Self {
            name: name.to_owned(),
            check,
        })
    }

    /// The format of that name, for any type. Every text fits a format that the server does not support.
    pub fn any(name: &str) -> Option<Self> {
        let plain = name.replace('-', "");
        (!name.is_empty()).then(|| Self {
            name: name.to_owned(),
            check: OF_STRINGS.iter().position(|(known, _)| *known == plain),
        })
    }

    /// Whether this is a format of strings.
    pub fn is_of_texts(&self) -> bool {
        self.check.is_some()
    }

    /// Whether `text` has this format. Every text fits the formats of numbers.
    pub fn fits(&self, text: &str) -> bool {
        self.check
            .and_then(|at| OF_STRINGS.get(at))
            .is_none_or(|(_, check)| check(text))
    }
}

/// Whether `text` matches a built-in pattern, which is compiled on its first use.
fn matches(pattern: &'static str, compiled: &OnceLock<Option<Pattern>>, text: &str) -> bool {
    compiled
        .get_or_init(|| Pattern::new(pattern).ok())
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text))
}
