//! The type of a field, as its source writes it: a path with arguments. Everything else is text.

use super::printable::printable;
use proc_macro2::{TokenStream, TokenTree};
use std::fmt;

/// The maximum depth of arguments; deeper ones are text.
const MAX_DEPTH: usize = 8;

/// A type, such as `BTreeMap<String, Target>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RustType {
    /// Its path, or the whole text of a type that is no path.
    pub path: String,
    /// Its arguments.
    pub arguments: Vec<RustType>,
}

impl RustType {
    /// The type of that path.
    pub fn named(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            arguments: Vec::new(),
        }
    }

    /// `Option` of this type.
    pub fn optional(&self) -> Self {
        Self {
            path: "Option".to_owned(),
            arguments: vec![self.clone()],
        }
    }

    /// The type of these tokens.
    pub(super) fn of(tokens: &[TokenTree]) -> Self {
        Self::at(tokens, 0)
    }

    fn at(tokens: &[TokenTree], depth: usize) -> Self {
        let is_path = |token: &TokenTree| match token {
            TokenTree::Ident(_) => true,
            TokenTree::Punct(punct) => punct.as_char() == ':',
            _ => false,
        };
        let end = tokens.iter().position(|token| !is_path(token));
        let (path, rest) = tokens.split_at(end.unwrap_or(tokens.len()));
        let arguments = match rest {
            [] => Some(Vec::new()),
            [open, inner @ .., close] if is(open, '<') && is(close, '>') && depth < MAX_DEPTH => {
                let arguments = split(inner).into_iter();
                Some(arguments.map(|argument| Self::at(argument, depth + 1)).collect())
            }
            _ => None,
        };
        match arguments {
            Some(arguments) if !path.is_empty() => Self {
                path: path.iter().map(ToString::to_string).collect(),
                arguments,
            },
            // One line, because it gets into a comment.
            _ => Self::named(&printable(&tokens.iter().cloned().collect::<TokenStream>().to_string())),
        }
    }

    /// The last part of its path: `BTreeMap` of `std::collections::BTreeMap`.
    pub fn name(&self) -> &str {
        self.path.rsplit("::").next().unwrap_or_default()
    }

    /// Whether one of its parts is a word for which `found` returns true.
    pub fn mentions(&self, found: &dyn Fn(&str) -> bool) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        self.path.split(|c| !is_word(c)).any(found) || self.arguments.iter().any(|it| it.mentions(found))
    }
}

impl fmt::Display for RustType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        let arguments: Vec<_> = self.arguments.iter().map(ToString::to_string).collect();
        match arguments.is_empty() {
            true => Ok(()),
            false => write!(f, "<{}>", arguments.join(", ")),
        }
    }
}

fn is(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

/// The entries of a list that commas separate; commas between `<` and `>` do not.
pub(super) fn split(tokens: &[TokenTree]) -> Vec<&[TokenTree]> {
    let (mut entries, mut from, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, token) in tokens.iter().enumerate() {
        // The end of an arrow closes nothing.
        let is_arrow = at > 0 && is(&tokens[at - 1], '-');
        if is(token, '<') {
            depth += 1;
        } else if is(token, '>') && !is_arrow {
            depth = depth.saturating_sub(1);
        } else if is(token, ',') && depth == 0 {
            entries.push(&tokens[from..at]);
            from = at + 1;
        }
    }
    if from < tokens.len() {
        entries.push(&tokens[from..]);
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> RustType {
        let tokens: TokenStream = text.parse().unwrap();
        RustType::of(&tokens.into_iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_path_has_arguments_and_is_shown_as_it_is_written() {
        let text = "std::collections::BTreeMap<String, Vec<Option<r#Type>>>";
        let map = of(text);
        assert_eq!((map.name(), map.arguments.len()), ("BTreeMap", 2));
        assert_eq!(map.to_string(), text);
        assert!(map.mentions(&|word| word == "Type") && !map.mentions(&|word| word == "Typ"));
    }

    #[test]
    fn what_is_no_path_is_text_that_mentions_its_words() {
        for text in ["(u8, Target)", "[Target; 3]", "fn(u8) -> Target", "&'static Target"] {
            let other = of(text);
            assert!(
                other.arguments.is_empty() && other.mentions(&|word| word == "Target"),
                "{other}"
            );
        }
        let arrow = of("Handler<fn(u8) -> u8, Target>");
        assert_eq!(arrow.arguments.len(), 2, "{arrow}");
    }
}
