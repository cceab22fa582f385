//! A built-in kind: its shape and, where kinds differ, its rules.

use kubewright_schema::{Cause, cause::Objections};
use serde_json::Value;

use super::{
    at::{At, Faults},
    cells, decode, defaults, definition, empties,
    names::Named,
    service::Held,
};
use crate::{
    apply::Schema,
    status::Status,
    strategy::{Column, Empties, NameRule, Scale, Strange, Strategy},
};

/// What a kind has of its own. Most kinds set a few of these and take the rest from [`PLAIN`].
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub name: NameRule,
    pub counts_generation: bool,
    pub counts_metadata: Option<&'static str>,
    /// Whether a new object begins with an empty status, where that is a subresource.
    pub clears_status: bool,
    /// Wanted and actual replicas, and the selector.
    pub scale: Option<[&'static str; 3]>,
    pub creates_on_update: bool,
    pub updates_unconditionally: bool,
    /// The fields whose empty lists and maps the kind's rules tell from none, those inside of them included.
    pub tells_empty: &'static [&'static str],
    /// Whether such a difference is another generation.
    pub counts_empty: bool,
    /// Right after decoding, before anybody asks who owns which field.
    pub decoded: fn(&mut Value),
    /// Before a create, after `status` was cleared where it is a subresource.
    pub create: fn(&mut Value),
    /// Before an update of the object, after `status` was taken over.
    pub update: fn(&mut Value, &Value),
    /// Before an update of the status, after all but metadata and status was taken over.
    pub update_status: fn(&mut Value, &Value),
    /// Whether its objects hold addresses and ports of the server's: Services.
    pub allocates: bool,
    pub validate: fn(&At<'_>, &mut Faults),
    /// New and old.
    pub validate_update: fn(&At<'_>, &At<'_>, &mut Faults),
    pub validate_status: fn(&At<'_>, &At<'_>, &mut Faults),
    /// Of a new object, or of one that was another before.
    pub warnings: fn((&At<'_>, Option<&At<'_>>)) -> Vec<String>,
    pub status_warnings: fn(&At<'_>) -> Vec<String>,
    pub deprecation: Option<&'static str>,
    pub stored_as: Option<&'static str>,
    /// From the storage version, where that is another kind's.
    pub read: fn(&mut Value),
    /// To the storage version.
    pub write: fn(&mut Value),
    /// Selectable fields: their names, where they are in the object, and what they are where they are not: a text, or
    /// another place.
    pub fields: &'static [(&'static str, &'static str, &'static str)],
}

/// Rules of a kind that has nothing of its own.
pub(super) const PLAIN: Rules = Rules {
    name: NameRule::Subdomain,
    counts_generation: false,
    counts_metadata: None,
    clears_status: true,
    scale: None,
    creates_on_update: false,
    updates_unconditionally: true,
    tells_empty: &[],
    counts_empty: false,
    decoded: |_| {},
    create: |_| {},
    update: |_, _| {},
    update_status: |_, _| {},
    allocates: false,
    validate: |_, _| {},
    validate_update: |_, _, _| {},
    validate_status: |_, _, _| {},
    warnings: |_| Vec::new(),
    status_warnings: |_| Vec::new(),
    deprecation: None,
    stored_as: None,
    read: |_| {},
    write: |_| {},
    fields: &[],
};

/// The [`Strategy`] of a built-in kind.
pub(super) struct BuiltIn {
    definition: String,
    kind: String,
    version: String,
    has_status: bool,
    rules: Rules,
    scale: Option<Scale>,
    columns: Vec<Column>,
    held: Held,
    schema: std::sync::OnceLock<Schema>,
}

impl BuiltIn {
    /// `definition` is the short name of the shape.
    pub fn new(definition: String, named: &Named, rules: Rules) -> Self {
        let scale = rules.scale.map(|[spec, status, selector]| Scale {
            spec_replicas: spec.to_owned(),
            status_replicas: status.to_owned(),
            label_selector: Some(selector.to_owned()),
        });
        Self {
            definition,
            kind: named.names.kind.clone(),
            version: named.version.clone(),
            has_status: named
                .subresources
                .iter()
                .any(|subresource| subresource.name == "status"),
            rules,
            scale,
            columns: named.columns.clone(),
            held: Held::default(),
            schema: std::sync::OnceLock::new(),
        }
    }

    /// Reads an object with the types of its definition.
    fn read_as(&self, read: decode::Read, object: &mut Value) -> Result<Strange, Status> {
        let unknown = read(&self.definition, object).map_err(|sentence| {
            let (kind, version) = (&self.kind, &self.version);
            Status::bad_request(format!(
                "{kind} in version {version:?} cannot be handled as a {kind}: {sentence}"
            ))
        })?;
        (self.rules.decoded)(object);
        Ok(unknown
            .into_iter()
            .map(|path| format!("unknown field \"{path}\""))
            .collect())
    }

    /// What could not be allocated is said alone, for that is done before anybody looks at the rest, but for addresses and
    /// families that are none at all.
    fn held_first(&self, object: &Value, is_new: bool, found: Vec<Cause>) -> Vec<Cause> {
        let is_asked_for =
            |cause: &Cause| cause.field.starts_with("spec.clusterIP") || cause.field.starts_with("spec.ipFamil");
        if !self.rules.allocates || found.iter().any(is_asked_for) {
            return found;
        }
        let mut faults = Faults::default();
        self.held.check(&At::root(object), is_new, &mut faults);
        if faults.is_empty() { found } else { faults.into_causes() }
    }
}

impl Strategy for BuiltIn {
    fn decode(&self, object: &mut Value) -> Result<Strange, Status> {
        self.read_as(decode::decode, object)
    }

