//! The named formats: names and labels of Kubernetes, and some formats of the web.

use super::url;
use crate::language::value::Val;
use kubewright_machinery::formats::{numbers, time};
use kubewright_machinery::{
    labels,
    names::{self, Unit},
};

/// A format by which texts can be validated.
#[derive(Debug)]
pub(in crate::language) struct NamedFormat {
    pub(in crate::language) name: &'static str,
    /// The length of its regular expression, real or assumed, which determines the cost of validation.
    pub(in crate::language) regex: f64,
    check: fn(&str) -> Vec<String>,
}

/// The formats by the names of their functions; the sizes are from apiserver's `format.go`.
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
            check: |text| unless(numbers::is_uuid(text), "does not match the UUID format"),
        },
    ),
    (
        "byte",
        NamedFormat {
            name: "byte",
            regex: 84.0,
            check: |text| unless(numbers::is_base64(text), "invalid base64"),
        },
    ),
    (
        "date",
        NamedFormat {
            name: "date",
            regex: 71.0,
            check: |text| unless(time::is_date(text), "invalid date"),
        },
    ),
    (
        "datetime",
        NamedFormat {
            name: "datetime",
            regex: 71.0,
            check: |text| unless(time::is_date_time(text), "invalid datetime"),
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
