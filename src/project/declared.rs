//! The Rust types of a kind in one version, as their source declares them: what a conversion takes apart. This is not a
//! compiler: what it does not understand is refused, or left to the author.

use super::KindName;
use super::printable::printable;
use super::rust_type::RustType;
use anyhow::{Result, anyhow, bail};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeMap;

/// The largest source that is read.
const MAX: usize = 1 << 20;
/// The maximum depth of brackets: the reader of tokens has no limit, and code that prints them is recursive.
const MAX_DEPTH: usize = 64;

/// The types of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The Rust type of the kind, which a derive makes.
    pub object: String,
    /// The type of `spec`, which is one of the items.
    pub spec: String,
    /// The type of `status`.
    pub status: Option<RustType>,
    /// Whether this version is stored.
    pub stored: bool,
    items: BTreeMap<String, Item>,
}

/// A struct or an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// Its fields, in their order.
    Struct(Vec<Field>),
    /// Its variants, which have no fields.
    Enum(Vec<String>),
    /// Values of another form, with the reason not to read them.
    Other(&'static str),
}

/// A public field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, with `r#` if it is a keyword.
    pub name: String,
    /// Its type.
    pub kind: RustType,
}

impl Declared {
    /// Reads the types of that kind.
    ///
    /// # Errors
    /// If this is not Rust, or has no struct with `#[kube(kind = …)]` for the kind whose fields are all public.
    pub fn read(text: &str, kind: &KindName) -> Result<Self> {
        if text.len() > MAX {
            bail!("it is larger than {} MiB", MAX >> 20);
        }
        let tokens: TokenStream = text
            .parse()
            .map_err(|error| anyhow!("it is not Rust: {}", printable(&format!("{error}"))))?;
        if is_deep(&tokens) {
            bail!("its brackets are nested deeper than {MAX_DEPTH} levels");
        }
        let mut found = Found {
            kind: kind.as_str(),
            items: BTreeMap::new(),
            root: None,
        };
        found.items(&tokens);
        let Some(root) = found.root else {
            bail!("it has no struct with `#[kube(kind = \"{kind}\")]`");
        };
        if let Some(Item::Other(why)) = found.items.get(&root.spec) {
            bail!("`{}` {why}", root.spec);
        }
        Ok(Self {
            items: found.items,
            ..root
        })
    }

    /// The struct or enum of that name.
    pub fn item(&self, name: &str) -> Option<&Item> {
        self.items.get(name)
    }

    /// The fields of the type of the kind.
    pub fn fields(&self) -> Vec<Field> {
        let field = |name: &str, kind: RustType| Field {
            name: name.to_owned(),
            kind,
        };
        let mut fields = vec![
            field("metadata", RustType::named("kube::api::ObjectMeta")),
            field("spec", RustType::named(&self.spec)),
        ];
        let status = self.status.as_ref().map(RustType::optional);
        fields.extend(status.map(|kind| field("status", kind)));
        fields
    }
}

/// The values that have been read so far.
struct Found<'a> {
    kind: &'a str,
    items: BTreeMap<String, Item>,
    /// Without its items.
    root: Option<Declared>,
}

impl Found<'_> {
    fn items(&mut self, tokens: &TokenStream) {
        let tokens: Vec<_> = tokens.clone().into_iter().collect();
        let mut attributes = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| &tokens[at]);
            match token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket && before.is_some_and(is_hash) => {
                    attributes.push(group.stream());
                }
                TokenTree::Ident(word) if word == "struct" || word == "enum" => {
                    let is_struct = word == "struct";
                    self.item(is_struct, &tokens[at + 1..], &attributes);
                }
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => attributes.clear(),
                TokenTree::Punct(punct) if punct.as_char() == ';' => attributes.clear(),
                _ => {}
            }
        }
    }

    /// An item, after its keyword.
    fn item(&mut self, is_struct: bool, rest: &[TokenTree], attributes: &[TokenStream]) {
        let [TokenTree::Ident(name), rest @ ..] = rest else {
            return;
        };
        let name = name.to_string();
        let item = match rest.first() {
            _ if attributes.iter().any(is_conditional) => Item::Other("depends on a `cfg`"),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => match is_struct {
                true => fields(&group.stream()),
                false => variants(&group.stream()),
            },
            Some(TokenTree::Punct(punct)) if punct.as_char() == '<' => Item::Other("is generic"),
            _ => Item::Other("has fields without names"),
        };
        if is_struct {
            self.root(&name, attributes);
        }
        self.items.insert(name, item);
    }

    /// Whether that struct is the spec of the kind.
    fn root(&mut self, spec: &str, attributes: &[TokenStream]) {
        let arguments: Vec<_> = attributes.iter().filter_map(kube_arguments).flatten().collect();
        if value(&arguments, "kind").as_deref() != Some(self.kind) {
            return;
        }
        self.root = Some(Declared {
            object: value(&arguments, "root").unwrap_or_else(|| self.kind.to_owned()),
            spec: spec.to_owned(),
            status: value(&arguments, "status").map(|name| RustType::named(&name)),
            stored: value(&arguments, "storage").as_deref() != Some("false"),
            items: BTreeMap::new(),
        });
    }
}

