//! Finds a value in JSON text without decoding the rest. The text is assumed to be JSON: if it is not, the result is
//! `None` or wrong, and the parser that reads the text afterwards reports the error.

use std::ops::Range;

/// A position in a text.
pub(crate) struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text: text.as_bytes(),
            at: 0,
        }
    }

    /// From the start of an object to the start of the value of its member `name`.
    pub(crate) fn enter(&mut self, name: &str) -> Option<()> {
        self.expect(b'{')?;
        while self.peek()? == b'"' {
            let key = self.value()?;
            self.expect(b':')?;
            if &self.text[key.start + 1..key.end - 1] == name.as_bytes() {
                return Some(());
            }
            self.value()?;
            if self.peek()? == b',' {
                self.at += 1;
            }
        }
        None
    }

    /// Skips the value that starts here, and returns its range.
    pub(crate) fn value(&mut self) -> Option<Range<usize>> {
        let (first, start) = (self.peek()?, self.at);
        match first {
            b'"' => self.string()?,
            b'{' | b'[' => self.nested()?,
            _ => {
                while !matches!(
                    self.text.get(self.at)?,
                    b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t'
                ) {
                    self.at += 1;
                }
            }
        }
        Some(start..self.at)
    }

    fn nested(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.text.get(self.at)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn string(&mut self) -> Option<()> {
        loop {
            self.at += 1;
            match self.text.get(self.at)? {
                b'"' => break,
                b'\\' => self.at += 1,
                _ => {}
            }
        }
        self.at += 1;
        Some(())
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        while matches!(self.text.get(self.at)?, b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
        Some(self.text[self.at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(text: &'a str, path: &[&str]) -> Option<&'a str> {
        let mut scan = Scan::new(text);
        path.iter().try_for_each(|name| scan.enter(name))?;
        scan.value().map(|range| &text[range])
    }

    #[test]
    fn a_value_is_found_after_any_other_member() {
        let text = r#" { "a" : {"metadata": 1}, "b":[{"x":"]}\"\\"},2.5e3 ], "c":null,"metadata" : { "name":"\\", "m":["ä}", {"x":{}}] } } "#;
        assert_eq!(found(text, &["metadata", "m"]), Some(r#"["ä}", {"x":{}}]"#));
        assert_eq!(found(text, &["metadata", "name"]), Some(r#""\\""#));
        assert_eq!(found(text, &["a", "metadata"]), Some("1"));
        assert_eq!(
            (found(text, &["b"]), found(text, &["c"])),
            (Some(r#"[{"x":"]}\"\\"},2.5e3 ]"#), Some("null"))
        );
    }

    #[test]
    fn an_absent_value_is_not_found() {
        for text in [
            r#"{"metadata":{}}"#,
            r#"{"metadata":[]}"#,
            r#"{"data":{"m":1}}"#,
            "[]",
            "1",
            "",
            "{",
            r#"{"metadata"#,
            r#"{"metadata":{"m":[1"#,
            r#"{"metadata":{"m":"a"#,
        ] {
            assert_eq!(found(text, &["metadata", "m"]), None, "{text}");
        }
    }
}
