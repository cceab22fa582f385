//! The tokens of label selectors. Symbols are as long as possible, but `>=` is two of them, `==` one.

use std::{iter::Peekable, str::CharIndices};

/// One token; error messages quote its text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Token<'a> {
    /// Any run of characters that are neither white space nor symbols, including `in` and `notin`.
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

/// Returns the tokens of a text; [`Token::End`] repeatedly at its end.
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

    /// The next token, without consuming it.
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
