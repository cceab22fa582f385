//! The tokens of label selectors. The symbols are cut off as long as they can be: `>=` is two, `==` one.

use std::{iter::Peekable, str::CharIndices};

/// One token; its text is what error messages quote.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Token<'a> {
    /// Anything that is neither white space nor a symbol, `in` and `notin` included.
    Word(&'a str),
    /// `=`, `==`, `!=`, `!`, `<`, `>`, `(`, `)` or `,`.
    Symbol(&'a str),
    End,
}

impl<'a> Token<'a> {
    pub fn text(self) -> &'a str {
        match self {
            Self::Word(text) | Self::Symbol(text) => text,
            Self::End => "",
        }
    }

    pub fn is(self, symbol: &str) -> bool {
        self == Token::Symbol(symbol)
    }
}

/// Gives the tokens of a text; [`Token::End`] again and again at its end.
#[derive(Clone)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    rest: Peekable<CharIndices<'a>>,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            rest: text.char_indices().peekable(),
        }
    }

    pub fn next(&mut self) -> Token<'a> {
        while self.rest.next_if(|(_, found)| is_space(*found)).is_some() {}
        let Some((start, first)) = self.rest.next() else {
            return Token::End;
        };
        if is_symbol(first) {
            if matches!(first, '=' | '!') {
                self.rest.next_if(|(_, second)| *second == '=');
            }
            return Token::Symbol(self.since(start));
        }
        while self
            .rest
            .next_if(|(_, found)| !is_symbol(*found) && !is_space(*found))
            .is_some()
        {}
        Token::Word(self.since(start))
    }

    /// The next token, which stays.
    pub fn peek(&self) -> Token<'a> {
        self.clone().next()
    }

    fn since(&mut self, start: usize) -> &'a str {
        let end = self.rest.peek().map_or(self.text.len(), |(end, _)| *end);
        self.text.get(start..end).unwrap_or_default()
    }
}

fn is_space(found: char) -> bool {
    matches!(found, ' ' | '\t' | '\r' | '\n')
}

fn is_symbol(found: char) -> bool {
    matches!(found, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}
