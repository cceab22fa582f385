//! Takes the tests out of a crate's sources: a project that vendors the crate carries, compiles and reviews what it runs.

use ra_ap_rustc_lexer::{FrontmatterAllowed, TokenKind, tokenize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Removes the items with `#[cfg(test)]` or `#[cfg(all(test, …))]`, and the files of modules that are such items. `files` has the texts by
/// their paths with `/`.
///
/// # Panics
/// If the brackets of a `.rs` file do not match.
pub fn without_tests(files: &mut BTreeMap<String, String>) {
    without(files, |attribute| {
        attribute.starts_with("cfg(test)") || attribute.starts_with("cfg(all(test,")
    });
}

/// Removes the items with an attribute of which `is_off` is true, and the files of modules that are such items. Attributes are
/// passed without spaces, as `cfg(test)`.
///
/// # Panics
/// If the brackets of a `.rs` file do not match.
pub fn without(files: &mut BTreeMap<String, String>, is_off: impl Fn(&str) -> bool) {
    let mut removed = BTreeSet::new();
    for (path, text) in files.iter_mut().filter(|(path, _)| path.ends_with(".rs")) {
        let items = items_off(text, &is_off);
        removed.extend(items.iter().filter_map(|item| item.file(path)));
        *text = without_lines(text, items.into_iter().map(|item| item.lines).collect());
    }
    for module in removed {
        let (file, folder) = (format!("{module}.rs"), format!("{module}/"));
        files.retain(|path, _| *path != file && !path.starts_with(&folder));
    }
}

/// Removes a table from a manifest.
pub fn without_table(manifest: &str, header: &str) -> String {
    let mut inside = false;
    let kept = manifest.lines().filter(|line| {
        inside = if line.starts_with('[') { *line == header } else { inside };
        !inside
    });
    kept.map(|line| format!("{line}\n")).collect()
}

/// An item, field or arm that is removed.
struct ItemOff {
    /// The lines of the text, from 0, including the comments above the item.
    lines: Range<usize>,
    /// The name of a module in a file of its own.
    module: Option<String>,
    /// The `path` of that module.
    path: Option<String>,
}

impl ItemOff {
    /// The file of the module without `.rs`, for a module in `parent`.
    fn file(&self, parent: &str) -> Option<String> {
        let module = self.module.as_ref()?;
        let (folder, name) = parent.rsplit_once('/').unwrap_or_default();
        if let Some(path) = &self.path {
            return Some(format!("{folder}/{}", path.trim_end_matches(".rs")));
        }
        Some(match name {
            "lib.rs" | "main.rs" | "mod.rs" => format!("{folder}/{module}"),
            _ => format!("{}/{module}", parent.trim_end_matches(".rs")),
        })
    }
}

fn items_off(text: &str, is_off: &dyn Fn(&str) -> bool) -> Vec<ItemOff> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let start = at;
        let (mut is_removed, mut path) = (false, None);
        while let Some(end) = attribute_end(&tokens, at) {
            let words: String = tokens[at + 2..end].iter().map(|token| token.text).collect();
            is_removed |= is_off(&words);
            path = path.or_else(|| {
                words
                    .strip_prefix("path=")
                    .map(|path| path.trim_matches('"').to_owned())
            });
            at = end + 1;
        }
        if is_removed {
            let last = item_end(&tokens, at);
            let words: Vec<_> = tokens[at..=last].iter().map(|token| token.text).collect();
            let module = match words[..] {
                [.., "mod", name, ";"] => Some(name.to_owned()),
                _ => None,
            };
            found.push(ItemOff {
                lines: tokens[start].lines.start..tokens[last].lines.end,
                module,
                path,
            });
            at = last + 1;
        } else if at == start {
            at += 1;
        }
    }
    found
}

/// A token of Rust. Spaces and comments have no token.
struct Token<'a> {
    text: &'a str,
    /// The lines of the text, from 0.
    lines: Range<usize>,
    /// The place of the closing bracket, if the token is an opening one.
    end: Option<usize>,
    is_closing: bool,
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut open = Vec::new();
    let (mut rest, mut line) = (text, 0);
    for token in tokenize(text, FrontmatterAllowed::No) {
        let (text, below) = rest.split_at(token.len as usize);
        rest = below;
        let first = line;
        line += text.matches('\n').count();
        let is_closing = match token.kind {
            TokenKind::Whitespace | TokenKind::LineComment { .. } | TokenKind::BlockComment { .. } => continue,
            TokenKind::CloseBrace | TokenKind::CloseBracket | TokenKind::CloseParen => {
                let opening: usize = open.pop().expect("each closing bracket has an opening one");
                tokens[opening].end = Some(tokens.len());
                true
            }
            TokenKind::OpenBrace | TokenKind::OpenBracket | TokenKind::OpenParen => {
                open.push(tokens.len());
                false
            }
            _ => false,
        };
        tokens.push(Token {
            text,
            lines: first..line + 1,
            end: None,
            is_closing,
        });
    }
    assert!(open.is_empty(), "each opening bracket has a closing one");
    tokens
}

/// The place of the closing bracket of the attribute that begins here.
fn attribute_end(tokens: &[Token], at: usize) -> Option<usize> {
    let bracket = tokens.get(at + 1).filter(|bracket| bracket.text == "[")?;
    bracket.end.filter(|_| tokens[at].text == "#")
}

/// The place of the last token of the item, field or arm that begins here.
fn item_end(tokens: &[Token], at: usize) -> usize {
    const ITEMS: [&str; 14] = [
        "async", "const", "enum", "extern", "fn", "impl", "mod", "pub", "static", "struct", "trait", "type", "unsafe",
        "use",
    ];
    let first = tokens[at].text;
    let is_item = ITEMS.contains(&first);
    let ends_with_brace = is_item && !["const", "static", "use"].contains(&first);
    let separator = if is_item { ";" } else { "," };
    let mut last = at;
    while let Some(token) = tokens.get(last).filter(|token| !token.is_closing) {
        match token.end {
            Some(end) if ends_with_brace && token.text == "{" => return end,
            Some(end) => last = end + 1,
            None if token.text == separator => return last,
            None => last += 1,
        }
    }
    last - 1
}

/// Removes these lines, the comments above each range, and a blank line that would be left at the begin or end of a block or beside another.
fn without_lines(text: &str, ranges: Vec<Range<usize>>) -> String {
    let lines: Vec<_> = text.lines().collect();
    let is_comment = |line: &str| line.trim_start().starts_with("//") && !line.trim_start().starts_with("//!");
    let mut kept = vec![true; lines.len()];
    for range in ranges {
        let comments = lines[..range.start]
            .iter()
            .rev()
            .take_while(|line| is_comment(line))
            .count();
        kept[range.start - comments..range.end].fill(false);
        let above = (0..range.start)
            .rev()
            .find(|line| kept[*line])
            .map_or("{", |line| lines[line]);
        let below = lines.get(range.end).copied().unwrap_or_default();
        let (is_after_gap, is_before_gap) = (above.is_empty(), below.is_empty());
        if is_after_gap && (is_before_gap || below.trim_start().starts_with('}')) {
            let gap = (0..range.start).rev().find(|line| kept[*line]);
            kept[gap.expect("there is a line above")] = false;
        } else if is_before_gap && above.ends_with('{') && range.end < lines.len() {
            kept[range.end] = false;
        }
    }
    let left = lines.iter().zip(kept).filter(|(_, kept)| *kept);
    left.map(|(line, _)| format!("{line}\n")).collect()
}
