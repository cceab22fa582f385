//! Makes untrusted text safe to print and to write into code: terminal control characters and invisible characters are
//! escaped.

use std::fmt::Write as _;

/// Whether a character is visible and has no other effect: no control character, line separator, change of text
/// direction, or invisible mark.
pub fn is_printable(c: char) -> bool {
    let hidden = matches!(
        c,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    );
    !c.is_control() && !hidden
}

/// The text with all other characters escaped as in JSON, so that it is one line, and has the same meaning in a JSON string.
pub fn printable(text: &str) -> String {
    escaped(text, |_| false)
}

/// The same, except for line feeds and tabs.
pub fn printable_lines(text: &str) -> String {
    escaped(text, |c| ['\n', '\t'].contains(&c))
}

fn escaped(text: &str, kept: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_printable(c) || kept(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(out, "\\u{unit:04x}");
            }),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_control_characters_are_escaped() {
        let attack = "a\u{1b}]0;x\u{7}b\r\n\u{9b}2J\u{202e}c\u{e0041}";
        assert_eq!(printable(attack), r"a\u001b]0;x\u0007b\r\n\u009b2J\u202ec\udb40\udc41");
        assert_eq!(printable_lines("a\n\tb\r\n"), "a\n\tb\\r\n");
        let text = "Zoë, 日本語 – “q” 👍";
        assert_eq!(printable(text), text);
    }

    #[test]
    fn the_escaped_text_has_the_same_meaning_in_json() {
        let attack = "\u{9b}\u{202e}\u{e0041}\u{1b}";
        let json = printable(&serde_json::to_string(attack).unwrap());
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), attack);
    }
}
