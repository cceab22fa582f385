//! The [`Strategy`] of a built-in kind: combines its recorded shape with the rules in its file.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError},
};

use kubewright_machinery::{Cause, cause::Objections};
use kubewright_schema::typed::Schema;
use serde_json::Value;

use super::{
    decode,
    defaults::{Defaults, KindDefaults},
    edit::{Fields, keep, keep_all_but, within},
    empties,
    faults::Faults,
    kind::{BuiltInKind, Change, Part, StructDefault},
    located::Located,
    names::Named,
    openapi,
    pod::annotations,
    row::Row,
    semantic,
};
use crate::{
    status::Status,
    strategy::{Decoding, Empties, Preparation, Printing, Rules, Strategy, StrictErrors, Validation, Versions},
};

/// Removes the fields of features that are off by default, once managedFields are computed.
static DISABLED: LazyLock<Defaults> = LazyLock::new(|| Defaults::from_iter(DISABLED_FIELDS.iter().copied()));

const DISABLED_FIELDS: &[StructDefault] = &[
    ("batch.v1.JobSpec", |job| _ = job.remove("scheduling")),
    ("core.v1.ClusterTrustBundleProjection", without_user),
    ("core.v1.ConfigMapVolumeSource", without_default_user),
    ("core.v1.Container", without_stop_signal),
    ("core.v1.DownwardAPIVolumeFile", without_user),
    ("core.v1.DownwardAPIVolumeSource", without_default_user),
    ("core.v1.EmptyDirVolumeSource", |source| _ = source.remove("mode")),
    ("core.v1.EphemeralContainer", without_stop_signal),
    ("core.v1.GRPCAction", |action| _ = action.remove("mode")),
    ("core.v1.HTTPGetAction", |action| _ = action.remove("protocol")),
    ("core.v1.KeyToPath", without_user),
    ("core.v1.NodeSpec", |node| _ = node.remove("podPreemptionPolicy")),
    ("core.v1.Pod", annotations::drop_old),
    ("core.v1.PodCertificateProjection", without_user),
    ("core.v1.PodSpec", |spec| {
        spec.remove("evictionResponders");
        spec.remove("schedulingGroup");
    }),
    ("core.v1.PodTemplateSpec", annotations::drop_old),
    ("core.v1.ProjectedVolumeSource", without_default_user),
    ("core.v1.SecretVolumeSource", without_default_user),
    ("core.v1.ServiceAccountTokenProjection", without_user),
    ("core.v1.VolumeMount", |mount| _ = mount.remove("bindMountOptions")),
    ("resource.v1.DeviceRequestAllocationResult", |result| {
        result.remove("skipNodeOperations");
    }),
    ("resource.v1.DeviceSubRequest", without_derived_attributes),
    ("resource.v1.ExactDeviceRequest", without_derived_attributes),
    ("storage.v1.CSINodeStatus", |status| _ = status.remove("storageHealth")),
];

/// Removes the signal, and the lifecycle if nothing else is in it.
fn without_stop_signal(container: &mut Fields) {
    let Some(lifecycle) = within(container, "lifecycle") else {
        return;
    };
    if lifecycle.remove("stopSignal").is_some() && lifecycle.is_empty() {
        container.remove("lifecycle");
    }
}

fn without_user(item: &mut Fields) {
    item.remove("user");
}

fn without_derived_attributes(request: &mut Fields) {
    request.remove("derivedAttributes");
}

fn without_default_user(source: &mut Fields) {
    source.remove("defaultUser");
}

/// A built-in kind in one version.
pub(super) struct BuiltIn {
    /// The short name of its definition.
    definition: String,
    name: String,
    version: String,
    kind: BuiltInKind,
    defaults: KindDefaults,
    disabled: KindDefaults,
    schema: OnceLock<Arc<Schema>>,
}

impl BuiltIn {
    /// The kind recorded as `named`; `defaults` are those of all kinds.
    pub fn new(named: &Named, mut kind: BuiltInKind, defaults: &'static Defaults) -> Self {
        kind.rules.has_status = named.subresources.iter().any(|it| it.name == "status");
        kind.rules.table.columns.clone_from(&named.columns);
        kind.rules.resets.parts = kind.parts.iter().map(|part| (part.name, part.reset)).collect();
        Self {
            definition: named.definition(),
            name: named.names.kind.clone(),
            version: named.version.clone(),
            kind,
            defaults: KindDefaults::new(defaults),
            disabled: KindDefaults::new(&DISABLED),
            schema: OnceLock::new(),
        }
    }

    /// Reads an object by the types of its definition; `refuse` makes the error for an object that `unreadable` rejects.
    fn read_as(
        &self,
        read: decode::Read,
        refuse: fn(&Self, &str) -> Status,
        object: &mut Value,
    ) -> Result<StrictErrors, Status> {
        let unknown = read(&self.definition, object).map_err(|sentence| self.unhandled(&sentence))?;
        if let Some(sentence) = (self.kind.unreadable)(object) {
            return Err(refuse(self, &sentence));
        }
        (self.kind.decoded)(object);
        Ok(unknown
            .into_iter()
            .map(|path| format!("unknown field {}", kubewright_machinery::go::quote(&path)))
            .collect())
    }

    fn unhandled(&self, sentence: &str) -> Status {
        let (kind, version) = (&self.name, &self.version);
        Status::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {kind}: {sentence}"
        ))
    }

    /// The subresource that writes a part of the object.
    fn part(&self, subresource: &str) -> Option<&'static Part> {
        self.kind.parts.iter().find(|part| part.name == subresource)
    }

    /// Sets the `status` with which a new object begins.
    fn empty_status(&self, object: &mut Value) {
        if let (Some(status), Some(fields)) = (decode::empty(&self.definition, "status"), object.as_object_mut()) {
            fields.insert("status".to_owned(), status);
        }
    }

    fn with_allocation(&self, found: Vec<Cause>, new: &Value, old: Option<&Value>) -> Vec<Cause> {
        match &self.kind.rules.held {
            Some(held) => held.check_before(found, new, old),
            None => found,
        }
    }
}

