//! The named formats: names and labels of Kubernetes, and some formats of the web.

use super::url;
use crate::cel::value::{Val, moment};
use kubewright_machinery::{
    labels,
    names::{self, Unit},
};

/// A format by which texts can be validated.
#[derive(Debug)]
pub(in crate::cel) struct NamedFormat {
    pub(in crate::cel) name: &'static str,
    /// The length of its regular expression, real or assumed, which determines the cost of validation.
    pub(in crate::cel) regex: f64,
    check: fn(&str) -> Vec<String>,
}

/// The formats by the names of their functions; the sizes are those of apiserver's `format.go`.
static FORMATS: [(&str, NamedFormat); 13] = [
    (
        "dns1123Label",
        NamedFormat {
            name: "DNS1123Label",
            regex: 30.0,
            check: |text| names::label(text, Unit::Bytes),
        },
    ),
    (
        "dns1123Subdomain",
        NamedFormat {
            name: "DNS1123Subdomain",
            regex: 60.0,
            check: |text| names::subdomain(text, Unit::Bytes),
        },
    ),
    (
        "dns1035Label",
        NamedFormat {
            name: "DNS1035Label",
            regex: 30.0,
            check: |text| names::label_1035(text, Unit::Bytes),
        },
    ),
    (
        "qualifiedName",
        NamedFormat {
            name: "QualifiedName",
            regex: 60.0,
            check: labels::key,
        },
    ),
    (
        "dns1123LabelPrefix",
        NamedFormat {
            name: "DNS1123LabelPrefix",
            regex: 30.0,
            check: |text| names::label(&names::as_prefix(text), Unit::Bytes),
        },
    ),
    (
        "dns1123SubdomainPrefix",
        NamedFormat {
            name: "DNS1123SubdomainPrefix",
            regex: 60.0,
            check: |text| names::subdomain(&names::as_prefix(text), Unit::Bytes),
        },
    ),
    (
        "dns1035LabelPrefix",
        NamedFormat {
            name: "DNS1035LabelPrefix",
            regex: 30.0,
            check: |text| names::label_1035(&names::as_prefix(text), Unit::Bytes),
        },
    ),
    (
        "labelValue",
        NamedFormat {
            name: "LabelValue",
            regex: 40.0,
            check: labels::value,
        },
    ),
    (
        "uri",
        NamedFormat {
            name: "URI",
            regex: 1103.0,
            check: |text| url::trouble(text).into_iter().collect(),
        },
    ),
    (
        "uuid",
        NamedFormat {
            name: "uuid",
            regex: 70.0,
            check: |text| unless(is_uuid(text), "does not match the UUID format"),
        },
    ),
    (
        "byte",
        NamedFormat {
            name: "byte",
            regex: 84.0,
            check: |text| unless(is_base64(text), "invalid base64"),
        },
    ),
    (
        "date",
        NamedFormat {
            name: "date",
            regex: 71.0,
            check: |text| unless(moment::date(text).is_some(), "invalid date"),
        },
    ),
    (
        "datetime",
        NamedFormat {
            name: "datetime",
            regex: 71.0,
            check: |text| unless(is_date_time(text), "invalid datetime"),
        },
    ),
];

pub(super) fn named(name: &str) -> Option<&'static NamedFormat> {
    FORMATS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, format)| format)
}

/// The errors of a text, as an optional.
pub(super) fn validate<'a>(format: &NamedFormat, text: &str) -> Val<'a> {
    let troubles = (format.check)(text);
    if troubles.is_empty() {
        return Val::Optional(None);
    }
    Val::list(troubles.into_iter().map(Val::text).collect()).some()
}

fn unless(valid: bool, trouble: &str) -> Vec<String> {
    if valid { Vec::new() } else { vec![trouble.to_owned()] }
}

/// A UUID, with or without hyphens.
fn is_uuid(text: &str) -> bool {
    let mut rest = text;
    for (index, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        match rest.get(..length) {
            Some(digits) if digits.bytes().all(|c| c.is_ascii_hexdigit()) => rest = &rest[length..],
            _ => return false,
        }
    }
    rest.is_empty()
}

fn is_base64(text: &str) -> bool {
    let padding = text.bytes().rev().take_while(|c| *c == b'=').count();
    let body = &text[..text.len() - padding];
    !body.is_empty()
        && text.len().is_multiple_of(4)
        && padding <= 2
        && body
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'/'))
}

/// A date and time, with letters in either case; hours, minutes and seconds have to be in range, the zone does not.
fn is_date_time(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else {
        return false;
    };
    let bytes = time.as_bytes();
    let digits = |range: std::ops::Range<usize>| bytes.get(range).is_some_and(|it| it.iter().all(u8::is_ascii_digit));
    let clock =
        digits(0..2) && digits(3..5) && digits(6..8) && bytes.get(2) == Some(&b':') && bytes.get(5) == Some(&b':');
    if !clock
        || moment::date(date).is_none()
        || time.get(..2) > Some("23")
        || time.get(3..5) > Some("59")
        || time.get(6..8) > Some("59")
    {
        return false;
    }
    let mut rest = time.get(8..).unwrap_or_default();
    // The server's pattern allows any character before the decimals.
    if let Some(after) = rest.char_indices().nth(1).map(|(at, _)| &rest[at..]) {
        let count = after.bytes().take_while(u8::is_ascii_digit).count();
        if count > 0 && !rest.starts_with(['+', '-']) {
            rest = &after[count..];
        }
    }
    let zone = rest.strip_prefix(['+', '-']).map(str::as_bytes);
    rest == "z"
        || zone.is_some_and(|it| matches!(it, [a, b, b':', c, d] if [a, b, c, d].iter().all(|it| it.is_ascii_digit())))
}
