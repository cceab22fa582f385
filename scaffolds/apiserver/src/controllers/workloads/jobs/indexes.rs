//! Sets of completion indexes, in the notation of the status: `0,2-5`.

use std::{collections::BTreeSet, fmt};

/// A set of completion indexes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct IndexSet(BTreeSet<i64>);

impl IndexSet {
    /// Reads the indexes below `completions`. Parts that are not understood are ignored, as upstream.
    pub fn parse(text: &str, completions: i64) -> Self {
        let interval = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.parse::<i64>().ok()?, last.parse::<i64>().ok()?);
            Some(first.max(0)..=last.min(completions - 1))
        };
        Self(text.split(',').filter_map(interval).flatten().collect())
    }

    pub fn has(&self, index: i64) -> bool {
        self.0.contains(&index)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn count(&self) -> i64 {
        i64::try_from(self.0.len()).unwrap_or(i64::MAX)
    }

    /// The number of indexes that are in both sets.
    pub fn common(&self, other: &Self) -> i64 {
        i64::try_from(self.0.intersection(&other.0).count()).unwrap_or(i64::MAX)
    }
}

impl Extend<i64> for IndexSet {
    fn extend<T: IntoIterator<Item = i64>>(&mut self, indexes: T) {
        self.0.extend(indexes);
    }
}

impl fmt::Display for IndexSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.iter().copied().peekable();
        let mut separator = "";
        while let Some(first) = rest.next() {
            let mut last = first;
            while let Some(next) = rest.next_if_eq(&(last + 1)) {
                last = next;
            }
            match last - first {
                0 => write!(out, "{separator}{first}")?,
                1 => write!(out, "{separator}{first},{last}")?,
                _ => write!(out, "{separator}{first}-{last}")?,
            }
            separator = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::IndexSet;

    #[test]
    fn indexes_are_read_and_written_in_the_notation_of_the_status() {
        for (text, written) in [
            ("", ""),
            ("0", "0"),
            ("0-1", "0,1"),
            ("0,1,2,4,6-8", "0-2,4,6-8"),
            ("5-20", "5-9"),
            ("1,x,3-y,20", "1"),
        ] {
            assert_eq!(IndexSet::parse(text, 10).to_string(), written, "{text}");
        }
        let (one, other) = (IndexSet::parse("0-5", 10), IndexSet::parse("4-9", 10));
        assert_eq!((one.count(), one.common(&other)), (6, 2));
    }
}
