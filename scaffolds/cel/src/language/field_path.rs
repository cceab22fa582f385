//! Resolves the `fieldPath` of a rule, such as `.a.b['c']`, in the schema.

use crate::schema::Node;

/// The path in the form that causes have; `None` if there is no such field.
pub(super) fn follow(path: &str, node: &Node) -> Option<String> {
    let mut out = String::new();
    let (mut node, mut rest) = (node, path);
    while !rest.is_empty() {
        let name;
        if let Some(after) = rest.strip_prefix("['") {
            let end = closing(after)?;
            name = unescape(&after[..end])?;
            rest = after[end + 1..].strip_prefix(']')?;
        } else {
            let after = rest.strip_prefix('.')?;
            let end = after.find(['.', '[', ']']).unwrap_or(after.len());
            name = after.get(..end).filter(|name| !name.is_empty())?.to_owned();
            rest = &after[end..];
        }
        node = match (&node.properties, &node.additional) {
            (Some(properties), _) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(&name);
                properties.get(&name)?
            }
            (None, Some(additional)) => {
                out.push_str(&format!("[{name}]"));
                additional
            }
            (None, None) => return None,
        };
    }
    Some(out)
}

/// The position of the closing quote.
fn closing(text: &str) -> Option<usize> {
    text.char_indices()
        .find(|(at, c)| *c == '\'' && !text[..*at].ends_with('\\'))
        .map(|(at, _)| at)
}

fn unescape(text: &str) -> Option<String> {
    let (mut out, mut chars) = (String::new(), text.chars());
    while let Some(c) = chars.next() {
        out.push(if c == '\\' {
            match chars.next()? {
                'a' => '\u{7}',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\u{b}',
                quoted @ ('\'' | '\\') => quoted,
                _ => return None,
            }
        } else {
            c
        });
    }
    Some(out)
}