/// Whether brackets are nested too deep.
fn is_deep(tokens: &TokenStream) -> bool {
    let mut streams = vec![(tokens.clone(), 0)];
    while let Some((stream, depth)) = streams.pop() {
        if depth > MAX_DEPTH {
            return true;
        }
        let inner = stream.into_iter().filter_map(|token| match token {
            TokenTree::Group(group) => Some((group.stream(), depth + 1)),
            _ => None,
        });
        streams.extend(inner);
    }
    false
}

fn is_hash(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == '#')
}

fn is_conditional(attribute: &TokenStream) -> bool {
    let first = attribute.clone().into_iter().next();
    matches!(first, Some(TokenTree::Ident(word)) if word == "cfg")
}

/// The tokens between the parentheses of `kube(…)`.
fn kube_arguments(attribute: &TokenStream) -> Option<Vec<TokenTree>> {
    let mut tokens = attribute.clone().into_iter();
    match (tokens.next()?, tokens.next()?) {
        (TokenTree::Ident(name), TokenTree::Group(group)) if name == "kube" => {
            Some(group.stream().into_iter().collect())
        }
        _ => None,
    }
}

/// The value of `key = …` among the arguments of an attribute; without quotes.
fn value(arguments: &[TokenTree], key: &str) -> Option<String> {
    arguments.windows(3).find_map(|window| match window {
        [TokenTree::Ident(name), TokenTree::Punct(equals), value] if name == key && equals.as_char() == '=' => {
            Some(value.to_string().trim_matches('"').to_owned())
        }
        _ => None,
    })
}

/// The entries of a list that commas separate; commas between `<` and `>` do not.
fn entries(tokens: &TokenStream) -> Vec<Vec<TokenTree>> {
    let tokens: Vec<_> = tokens.clone().into_iter().collect();
    super::rust_type::split(&tokens)
        .into_iter()
        .map(<[TokenTree]>::to_vec)
        .collect()
}

/// An entry without its attributes, and whether one of them is a `cfg`.
fn without_attributes(mut entry: &[TokenTree]) -> (&[TokenTree], bool) {
    let mut conditional = false;
    while let [hash, TokenTree::Group(group), rest @ ..] = entry
        && is_hash(hash)
    {
        conditional |= is_conditional(&group.stream());
        entry = rest;
    }
    (entry, conditional)
}

fn fields(tokens: &TokenStream) -> Item {
    let mut fields = Vec::new();
    for entry in entries(tokens) {
        let (entry, conditional) = without_attributes(&entry);
        if conditional {
            return Item::Other("has a field that depends on a `cfg`");
        }
        let [
            TokenTree::Ident(public),
            TokenTree::Ident(name),
            TokenTree::Punct(_),
            kind @ ..,
        ] = entry
        else {
            return Item::Other("has a field that is not `pub`");
        };
        if public != "pub" {
            return Item::Other("has a field that is not `pub`");
        }
        fields.push(Field {
            name: name.to_string(),
            kind: RustType::of(kind),
        });
    }
    Item::Struct(fields)
}

fn variants(tokens: &TokenStream) -> Item {
    let mut variants = Vec::new();
    for entry in entries(tokens) {
        match without_attributes(&entry) {
            ([TokenTree::Ident(name)], false) => variants.push(name.to_string()),
            (_, true) => return Item::Other("has a variant that depends on a `cfg`"),
            _ => return Item::Other("has a variant with fields"),
        }
    }
    Item::Enum(variants)
}
