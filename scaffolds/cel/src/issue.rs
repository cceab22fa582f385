//! Compilation errors with their position in the source, formatted as on the server.

use std::fmt::Write;

/// The server reports at most this many errors.
const MOST: usize = 100;

/// The length in characters up to which a line is printed under the message.
const LONGEST_SNIPPET: usize = 16384;

#[derive(Debug, Default)]
pub(super) struct Issues {
    all: Vec<Issue>,
    count: usize,
}

#[derive(Debug)]
struct Issue {
    /// The position in characters; `None` if the server reports no position.
    at: Option<usize>,
    message: String,
}

impl Issues {
    pub(super) fn add(&mut self, at: Option<usize>, message: String) {
        self.count += 1;
        if self.count <= MOST {
            self.all.push(Issue { at, message });
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All issues, sorted by position, each with its line and a marker below.
    pub(super) fn show(mut self, source: &str) -> String {
        self.all
            .sort_by_key(|issue| issue.at.map_or(-1, |at| i64::try_from(at).unwrap_or(i64::MAX)));
        let mut shown: Vec<String> = self.all.iter().map(|issue| issue.show(source)).collect();
        if self.count > MOST {
            shown.push(format!("{} more errors were truncated", self.count - MOST));
        }
        shown.join("\n")
    }
}

impl Issue {
    fn show(&self, source: &str) -> String {
        let Some(at) = self.at else {
            return format!("ERROR: <input>:-1:0: {}", self.message);
        };
        let mut line_start = 0;
        let mut line = 1;
        for (index, c) in source.chars().enumerate().take(at) {
            if c == '\n' {
                line += 1;
                line_start = index + 1;
            }
        }
        let column = at - line_start;
        let mut out = format!("ERROR: <input>:{line}:{}: {}", column + 1, self.message);
        let snippet = source.split('\n').nth(line - 1).unwrap_or_default().replace('\t', " ");
        if snippet.len() > LONGEST_SNIPPET {
            return out;
        }
        _ = write!(out, "\n | {snippet}\n | ");
        let mut chars = snippet.chars();
        // Below characters of more than one byte the server prints wide dots.
        out.extend(
            chars
                .by_ref()
                .take(column)
                .map(|c| if c.is_ascii() { '.' } else { '\u{ff0e}' }),
        );
        out.push(if chars.next().is_none_or(|c| c.is_ascii()) {
            '^'
        } else {
            '\u{ff3e}'
        });
        out
    }
}
