//! The name of one object of a known kind: the key in the work queue and the argument of a reconciler.

use std::{cmp::Ordering, fmt, sync::Arc};

use kube::Resource;

/// Namespace and name of an object; cluster-scoped kinds have no namespace.
///
/// Cheap to clone (one reference count). Displays as `namespace/name`, or `name` without a namespace. Keys are ordered by namespace,
/// none first, and then by name.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ObjectKey {
    /// The text of [`Display`](std::fmt::Display).
    text: Arc<str>,
    /// The offset of the `/` after the namespace, in bytes; 0 without a namespace.
    slash: u32,
}

impl ObjectKey {
    /// The key of the object `name` in `namespace`. An empty namespace means none, as in the Kubernetes API.
    pub fn new(namespace: Option<&str>, name: &str) -> Self {
        let namespace = namespace.unwrap_or_default();
        Self {
            text: match namespace {
                "" => name.into(),
                _ => [namespace, "/", name].concat().into(),
            },
            // The API server has no longer names than 253 bytes.
            slash: namespace.len() as u32,
        }
    }

    /// The key of an object as the API server returned it. An object without a name (not created yet) has an empty
    /// name.
    pub fn of<K: Resource>(object: &K) -> Self {
        let meta = object.meta();
        Self::new(meta.namespace.as_deref(), meta.name.as_deref().unwrap_or_default())
    }

    /// The namespace; `None` if the kind is cluster-scoped.
    pub fn namespace(&self) -> Option<&str> {
        self.text
            .get(..self.slash as usize)
            .filter(|namespace| !namespace.is_empty())
    }

    /// The name.
    pub fn name(&self) -> &str {
        match self.slash as usize {
            0 => &self.text,
            slash => &self.text[slash + 1..],
        }
    }
}

impl PartialOrd for ObjectKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ObjectKey {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.namespace(), self.name()).cmp(&(other.namespace(), other.name()))
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectKey")
            .field("namespace", &self.namespace())
            .field("name", &self.name())
            .finish()
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The longest name that Kubernetes accepts (a DNS-1123 subdomain; the path segment names of RBAC's kinds have no other limit).
const MAX_NAME: usize = 253;

/// The longest name of a namespace (a DNS-1123 label).
const MAX_NAMESPACE: usize = 63;

/// Checks that a name is one segment of a path and does not change the path: DNS-1123 subdomains pass, and the names of
/// RBAC's kinds, which may have colons and capital letters. The API server checks which names a kind accepts.
pub(crate) fn check_name(name: &str) -> Result<(), &'static str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
    match name {
        "" => Err("it is empty"),
        "." | ".." => Err("it would name another path"),
        _ if name.len() > MAX_NAME => Err("it is longer than 253 bytes"),
        _ if !name.bytes().all(plain) => Err("only letters, digits, `-`, `.`, `_` and `:` are allowed"),
        _ => Ok(()),
    }
}

/// Checks that this is a valid name of a namespace: a DNS-1123 label.
pub(crate) fn check_namespace(name: &str) -> Result<(), &'static str> {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let inner = |byte: u8| letter(byte) || byte == b'-';
    let ends = [name.bytes().next(), name.bytes().last()];
    if name.len() > MAX_NAMESPACE {
        return Err("it is longer than 63 bytes");
    }
    if name.bytes().all(inner) && ends.into_iter().all(|end| end.is_some_and(letter)) {
        Ok(())
    } else {
        Err("only small letters, digits and `-` are allowed, with a letter or digit at both ends")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_its_namespace_and_its_name_whatever_is_in_them() {
        let parts = [
            (None, "b"),
            (None, "a/b"),
            (Some("a"), ""),
            (Some("a"), "b"),
            (Some("a-"), "a"),
            (Some("b"), "a"),
        ];
        let keys = parts.map(|(namespace, name)| ObjectKey::new(namespace, name));
        for (key, (namespace, name)) in keys.iter().zip(parts) {
            assert_eq!((key.namespace(), key.name()), (namespace, name));
        }
        // `a/b` is both a name and a name in a namespace.
        for (at, key) in keys.iter().enumerate() {
            for (other, than) in keys.iter().enumerate() {
                assert_eq!(key == than, at == other, "{key:?} and {than:?}");
            }
        }
        assert_eq!(ObjectKey::new(Some(""), "b"), keys[0]);
        let mut sorted = keys.to_vec();
        sorted.sort();
        let expected = [
            (None, "a/b"),
            (None, "b"),
            (Some("a"), ""),
            (Some("a"), "b"),
            (Some("a-"), "a"),
            (Some("b"), "a"),
        ];
        let sorted: Vec<_> = sorted.iter().map(|key| (key.namespace(), key.name())).collect();
        assert_eq!(sorted, expected);
    }

    #[test]
    fn names_that_are_one_path_segment_pass() {
        for name in ["a", "a-b.c", "0", "system:kube-dns", "Admin", "a_b", &"x".repeat(253)] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for namespace in ["default", "a-0", &"x".repeat(63)] {
            assert_eq!(check_namespace(namespace), Ok(()), "{namespace}");
        }
    }

    #[test]
    fn names_that_change_a_path_are_refused() {
        for name in [
            "",
            ".",
            "..",
            "a/b",
            "a?x",
            "a#x",
            "%2e%2e",
            "a b",
            "a\n",
            "ä",
            &"x".repeat(254),
        ] {
            assert!(check_name(name).is_err(), "{name}");
        }
        for namespace in ["", "..", "a.b", "a/b", "-a", "a-", "A", "a_b", &"x".repeat(64)] {
            assert!(check_namespace(namespace).is_err(), "{namespace}");
        }
    }
}
