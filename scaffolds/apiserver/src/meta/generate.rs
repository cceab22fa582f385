//! Names and uids that nobody has yet.

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher,
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

#[cfg(feature = "sim")]
use super::chance::Chance;

/// Without vowels and what looks like them, so that no word comes of it.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX: usize = 5;
/// Prefixes are cut so that the name is a label of DNS.
const LONGEST_PREFIX: usize = 63 - SUFFIX;

/// The prefix and five random characters.
pub fn name(prefix: &str) -> String {
    let mut end = prefix.len().min(LONGEST_PREFIX);
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    let mut name = prefix[..end].to_owned();
    let mut random = random();
    for _ in 0..SUFFIX {
        let (rest, index) = (random / 27, random % 27);
        random = rest;
        name.push(char::from(ALPHABET[usize::try_from(index).unwrap_or_default()]));
    }
    name
}

/// A UUID of version 4.
pub fn uid() -> String {
    // Each new object gets one, and `format!` takes ten times as long.
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let (high, low) = (random(), random());
    let bits = u128::from(high & !0xf000 | 0x4000) << 64 | u128::from(low & !(0b11 << 62) | 0b10 << 62);
    let mut uid = String::with_capacity(36);
    for at in 0..32 {
        if [8, 12, 16, 20].contains(&at) {
            uid.push('-');
        }
        uid.push(char::from(DIGITS[(bits >> (124 - 4 * at)) as usize & 0xf]));
    }
    uid
}

#[cfg(feature = "sim")]
thread_local! {
    /// The numbers of this thread's simulation.
    static SEEDED: std::cell::RefCell<Option<Chance>> = const { std::cell::RefCell::new(None) };
}

/// From now on all names and uids that this thread generates depend on this seed alone; with `None` they are random again.
#[cfg(feature = "sim")]
pub(crate) fn seed(seed: Option<u64>) {
    SEEDED.set(seed.map(Chance::new));
}

/// The keyed hash of a counter, with keys that the standard library draws once from the system.
fn random() -> u64 {
    #[cfg(feature = "sim")]
    if let Some(number) = SEEDED.with_borrow_mut(|chance| chance.as_mut().map(Chance::next)) {
        return number;
    }
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    KEYS.hash_one(COUNT.fetch_add(1, Ordering::Relaxed))
}
