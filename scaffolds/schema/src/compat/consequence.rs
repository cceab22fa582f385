//! The consequences of a change of a schema. API servers keep a stored value that a new schema refuses until a request changes that
//! value (ratcheting), but not where `allOf`, `anyOf`, `oneOf` or `not`, a list type, a required field or an embedded resource refuses it.

/// The values are no longer allowed, and the Rust type may not decode them.
pub(super) const REFUSED: &str = "writes of such a value are refused; API servers keep stored ones while nobody changes them, and objects whose \
                                  values the new type cannot decode are never reconciled";
/// The values are pruned.
pub(super) const DROPPED: &str = "values that objects have there are lost at their next write";
/// A limit that API servers do not apply to unchanged values.
pub(super) const MAY_REFUSE: &str =
    "writes that were valid may be refused; API servers keep stored values while nobody changes them";
/// A limit that API servers apply to unchanged values too.
pub(super) const MAY_REFUSE_ALL: &str =
    "each write of an object may be refused that was valid, even if it does not change this field";
/// A required field that stored objects may lack.
pub(super) const INCOMPLETE: &str = "objects without it are refused at their next write";
/// Another owner of list items and map entries.
pub(super) const MERGES: &str = "server-side apply merges it differently";
/// A list that becomes a set or one with keys.
pub(super) const UNIQUE: &str =
    "server-side apply merges it differently, and objects with duplicates are refused at each write";
/// A default that is new, gone or another one.
pub(super) const DEFAULTS: &str = "objects that leave it out get another value";
