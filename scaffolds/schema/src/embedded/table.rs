//! The marks of the fields of Kubernetes' types, as controller-gen v0.23.0 reads them from the Go types of Kubernetes 1.37.

use std::{collections::HashMap, sync::OnceLock};

use serde_json::Value;

/// A line for each type: its name, then the mark of each field, with `.` for the type itself. Recorded by
/// `fidelity record embedded-types`.
const TYPES: &str = include_str!("types.txt");

/// The marks of a type.
pub(super) struct Type(&'static str);

/// A mark of a field.
pub(super) enum Mark<'t> {
    /// A list that merges by these keys: `field=map(name)`.
    Keyed(Vec<&'t str>),
    /// The type of a list or a map: `field=atomic`, `field=set`, `field=granular`.
    Kind(&'t str),
    /// The value of a field that is left out, as JSON: `field:"TCP"`.
    Default(Value),
}

/// The marks of the type with this name in OpenAPI, if it has any.
pub(super) fn row(name: &str) -> Option<Type> {
    static ROWS: OnceLock<HashMap<&str, &str>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| TYPES.lines().filter_map(|line| line.split_once(' ')).collect());
    rows.get(name).copied().map(Type)
}

impl Type {
    /// The type of maps that the type itself has.
    pub(super) fn own(&self) -> Option<&'static str> {
        let mut marks = self.0.split(' ');
        marks.find_map(|mark| mark.strip_prefix(".="))
    }

    /// The mark of a field.
    pub(super) fn field(&self, name: &str) -> Option<Mark<'static>> {
        let mut marks = self.0.split(' ');
        marks.find_map(|mark| {
            let rest = mark.strip_prefix(name)?;
            if let Some(json) = rest.strip_prefix(':') {
                return serde_json::from_str(json).ok().map(Mark::Default);
            }
            let kind = rest.strip_prefix('=')?;
            let keys = kind.strip_prefix("map(").and_then(|keys| keys.strip_suffix(')'));
            Some(keys.map_or(Mark::Kind(kind), |keys| Mark::Keyed(keys.split(',').collect())))
        })
    }
}
