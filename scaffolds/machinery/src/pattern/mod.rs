//! Patterns. In the API server they are regular expressions of Go's `regexp` (RE2): no look-around, no backreferences.
//! They are parsed by Go's rules and translated for the `regex` crate, whose syntax differs in details: `\d`, `\b` and `\Q`,
//! literal braces, classes in classes.
//! No crate reads Go's syntax, and RE2 itself would need a C++ compiler.
//!
//! Not checked: whether the expression is too large for Go to compile.

mod chars;
mod names;
mod reader;

use reader::translate;
use regex::bytes::{Regex, RegexBuilder};

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// Compiles `pattern`.
    ///
    /// # Errors
    /// Go's error message; or the message of the `regex` crate, if the pattern is valid but too large for that crate.
    pub fn new(pattern: &str) -> Result<Self, String> {
        let translated = translate(pattern)?;
        let regex = RegexBuilder::new(&translated)
            .nest_limit(MOST_NESTED)
            .size_limit(MOST_BYTES)
            .build();
        regex.map(Self).map_err(|error| error.to_string())
    }

    /// Whether the pattern occurs anywhere in `text`.
    pub fn is_match(&self, text: &str) -> bool {
        if text.is_ascii() {
            return self.0.is_match(text.as_bytes());
        }
        // The `regex` crate also matches `\B` between the bytes of a character; Go does not.
        let mut found = self.0.find_iter(text.as_bytes());
        found.any(|found| text.is_char_boundary(found.start()))
    }

    /// All places where the pattern occurs in `text`, without overlaps.
    pub fn find_all<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let found = self.0.find_iter(text.as_bytes());
        // A match that starts or ends inside a character is not a match in Go.
        found.filter_map(|found| text.get(found.range()))
    }
}

/// The maximum depth of groups in Go.
const MOST_NESTED: u32 = 1000;

/// The largest size of a compiled pattern. Go's limit is of the same order, but counts instructions.
const MOST_BYTES: usize = 32 << 20;

/// Checks `pattern`; the error is Go's message.
pub fn check(pattern: &str) -> Result<(), String> {
    translate(pattern).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).unwrap().is_match(text)
    }

    #[test]
    fn patterns_match_as_in_go() {
        for (pattern, yes, no) in [
            (r"^\d+$", "123", "١٢٣"),
            (r"^\w$", "_", "é"),
            (r"^\W$", "é", "e"),
            (r"^\s$", "\u{c}", "\u{a0}"),
            (r"\bfoo\b", "éfoo!", "foo_"),
            (r"^a\B", "ab", "a-"),
            (r"^\Qa.b*\E+$", "a.b**", "aabb"),
            (r"^x{,3}$", "x{,3}", "xx"),
            (r"^[a&&b]+$", "&a", "c"),
            (r"^[[a]$", "[", "x"),
            (r"^[^[:alpha:]\d]$", "-", "1"),
            (r"^[\D]$", "a", "1"),
            (r"^\x{1F980}\101$", "🦀A", "🦀B"),
            (r"(?i)^stra(?-i:S)e$", "STRASE", "strase"),
            (r"^(?P<n>a)(?<m>b)()$", "ab", "a"),
            (r"^a|b$", "ax", "bx"),
            (r"^.$", "é", "\n"),
            (r"^[^a]$", "\n", "a"),
            (r"^\pL\p{^Lu}\P{Greek}$", "Aab", "AAb"),
            (r"^a#b c$", "a#b c", "ab"),
            (r"^\<\-\>$", "<->", "-"),
            (r"^[\x{D7FF}-\x{E000}]$", "\u{e000}", "a"),
            (r"^[^\x{D800}]$", "a", ""),
            (r"^a(?i)*b$", "aaB", "Ab"),
            (r"^\d{2}(?s)?-$", "-", "1-"),
            (r"^(ab)+(?i)?C$", "ababc", "abab"),
            (r"^a(?:b(?s)+)+(?s)*c$", "ac", "ab"),
            (r"^\Qab\E{2}(?s)?c$", "ac", "abc"),
            (r"x|\B", "é", "aéa"),
            (r"^\p{upper-case letter}\P{_lu}\p{lc}$", "Aab", "aAb"),
            (r"^\P{Cs}[\p{Surrogate}b]$", "ab", "aa"),
        ] {
            assert!(matches(pattern, yes), "{pattern} matches {yes:?}");
            assert!(!matches(pattern, no), "{pattern} does not match {no:?}");
        }
    }
}
