//! Escapes property names to identifiers in validation rules (CEL), and unescapes them, as k8s.io/apiserver does.

/// Reserved words of CEL, which cannot be identifiers: a property with such a name is written `__name__`.
pub const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

const ESCAPES: [(&str, &str); 4] = [
    ("__", "__underscores__"),
    (".", "__dot__"),
    ("-", "__dash__"),
    ("/", "__slash__"),
];

/// The identifier of a property; `None` if rules cannot access it.
#[must_use]
pub fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let mut out = String::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if let Some((plain, escaped)) = ESCAPES.iter().find(|(plain, _)| rest.starts_with(plain)) {
            out.push_str(escaped);
            rest = &rest[plain.len()..];
        } else if c.is_ascii_alphanumeric() || c == '_' {
            out.push(c);
            rest = &rest[1..];
        } else {
            return None;
        }
    }
    Some(out)
}

/// The property of an identifier; `None` if it is not a valid escaped name.
#[must_use]
pub fn unescape(identifier: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = identifier;
    while !rest.is_empty() {
        let Some((length, word)) = escaped(rest) else {
            let length = rest.chars().next().map_or(1, char::len_utf8);
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        };
        match ESCAPES.iter().find(|(_, escaped)| escaped.trim_matches('_') == word) {
            Some((plain, _)) => out.push_str(plain),
            None if RESERVED.contains(&word) && length == identifier.len() => out.push_str(word),
            None => return None,
        }
        rest = &rest[length..];
    }
    Some(out)
}

/// `__word__` at the start of `text`: its length, and the word.
fn escaped(text: &str) -> Option<(usize, &str)> {
    let inner = text.strip_prefix("__")?;
    let end = inner.find('_')?;
    (end > 0 && inner[end..].starts_with("__")).then(|| (end + 4, &inner[..end]))
}
