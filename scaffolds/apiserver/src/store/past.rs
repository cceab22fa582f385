//! Past states: the present objects, with the changes since a revision undone.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use super::{Range, Record, shelf::Shelf};

/// The paths that were different then, with the records that they had.
pub(super) type Undone = BTreeMap<String, Option<Arc<Record>>>;

/// The records that undo the changes of a range after a revision.
pub(super) fn undone(shelf: &Shelf, range: &Range, revision: u64) -> Undone {
    let mut undone = Undone::new();
    let changes = shelf
        .log
        .after(revision)
        .filter(|change| range.holds(&change.record.key));
    for change in changes {
        // The first change after the revision has the record as it was at the revision.
        undone
            .entry(change.record.key.path())
            .or_insert_with(|| change.previous.clone());
    }
    undone
}

/// The number of objects of a range, ignoring its name, that were after a path.
pub(super) fn behind(shelf: &Shelf, range: &Range, undone: &Undone, path: &str) -> usize {
    let since = (Bound::Excluded(path), Bound::Unbounded);
    let mut count = shelf.behind(range, path);
    for (path, then) in undone.range::<str, _>(since) {
        count = match (shelf.get(path), then) {
            (Some(_), None) => count.saturating_sub(1),
            (None, Some(_)) => count.saturating_add(1),
            _ => count,
        };
    }
    count
}

/// The objects that were in the range's namespace, from a path on, in order. They may include objects with names
/// outside the range.
pub(super) fn objects<'a>(
    shelf: &'a Shelf,
    range: &'a Range,
    undone: &'a Undone,
    from: &'a str,
) -> impl Iterator<Item = &'a Arc<Record>> {
    let mut now = shelf.from(range, from).peekable();
    let mut then = undone
        .range::<str, _>((Bound::Included(from), Bound::Unbounded))
        .peekable();
    std::iter::from_fn(move || {
        loop {
            let take_then = match (now.peek(), then.peek()) {
                (None, None) => return None,
                (Some(_), None) => false,
                (None, Some(_)) => true,
                (Some((now, _)), Some((then, _))) => then.as_str() <= *now,
            };
            if !take_then {
                return now.next().map(|(_, record)| record);
            }
            if let Some((path, record)) = then.next() {
                now.next_if(|(now, _)| now == path);
                if let Some(record) = record {
                    return Some(record);
                }
            }
        }
    })
}
