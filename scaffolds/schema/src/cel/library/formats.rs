//! Named formats: names and labels of Kubernetes, and a few of the web.

use super::url;
use crate::cel::value::{Moment, Val};

/// A format that texts can be validated against.
#[derive(Debug)]
pub(in crate::cel) struct NamedFormat {
    pub(in crate::cel) name: &'static str,
    /// How long its regular expression is, or would be: the price of validating goes by it.
    pub(in crate::cel) regex: f64,
    check: fn(&str) -> Vec<String>,
}

/// By the names of the functions that give them; sizes are those of apiserver's `format.go`.
static FORMATS: [(&str, NamedFormat); 13] = [
    (
        "dns1123Label",
        NamedFormat {
            name: "DNS1123Label",
            regex: 30.0,
            check: label_1123,
        },
    ),
    (
        "dns1123Subdomain",
        NamedFormat {
            name: "DNS1123Subdomain",
            regex: 60.0,
            check: subdomain,
        },
    ),
    (
        "dns1035Label",
        NamedFormat {
            name: "DNS1035Label",
            regex: 30.0,
            check: label_1035,
        },
    ),
    (
        "qualifiedName",
        NamedFormat {
            name: "QualifiedName",
            regex: 60.0,
            check: qualified,
        },
    ),
    (
        "dns1123LabelPrefix",
        NamedFormat {
            name: "DNS1123LabelPrefix",
            regex: 30.0,
            check: |text| label_1123(&as_prefix(text)),
        },
    ),
    (
        "dns1123SubdomainPrefix",
        NamedFormat {
            name: "DNS1123SubdomainPrefix",
            regex: 60.0,
            check: |text| subdomain(&as_prefix(text)),
        },
    ),
    (
        "dns1035LabelPrefix",
        NamedFormat {
            name: "DNS1035LabelPrefix",
            regex: 30.0,
            check: |text| label_1035(&as_prefix(text)),
        },
    ),
    (
        "labelValue",
        NamedFormat {
            name: "LabelValue",
            regex: 40.0,
            check: label_value,
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
            check: |text| unless(Moment::date(text).is_some(), "invalid date"),
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

/// What is wrong with a text, if anything is.
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

fn too_long(text: &str, most: usize) -> Option<String> {
    (text.len() > most).then(|| format!("must be no more than {most} bytes"))
}

/// What a text that gets a suffix may end in, made into what any may end in.
fn as_prefix(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let shorter: String = rest.chars().take(rest.chars().count() - 1).collect();
            shorter + "a"
        }
        _ => text.to_owned(),
    }
}

fn is_edge(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

fn is_label(text: &str) -> bool {
    text.starts_with(is_edge) && text.ends_with(is_edge) && text.chars().all(|c| is_edge(c) || c == '-')
}

/// The sentence of apimachinery's `RegexError`.
fn by_regex(what: &str, regex: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|it| format!("'{it}', ")).collect();
    format!(
        "{what} (e.g. {} regex used for validation is '{regex}')",
        examples.join(" or ").trim_end()
    )
    .replace(",  regex", ", regex")
}

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

fn label_1123(text: &str) -> Vec<String> {
    const WHAT: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
    let mut out: Vec<String> = too_long(text, 63).into_iter().collect();
    if !is_label(text) {
        out.push(if text.split('.').all(is_label) {
            "must not contain dots".to_owned()
        } else {
            by_regex(WHAT, LABEL, &["my-name", "123-abc"])
        });
    }
    out
}

fn subdomain(text: &str) -> Vec<String> {
    const WHAT: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
    let mut out: Vec<String> = too_long(text, 253).into_iter().collect();
    if !text.split('.').all(is_label) {
        out.push(by_regex(WHAT, &format!("{LABEL}(\\.{LABEL})*"), &["example.com"]));
    }
    out
}

fn label_1035(text: &str) -> Vec<String> {
    const WHAT: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
    let mut out: Vec<String> = too_long(text, 63).into_iter().collect();
    if !is_label(text) || !text.starts_with(|c: char| c.is_ascii_lowercase()) {
        out.push(by_regex(WHAT, "[a-z]([-a-z0-9]*[a-z0-9])?", &["my-name", "abc-123"]));
    }
    out
}

fn is_qualified(text: &str) -> bool {
    let edge = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(edge) && text.ends_with(edge) && text.chars().all(|c| edge(c) || matches!(c, '-' | '_' | '.'))
}

fn label_value(text: &str) -> Vec<String> {
    const WHAT: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    let mut out: Vec<String> = too_long(text, 63).into_iter().collect();
    if !text.is_empty() && !is_qualified(text) {
        out.push(by_regex(
            WHAT,
            &format!("({QUALIFIED})?"),
            &["MyValue", "my_value", "12345"],
        ));
    }
    out
}

fn qualified(text: &str) -> Vec<String> {
    const WHAT: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    let examples = ["MyName", "my.name", "123-abc"];
    let mut out = Vec::new();
    let name = match text.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                out.push("prefix part must be non-empty".to_owned());
            } else {
                out.extend(
                    subdomain(prefix)
                        .into_iter()
                        .map(|trouble| format!("prefix part {trouble}")),
                );
            }
            *name
        }
        _ => {
            let what = format!("a valid label key {WHAT}");
            let tail = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![by_regex(&what, QUALIFIED, &examples) + tail];
        }
    };
    if name.is_empty() {
        out.push("name part must be non-empty".to_owned());
    } else if let Some(long) = too_long(name, 63) {
        out.push(format!("name part {long}"));
    }
    if !is_qualified(name) {
        out.push(by_regex(&format!("name part {WHAT}"), QUALIFIED, &examples));
    }
    out
}

/// Hyphens may be left out.
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

/// Letters of either case; hours, minutes and seconds are bounded, the zone is not.
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
        || Moment::date(date).is_none()
        || time.get(..2) > Some("23")
        || time.get(3..5) > Some("59")
        || time.get(6..8) > Some("59")
    {
        return false;
    }
    let mut rest = time.get(8..).unwrap_or_default();
    // The pattern lets any character stand before the decimals.
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
