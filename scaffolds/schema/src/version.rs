//! The order in which Kubernetes prefers API versions.

use std::cmp::{Ordering, Reverse};

/// Compares two version names so that the preferred one comes first: general availability before beta before alpha,
/// and higher numbers first. Names that are not Kubernetes versions (`foo1`) come last, in alphabetical order.
pub fn priority(a: &str, b: &str) -> Ordering {
    match (parse(a), parse(b)) {
        (Some(a), Some(b)) => Reverse(a).cmp(&Reverse(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// (stability, major, minor) of `v1`, `v2beta1` or `v1alpha3`.
fn parse(name: &str) -> Option<(u8, u64, u64)> {
    let rest = name.strip_prefix('v')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (major, rest) = rest.split_at(digits);
    let major = numeral(major)?;
    if rest.is_empty() {
        return Some((2, major, 0));
    }
    if let Some(minor) = rest.strip_prefix("beta") {
        return Some((1, major, numeral(minor)?));
    }
    Some((0, major, numeral(rest.strip_prefix("alpha")?)?))
}

fn numeral(text: &str) -> Option<u64> {
    let canonical = !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit());
    if canonical { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    #[test]
    fn versions_are_sorted_as_kubernetes_documents() {
        let ordered = [
            "v10",
            "v2",
            "v1",
            "v11beta2",
            "v10beta3",
            "v3beta1",
            "v12alpha1",
            "v11alpha2",
            "foo1",
            "foo10",
            "v0",
            "v1gamma1",
        ];
        let mut shuffled = ordered;
        shuffled.reverse();
        shuffled.sort_by(|a, b| super::priority(a, b));
        assert_eq!(shuffled, ordered);
    }
}
