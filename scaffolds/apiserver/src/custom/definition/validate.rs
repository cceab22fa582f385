//! The server's objections to a CustomResourceDefinition, in the server's order.

use crate::{
    custom::{approval, conditions::holds},
    kinds::certificates,
};
use kubewright_machinery::{
    Cause,
    base64::{self, Encoding},
    cause::Path,
};
use kubewright_schema::lint;
use serde_json::{Value, json};

/// Objections to a new definition. Those to its name's and labels' syntax are the registry's.
pub(super) fn creation(crd: &Value) -> Vec<Cause> {
    let mut causes: Vec<Cause> = lint::causes(crd).into_iter().filter(is_ours).collect();
    causes.extend(stored_versions(crd));
    in_order(causes)
}

/// Objections to a change of anything but the status.
pub(super) fn update(new: &Value, old: &Value) -> Vec<Cause> {
    let same_approval = approval::of(new) == approval::of(old);
    let annotation = format!("metadata.annotations[{}]", approval::ANNOTATION);
    let mut causes: Vec<Cause> = lint::causes(new).into_iter().filter(is_ours).collect();
    // A definition's name cannot change, and an approval that was accepted as it is stays so.
    let is_name = |cause: &Cause| ["metadata.name", "metadata.generateName"].contains(&cause.field.as_str());
    causes.retain(|cause| !(is_name(cause) || same_approval && cause.field == annotation));
    if holds(old, "Established") {
        untrusted(&mut causes, new, old);
        causes.extend(
            ["/spec/scope", "/spec/names/kind"]
                .iter()
                .filter_map(|it| immutable(it, new, old)),
        );
    }
    causes.extend(
        ["/spec/group", "/spec/names/plural"]
            .iter()
            .filter_map(|it| immutable(it, new, old)),
    );
    causes.extend(stored_versions(new));
    in_order(causes)
}

/// Objections to a change of the status: the accepted names must be names.
pub(super) fn status(new: &Value) -> Vec<Cause> {
    let probe = json!({"spec": {"names": new["status"]["acceptedNames"]}});
    let named = lint::causes(&probe).into_iter().filter_map(|cause| {
        let rest = cause.field.strip_prefix("spec.names.")?;
        let field = format!("status.acceptedNames.{rest}");
        (cause.reason != "FieldValueRequired").then_some(Cause { field, ..cause })
    });
    named.collect()
}

/// The linter speaks of the metadata too, and guesses the stored versions that the server knows.
fn is_ours(cause: &Cause) -> bool {
    let about_metadata = cause.field.starts_with("metadata.");
    let ours = cause.message.contains("spec.names.plural") || cause.field.contains(approval::ANNOTATION);
    (!about_metadata || ours) && cause.field != "status.storedVersions"
}

/// The bundle of a conversion webhook from which no authority can be read, and why.
pub(crate) fn bundle_fault(crd: &Value) -> Option<(String, String)> {
    let bundle = crd
        .pointer("/spec/conversion/webhook/clientConfig/caBundle")?
        .as_str()?;
    let bytes = base64::decode(bundle, Encoding::Standard).unwrap_or_default();
    let why = certificates::bundle_fault(&bytes).filter(|_| !bytes.is_empty())?;
    Some((bundle.to_owned(), why))
}

/// Adds the error in the bundle of a conversion webhook, in its place. An invalid one may stay as long as it was there
/// before the definition was established.
fn untrusted(causes: &mut Vec<Cause>, new: &Value, old: &Value) {
    let is_webhook = new["spec"]["conversion"]["strategy"] == "Webhook";
    if let (true, Some((bundle, why)), None) = (is_webhook, bundle_fault(new), bundle_fault(old)) {
        let is_behind = |cause: &Cause| cause.field.starts_with("spec.conversion.conversionReviewVersions");
        let place = causes.iter().position(is_behind).unwrap_or(causes.len());
        let at = Path::new("spec")
            .child("conversion")
            .child("webhookClientConfig")
            .child("caBundle");
        causes.insert(place, at.invalid(bundle, &why));
    }
}

fn immutable(pointer: &str, new: &Value, old: &Value) -> Option<Cause> {
    let value = |crd: &Value| {
        crd.pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    (value(new) != value(old)).then(|| Cause {
        reason: "FieldValueInvalid",
        field: pointer.trim_start_matches('/').replace('/', "."),
        message: format!("Invalid value: {}: field is immutable", json!(value(new))),
    })
}

/// Every version that objects may be stored in must still be there.
fn stored_versions(crd: &Value) -> Vec<Cause> {
    let invalid = |field: String, value: &Value, detail: &str| Cause {
        reason: "FieldValueInvalid",
        field,
        message: format!("Invalid value: {value}: {detail}"),
    };
    let field = "status.storedVersions";
    let value = &crd["status"]["storedVersions"];
    let stored: Vec<&str> = value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if stored.is_empty() {
        return vec![invalid(
            field.to_owned(),
            value,
            "must have at least one stored version",
        )];
    }
    let mut causes = Vec::new();
    let mut known = Vec::new();
    for version in crd["spec"]["versions"].as_array().into_iter().flatten() {
        let name = version["name"].as_str().unwrap_or_default();
        if version["storage"] == true && !stored.contains(&name) {
            causes.push(invalid(
                field.to_owned(),
                value,
                &format!("must have the storage version {name}"),
            ));
        }
        known.push(name);
    }
    for (index, name) in stored.iter().enumerate().filter(|(_, name)| !known.contains(name)) {
        let detail = format!(
            "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until \
             a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
        );
        causes.push(invalid(format!("{field}[{index}]"), &json!(name), &detail));
    }
    causes
}

/// The parts of a definition in the order in which the server checks them.
const ORDER: [&str; 14] = [
    "metadata.generateName",
    "metadata.name",
    "spec.group",
    "spec.scope",
    "spec.versions[",
    "spec.versions",
    "spec.version",
    "spec.names",
    "spec.validation",
    "spec.subresources",
    "spec.additionalPrinterColumns",
    "spec.selectableFields",
    "spec.conversion",
    "status.",
];

/// The place of immutable fields in [`ORDER`]: with the conversion.
const IMMUTABLES: usize = 12;

/// The last checks: immutable fields after the whole spec, approval and pruning after the status.
fn in_order(mut causes: Vec<Cause>) -> Vec<Cause> {
    let place = |cause: &Cause| {
        let place = ORDER
            .iter()
            .position(|prefix| cause.field.starts_with(prefix))
            .unwrap_or(ORDER.len());
        if cause.message.ends_with("field is immutable") {
            return (IMMUTABLES, immutables_place(&cause.field));
        }
        let names = ["plural", "singular", "kind", "listKind"];
        let name = names
            .iter()
            .position(|name| cause.field == format!("spec.names.{name}"))
            .unwrap_or(names.len());
        // Missing names come before malformed ones.
        (
            place,
            if cause.reason == "FieldValueRequired" {
                name
            } else {
                names.len() + name
            },
        )
    };
    causes.sort_by_key(place);
    causes
}

fn immutables_place(field: &str) -> usize {
    const FIELDS: [&str; 4] = ["spec.scope", "spec.names.kind", "spec.group", "spec.names.plural"];
    100 + FIELDS.iter().position(|it| *it == field).unwrap_or(FIELDS.len())
}
