//! Parameters have names: no function takes several values as a tuple.

use crate::source::files_of;
use crate::{CRATES, repository};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The functions that destructure a tuple among their parameters.
fn hiding(tokens: TokenStream) -> Vec<String> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    for (at, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) => found.extend(hiding(group.stream())),
            TokenTree::Ident(word) if word == "fn" => {
                let parameters = parameters(&trees[at..]).map(|list| list.into_iter().collect::<Vec<_>>());
                if let (Some(TokenTree::Ident(name)), Some(list)) = (trees.get(at + 1), parameters)
                    && list.windows(2).any(|pair| is_tuple(&pair[0]) && is(&pair[1], ':'))
                {
                    found.push(name.to_string());
                }
            }
            _ => {}
        }
    }
    found
}

/// The tokens between the parentheses after a function's name and generics.
fn parameters(function: &[TokenTree]) -> Option<TokenStream> {
    let mut depth = 0;
    for (at, tree) in function.iter().enumerate() {
        match tree {
            TokenTree::Group(group) if depth == 0 => {
                return (group.delimiter() == Delimiter::Parenthesis).then(|| group.stream());
            }
            tree if is(tree, '<') => depth += 1,
            // The `>` of `->` closes nothing.
            tree if is(tree, '>') && !is(&function[at - 1], '-') => depth -= 1,
            _ => {}
        }
    }
    None
}

fn is(tree: &TokenTree, char: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == char)
}

fn is_tuple(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis && !group.stream().is_empty())
}

#[test]
fn functions_take_no_tuples() {
    for (src, _) in CRATES {
        let files = files_of(&repository().join(src));
        let found = files.iter().flat_map(|(file, text)| {
            let functions = hiding(text.parse().expect("the file is Rust"));
            functions
                .into_iter()
                .map(move |function| format!("{src}/{file}: {function}"))
        });
        let found: Vec<_> = found.collect();
        assert!(
            found.is_empty(),
            "name these parameters, or a struct of them:\n{}",
            found.join("\n")
        );
    }
}

#[test]
fn a_tuple_among_parameters_is_found() {
    let hiding = |text: &str| hiding(text.parse().unwrap());
    assert_eq!(hiding("fn f(a: u8, (b, c): (u8, u8)) {}"), ["f"]);
    assert_eq!(
        hiding("impl S { fn g<F: Fn(u8) -> u8>(&self, (a, _): &(u8, F)) {} }"),
        ["g"]
    );
    assert_eq!(
        hiding("fn f(a: (u8, u8), b: HashMap<u8, (u8, u8)>, (): &()) { let (a, b): (u8, u8) = a; }"),
        [""; 0]
    );
}
