//! Names that are derived from an owner's, or from an intent: the same on every machine and in every version, and never too long.

use std::io;

use serde::Serialize;
use serde_json::Value;

/// The longest name that Kubernetes accepts for most kinds (a DNS-1123 subdomain).
const MAX_NAME: usize = 253;

/// The longest value that Kubernetes accepts for a label.
const MAX_LABEL: usize = 63;

/// The longest name of a StatefulSet whose Pods can be created: they get it with `-` and ten characters of a hash in the label
/// `controller-revision-hash`.
const MAX_STATEFUL_SET: usize = MAX_LABEL - 11;

/// `<name>-<suffix>`, the name of a child. A name that is too long for Kubernetes (over 253 bytes) is cut and ends in a
/// hash of the whole name, so that two long names that differ only at their ends stay different. The same input gives
/// the same name on every machine and in every version.
pub fn child_name(name: &str, suffix: &str) -> String {
    shortened(format!("{name}-{suffix}"), MAX_NAME)
}

/// `<name>-<suffix>`, the name of a Job: as [`child_name`], but of at most 63 bytes, because Kubernetes puts it into a label
/// of the Job's Pods, and refuses a longer one.
pub fn job_name(name: &str, suffix: &str) -> String {
    shortened(format!("{name}-{suffix}"), MAX_LABEL)
}

/// `<name>-<suffix>`, the name of a StatefulSet: as [`child_name`], but of at most 52 bytes, because Kubernetes puts it with a
/// hash into a label of the Pods, and creates none if that is too long.
pub fn stateful_set_name(name: &str, suffix: &str) -> String {
    shortened(format!("{name}-{suffix}"), MAX_STATEFUL_SET)
}

/// The name of an object as a label value. A longer name (over 63 bytes) is cut as in [`child_name`].
pub fn label_value(name: &str) -> String {
    shortened(name.to_owned(), MAX_LABEL)
}

fn shortened(whole: String, max: usize) -> String {
    if whole.len() <= max {
        return whole;
    }
    let hash = format!("{:016x}", fnv1a(whole.as_bytes()));
    let end = whole.floor_char_boundary(max - hash.len() - 1);
    format!("{}-{hash}", whole[..end].trim_end_matches(['-', '.']))
}

/// FNV-1a, 64 bits: names are stored in clusters, so the hash must never change as std's may.
pub(super) fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash = Fnv1a::default();
    hash.add(bytes);
    hash.0
}