/// The schema of this definition, which all servers of the process share.
fn schema_of(definition: &str) -> Arc<Schema> {
    static SHARED: Mutex<BTreeMap<String, Arc<Schema>>> = Mutex::new(BTreeMap::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let compile = || {
        let root = openapi::encoded_schema(&openapi::full(definition)).unwrap_or_default();
        Arc::new(Schema::compile(&root, &openapi::encoded_schema))
    };
    shared.entry(definition.to_owned()).or_insert_with(compile).clone()
}

impl Strategy for BuiltIn {
    fn rules(&self) -> &Rules {
        &self.kind.rules
    }

    fn schema(&self) -> &Schema {
        self.schema.get_or_init(|| schema_of(&self.definition))
    }
}

impl Decoding for BuiltIn {
    fn decode(&self, object: &mut Value) -> Result<StrictErrors, Status> {
        self.read_as(decode::decode, Self::unhandled, object)
    }

    fn convert(&self, object: &mut Value) -> Result<StrictErrors, Status> {
        self.read_as(decode::convert, |_, sentence| Status::new(500, "", sentence), object)
    }

    fn empties(&self, object: &mut Value, form: Empties) -> bool {
        empties::bring(&self.definition, object, form, self.kind.distinguishes_empty)
    }

    fn default(&self, object: &mut Value) {
        self.defaults.fill(&self.definition, object);
    }
}

impl Preparation for BuiltIn {
    fn prepare_for_create(&self, subresource: &str, object: &mut Value) {
        if self.kind.rules.has_status && self.kind.clears_status {
            self.empty_status(object);
        }
        self.disabled.fill(&self.definition, object);
        (self.kind.prepare_create)(object);
        if let (Some(held), "") = (&self.kind.rules.held, subresource) {
            held.create(object);
        }
    }

    fn prepare_for_update(&self, subresource: &str, new: &mut Value, old: &Value) {
        if let Some(part) = self.part(subresource) {
            (part.prepare)(new, old);
            return self.disabled.fill(&self.definition, new);
        }
        match subresource {
            "status" => {
                keep_all_but(new, old, &["metadata", "status"]);
                (self.kind.prepare_status)(new, old);
                if self.kind.drops_disabled_from_status {
                    self.disabled.fill(&self.definition, new);
                }
            }
            _ => {
                if self.kind.rules.has_status {
                    keep(new, old, "status");
                }
                self.disabled.fill(&self.definition, new);
                (self.kind.prepare_update)(new, old);
                if let Some(held) = &self.kind.rules.held {
                    held.update(new, old);
                }
            }
        }
    }

    fn begin_deletion(&self, object: &mut Value, now: &str) -> bool {
        let begin = self.kind.begin_deletion;
        begin.map(|begin| begin(object, now)).is_some()
    }

    fn is_equal(&self, field: &str, one: &Value, other: &Value) -> bool {
        match self.kind.rules.generation.counts_empty {
            true => one == other,
            false => semantic::equal_fields(&self.definition, field, one, other),
        }
    }
}

impl Validation for BuiltIn {
    fn early_warnings(&self, object: &Value) -> Vec<String> {
        (self.kind.early_warnings)(object)
    }

    fn validate(&self, object: &Value, _found: &[Cause]) -> Vec<Cause> {
        let mut faults = Faults::default();
        (self.kind.validate)(&Located::root(object), &mut faults);
        self.with_allocation(faults.into_causes(), object, None)
    }

    fn validate_update(&self, subresource: &str, new: &Value, old: &Value, _found: &[Cause]) -> Objections {
        let mut faults = Faults::default();
        let (at, before) = (Located::root(new), Located::root(old));
        if let Some(part) = self.part(subresource) {
            (part.validate)(&at, &before, &mut faults);
            return faults.into_causes().into();
        }
        match subresource {
            "status" => (self.kind.validate_status)(&at, &before, &mut faults),
            _ => {
                (self.kind.validate_update)(&at, &before, &mut faults);
                return self.with_allocation(faults.into_causes(), new, Some(old)).into();
            }
        }
        faults.into_causes().into()
    }

    fn warnings(&self, object: &Value) -> Vec<String> {
        (self.kind.warnings)(Change {
            new: &Located::root(object),
            old: None,
        })
    }

    fn update_warnings(&self, subresource: &str, new: &Value, old: &Value) -> Vec<String> {
        match subresource {
            "" => (self.kind.warnings)(Change {
                new: &Located::root(new),
                old: Some(&Located::root(old)),
            }),
            "status" => (self.kind.status_warnings)(&Located::root(new)),
            _ => Vec::new(),
        }
    }
}

impl Versions for BuiltIn {
    fn read(&self, object: &mut Value) {
        (self.kind.from_stored)(object);
    }

    fn write(&self, object: &mut Value) {
        (self.kind.to_stored)(object);
    }
}

impl Printing for BuiltIn {
    fn field(&self, object: &Value, path: &str) -> Option<String> {
        let field = self.kind.selectable.iter().find(|field| field.is_called(path))?;
        Some(field.value(object))
    }

    fn cells(&self, object: &Value, now: i64) -> Vec<Value> {
        (self.kind.cells)(&Row {
            at: Located::root(object),
            now,
        })
    }
}
