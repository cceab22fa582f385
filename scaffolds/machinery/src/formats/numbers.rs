//! Formats with a fixed number of digits and letters: identifiers, check digits, colours, base 64.

use super::matches;
use crate::pattern::Pattern;
use std::sync::OnceLock;

/// A UUID of any version, with or without hyphens.
pub fn is_uuid(text: &str) -> bool {
    static COMPILED: OnceLock<Option<Pattern>> = OnceLock::new();
    matches(
        "^[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}$",
        &COMPILED,
        text,
    )
}

/// A UUID of one version. With `variant`, it must also have the variant of RFC 4122.
pub(super) fn is_uuid_of(text: &str, version: char, variant: bool) -> bool {
    let digits: Vec<char> = text.chars().filter(|c| *c != '-').collect();
    is_uuid(text)
        && digits.get(12) == Some(&version)
        && (!variant || digits.get(16).is_some_and(|c| "89abAB".contains(*c)))
}

fn without_blanks(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, '\t' | '\n' | '\u{c}' | '\r' | ' ' | '-'))
        .collect()
}

/// The value of each character, if all are digits.
fn digits(text: &str) -> Option<Vec<u32>> {
    text.chars().map(|c| c.to_digit(10)).collect()
}

pub(super) fn is_isbn10(text: &str) -> bool {
    let text = without_blanks(text);
    let (first, check) = match text.char_indices().nth(9) {
        Some((at, 'X')) if text.len() == 10 => (text.get(..at), Some(10)),
        Some((at, c)) if text.len() == 10 => (text.get(..at), c.to_digit(10)),
        _ => return false,
    };
    match (first.and_then(digits), check) {
        (Some(first), Some(check)) => {
            let sum: u32 = first.iter().zip(1..).map(|(digit, place)| digit * place).sum();
            (sum + 10 * check).is_multiple_of(11)
        }
        _ => false,
    }
}

pub(super) fn is_isbn13(text: &str) -> bool {
    let digits = digits(&without_blanks(text)).filter(|digits| digits.len() == 13);
    digits.is_some_and(|digits| {
        let sum: u32 = digits.iter().zip([1, 3].into_iter().cycle()).map(|(a, b)| a * b).sum();
        sum.is_multiple_of(10)
    })
}

/// Characters other than digits are removed first.
pub(super) fn is_credit_card(text: &str) -> bool {
    static COMPILED: OnceLock<Option<Pattern>> = OnceLock::new();
    const ISSUERS: &str = concat!(
        "^(4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9]{2})[0-9]{12}|3[47][0-9]{13}",
        "|3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35[0-9]{3})[0-9]{11})$"
    );
    let text: String = text.chars().filter(char::is_ascii_digit).collect();
    let sum: u32 = digits(&text)
        .into_iter()
        .flatten()
        .rev()
        .zip([false, true].into_iter().cycle())
        .map(|(digit, doubled)| match (doubled, digit * 2) {
            (false, _) => digit,
            (true, twice) => twice / 10 + twice % 10,
        })
        .sum();
    matches(ISSUERS, &COMPILED, &text) && sum.is_multiple_of(10)
}

/// Eleven characters, so both separators are required.
pub(super) fn is_social_security(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    matches!(
        shape.as_str(),
        "000-00-0000" | "000 00-0000" | "000-00 0000" | "000 00 0000"
    )
}

pub(super) fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// `rgb(0, 128, 255)`.
pub(super) fn is_rgb_color(text: &str) -> bool {
    static COMPILED: OnceLock<Option<Pattern>> = OnceLock::new();
    const PART: &str = concat!(
        r"^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])",
        r"(\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])){2}\s*\)$"
    );
    matches(PART, &COMPILED, text)
}

/// At least one group of four characters, with padding.
pub fn is_base64(text: &str) -> bool {
    let body = text.strip_suffix("==").or(text.strip_suffix('=')).unwrap_or(text);
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'+' || b == b'/';
    !text.is_empty() && text.len().is_multiple_of(4) && body.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_are_verified() {
        assert!(is_isbn10("1-61729-085-8") && is_isbn10("3 401 01319 X") && !is_isbn10("1-61729-085-7"));
        assert!(is_isbn13("978-0321751041") && !is_isbn13("978-0321751042"));
        assert!(is_credit_card("4220-8554-2622-2389") && !is_credit_card("4220855426213389"));
        assert!(is_base64("YQ==") && is_base64("YWI=") && is_base64("YWJj"));
        assert!(!is_base64("") && !is_base64("YQ=") && !is_base64("Y===") && !is_base64("YWJjZ"));
    }
}
