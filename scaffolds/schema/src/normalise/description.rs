//! Cuts descriptions to a length.

use serde_json::{Map, Value};

/// Cuts the description of one node to `most` characters; 0 removes it.
pub(super) fn limit(schema: &mut Map<String, Value>, most: Option<usize>) {
    let text = schema.get("description").and_then(Value::as_str);
    match (text, most) {
        (Some(""), _) | (Some(_), Some(0)) => _ = schema.remove("description"),
        (Some(text), Some(most)) => {
            let text = cut(text, most).to_owned();
            schema.insert("description".into(), text.into());
        }
        _ => {}
    }
}

/// At most `most` characters of `text`: whole sentences if at least one fits, else whole words, else as many characters as fit.
fn cut(text: &str, most: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text;
    };
    let head = &text[..end];
    let rest = &text[end..];
    let sentence = |at: usize| text[at..].starts_with(char::is_whitespace);
    let mut ends = head
        .char_indices()
        .filter(|(_, c)| matches!(c, '.' | '!' | '?'))
        .map(|(at, _)| at + 1);
    if let Some(at) = ends.rfind(|at| sentence(*at)) {
        return &head[..at];
    }
    if rest.starts_with(char::is_whitespace) {
        return head.trim_end();
    }
    head.rfind(char::is_whitespace).map_or(head, |at| head[..at].trim_end())
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_description_is_cut_at_a_sentence_else_at_a_word_else_anywhere() {
        let text = "Uses v1.2 of it. Then more";
        assert_eq!(cut(text, 100), text);
        assert_eq!(cut(text, 20), "Uses v1.2 of it.");
        assert_eq!(cut(text, 16), "Uses v1.2 of it.");
        assert_eq!(cut(text, 15), "Uses v1.2 of");
        assert_eq!(cut(text, 4), "Uses");
        assert_eq!(cut(text, 3), "Use");
        assert_eq!(cut("ééé", 2), "éé");
    }
}
