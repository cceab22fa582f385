//! Kinds whose objects are stored and shown, and steer nothing here: flow control (but for headers of answers), API services, addresses, drivers of
//! volumes and devices. Of their rules only those for defaults, generations and columns are kept.

pub(super) mod devices;

use serde_json::{Value, json};

use super::{
    edit::{Fields, add_finalizer, keep_metadata, set, set_text, within},
    kind::{BuiltInKind, Change, StructDefault, Warnings},
    row::{Row, or},
    semantic::{equal, equal_fields},
};
use crate::{
    meta,
    strategy::{Deletion, NameRule, Rules},
};

/// A kind with these columns.
fn shown(cells: fn(&Row<'_>) -> Vec<Value>) -> BuiltInKind {
    BuiltInKind {
        cells,
        ..BuiltInKind::default()
    }
}

impl BuiltInKind {
    fn with_generation(mut self) -> Self {
        self.rules.generation.is_counted = true;
        self
    }

    /// An update has to contain the resourceVersion.
    fn conditional(mut self) -> Self {
        self.rules.put.is_unconditional = false;
        self
    }

    fn returned_when_deleted(mut self) -> Self {
        self.rules.deletion = Deletion {
            returns_object: true,
            ..Deletion::default()
        };
        self
    }

    /// A write of the status leaves all metadata.
    pub(super) fn with_separate_status(mut self) -> Self {
        self.rules.resets.status = &["spec", "metadata"];
        self.prepare_status = keep_all_metadata;
        self
    }

    fn with_defaults(self, defaults: &'static [StructDefault]) -> Self {
        Self { defaults, ..self }
    }
}

/// Keeps the metadata that clients write.
fn keep_all_metadata(new: &mut Value, old: &Value) {
    for field in [
        "labels",
        "annotations",
        "finalizers",
        "ownerReferences",
        "deletionTimestamp",
    ] {
        keep_metadata(new, old, field);
    }
}

pub(super) fn component_status() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            deprecation: Some("v1 ComponentStatus is deprecated in v1.19+".into()),
            ..Rules::default()
        },
        cells: |row| {
            let conditions = row.get("conditions");
            let healthy = conditions.items().find(|it| it.get("type").str() == "Healthy");
            let texts = ["message", "error"].map(|field| healthy.as_ref().map_or("", |it| it.get(field).str()));
            let status = match &healthy {
                None => "Unknown",
                Some(it) if it.get("status").str() == "True" => "Healthy",
                Some(_) => "Unhealthy",
            };
            vec![row.name(), json!(status), json!(texts[0]), json!(texts[1])]
        },
        ..BuiltInKind::default()
    }
}

pub(super) fn api_service() -> BuiltInKind {
    shown(|row| {
        let service = row.get("spec.service");
        let shown = match service.is_set() {
            true => format!("{}/{}", service.get("namespace").str(), service.get("name").str()),
            false => "Local".to_owned(),
        };
        let conditions = row.get("status.conditions");
        let available = conditions.items().find(|it| it.get("type").str() == "Available");
        let available = available.map_or("Unknown".to_owned(), |it| {
            match (it.get("status").str(), it.get("reason").str()) {
                ("True", _) | (_, "") => it.get("status").str().to_owned(),
                (status, reason) => format!("{status} ({reason})"),
            }
        });
        vec![row.name(), json!(shown), json!(available), row.age()]
    })
    .conditional()
    .with_separate_status()
    .with_defaults(&[(
        "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference",
        |service| set(service, "port", 443),
    )])
}

pub(super) fn flow_schema() -> BuiltInKind {
    let mut schema = shown(|row| {
        let conditions = row.get("status.conditions");
        let dangling = conditions.items().find(|it| it.get("type").str() == "Dangling");
        vec![
            row.name(),
            row.text("spec.priorityLevelConfiguration.name"),
            row.int("spec.matchingPrecedence"),
            or(row.get("spec.distinguisherMethod.type").str(), "<none>"),
            row.age(),
            json!(dangling.map_or("?", |it| it.get("status").str())),
        ]
    })
    .with_generation()
    .with_separate_status()
    .with_defaults(&[("flowcontrol.v1.FlowSchemaSpec", |spec| {
        set_number(spec, "matchingPrecedence", 1000);
    })]);
    schema.rules.table.rows_by = Some("/spec/matchingPrecedence");
    schema
}

pub(super) fn priority_level() -> BuiltInKind {
    shown(|row| {
        let limited = row.get("spec.limited");
        let queuing = limited.at("limitResponse.queuing");
        let number = |value: &Value| {
            if value.is_null() {
                json!("<none>")
            } else {
                value.clone()
            }
        };
        vec![
            row.name(),
            row.text("spec.type"),
            number(limited.get("nominalConcurrencyShares").value),
            number(queuing.get("queues").value),
            number(queuing.get("handSize").value),
            number(queuing.get("queueLengthLimit").value),
            row.age(),
        ]
    })
    .with_generation()
    .with_separate_status()
    .with_defaults(&[
        ("flowcontrol.v1.ExemptPriorityLevelConfiguration", |level| {
            set(level, "nominalConcurrencyShares", 0);
            set(level, "lendablePercent", 0);
        }),
        ("flowcontrol.v1.LimitedPriorityLevelConfiguration", |level| {
            set(level, "nominalConcurrencyShares", 30);
            set(level, "lendablePercent", 0);
        }),
        ("flowcontrol.v1.QueuingConfiguration", |queuing| {
            set_number(queuing, "handSize", 8);
            set_number(queuing, "queues", 64);
            set_number(queuing, "queueLengthLimit", 50);
        }),
    ])
}

