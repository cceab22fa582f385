//! Reads one file's tokens: its `mod` items, and every path into another module of the crate. Code for tests is
//! ignored.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The contents of one file that matter for imports.
#[derive(Default)]
pub struct Found {
    /// Paths from the crate's root, with the module they are in: `["queue", "WorkQueue"]`, or empty for the root itself.
    pub paths: Vec<(Vec<String>, Vec<String>)>,
    /// Macros that are called by their bare names, with the module they are called in.
    pub calls: Vec<(Vec<String>, String)>,
    /// `macro_rules!` items, with the module they are in.
    pub macros: Vec<(Vec<String>, String)>,
    /// `use` items: the module, the imported name, the path from the root.
    pub names: Vec<(Vec<String>, String, Vec<String>)>,
    /// `mod` items whose text is another file.
    pub modules: Vec<Module>,
}

/// A `mod` item whose text is another file.
#[derive(Debug, Eq, PartialEq)]
pub struct Module {
    pub path: Vec<String>,
    /// The value of `#[path = …]`.
    pub file: Option<String>,
    /// Whether it is compiled for tests only.
    pub is_test: bool,
}

/// The keywords that start items, after their visibility.
const ITEMS: [&str; 16] = [
    "async",
    "const",
    "enum",
    "extern",
    "fn",
    "impl",
    "let",
    "macro_rules",
    "mod",
    "static",
    "struct",
    "trait",
    "type",
    "union",
    "unsafe",
    "use",
];

/// Reads the text of a file of the module `module`. `crate_name` is the name of this crate in other crates.
pub fn read(text: &str, module: &[String], crate_name: &str) -> Found {
    let tokens: TokenStream = text.parse().expect("the file is Rust");
    let mut reader = Reader {
        crate_name,
        found: Found::default(),
    };
    reader.tokens(&trees(tokens), module);
    reader.found
}

struct Reader<'a> {
    crate_name: &'a str,
    found: Found,
}

/// The attributes of one item.
#[derive(Default)]
struct Attributes {
    is_test: bool,
    file: Option<String>,
}

