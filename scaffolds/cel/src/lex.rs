//! The lexer: splits an expression into tokens.

use super::ast::op;
use super::issue::Issues;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Token {
    Ident,
    /// An identifier in backquotes.
    EscapedIdent,
    Int,
    Uint,
    Float,
    String,
    Bytes,
    /// Operators, brackets, and the words `in`, `true`, `false`, `null`.
    Sign,
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Lexeme {
    pub(super) token: Token,
    pub(super) text: String,
    /// The start, in characters.
    pub(super) at: usize,
}

const SIGNS: [&str; 25] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*",
    "/", "%", "//",
];

/// The function and the precedence of a binary operator.
pub(super) fn binary(sign: &str) -> Option<(&'static str, u8)> {
    Some(match sign {
        "==" => (op::EQUALS, 1),
        "!=" => (op::NOT_EQUALS, 1),
        "<" => (op::LESS, 1),
        "<=" => (op::LESS_EQUALS, 1),
        ">" => (op::GREATER, 1),
        ">=" => (op::GREATER_EQUALS, 1),
        "in" => (op::IN, 1),
        "+" => (op::ADD, 2),
        "-" => (op::SUBTRACT, 2),
        "*" => (op::MULTIPLY, 3),
        "/" => (op::DIVIDE, 3),
        "%" => (op::MODULO, 3),
        _ => return None,
    })
}

/// All tokens of an expression; the last one marks the end. Text that is not a token becomes an issue.
pub(super) fn tokens(source: &str, issues: &mut Issues) -> Vec<Lexeme> {
    let chars: Vec<char> = source.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        let (token, length) = match rest[0] {
            '\t' | ' ' | '\r' | '\n' | '\u{c}' => (None, 1),
            '/' if rest.get(1) == Some(&'/') => (None, rest.iter().position(|c| *c == '\n').unwrap_or(rest.len())),
            _ => match next(rest) {
                Some((token, length)) => (Some(token), length),
                None => {
                    let bad = unknown(rest);
                    let text: String = rest[..bad].iter().collect();
                    let text = text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
                    issues.add(Some(at), format!("Syntax error: token recognition error at: '{text}'"));
                    (None, bad)
                }
            },
        };
        if let Some(token) = token {
            out.push(Lexeme {
                token,
                text: rest[..length].iter().collect(),
                at,
            });
        }
        at += length;
    }
    out.push(Lexeme {
        token: Token::End,
        text: "<EOF>".to_owned(),
        at: chars.len(),
    });
    out
}

/// The number of characters to skip where no token starts. A string without closing quotes is skipped to the end of its line.
fn unknown(rest: &[char]) -> usize {
    let quote = rest.iter().take(3).position(|c| matches!(c, '"' | '\''));
    let opens = quote.is_some_and(|at| rest[..at].iter().all(|c| matches!(c, 'r' | 'R' | 'b' | 'B')));
    if !opens {
        return if matches!(rest[0], '&' | '|' | '=') && rest.len() > 1 {
            2
        } else {
            1
        };
    }
    let from = quote.unwrap_or_default() + 1;
    let mut at = from;
    while at < rest.len() && rest[at] != '\n' && rest[at] != '\r' {
        if rest[at] == '\\' && escape(&rest[at..]).is_none() {
            // The server's lexer stops at the first character that cannot continue the escape sequence.
            return (at + 2).min(rest.len());
        }
        at += if rest[at] == '\\' {
            escape(&rest[at..]).unwrap_or(1)
        } else {
            1
        };
    }
    (at + 1).min(rest.len())
}

fn next(rest: &[char]) -> Option<(Token, usize)> {
    if let Some(found) = text(rest) {
        return Some(found);
    }
    let c = rest[0];
    if c.is_ascii_alphabetic() || c == '_' {
        let length = run(rest, |c| c.is_ascii_alphanumeric() || c == '_');
        let word: String = rest[..length].iter().collect();
        let sign = matches!(word.as_str(), "in" | "true" | "false" | "null");
        return Some((if sign { Token::Sign } else { Token::Ident }, length));
    }
    if c.is_ascii_digit() || (c == '.' && rest.get(1).is_some_and(char::is_ascii_digit)) {
        return Some(number(rest));
    }
    if c == '`' {
        let inner = run(&rest[1..], |c| {
            c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ' ')
        });
        return (inner > 0 && rest.get(inner + 1) == Some(&'`')).then_some((Token::EscapedIdent, inner + 2));
    }
    let sign = SIGNS
        .iter()
        .find(|sign| sign.chars().eq(rest.iter().copied().take(sign.len())))?;
    Some((Token::Sign, sign.len()))
}

fn run(rest: &[char], of: fn(char) -> bool) -> usize {
    rest.iter().position(|c| !of(*c)).unwrap_or(rest.len())
}

fn number(rest: &[char]) -> (Token, usize) {
    let digits = |from: usize| run(&rest[from.min(rest.len())..], |c| c.is_ascii_digit());
    let unsigned = |length: usize, token: Token| match rest.get(length) {
        Some('u' | 'U') => (Token::Uint, length + 1),
        _ => (token, length),
    };
    if rest[0] == '0' && rest.get(1) == Some(&'x') {
        let hex = run(&rest[2..], |c| c.is_ascii_hexdigit());
        if hex > 0 {
            return unsigned(2 + hex, Token::Int);
        }
    }
    let whole = digits(0);
    let mut length = whole;
    if rest.get(length) == Some(&'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    if matches!(rest.get(length), Some('e' | 'E')) {
        let sign = usize::from(matches!(rest.get(length + 1), Some('+' | '-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    if length > whole {
        (Token::Float, length)
    } else {
        unsigned(whole, Token::Int)
    }
}

/// A string or bytes literal, with its length.
fn text(rest: &[char]) -> Option<(Token, usize)> {
    let bytes = matches!(rest[0], 'b' | 'B');
    let mut at = usize::from(bytes);
    let raw = matches!(rest.get(at), Some('r' | 'R'));
    at += usize::from(raw);
    let quote = *rest.get(at).filter(|c| matches!(c, '"' | '\''))?;
    let token = if bytes { Token::Bytes } else { Token::String };
    let triple = rest
        .get(at..at + 3)
        .is_some_and(|three| three.iter().all(|c| *c == quote));
    if triple && let Some(end) = closed(&rest[at + 3..], &[quote; 3], raw) {
        return Some((token, at + 3 + end));
    }
    closed(&rest[at + 1..], &[quote], raw).map(|end| (token, at + 1 + end))
}

/// The end of the closing quotes.
fn closed(rest: &[char], quotes: &[char], raw: bool) -> Option<usize> {
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with(quotes) {
            return Some(at + quotes.len());
        }
        at += match rest[at] {
            '\n' | '\r' if quotes.len() == 1 => return None,
            '\\' if !raw => escape(&rest[at..])?,
            _ => 1,
        };
    }
    None
}

/// The length of an escape sequence.
fn escape(rest: &[char]) -> Option<usize> {
    let hex = |count: usize| {
        let digits = rest.get(2..2 + count)?;
        digits.iter().all(char::is_ascii_hexdigit).then_some(2 + count)
    };
    match rest.get(1)? {
        'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '"' | '\'' | '\\' | '?' | '`' => Some(2),
        'x' | 'X' => hex(2),
        'u' => hex(4),
        'U' => hex(8),
        '0'..='3' => rest.get(2..4)?.iter().all(|c| matches!(c, '0'..='7')).then_some(4),
        _ => None,
    }
}
