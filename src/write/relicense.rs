//! Seeded files of a project that gets another licence or owner: the header at the top is replaced, whatever is below it.

use super::compare::is_comment;
use crate::render::licence;

/// A text without the header that is replaced.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Relicensed<'a> {
    /// The new text above the body: its former comments, and the new header.
    pub(super) head: String,
    /// The text below the header.
    pub(super) body: &'a str,
}

/// Replaces the first header by the second; an empty text means no header. `None` if the first is not at the top of the text, or if
/// there is to be a header where the user has written another.
pub(super) fn relicense<'a>(text: &'a str, [was, will]: [&str; 2]) -> Option<Relicensed<'a>> {
    let at_the_top = |head: &str| {
        let (above, body) = text.split_once(head)?;
        is_comment(above).then(|| Relicensed {
            head: format!("{above}{will}"),
            body,
        })
    };
    let found = match was {
        "" if licence::is_named(text) => None,
        was => at_the_top(was),
    };
    found.or_else(|| at_the_top(will).filter(|_| !will.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIT: &str = "// Copyright 2026 A\n// SPDX-License-Identifier: MIT\n\n";
    const APACHE: &str = "// Copyright 2026 A\n// SPDX-License-Identifier: Apache-2.0\n\n";
    const BODY: &str = "//! Mine.\n\nmod app;\n";

    fn relicensed(text: &str, heads: [&str; 2]) -> Option<String> {
        relicense(text, heads).map(|it| it.head + it.body)
    }

    #[test]
    fn a_header_is_added_replaced_and_removed() {
        let [none, mit, apache] = ["", MIT, APACHE].map(|head| format!("{head}{BODY}"));
        for (was, will, text, wanted) in [
            ("", MIT, &none, &mit),
            (MIT, APACHE, &mit, &apache),
            (APACHE, "", &apache, &none),
            // Done by hand before.
            (MIT, APACHE, &apache, &apache),
            ("", MIT, &mit, &mit),
        ] {
            assert_eq!(relicensed(text, [was, will]).as_ref(), Some(wanted));
        }
    }

    #[test]
    fn comments_above_the_header_stay() {
        let text = format!("// Do not format.\n{MIT}{BODY}");
        let wanted = format!("// Do not format.\n{APACHE}{BODY}");
        assert_eq!(relicensed(&text, [MIT, APACHE]), Some(wanted));
    }

    #[test]
    fn a_header_that_is_not_known_or_not_at_the_top_is_not_touched() {
        let other = "// Copyright 2019 ACME\n\nmod app;\n";
        assert_eq!(relicensed(other, [MIT, APACHE]), None);
        assert_eq!(relicensed(other, ["", MIT]), None);
        assert_eq!(relicensed(&format!("mod app;\n{MIT}"), [MIT, ""]), None);
    }
}
