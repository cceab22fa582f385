//! The licence header of the user's Rust files: its text, and its position in a file.

use crate::plan::RelPath;
use crate::project::Project;

const OWNER: &str = "// Copyright ";
const NAME: &str = "// SPDX-License-Identifier: ";

/// Adds the project's licence header to the top of the user's Rust files.
pub fn licensed(project: &Project, path: &RelPath, text: String) -> String {
    match project.license.spdx() {
        Some(spdx) if path.extension() == Some("rs") => {
            format!("{OWNER}{} {}\n{NAME}{spdx}\n\n{text}", project.year, project.owner)
        }
        _ => text,
    }
}

/// Splits the result of [`licensed`] into the header, which may be empty, and the rest.
pub fn split(text: &str) -> (&str, &str) {
    let mut lines = text.split_inclusive('\n');
    let [owner, name, empty] = [(); 3].map(|()| lines.next().unwrap_or_default());
    if owner.starts_with(OWNER) && name.starts_with(NAME) && empty == "\n" {
        return text.split_at(owner.len() + name.len() + empty.len());
    }
    ("", text)
}

/// Whether the comments at the head of a file of the user name an owner or a licence.
pub fn is_named(text: &str) -> bool {
    let is_head = |line: &&str| {
        let line = line.trim_start();
        line.is_empty() || line.starts_with("/*") || line.starts_with('*') || is_comment(line)
    };
    text.lines().take_while(is_head).any(|line| {
        let line = line.to_ascii_lowercase();
        ["copyright", "spdx-license-identifier", "licensed under"]
            .iter()
            .any(|word| line.contains(word))
    })
}

/// A comment that documents nothing.
fn is_comment(line: &str) -> bool {
    line.starts_with("//") && !line.starts_with("///") && !line.starts_with("//!")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_split_off_and_nothing_else() {
        let header = "// Copyright 2026 The FooBar authors\n// SPDX-License-Identifier: MIT\n\n";
        let text = format!("{header}//! Starts the operator.\n");
        assert_eq!(split(&text), (header, "//! Starts the operator.\n"));
        for other in [
            "",
            "//! Copyright",
            "// Copyright 2026 A\n",
            "// Copyright 2026 A\n\nfn main() {}\n",
        ] {
            assert_eq!(split(other), ("", other));
        }
    }

    #[test]
    fn a_header_of_somebody_else_is_noticed_and_documentation_is_not() {
        for own in [
            "// Copyright 2019 ACME\n\nmod app;\n",
            "/*\n * Copyright ACME\n */\n",
            "\n// Licensed under the Apache License\n",
        ] {
            assert!(is_named(own), "{own}");
        }
        for none in [
            "//! Copyright of what users upload.\nmod app;\n",
            "mod app;\n// Copyright\n",
            "",
        ] {
            assert!(!is_named(none), "{none}");
        }
    }
}
