//! Takes the tests out of a crate's sources: a project that vendors the crate carries, compiles and reviews what it runs.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Removes the items with `#[cfg(test)]` or `#[cfg(all(test, …))]`, and the files of modules that are such items. `files` has the texts by
/// their paths with `/`.
///
/// # Panics
/// If a `.rs` file is not Rust.
pub fn without_tests(files: &mut BTreeMap<String, String>) {
    without(files, |attribute| {
        attribute.starts_with("cfg (test)") || attribute.starts_with("cfg (all (test ,")
    });
}

/// Removes the items with an attribute of which `is_off` is true, and the files of modules that are such items.
///
/// # Panics
/// If a `.rs` file is not Rust.
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
    let mut found = Vec::new();
    collect(text.parse().expect("the file is Rust"), is_off, &mut found);
    found
}

fn collect(stream: TokenStream, is_off: &dyn Fn(&str) -> bool, found: &mut Vec<ItemOff>) {
    let trees: Vec<_> = stream.into_iter().collect();
    let mut at = 0;
    while at < trees.len() {
        let start = at;
        let (mut is_removed, mut path) = (false, None);
        while let Some(attribute) = attribute(&trees[at..]) {
            is_removed |= is_off(&attribute);
            path = path.or_else(|| {
                attribute
                    .strip_prefix("path = ")
                    .map(|path| path.trim_matches('"').to_owned())
            });
            at += 2;
        }
        if is_removed {
            let end = at + length(&trees[at..]);
            let words: Vec<_> = trees[at..end].iter().map(ToString::to_string).collect();
            let is_module = matches!(&words[..], [.., keyword, _, end] if keyword == "mod" && end == ";");
            found.push(ItemOff {
                lines: trees[start].span().start().line - 1..trees[end - 1].span().end().line,
                module: is_module.then(|| words[words.len() - 2].clone()),
                path,
            });
            at = end;
            continue;
        }
        if at == start {
            if let TokenTree::Group(group) = &trees[at] {
                collect(group.stream(), is_off, found);
            }
            at += 1;
        }
    }
}

/// The text of the attribute that the trees begin with.
fn attribute(trees: &[TokenTree]) -> Option<String> {
    match trees {
        [TokenTree::Punct(hash), TokenTree::Group(group), ..]
            if hash.as_char() == '#' && group.delimiter() == Delimiter::Bracket =>
        {
            Some(group.stream().to_string())
        }
        _ => None,
    }
}

/// The number of trees of the item, field or arm that the trees begin with.
fn length(trees: &[TokenTree]) -> usize {
    const ITEMS: [&str; 14] = [
        "async", "const", "enum", "extern", "fn", "impl", "mod", "pub", "static", "struct", "trait", "type", "unsafe",
        "use",
    ];
    let first = trees[0].to_string();
    let is_item = ITEMS.contains(&first.as_str());
    let ends_with_brace = is_item && !["const", "static", "use"].contains(&first.as_str());
    let last = trees.iter().position(|tree| match tree {
        TokenTree::Punct(punct) => punct.as_char() == if is_item { ';' } else { ',' },
        TokenTree::Group(group) => ends_with_brace && group.delimiter() == Delimiter::Brace,
        _ => false,
    });
    last.map_or(trees.len(), |last| last + 1)
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
