//! Splits Rust source into words, string literals and punctuation marks, each with its line. Comments are left out. Text that is not Rust
//! is split too, without errors.

/// A piece of source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Piece<'s> {
    /// A name, a keyword or a number. A raw name, such as `r#type`, is no keyword.
    Word(&'s str),
    /// A string or a character, with its quotes.
    Literal(&'s str),
    Mark(char),
}

/// The pieces of a file, each with its line, counted from 1.
pub(super) fn pieces(source: &str) -> Vec<(usize, Piece<'_>)> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(first) = rest.chars().next() {
        let (piece, length) = next(rest, first);
        if let Some(piece) = piece {
            found.push((line, piece));
        }
        // `next` returns at least the length of the first character, and at most the length of `rest`.
        let (taken, left) = rest.split_at(length);
        line += taken.matches('\n').count();
        rest = left;
    }
    found
}

/// The piece at the start of `rest`, if there is one, and its length in bytes.
fn next(rest: &str, first: char) -> (Option<Piece<'_>>, usize) {
    if rest.starts_with("//") {
        return (None, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (None, block_comment(rest));
    }
    let literal = |length| (Some(Piece::Literal(&rest[..length])), length);
    if let Some(length) = raw_string(rest) {
        return literal(length);
    }
    match first {
        '"' => literal(string(rest)),
        '\'' => match character(rest) {
            Some(length) => literal(length),
            // A lifetime: its name is the next word.
            None => (Some(Piece::Mark('\'')), 1),
        },
        _ if is_word(first) => {
            let start = raw_name(rest);
            let length = rest[start..].find(|c| !is_word(c)).map_or(rest.len(), |at| start + at);
            (Some(Piece::Word(&rest[..length])), length)
        }
        _ if first.is_whitespace() => (None, first.len_utf8()),
        _ => (Some(Piece::Mark(first)), first.len_utf8()),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of `r#` before a name.
fn raw_name(rest: &str) -> usize {
    let name = rest.strip_prefix("r#").filter(|name| name.starts_with(is_word));
    name.map_or(0, |_| "r#".len())
}

/// The length of a block comment; block comments nest.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// The length of a raw string: `r"…"`, `r#"…"#`, and raw byte and C strings.
fn raw_string(rest: &str) -> Option<usize> {
    let start = ["r", "br", "cr"].into_iter().find(|start| {
        let after = rest.strip_prefix(start).map(|it| it.trim_start_matches('#'));
        after.is_some_and(|after| after.starts_with('"'))
    })?;
    let hashes = rest[start.len()..].bytes().take_while(|byte| *byte == b'#').count();
    let open = start.len() + hashes + 1;
    let close = format!("\"{}", "#".repeat(hashes));
    Some(
        rest[open..]
            .find(&close)
            .map_or(rest.len(), |at| open + at + close.len()),
    )
}

fn string(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a character literal; `None` for a lifetime.
fn character(rest: &str) -> Option<usize> {
    let mut inside = rest[1..].char_indices();
    let (_, first) = inside.next()?;
    if first == '\\' {
        let end = rest[2..].char_indices().skip(1).find(|(_, c)| *c == '\'')?;
        return Some(2 + end.0 + 1);
    }
    let (at, second) = inside.next()?;
    (second == '\'').then_some(1 + at + 1)
}

#[cfg(test)]
mod tests {
    use super::{Piece, pieces};

    #[test]
    fn the_contents_of_comments_and_strings_are_skipped() {
        let source = "a /* b /* c */ d */ // e\n'x' '\\'' '\\u{1}' 'life r#\"f\"g\"# \"h\\\"i\" b\"j\" k_1 r#type";
        let all: Vec<_> = pieces(source).into_iter().map(|(_, piece)| piece).collect();
        let words: Vec<_> = all.iter().filter(|it| matches!(it, Piece::Word(_))).collect();
        assert_eq!(
            words,
            [
                &Piece::Word("a"),
                &Piece::Word("life"),
                &Piece::Word("b"),
                &Piece::Word("k_1"),
                &Piece::Word("r#type")
            ]
        );
        assert_eq!(all.iter().filter(|it| matches!(it, Piece::Literal(_))).count(), 6);
        assert_eq!(pieces(source)[1].0, 2);
    }

    #[test]
    fn lexing_text_that_is_not_rust_terminates() {
        for source in ["'", "\"", "/*", "r#\"", "'\\", "'é", "r", "\\\"", "b'"] {
            pieces(source);
        }
    }
}
