//! Parses the values of literals.

use super::ast::Literal;
use super::lex::{Lexeme, Token};
use std::sync::Arc;

/// The value of a literal's token; `minus` if it has a minus sign. The error is the server's message.
pub(super) fn value(lexeme: &Lexeme, minus: bool) -> Result<Literal, &'static str> {
    let text = lexeme.text.as_str();
    let signed = |text: &str| if minus { format!("-{text}") } else { text.to_owned() };
    match lexeme.token {
        Token::Int => {
            let parsed = match text.strip_prefix("0x") {
                Some(hex) => i64::from_str_radix(&signed(hex), 16),
                None => signed(text).parse(),
            };
            parsed.map(Literal::Int).map_err(|_| "invalid int literal")
        }
        Token::Uint => {
            let text = &text[..text.len() - 1];
            let parsed = match text.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16),
                None => text.parse(),
            };
            parsed.map(Literal::Uint).map_err(|_| "invalid uint literal")
        }
        Token::Float => match signed(text).parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Literal::Double(number)),
            _ => Err("invalid double literal"),
        },
        Token::Bytes => Ok(Literal::Bytes(unescape(&text[1..], true)?.into())),
        _ => {
            let bytes = unescape(text, false)?;
            let text = String::from_utf8(bytes).map_err(|_| "invalid unicode code point")?;
            Ok(Literal::String(text.into()))
        }
    }
}

fn unescape(quoted: &str, bytes: bool) -> Result<Vec<u8>, &'static str> {
    // Every kind of line break becomes LF.
    let quoted = quoted.replace("\r\n", "\n").replace('\r', "\n");
    let raw = quoted.starts_with(['r', 'R']);
    let text = if raw { &quoted[1..] } else { quoted.as_str() };
    let triple = text.len() >= 6 && (text.starts_with("'''") || text.starts_with("\"\"\""));
    let marks = if triple { 3 } else { 1 };
    let inner = text
        .get(marks..text.len().saturating_sub(marks))
        .ok_or("unable to unescape string")?;
    if raw {
        return Ok(inner.as_bytes().to_vec());
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        if c == '\\' {
            escaped(&mut rest, bytes, &mut out)?;
        } else {
            push(c, &mut out);
        }
    }
    Ok(out)
}

fn push(c: char, out: &mut Vec<u8>) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn escaped(rest: &mut std::str::Chars<'_>, bytes: bool, out: &mut Vec<u8>) -> Result<(), &'static str> {
    const FAILED: &str = "unable to unescape string";
    let kind = rest.next().ok_or(FAILED)?;
    let plain = match kind {
        'a' => Some(0x07),
        'b' => Some(0x08),
        'f' => Some(0x0c),
        'n' => Some(b'\n'),
        'r' => Some(b'\r'),
        't' => Some(b'\t'),
        'v' => Some(0x0b),
        '\\' | '\'' | '"' | '`' | '?' => u8::try_from(kind).ok(),
        _ => None,
    };
    if let Some(plain) = plain {
        out.push(plain);
        return Ok(());
    }
    let (count, radix, mut code) = match kind {
        'x' | 'X' => (2, 16, 0),
        'u' if !bytes => (4, 16, 0),
        'U' if !bytes => (8, 16, 0),
        '0'..='3' => (2, 8, kind.to_digit(8).unwrap_or_default()),
        _ => return Err(FAILED),
    };
    for _ in 0..count {
        let digit = rest.next().and_then(|c| c.to_digit(radix)).ok_or(FAILED)?;
        code = code.wrapping_mul(radix).wrapping_add(digit);
    }
    match u8::try_from(code) {
        Ok(byte) if bytes => out.push(byte),
        _ => push(char::from_u32(code).ok_or("invalid unicode code point")?, out),
    }
    Ok(())
}

impl From<&str> for Literal {
    fn from(text: &str) -> Self {
        Self::String(Arc::from(text))
    }
}