pub(super) fn ip_address() -> BuiltInKind {
    let mut address = shown(|row| {
        let parent = row.get("spec.parentRef");
        let mut shown = parent.get("resource").str().to_owned();
        if !parent.get("group").str().is_empty() {
            shown = format!("{shown}.{}", parent.get("group").str());
        }
        for part in ["namespace", "name"].map(|field| parent.get(field).str()) {
            if !part.is_empty() {
                shown = format!("{shown}/{part}");
            }
        }
        vec![row.name(), or(&shown.to_lowercase(), "<none>"), row.age()]
    });
    address.rules.name = NameRule::Address;
    address
}

pub(super) fn service_cidr() -> BuiltInKind {
    shown(|row| vec![row.name(), json!(joined(row, "spec.cidrs", |item| item)), row.age()]).with_separate_status()
}

pub(super) fn csi_driver() -> BuiltInKind {
    let driver = shown(|row| {
        let is = |field: &str| json!(row.get("spec").get(field).is_true());
        let requests = match row.get("spec.tokenRequests").is_set() {
            true => joined(row, "spec.tokenRequests", |item| item.get("audience").unwrap_or(item)),
            false => "<unset>".to_owned(),
        };
        vec![
            row.name(),
            json!(row.get("spec.attachRequired").value != false),
            is("podInfoOnMount"),
            is("storageCapacity"),
            json!(requests),
            is("requiresRepublish"),
            or(&joined(row, "spec.volumeLifecycleModes", |item| item), "<none>"),
            row.age(),
        ]
    })
    .conditional()
    .returned_when_deleted()
    .with_defaults(&[("storage.v1.CSIDriver", |driver| {
        let Some(spec) = within(driver, "spec") else { return };
        set(spec, "attachRequired", true);
        for field in [
            "podInfoOnMount",
            "storageCapacity",
            "requiresRepublish",
            "seLinuxMount",
            "preventPodSchedulingIfMissing",
        ] {
            set(spec, field, false);
        }
        set_text(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
        let modes = spec.entry("volumeLifecycleModes").or_insert_with(|| json!([]));
        if let Some(modes) = modes.as_array_mut().filter(|modes| modes.is_empty()) {
            modes.push(json!("Persistent"));
        }
    })]);
    BuiltInKind {
        // Upstream a new driver has no generation.
        prepare_update: |new, old| {
            let generation = meta::number(old, "generation").unwrap_or_default();
            if !equal("storage.v1.CSIDriverSpec", &new["spec"], &old["spec"]) {
                meta::set(new, "generation", Some(json!(generation + 1)));
            }
        },
        warnings: token_warnings,
        ..driver
    }
}

/// Warns about new requests for tokens.
fn token_warnings(Change { new, old }: Change<'_, '_>) -> Warnings {
    let spec = new.get("spec");
    let requests = spec.get("tokenRequests");
    let is_changed = old.is_none_or(|old| {
        let before = old.at("spec.tokenRequests");
        !equal_fields(
            "storage.v1.CSIDriverSpec",
            "tokenRequests",
            requests.value,
            before.value,
        )
    });
    let lacks = is_changed && requests.len() > 0 && !spec.get("serviceAccountTokenInSecrets").is_set();
    lacks.then(|| TOKEN_IN_ATTRIBUTES.to_owned()).into_iter().collect()
}

const TOKEN_IN_ATTRIBUTES: &str = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to \
     true to prevent possible logging of tokens in volume attributes";

pub(super) fn csi_node() -> BuiltInKind {
    BuiltInKind {
        drops_disabled_from_status: true,
        ..shown(|row| vec![row.name(), json!(row.get("spec.drivers").len()), row.age()])
            .conditional()
            .returned_when_deleted()
            .with_separate_status()
    }
}

pub(super) fn csi_storage_capacity() -> BuiltInKind {
    shown(|row| vec![row.name(), row.text("metadata.creationTimestamp")]).conditional()
}

pub(super) fn volume_attachment() -> BuiltInKind {
    shown(|row| {
        vec![
            row.name(),
            row.text("spec.attacher"),
            row.text("spec.source.persistentVolumeName"),
            row.text("spec.nodeName"),
            json!(row.get("status.attached").is_true()),
            row.age(),
        ]
    })
    .conditional()
    .returned_when_deleted()
    .with_separate_status()
}

pub(super) fn volume_attributes_class() -> BuiltInKind {
    BuiltInKind {
        prepare_create: |class| add_finalizer(class, "kubernetes.io/vac-protection"),
        ..shown(|row| vec![row.name(), row.text("driverName"), row.age()]).returned_when_deleted()
    }
}

/// Sets a number that is absent or 0.
fn set_number(fields: &mut Fields, name: &str, number: i64) {
    if fields.get(name).and_then(Value::as_i64).unwrap_or_default() == 0 {
        fields.insert(name.to_owned(), number.into());
    }
}

/// The name, the texts at these paths, and the age.
fn texts(row: &Row<'_>, paths: &[impl AsRef<str>]) -> Vec<Value> {
    let mut cells = vec![row.name()];
    cells.extend(paths.iter().map(|path| row.text(path.as_ref())));
    cells.push(row.age());
    cells
}

/// The texts of a list, with commas between.
fn joined(row: &Row<'_>, path: &str, text: fn(&Value) -> &Value) -> String {
    let list = row.get(path);
    let texts = list.items().filter_map(|item| text(item.value).as_str());
    texts.collect::<Vec<_>>().join(",")
}
