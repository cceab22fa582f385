//! The JSON of an object as the API server has sent it, on its way into the store, which packs it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;

use super::scan::Scan;

/// The longest text that takes the place of an object, in bytes. To decode longer ones at each read takes time, and they are mostly
/// long strings, which take as much memory when they are decoded.
const MOST: usize = 16 << 10;

/// The text of an object that was decoded from it.
#[derive(Debug)]
pub(crate) struct Text {
    /// The object without its `managedFields`.
    pub(super) object: Box<str>,
    /// The kept entries of `managedFields`, as JSON.
    pub(super) records: Option<String>,
    /// Its resource version.
    pub(super) version: u64,
}

impl Text {
    /// The text of an object whose `managedFields` are these. `None` if the decoded object is to be stored.
    pub(crate) fn new(object: Box<str>, records: Option<&Vec<ManagedFieldsEntry>>) -> Option<Self> {
        if object.len() > MOST {
            return None;
        }
        let version = version(&object)?;
        let records = records.map(serde_json::to_string).transpose().ok()?;
        Some(Self {
            object,
            records,
            version,
        })
    }
}

/// A resource version, in the form in which it can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResourceVersion<'a> {
    /// As API servers write it.
    Number(u64),
    /// Anything else, or none.
    Other(Option<&'a str>),
}

impl<'a> From<Option<&'a str>> for ResourceVersion<'a> {
    fn from(text: Option<&'a str>) -> Self {
        match text.and_then(canonical) {
            Some(number) => Self::Number(number),
            None => Self::Other(text),
        }
    }
}

/// The number, if it is written as Rust and Go write numbers: no other text has the same number.
fn canonical(text: &str) -> Option<u64> {
    let is_plain = !text.starts_with(['+', '0']) || text == "0";
    text.parse().ok().filter(|_| is_plain)
}

/// The value of `metadata.resourceVersion`.
fn version(object: &str) -> Option<u64> {
    let mut scan = Scan::new(object);
    scan.enter("metadata")?;
    scan.enter("resourceVersion")?;
    let value = object.get(scan.value()?)?;
    // Otherwise it is null, or a number.
    canonical(value.strip_prefix('"')?.strip_suffix('"')?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_without_a_version_and_a_long_one_are_stored_as_they_are() {
        assert!(Text::new(r#"{"metadata":{"name":"a"}}"#.into(), None).is_none());
        for version in ["null", "7", r#""""#, r#""07""#, r#""+7""#, r#""7a""#, r#""\u0037""#] {
            let text = format!(r#"{{"metadata":{{"resourceVersion":{version}}}}}"#);
            assert!(Text::new(text.into(), None).is_none(), "{version}");
        }
        let long = json!({"metadata": {"resourceVersion": "7"}, "data": {"a": "x".repeat(MOST)}}).to_string();
        assert!(Text::new(long.into(), None).is_none());
    }

    #[test]
    fn versions_are_compared_as_numbers_only_if_no_other_text_is_the_same_number() {
        assert_eq!(ResourceVersion::from(Some("7")), ResourceVersion::Number(7));
        assert_eq!(ResourceVersion::from(Some("0")), ResourceVersion::Number(0));
        for other in [None, Some("07"), Some("+7"), Some(""), Some("18446744073709551616")] {
            assert_eq!(ResourceVersion::from(other), ResourceVersion::Other(other));
        }
    }
}
