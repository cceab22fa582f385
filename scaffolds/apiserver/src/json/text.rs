//! Texts in JSON: escapes, and what Go makes of invalid UTF-8.

use super::{JsonReader, Read, end, invalid};

impl JsonReader<'_> {
    pub(super) fn string(&mut self) -> Read<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let start = self.at;
            while self
                .peek()
                .is_some_and(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\')
            {
                self.at += 1;
            }
            out.push_str(&String::from_utf8_lossy(
                self.text.get(start..self.at).unwrap_or_default(),
            ));
            match self.peek().ok_or_else(end)? {
                b'"' => {
                    self.at += 1;
                    return Ok(out);
                }
                b'\\' => {
                    self.at += 1;
                    out.push(self.escape()?);
                }
                byte => return Err(invalid(byte, "in string literal")),
            }
        }
    }

    fn escape(&mut self) -> Read<char> {
        let byte = self.here();
        let plain = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(invalid(byte, "in string escape code")),
        };
        self.at += 1;
        Ok(plain)
    }

    /// Half of a surrogate pair becomes U+FFFD.
    fn unicode(&mut self) -> Read<char> {
        let first = self.hex()?;
        if !(0xd800..0xdc00).contains(&first) || self.text.get(self.at..self.at + 2) != Some(b"\\u") {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let before = self.at;
        self.at += 2;
        let second = self.hex()?;
        if (0xdc00..0xe000).contains(&second) {
            let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        self.at = before;
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hex(&mut self) -> Read<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let byte = self.here();
            let digit = char::from(byte).to_digit(16);
            code = code * 16 + digit.ok_or_else(|| invalid(byte, "in \\u hexadecimal character escape"))?;
            self.at += 1;
        }
        Ok(code)
    }
}
