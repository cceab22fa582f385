//! The first release of Kubernetes in which a new rule can call a function. A function without an entry can be called in every release on
//! which generated operators are tested.

use crate::ast::{Expr, Kind};
use crate::issue::Issues;
use crate::lex::{self, Token};
use crate::{parse, stack};

/// Functions, sorted, and the first minor release of Kubernetes 1 whose API server compiles them in a new CRD: the one after the release
/// that introduced them, so that a release before it can still serve the rule. The conformance suite asks each release.
const SINCE: [(&str, u16); 9] = [
    ("@sortByAssociatedKeys", 35),
    ("distinct", 35),
    ("flatten", 35),
    ("isSemver", 34),
    ("lists.range", 35),
    ("reverse", 35),
    ("semver", 34),
    ("slice", 35),
    ("sort", 35),
];

/// Identifiers such as `` self.labels.`a-b` ``, and the first minor release of Kubernetes 1 that compiles them.
pub const ESCAPED: &str = "identifiers in backquotes";
const ESCAPED_SINCE: u16 = 37;

/// The function of `expression` that needs the newest release, as a rule calls it, or [`ESCAPED`], and the minor release of Kubernetes 1.
/// `None` if the expression needs none, or cannot be parsed.
pub fn newest_function(expression: &str) -> Option<(&'static str, u16)> {
    let work = || {
        let (parsed, _) = parse::parse(expression, &mut Issues::default());
        let lexemes = lex::tokens(expression, &mut Issues::default());
        let is_escaped = lexemes.iter().any(|it| it.token == Token::EscapedIdent);
        let mut newest = is_escaped.then_some((ESCAPED_SINCE, ESCAPED));
        parsed.walk(&mut |node| newest = newest.max(since(node)));
        newest
    };
    let (minor, function) = stack::with_stack(stack::nests(expression), work).ok()??;
    Some((function, minor))
}

/// The release and name of the function that a node calls. The macro `sortBy` becomes a call whose name no rule can contain.
fn since(node: &Expr) -> Option<(u16, &'static str)> {
    let Kind::Call { function, target, .. } = &node.kind else {
        return None;
    };
    let qualifier = target.as_ref().and_then(|target| target.qualified_name());
    let qualified = qualifier.map(|qualifier| format!("{qualifier}.{function}"));
    let names = qualified.iter().chain([function]);
    let at = names.filter_map(|name| SINCE.binary_search_by_key(&name.as_str(), |it| it.0).ok());
    let (name, minor) = SINCE[at.min()?];
    Some((minor, if name.starts_with('@') { "sortBy" } else { name }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::library;

    #[test]
    fn a_rule_needs_the_release_of_its_newest_function() {
        for (rule, needs) in [
            ("self.all(i, x, i > 0)", None),
            ("self.sort", None),
            ("semver('1.0.0').major() > 1", Some(("semver", 34))),
            (
                "self.filter(x, isSemver(x)).distinct().size() > 1",
                Some(("distinct", 35)),
            ),
            ("self.sortBy(x, x.size()) == self", Some(("sortBy", 35))),
            ("[1] == lists.range(2)", Some(("lists.range", 35))),
            ("self.range(2)", None),
            ("self.`a-b`.sort() == self", Some((ESCAPED, 37))),
            ("self == '`a`'", None),
            ("1 +", None),
        ] {
            assert_eq!(newest_function(rule), needs, "{rule}");
        }
    }

    #[test]
    fn listed_functions_exist_and_are_sorted() {
        assert!(SINCE.is_sorted_by_key(|it| it.0));
        for (name, _) in SINCE {
            assert!(library::overloads(name).is_some(), "{name}");
        }
    }
}
