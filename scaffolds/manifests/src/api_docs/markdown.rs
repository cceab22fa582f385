//! Markdown of texts that may contain anything.

/// A code span, whatever backticks the text has.
pub fn code(text: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or_default() + 1);
    let text = text.replace(['\r', '\n'], " ");
    if text.starts_with('`') || text.ends_with('`') {
        return format!("{fence} {text} {fence}");
    }
    format!("{fence}{text}{fence}")
}

/// Code spans, with commas between them.
pub fn codes(texts: &[&str]) -> String {
    texts.iter().map(|text| code(text)).collect::<Vec<_>>().join(", ")
}

/// An author's text: Markdown stays, HTML is shown as it was written.
pub fn prose(text: &str) -> String {
    let mut within = false;
    let escaped = text.trim().split_inclusive('`').map(|part| {
        let plain = !within;
        within ^= part.ends_with('`');
        if plain {
            part.replace('<', "&lt;")
        } else {
            part.to_owned()
        }
    });
    escaped.collect()
}

/// A cell of a table, on one line: paragraphs become lines, other line breaks spaces.
pub fn cell(markdown: &str) -> String {
    let paragraphs = markdown
        .split("\n\n")
        .map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "));
    let text = paragraphs.filter(|it| !it.is_empty()).collect::<Vec<_>>().join("<br>");
    text.replace('|', "\\|")
}
