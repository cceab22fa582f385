//! The releases of kubewright, in their order. PROJECT, the headers of generated files and the archives name them.

use super::InvalidName;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A release: three numbers and an optional pre-release, as in Semantic Versioning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    numbers: [u32; 3],
    /// `rc.1` of `0.2.0-rc.1`.
    pre: Option<String>,
}

impl Release {
    /// The release of this binary.
    pub fn own() -> Self {
        // Cargo accepts no other version, and no release of kubewright has build metadata.
        env!("CARGO_PKG_VERSION").parse().expect("cargo checks the version")
    }

    /// Whether the releases differ at most in the last number, so that each works on projects of the other.
    pub fn is_same_minor(&self, other: &Self) -> bool {
        self.numbers[..2] == other.numbers[..2]
    }
}

impl FromStr for Release {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let wrong = || InvalidName("is not a release of kubewright".to_owned());
        let (numbers, pre) = match text.split_once('-') {
            Some((numbers, pre)) => (numbers, Some(pre)),
            None => (text, None),
        };
        let numbers: Vec<u32> = numbers
            .split('.')
            .map(number)
            .collect::<Option<_>>()
            .ok_or_else(wrong)?;
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-';
        if pre.is_some_and(|pre| pre.is_empty() || pre.len() >= 40 || !pre.bytes().all(word)) {
            return Err(wrong());
        }
        Ok(Self {
            numbers: numbers.try_into().map_err(|_| wrong())?,
            pre: pre.map(str::to_owned),
        })
    }
}

/// A number of up to nine digits, without leading zeros.
fn number(text: &str) -> Option<u32> {
    let digits = text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = text == "0" || !text.starts_with('0');
    text.parse().ok().filter(|_| digits && canonical)
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        self.pre.iter().try_for_each(|pre| write!(f, "-{pre}"))
    }
}

impl PartialOrd for Release {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Release {
    /// The precedence of Semantic Versioning: a pre-release comes before its release.
    fn cmp(&self, other: &Self) -> Ordering {
        let pre = || match (&self.pre, &other.pre) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(a), Some(b)) => a.split('.').map(Word::of).cmp(b.split('.').map(Word::of)),
        };
        // Different texts of one precedence, as `rc.1` and `rc.01`, still have an order.
        let text = || self.pre.cmp(&other.pre);
        self.numbers.cmp(&other.numbers).then_with(pre).then_with(text)
    }
}

/// An identifier of a pre-release: numbers come before words.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Word<'a> {
    Number(u64),
    Text(&'a str),
}

impl<'a> Word<'a> {
    fn of(text: &'a str) -> Self {
        text.parse().map_or(Self::Text(text), Self::Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_ordered_as_in_semantic_versioning() {
        let ordered = [
            "0.1.0-alpha",
            "0.1.0-alpha.1",
            "0.1.0-alpha.beta",
            "0.1.0-rc.2",
            "0.1.0-rc.11",
            "0.1.0",
            "0.1.9",
            "0.1.10",
            "0.2.0",
            "1.0.0",
        ];
        let parsed: Vec<Release> = ordered.iter().map(|text| text.parse().unwrap()).collect();
        assert!(parsed.is_sorted_by(|a, b| a < b));
        let texts: Vec<_> = parsed.iter().map(Release::to_string).collect();
        assert_eq!(texts, ordered);
    }

    #[test]
    fn other_texts_are_no_releases() {
        for text in [
            "",
            "1",
            "1.2",
            "1.2.3.4",
            "1.2.x",
            "01.2.3",
            "1.2.3-",
            "1.2.3-a b",
            "1.2.1234567890",
            "+1.2.3",
            "1.2.3+build",
        ] {
            assert!(text.parse::<Release>().is_err(), "{text}");
        }
    }
}
