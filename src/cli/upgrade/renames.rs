//! The seeded files that a release has renamed: a template has no name but its path, so files are matched by their texts.

use crate::plan::{FileKind, RelPath};
use crate::render::{File, Rendered};
use similar::TextDiff;
use std::collections::BTreeMap;

/// The share of equal lines from which two files are one, as in git.
const SIMILAR: f32 = 0.5;

/// The earlier paths of renamed files by the new ones. Each file is matched with the most similar one, of the same extension.
pub fn renames(was: &Rendered, will: &Rendered) -> BTreeMap<RelPath, RelPath> {
    let mut pairs = Vec::new();
    for (from, before) in only_in(was, will) {
        for (to, after) in only_in(will, was) {
            let ratio = TextDiff::from_lines(&before.text, &after.text).ratio();
            if from.extension() == to.extension() && ratio >= SIMILAR {
                pairs.push((ratio, from, to));
            }
        }
    }
    // The most similar first; then in the order of paths.
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut found: BTreeMap<RelPath, RelPath> = BTreeMap::new();
    for (_, from, to) in pairs {
        if !found.contains_key(to) && found.values().all(|taken| taken != from) {
            found.insert(to.clone(), from.clone());
        }
    }
    found
}

/// The seeded files that the other release does not have.
fn only_in<'a>(files: &'a Rendered, other: &'a Rendered) -> impl Iterator<Item = (&'a RelPath, &'a File)> {
    let seeded = files.iter().filter(|(_, file)| file.kind == FileKind::Seeded);
    seeded.filter(|(path, _)| !other.contains_key(*path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(texts: &[(&str, &str)]) -> Rendered {
        let file = |(path, text): &(&str, &str)| {
            let file = File {
                kind: FileKind::Seeded,
                executable: false,
                text: (*text).to_owned(),
                carried: None,
            };
            (path.parse().unwrap(), file)
        };
        texts.iter().map(file).collect()
    }

    #[test]
    fn files_are_matched_with_the_most_similar_ones_of_their_extension() {
        let was = files(&[
            ("a.rs", "1\n2\n3\n4\n"),
            ("b.rs", "1\n2\n3\n5\n"),
            ("c.yaml", "1\n2\n3\n4\n"),
            ("same.rs", "1\n2\n3\n4\n"),
        ]);
        let will = files(&[
            ("same.rs", "1\n2\n3\n4\n"),
            ("x.rs", "1\n2\n3\n4\n6\n"),
            ("y.rs", "1\n2\n3\n5\n"),
            ("z.rs", "other\n"),
        ]);
        let path = |text: &str| text.parse::<RelPath>().unwrap();
        let wanted = BTreeMap::from([(path("x.rs"), path("a.rs")), (path("y.rs"), path("b.rs"))]);
        assert_eq!(renames(&was, &will), wanted);
    }
}