/// [`fnv1a`] of everything that is written.
struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl io::Write for Fnv1a {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Separates the field manager from the hash of the intent's fields.
pub(super) const CREATED: char = '@';

/// The longest name of a field manager that Kubernetes accepts.
const MAX_MANAGER: usize = 128;

/// The field manager that creates a child and changes its values: the controller's field manager and a hash of the intent's fields.
/// A later process reads both from `managedFields`. If the hash is that of its own intent, no field has been dropped since, although
/// the record contains fields that the server added. The hash says nothing about values: a process compares them.
pub(super) struct Creator {
    name: String,
    /// The name that kubewright 0.1 wrote, with [`hash_of`] the intent.
    former: String,
}

impl Creator {
    /// The creator for an intent, of which `hash` is [`hash_of`].
    pub(super) fn of(manager: &str, intent: &Value, hash: u64) -> Self {
        let named = |hash: u64| {
            let name = format!("{manager}{CREATED}{hash:016x}");
            if name.len() > MAX_MANAGER {
                manager.to_owned()
            } else {
                name
            }
        };
        Self {
            name: named(hash_of_fields(intent)),
            former: named(hash),
        }
    }

    /// The name for a request.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether an entry of this field manager has the fields of the intent, and those that the server added.
    pub(super) fn is(&self, manager: &str) -> bool {
        manager == self.name || manager == self.former
    }
}

/// The hash of a value as JSON.
pub(super) fn hash_of<T: Serialize + ?Sized>(value: &T) -> u64 {
    let mut hash = Fnv1a::default();
    // Neither JSON nor the hash can fail.
    let _ = serde_json::to_writer(&mut hash, value);
    hash.0
}

/// The hash of an intent without the values of its fields, but with its lists, in which values can be keys. Other processes compare
/// this hash too, also of other versions: see [`Creator`].
fn hash_of_fields(intent: &Value) -> u64 {
    fn add(hash: &mut Fnv1a, value: &Value) {
        match value {
            Value::Object(fields) => {
                hash.add(b"{");
                for (name, value) in fields {
                    hash.add(&hash_of(name).to_le_bytes());
                    add(hash, value);
                }
                hash.add(b"}");
            }
            Value::Array(_) => hash.add(&hash_of(value).to_le_bytes()),
            // It is no field of an apply.
            Value::Null => hash.add(b"-"),
            _ => hash.add(b"+"),
        }
    }
    let mut hash = Fnv1a::default();
    add(&mut hash, intent);
    hash.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_named_after_its_owner() {
        assert_eq!(child_name("sample", "foobar"), "sample-foobar");
    }

    #[test]
    fn long_names_are_cut_and_stay_different() {
        let (a, b) = (format!("{}a", "x".repeat(252)), format!("{}b", "x".repeat(252)));
        let (a, b) = (child_name(&a, "foobar"), child_name(&b, "foobar"));
        assert_eq!((a.len(), b.len()), (253, 253));
        assert_ne!(a, b);
    }

    #[test]
    fn labels_of_pods_have_room_for_the_names_of_their_owners() {
        let [a, b] = ["a", "b"].map(|end| format!("{}{end}", "x".repeat(60)));
        assert_eq!(job_name(&a, "job").len(), 63);
        let (a, b) = (stateful_set_name(&a, "db"), stateful_set_name(&b, "db"));
        assert_ne!(a, b);
        assert_eq!(format!("{a}-0123456789").len(), 63);
        let name = "x".repeat(52 - "-db".len());
        assert_eq!(stateful_set_name(&name, "db"), format!("{name}-db"));
    }

    #[test]
    fn the_longest_name_that_fits_is_kept_whole() {
        let name = "x".repeat(253 - "-foobar".len());
        assert_eq!(child_name(&name, "foobar"), format!("{name}-foobar"));
    }

    #[test]
    fn the_hash_of_a_name_never_changes() {
        // The published test vectors of FNV-1a.
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_name_of_a_creator_changes_with_the_fields_and_lists_of_an_intent_alone() {
        use serde_json::json;

        let named = |intent: Value| Creator::of("m", &intent, hash_of(&intent)).name;
        let first = named(json!({"data": {"a": "1"}, "list": [{"name": "x"}]}));
        // Other processes compare it: it never changes.
        assert_eq!(first, PINNED);
        assert_eq!(first, named(json!({"data": {"a": "2"}, "list": [{"name": "x"}]})));
        for other in [
            json!({"data": {"b": "1"}, "list": [{"name": "x"}]}),
            json!({"data": {"a": null}, "list": [{"name": "x"}]}),
            json!({"data": {"a": "1"}, "list": [{"name": "y"}]}),
            json!({"data": {"a": {}}, "list": [{"name": "x"}]}),
            json!({"data": {}, "a": "1", "list": [{"name": "x"}]}),
        ] {
            assert_ne!(first, named(other.clone()), "{other}");
        }
        assert_eq!(Creator::of(&"m".repeat(120), &json!({}), 0).name, "m".repeat(120));
    }

    #[test]
    fn a_cut_never_leaves_a_dot_or_a_dash_before_the_hash() {
        let name = child_name(&format!("{}{}", "x".repeat(230), ".".repeat(23)), "foobar");
        assert!(!name.contains(".-") && !name.contains("--"), "{name}");
    }

    const PINNED: &str = "m@bba590f63b51da71";

    #[test]
    fn any_name_becomes_a_valid_label_value() {
        assert_eq!(label_value("sample"), "sample");
        let (a, b) = (format!("{}.a", "x".repeat(70)), format!("{}.b", "x".repeat(70)));
        let (a, b) = (label_value(&a), label_value(&b));
        assert_eq!((a.len(), b.len()), (63, 63));
        assert_ne!(a, b);
    }
}
