//! `metadata.managedFields`: which manager owns which fields, since when.

use std::{cmp::Ordering, collections::BTreeMap};

use serde_json::{Map, Value, json};

use super::{fields, set::Set};

/// A manager: its name, its operation (apply or update), the subresource, and for updates the version (an applier keeps
/// its entry when it changes the version).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Manager {
    pub(super) name: String,
    pub(super) operation: Operation,
    /// Empty for appliers.
    pub(super) api_version: String,
    pub(super) subresource: String,
}

/// The operation of an entry.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Operation {
    Apply,
    #[default]
    Update,
}

/// The fields that a manager owns.
#[derive(Clone, Debug, Default)]
pub(super) struct Owned {
    pub(super) set: Set,
    /// The version that the set's paths are in.
    pub(super) api_version: String,
}

/// All entries of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Managed {
    pub(super) owners: BTreeMap<Manager, Owned>,
    /// RFC 3339, to the second.
    pub(super) times: BTreeMap<Manager, String>,
}

impl Manager {
    pub(super) fn updating(name: &str, api_version: &str, subresource: &str) -> Self {
        let operation = Operation::Update;
        Self {
            name: name.into(),
            operation,
            api_version: api_version.into(),
            subresource: subresource.into(),
        }
    }

    pub(super) fn applying(name: &str, subresource: &str) -> Self {
        let operation = Operation::Apply;
        Self {
            name: name.into(),
            operation,
            api_version: String::new(),
            subresource: subresource.into(),
        }
    }
}

/// The order of the JSON texts that identify managers in the real server. The closing quote takes part in the
/// comparison: a name sorts before its extensions, unless these continue with a space or an exclamation mark. Entries
/// without a subresource come last.
impl Ord for Manager {
    fn cmp(&self, other: &Self) -> Ordering {
        let quoted = |left: &str, right: &str| left.bytes().chain([b'"']).cmp(right.bytes().chain([b'"']));
        quoted(&self.name, &other.name)
            .then_with(|| self.operation.cmp(&other.operation))
            .then_with(|| quoted(&self.api_version, &other.api_version))
            .then_with(|| self.subresource.is_empty().cmp(&other.subresource.is_empty()))
            .then_with(|| quoted(&self.subresource, &other.subresource))
    }
}

impl PartialOrd for Manager {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The entries of an object, not decoded; `None` if there are none or any of them is malformed.
pub(super) fn entries(object: &Value) -> Option<&Vec<Value>> {
    let entries = object.get("metadata")?.get("managedFields")?.as_array()?;
    entries.iter().all(is_entry).then_some(entries)
}

/// Whether a value can be decoded as an entry. If one cannot, all entries are ignored.
fn is_entry(entry: &Value) -> bool {
    let texts = ["manager", "operation", "apiVersion", "fieldsType", "subresource"];
    let text = |key: &str| entry.get(key).is_none_or(|it| it.is_string() || it.is_null());
    entry.is_object()
        && texts.into_iter().all(text)
        && entry.get("time").is_none_or(|it| it.is_string() || it.is_null())
}

/// Whether a client asks to clear managedFields: with an empty list, or with one empty entry.
pub(super) fn asks_for_reset(object: &Value) -> bool {
    match entries(object).map(Vec::as_slice) {
        Some([]) => true,
        Some([only]) => only
            .as_object()
            .is_some_and(|it| it.values().all(|it| it.is_null() || it == "")),
        _ => false,
    }
}

pub(super) fn remove_entries(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

/// The reason that the entries of an object are invalid, if they are.
pub fn invalid(object: &Value) -> Option<String> {
    let entries = object.get("metadata")?.get("managedFields")?.as_array()?;
    decode(entries).err()
}

/// Decodes entries. Of two entries of the same manager, the later one wins.
pub(super) fn decode(entries: &[Value]) -> Result<Managed, String> {
    let mut managed = Managed::default();
    for (index, entry) in entries.iter().enumerate() {
        let (manager, owned) = decode_one(index, entry)?;
        match entry.get("time").and_then(Value::as_str) {
            Some(time) => drop(managed.times.insert(manager.clone(), time.to_owned())),
            None => drop(managed.times.remove(&manager)),
        }
        managed.owners.insert(manager, owned);
    }
    Ok(managed)
}

fn decode_one(index: usize, entry: &Value) -> Result<(Manager, Owned), String> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
    let (name, subresource) = (text("manager"), text("subresource"));
    let api_version = text("apiVersion");
    let manager = match text("operation") {
        "Apply" => Manager::applying(name, subresource),
        "Update" => Manager::updating(name, api_version, subresource),
        _ => return Err("operation must be `Apply` or `Update`".to_owned()),
    };
    if api_version.is_empty() {
        return Err("apiVersion must not be empty".to_owned());
    }
    match text("fieldsType") {
        "FieldsV1" => {}
        "" => return Err(format!("missing fieldsType in managed fields entry {index}")),
        other => {
            return Err(format!(
                "invalid fieldsType \"{other}\" in managed fields entry {index}"
            ));
        }
    }
    let set = fields::decode(entry.get("fieldsV1").unwrap_or(&Value::Null))?;
    Ok((
        manager,
        Owned {
            set,
            api_version: api_version.to_owned(),
        },
    ))
}

/// Writes the entries to an object, in the order that the server uses.
pub(super) fn write(object: &mut Value, managed: &Managed) {
    remove_entries(object);
    if managed.owners.is_empty() {
        return;
    }
    let mut entries: Vec<_> = managed
        .owners
        .iter()
        .map(|(manager, owned)| ManagedEntry {
            manager,
            owned,
            time: managed.times.get(manager).map_or("", String::as_str),
        })
        .collect();
    entries.sort_by(|left, right| left.order().cmp(&right.order()));
    let entries: Vec<_> = entries.iter().map(ManagedEntry::encode).collect();
    if let Some(object) = object.as_object_mut()
        && let Some(metadata) = object.entry("metadata").or_insert_with(|| json!({})).as_object_mut()
    {
        metadata.insert("managedFields".to_owned(), Value::Array(entries));
    }
}

/// An entry that is about to be written.
struct ManagedEntry<'a> {
    manager: &'a Manager,
    owned: &'a Owned,
    /// Empty where no time is known.
    time: &'a str,
}

impl<'a> ManagedEntry<'a> {
    /// Appliers first, then by time, name, version and subresource.
    fn order(&self) -> impl Ord + use<'a> {
        let Self { manager, owned, time } = *self;
        (
            manager.operation,
            time,
            &manager.name,
            &owned.api_version,
            &manager.subresource,
        )
    }

    fn encode(&self) -> Value {
        let mut entry = Map::new();
        let mut put = |key: &str, text: &str| {
            if !text.is_empty() {
                entry.insert(key.to_owned(), text.into());
            }
        };
        put("manager", &self.manager.name);
        put(
            "operation",
            if self.manager.operation == Operation::Apply {
                "Apply"
            } else {
                "Update"
            },
        );
        put("apiVersion", &self.owned.api_version);
        put("subresource", &self.manager.subresource);
        put("time", self.time);
        put("fieldsType", "FieldsV1");
        entry.insert("fieldsV1".to_owned(), fields::encode(&self.owned.set));
        Value::Object(entry)
    }
}