    fn convert(&self, object: &mut Value) -> Result<Strange, Status> {
        self.read_as(decode::convert, object)
    }

    fn empties(&self, object: &mut Value, form: Empties) -> bool {
        empties::bring(&self.definition, object, (form, self.rules.tells_empty))
    }

    fn counts_empty(&self) -> bool {
        self.rules.counts_empty
    }

    fn default(&self, object: &mut Value) {
        defaults::fill(&self.definition, object);
    }

    fn prepare_for_create(&self, subresource: &str, object: &mut Value) {
        if self.has_status && self.rules.clears_status {
            super::empty_status(&self.definition, object);
        }
        (self.rules.create)(object);
        if self.rules.allocates && subresource.is_empty() {
            self.held.create(object);
        }
    }

    fn prepare_for_update(&self, subresource: &str, new: &mut Value, old: &Value) {
        match subresource {
            "status" => {
                keep_all_but(new, old, &["metadata", "status"]);
                (self.rules.update_status)(new, old);
            }
            _ => {
                if self.has_status {
                    keep(new, old, "status");
                }
                (self.rules.update)(new, old);
                if self.rules.allocates {
                    self.held.update(new, old);
                }
            }
        }
    }

    fn release(&self, object: &Value, kept: Option<&Value>) {
        if self.rules.allocates {
            self.held.release(object, kept);
        }
    }

    fn hold(&self, object: &Value) {
        if self.rules.allocates {
            self.held.hold(object);
        }
    }

    fn stored_as(&self) -> Option<&'static str> {
        self.rules.stored_as
    }

    fn verbatim_after(&self) -> Option<u64> {
        self.rules.stored_as.is_none().then_some(0)
    }

    fn read(&self, object: &mut Value) {
        (self.rules.read)(object);
    }

    fn write(&self, object: &mut Value) {
        (self.rules.write)(object);
    }

    fn validate(&self, object: &Value) -> Vec<Cause> {
        let mut faults = Faults::default();
        (self.rules.validate)(&At::root(object), &mut faults);
        self.held_first(object, true, faults.into_causes())
    }

    fn validate_update(&self, subresource: &str, new: &Value, old: &Value) -> Objections {
        let mut faults = Faults::default();
        let (at, old) = (At::root(new), At::root(old));
        if subresource == "status" {
            (self.rules.validate_status)(&at, &old, &mut faults);
            return faults.into_causes().into();
        }
        (self.rules.validate_update)(&at, &old, &mut faults);
        self.held_first(new, false, faults.into_causes()).into()
    }

    fn warnings(&self, object: &Value) -> Vec<String> {
        (self.rules.warnings)((&At::root(object), None))
    }

    fn update_warnings(&self, subresource: &str, new: &Value, old: &Value) -> Vec<String> {
        match subresource {
            "" => (self.rules.warnings)((&At::root(new), Some(&At::root(old)))),
            "status" => (self.rules.status_warnings)(&At::root(new)),
            _ => Vec::new(),
        }
    }

    fn deprecation(&self) -> Option<&str> {
        self.rules.deprecation
    }

    fn schema(&self) -> &Schema {
        self.schema.get_or_init(|| {
            let root = definition::definition(&definition::full(&self.definition)).unwrap_or_default();
            Schema::compile(&root, &definition::definition)
        })
    }

    fn name_rule(&self) -> NameRule {
        self.rules.name
    }

    fn counts_generation(&self) -> bool {
        self.rules.counts_generation
    }

    fn counts_metadata(&self) -> Option<&'static str> {
        self.rules.counts_metadata
    }

    fn has_status(&self) -> bool {
        self.has_status
    }

    fn scale(&self) -> Option<&Scale> {
        self.scale.as_ref()
    }

    fn creates_on_update(&self) -> bool {
        self.rules.creates_on_update
    }

    fn updates_unconditionally(&self) -> bool {
        self.rules.updates_unconditionally
    }

    fn merges_strategically(&self) -> bool {
        true
    }

    fn field(&self, object: &Value, path: &str) -> Option<String> {
        let (_, place, fallback) = self.rules.fields.iter().find(|(name, ..)| *name == path)?;
        let found = |place: &str| match object.pointer(place) {
            Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
            Some(Value::Null | Value::String(_)) | None => None,
            Some(other) => Some(other.to_string()),
        };
        let other = || {
            if fallback.starts_with('/') {
                found(fallback)
            } else {
                Some((*fallback).to_owned())
            }
        };
        found(place).or_else(other).or_else(|| Some(String::new()))
    }

    fn columns(&self) -> Vec<Column> {
        self.columns.clone()
    }

    fn cells(&self, object: &Value, now: i64) -> Vec<Value> {
        cells::cells(&self.definition, object, now)
    }
}

/// Takes the field `name` over from `old`.
pub(super) fn keep(new: &mut Value, old: &Value, name: &str) {
    let Some(fields) = new.as_object_mut() else { return };
    match old.get(name) {
        Some(value) => _ = fields.insert(name.to_owned(), value.clone()),
        None => _ = fields.remove(name),
    }
}

/// Takes a field of the metadata over from `old`.
pub(super) fn keep_metadata(new: &mut Value, old: &Value, name: &str) {
    if let (Some(new), Some(old)) = (new.get_mut("metadata"), old.get("metadata")) {
        keep(new, old, name);
    }
}

fn keep_all_but(new: &mut Value, old: &Value, free: &[&str]) {
    let names = [&*new, old]
        .into_iter()
        .flat_map(|object| object.as_object().into_iter().flatten());
    let names: Vec<String> = names
        .map(|(name, _)| name.clone())
        .filter(|name| !free.contains(&name.as_str()))
        .collect();
    for name in names {
        keep(new, old, &name);
    }
}