impl Reader<'_> {
    fn tokens(&mut self, trees: &[TokenTree], module: &[String]) {
        let mut attributes = Attributes::default();
        let mut at = 0;
        while at < trees.len() {
            if let Some((group, end)) = attribute(trees, at) {
                self.attribute(group, module, &mut attributes);
                at = end;
                continue;
            }
            let (end, ended) = self.item(trees, at, module, &attributes);
            if ended {
                attributes = Attributes::default();
            }
            at = end;
        }
    }

    /// Reads the item or token at `at`. Returns the start of the next one, and whether the attributes before it apply
    /// to this one.
    fn item(&mut self, trees: &[TokenTree], at: usize, module: &[String], attributes: &Attributes) -> (usize, bool) {
        let next = |offset: usize| trees.get(at + offset);
        if attributes.is_test {
            return (self.skip(trees, at, module, attributes), true);
        }
        let word = ident(&trees[at]);
        if let (Some("mod"), Some(name)) = (word.as_deref(), next(1).and_then(ident)) {
            let path = [module, &[name]].concat();
            match next(2) {
                Some(TokenTree::Group(body)) => self.tokens(&trees_of(body), &path),
                _ => self.found.modules.push(Module {
                    path,
                    file: attributes.file.clone(),
                    is_test: false,
                }),
            }
            return (at + 3, true);
        }
        match word.as_deref() {
            // `use<'a>` in a type is not an import.
            Some("use") if !next(1).is_some_and(|tree| is(tree, '<')) => {
                let length = trees[at..]
                    .iter()
                    .position(|tree| is(tree, ';'))
                    .unwrap_or(trees.len() - at);
                self.uses(&trees[at + 1..at + length], &[], module);
                return (at + length + 1, true);
            }
            Some("macro_rules") if next(1).is_some_and(|tree| is(tree, '!')) => {
                let name = next(2).and_then(ident).unwrap_or_default();
                self.found.macros.push((module.to_vec(), name));
                return (at + 3, true);
            }
            Some(name) if next(1).is_some_and(|tree| is(tree, '!')) && !follows_path(trees, at) => {
                self.found.calls.push((module.to_vec(), name.to_owned()));
            }
            Some(_) if next(1).is_some_and(|tree| is(tree, ':')) && !follows_path(trees, at) => {
                let (path, end) = path(trees, at);
                if path.len() > 1 && self.starts_here(&path[0]) {
                    self.found
                        .paths
                        .push((module.to_vec(), from_root(&path, module, self.crate_name)));
                }
                return (end, false);
            }
            _ => {}
        }
        if let TokenTree::Group(group) = &trees[at] {
            self.tokens(&trees_of(group), module);
        }
        let ended = is(&trees[at], ';') || is_braces(&trees[at]);
        (at + 1, ended)
    }

    /// Skips an item that is compiled for tests only, and returns the start of the next one.
    fn skip(&mut self, trees: &[TokenTree], at: usize, module: &[String], attributes: &Attributes) -> usize {
        let is_item = trees[at..]
            .iter()
            .take(3)
            .filter_map(ident)
            .any(|word| ITEMS.contains(&word.as_str()));
        // A variant, a field or a match arm ends at a comma.
        let ends = |tree: &TokenTree| is(tree, ';') || is_braces(tree) || !is_item && is(tree, ',');
        let length = trees[at..]
            .iter()
            .position(ends)
            .map_or(trees.len() - at, |end| end + 1);
        let item = &trees[at..at + length];
        let name = item.iter().position(|tree| ident(tree).as_deref() == Some("mod"));
        if let Some(name) = name.and_then(|at| item.get(at + 1)).and_then(ident)
            && item.last().is_some_and(|tree| is(tree, ';'))
        {
            self.found.modules.push(Module {
                path: [module, &[name]].concat(),
                file: attributes.file.clone(),
                is_test: true,
            });
        }
        at + length
    }

    /// Whether a path that starts with this word is in this crate.
    fn starts_here(&self, first: &str) -> bool {
        matches!(first, "crate" | "super" | "self") || first == self.crate_name
    }

    /// The trees of a `use` item: `a::b`, `a::{b, c as d}`, `a::*`.
    fn uses(&mut self, trees: &[TokenTree], before: &[String], module: &[String]) {
        for branch in trees.split(|tree| is(tree, ',')) {
            let mut path = before.to_vec();
            let mut name = None;
            let mut is_leaf = !branch.is_empty();
            for (at, tree) in branch.iter().enumerate() {
                match tree {
                    TokenTree::Group(group) => {
                        self.uses(&trees_of(group), &path, module);
                        is_leaf = false;
                    }
                    TokenTree::Punct(punct) if punct.as_char() == '*' => path.push("*".to_owned()),
                    tree => match ident(tree).as_deref() {
                        Some("as") => {
                            name = branch.get(at + 1).and_then(ident);
                            break;
                        }
                        Some(word) => path.push(word.to_owned()),
                        None => {}
                    },
                }
            }
            // A leading `::` refers to another crate.
            let elsewhere = before.is_empty() && branch.first().is_some_and(|tree| is(tree, ':'));
            if is_leaf && !elsewhere {
                self.leaf(path, name, module);
            }
        }
    }

    fn leaf(&mut self, path: Vec<String>, name: Option<String>, module: &[String]) {
        let here = path.first().is_some_and(|first| self.starts_here(first));
        // `a::{self}` is `a`.
        let end = if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            1
        } else {
            0
        };
        let path = &path[..path.len() - end];
        let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
        if here {
            let path = from_root(path, module, self.crate_name);
            self.found.paths.push((module.to_vec(), path.clone()));
            self.found.names.push((module.to_vec(), name, path));
        } else {
            // A module below this one, or another crate.
            let path = [module, path].concat();
            self.found.names.push((module.to_vec(), name, path));
        }
    }

    /// Reads an attribute's tokens, and the paths in its strings: `#[serde(with = "crate::duration")]`.
    fn attribute(&mut self, group: &Group, module: &[String], attributes: &mut Attributes) {
        let text: String = group
            .stream()
            .to_string()
            .chars()
            .filter(|c| !c.is_whitespace())
            .collect();
        if text.starts_with("doc=") {
            return;
        }
        let tests = ["cfg(test)", "cfg(doctest)", "cfg(all(test,", "test"];
        attributes.is_test |= tests[..3].iter().any(|test| text.starts_with(test)) || text == tests[3];
        if let Some(file) = text.strip_prefix("path=") {
            attributes.file = Some(file.trim_matches('"').to_owned());
        }
        self.tokens(&trees_of(group), module);
        let texts = group
            .stream()
            .into_iter()
            .flat_map(flatten)
            .filter_map(|tree| match tree {
                TokenTree::Literal(literal) => Some(literal.to_string().trim_matches('"').to_owned()),
                _ => None,
            });
        for text in texts.filter(|text| text.contains("::")) {
            if let Ok(tokens) = text.parse::<TokenStream>() {
                self.tokens(&trees(tokens), module);
            }
        }
    }
}

