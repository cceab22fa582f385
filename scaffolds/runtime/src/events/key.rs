//! Decides which events are equal.

use std::{
    hash::{BuildHasher, Hash, RandomState},
    sync::LazyLock,
};

use super::event::Occurrence;

/// The fields that equal events share, as a keyed hash of 128 bits: storing their texts would cost memory for each of
/// thousands of objects.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Key(u64, u64);

impl Key {
    fn of(parts: impl Hash) -> Self {
        static STATES: LazyLock<[RandomState; 2]> = LazyLock::new(|| [RandomState::new(), RandomState::new()]);
        let [one, two] = &*STATES;
        Self(one.hash_one(&parts), two.hash_one(&parts))
    }
}

/// The key of the series, and the key of the object whose events are counted against the spam limit: source, object and
/// type, as in client-go.
pub(super) fn keys(occurrence: &Occurrence) -> (Key, Key) {
    let about = &occurrence.regarding;
    let object = Key::of((
        &occurrence.source.controller,
        [
            &about.api_version,
            &about.kind,
            &about.namespace,
            &about.name,
            &about.uid,
        ],
        occurrence.type_,
    ));
    let event = [&occurrence.reason, &occurrence.action, &occurrence.note];
    (Key::of((object, &about.field_path, event)), object)
}
