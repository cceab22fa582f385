//! Descriptions as doc comments: wrapped, and for kinds of others with Markdown syntax escaped. Those of the project's own kinds
//! become descriptions again, so they keep their words and lines. No description keeps indentation and code fences: rustdoc
//! would treat them as code, and code as a test.

use crate::project::printable::printable;

/// rustfmt's default `max_width`.
const WIDTH: usize = 100;

/// The doc comment for this description, each line with a line feed; empty for an empty description.
pub fn doc(text: &str, indent: &str, own: bool) -> String {
    let mut lines = Vec::new();
    let paragraphs = match own {
        true => paragraphs_of_lines(text),
        false => paragraphs(text).into_iter().map(|it| vec![it]).collect(),
    };
    for paragraph in paragraphs {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        for line in paragraph {
            lines.extend(wrapped(&line, WIDTH - indent.len() - 4, own));
        }
    }
    let line = |line: String| match line.is_empty() {
        true => format!("{indent}///\n"),
        false => format!("{indent}/// {line}\n"),
    };
    lines.into_iter().map(line).collect()
}

/// The same with the lines of the description, since they become one again.
fn paragraphs_of_lines(text: &str) -> Vec<Vec<String>> {
    let mut found = vec![Vec::new()];
    for line in text.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        match (words.is_empty(), found.last_mut()) {
            (false, Some(last)) => last.push(words.join(" ")),
            _ => found.push(Vec::new()),
        }
    }
    found.retain(|paragraph| !paragraph.is_empty());
    found
}

/// Paragraphs, which empty lines separate, with white space folded.
fn paragraphs(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for line in text.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        let last = found.last_mut().expect("it starts with one");
        match (words.is_empty(), last.is_empty()) {
            (true, true) => {}
            (true, false) => found.push(String::new()),
            (false, true) => *last = words.join(" "),
            (false, false) => *last += &format!(" {}", words.join(" ")),
        }
    }
    found.retain(|paragraph| !paragraph.is_empty());
    found
}

fn wrapped(paragraph: &str, width: usize, own: bool) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in paragraph.replace("```", "`").split(' ') {
        let last = lines.last_mut().expect("it starts with one");
        if last.is_empty() {
            *last = word.to_owned();
        } else if last.chars().count() + 1 + word.chars().count() <= width {
            *last += &format!(" {word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    let line = |line: String| match own {
        true => printable(&line),
        false => escaped(printable(&line)),
    };
    lines.into_iter().map(line).collect()
}

/// Starts a line with a backslash if it would begin a list, a heading, a quotation, a rule or a table.
fn escaped(line: String) -> String {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.len() < line.len() && digits.starts_with(['.', ')']);
    match (numbered, line.starts_with(['-', '*', '+', '#', '>', '|', '=', '~'])) {
        (true, _) => format!("{}\\{digits}", &line[..line.len() - digits.len()]),
        (false, true) => format!("\\{line}"),
        (false, false) => line,
    }
}

#[cfg(test)]
mod tests {
    use super::doc;

    #[test]
    fn markdown_in_descriptions_is_escaped() {
        let text = "One\ttwo.\n\n    let code = 1;\n- a list\n\n1. numbered\n\n```\nfenced";
        let wanted = "/// One two.\n///\n/// let code = 1; - a list\n///\n/// 1\\. numbered\n///\n/// ` fenced\n";
        assert_eq!(doc(text, "", false), wanted);
        assert_eq!(doc("", "    ", false), "");
        assert_eq!(doc("- a", "    ", false), "    /// \\- a\n");
        assert_eq!(doc("- a", "", true), "/// - a\n", "it becomes a description again");
    }

    #[test]
    fn descriptions_of_own_kinds_keep_words_and_lines_and_have_no_code_that_would_be_a_test() {
        let text = "One:\n- two\n\n    three();\n\n```go\nfour()\n```";
        let wanted = "/// One:\n/// - two\n///\n/// three();\n///\n/// `go\n/// four()\n/// `\n";
        assert_eq!(doc(text, "", true), wanted);
    }

    #[test]
    fn lines_are_wrapped() {
        let long = doc(&"word ".repeat(100), "    ", false);
        assert!(
            long.lines().count() > 4 && long.lines().all(|line| line.len() <= 100),
            "{long}"
        );
    }
}