/// Resolves a path to one from the crate's root. `super` beyond the root stays at the root.
fn from_root(path: &[String], module: &[String], crate_name: &str) -> Vec<String> {
    let mut absolute = module.to_vec();
    for (at, segment) in path.iter().enumerate() {
        match segment.as_str() {
            "self" => {}
            "super" => _ = absolute.pop(),
            "crate" => absolute.clear(),
            name if at == 0 && name == crate_name => absolute.clear(),
            name => absolute.push(name.to_owned()),
        }
    }
    absolute
}

/// The path that starts at `at`, and its end.
fn path(trees: &[TokenTree], at: usize) -> (Vec<String>, usize) {
    let mut path: Vec<String> = ident(&trees[at]).into_iter().collect();
    let mut end = at + 1;
    while let Some([first, second, third]) = trees.get(end..end + 3)
        && is(first, ':')
        && is(second, ':')
        && let Some(name) = ident(third)
    {
        path.push(name);
        end += 3;
    }
    (path, end)
}

/// Whether the tokens at `at` continue a path: `a::b`.
fn follows_path(trees: &[TokenTree], at: usize) -> bool {
    at >= 2 && is(&trees[at - 1], ':') && is(&trees[at - 2], ':')
}

/// The attribute that starts at `at`, and its end.
fn attribute(trees: &[TokenTree], at: usize) -> Option<(&Group, usize)> {
    let bang = usize::from(trees.get(at + 1).is_some_and(|tree| is(tree, '!')));
    match trees.get(at + 1 + bang) {
        Some(TokenTree::Group(group)) if is(&trees[at], '#') && group.delimiter() == Delimiter::Bracket => {
            Some((group, at + 2 + bang))
        }
        _ => None,
    }
}

fn trees(tokens: TokenStream) -> Vec<TokenTree> {
    tokens.into_iter().collect()
}

fn trees_of(group: &Group) -> Vec<TokenTree> {
    trees(group.stream())
}

fn flatten(tree: TokenTree) -> Vec<TokenTree> {
    match tree {
        TokenTree::Group(group) => group.stream().into_iter().flat_map(flatten).collect(),
        tree => vec![tree],
    }
}

fn ident(tree: &TokenTree) -> Option<String> {
    match tree {
        TokenTree::Ident(ident) => Some(ident.to_string().trim_start_matches("r#").to_owned()),
        _ => None,
    }
}

fn is(tree: &TokenTree, char: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == char)
}

fn is_braces(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}
