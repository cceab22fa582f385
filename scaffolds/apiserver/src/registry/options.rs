//! The options of writes, from the query or, for deletions, from the body.

use kubewright_machinery::{Cause, cause::Path, go};
use serde_json::{Map, Value, json};

use crate::{
    call::Call,
    meta,
    request::{self, query},
    status::{Status, Subject},
};

/// The treatment of unknown and duplicate fields.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Validation {
    Ignore,
    Warn,
    Strict,
}

/// The options of a create, update or patch.
#[derive(Debug)]
pub(super) struct WriteOptions {
    pub dry_run: bool,
    /// Empty if the client names no field manager.
    pub manager: String,
    pub validation: Validation,
    pub force: bool,
}

/// Longest name of a field manager, in bytes.
const LONGEST_MANAGER: usize = 128;

impl WriteOptions {
    /// The options of a create or update; `kind` is `CreateOptions` or `UpdateOptions`.
    pub fn read(call: &Call, kind: &str) -> Result<Self, Status> {
        Self::checked(call, kind, Vec::new())
    }

    /// The options of a patch.
    pub fn of_patch(call: &Call, is_apply: bool) -> Result<Self, Status> {
        let manager = call.parameter("fieldManager").unwrap_or_default();
        let mut causes = Vec::new();
        if is_apply && manager.is_empty() {
            causes.push(Path::new("fieldManager").required("is required for apply patch"));
        }
        if !is_apply && call.parameter("force").is_some() {
            causes.push(Path::new("force").forbidden("may not be specified for non-apply patch"));
        }
        Self::checked(call, "PatchOptions", causes)
    }

    fn checked(call: &Call, kind: &str, mut causes: Vec<Cause>) -> Result<Self, Status> {
        let manager = call.parameter("fieldManager").unwrap_or_default();
        causes.extend(check_manager(manager));
        let dry_run: Vec<&str> = call.parameters("dryRun").collect();
        causes.extend(check_dry_run(&dry_run));
        let validation = call.parameter("fieldValidation").unwrap_or_default();
        let known = ["", "Ignore", "Strict", "Warn"];
        if !known.contains(&validation) {
            causes.push(Path::new("fieldValidation").unsupported(validation, &known));
        }
        refuse(kind, &causes)?;
        Ok(Self {
            dry_run: !dry_run.is_empty(),
            manager: manager.to_owned(),
            validation: match validation {
                "Ignore" => Validation::Ignore,
                "Strict" => Validation::Strict,
                _ => Validation::Warn,
            },
            force: call.parameter("force").is_some_and(query::is_true),
        })
    }
}

/// The options of a deletion.
#[derive(Clone, Debug, Default)]
pub struct DeleteOptions {
    pub dry_run: Vec<String>,
    /// In seconds; a negative period has become 1.
    pub grace: Option<i64>,
    pub orphan_dependents: Option<bool>,
    /// `Orphan`, `Background` or `Foreground`.
    pub propagation: Option<String>,
    pub uid: Option<String>,
    pub resource_version: Option<String>,
    /// Whether there are preconditions, even if they are empty.
    pub has_preconditions: bool,
    /// Whether the object is to be deleted only if it cannot be read from the storage.
    pub of_unreadable: bool,
}

/// The parameter and the field for `of_unreadable`.
const UNREADABLE: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

impl DeleteOptions {
    /// From the body, or from the query if there is no body.
    pub fn read(call: &Call) -> Result<Self, Status> {
        let options = if call.body.is_empty() {
            Self::of_query(call)
        } else {
            let (body, _) = request::body::options(&call.content_type, &call.body)?;
            check_kind(&body)?;
            Self::of(&body)
        }?;
        options.check()?;
        Ok(options)
    }

    /// Whether nothing is deleted in the end.
    pub fn is_dry_run(&self) -> bool {
        !self.dry_run.is_empty()
    }

    /// Refuses options that are unknown or contradict each other.
    ///
    /// # Errors
    /// 422.
    pub fn check(&self) -> Result<(), Status> {
        let mut causes = Vec::new();
        if let Some(policy) = &self.propagation {
            let at = Path::new("propagationPolicy");
            if self.orphan_dependents.is_some() {
                causes.push(at.invalid(
                    policy.as_str(),
                    "orphanDependents and deletionPropagation cannot be both set",
                ));
            }
            if !["Foreground", "Background", "Orphan"].contains(&policy.as_str()) {
                causes.push(at.unsupported(policy.as_str(), &["Foreground", "Background", "Orphan", "nil"]));
            }
        }
        let dry_run: Vec<&str> = self.dry_run.iter().map(String::as_str).collect();
        causes.extend(check_dry_run(&dry_run));
        let excluded = [
            (self.propagation.is_some(), "propagationPolicy"),
            (self.orphan_dependents.is_some(), "orphanDependents"),
            (self.grace.is_some(), "gracePeriodSeconds"),
            (self.has_preconditions, "preconditions"),
        ];
        for (_, other) in excluded.iter().filter(|(is_set, _)| *is_set && self.of_unreadable) {
            let rule = format!("cannot be set together with .{other}");
            causes.push(Path::new(UNREADABLE).invalid(true, &rule));
        }
        refuse("DeleteOptions", &causes)
    }

    /// Refuses an option that deletions of collections do not have.
    ///
    /// # Errors
    /// 422.
    pub fn check_of_collection(&self) -> Result<(), Status> {
        if !self.of_unreadable {
            return Ok(());
        }
        let rule = "is not allowed with DELETECOLLECTION, try again after removing the option";
        refuse("DeleteOptions", &[Path::new(UNREADABLE).invalid(true, rule)])
    }

    /// Checks that an object of a kind (with its group) is the one that the client means.
    ///
    /// # Errors
    /// 409.
    pub fn matches(&self, kind: Subject, object: &Value) -> Result<(), Status> {
        let conflict = |why: String| Err(Status::conflict(kind, meta::text(object, "name"), &why));
        let uid = meta::text(object, "uid");
        if let Some(wanted) = self.uid.as_deref().filter(|wanted| *wanted != uid) {
            return conflict(format!(
                "the UID in the precondition ({wanted}) does not match the UID in record ({uid}). The object might have \
                 been deleted and then recreated"
            ));
        }
        let version = meta::text(object, "resourceVersion");
        if let Some(wanted) = self.resource_version.as_deref().filter(|wanted| *wanted != version) {
            return conflict(format!(
                "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record \
                 ({version}). The object might have been modified"
            ));
        }
        Ok(())
    }

    fn of_query(call: &Call) -> Result<Self, Status> {
        let number = |text: &str| query::integer(text).map_err(Status::bad_request);
        let grace = call.parameter("gracePeriodSeconds").map(number).transpose()?;
        let text = |name: &str| call.parameter(name).filter(|text| !text.is_empty()).map(str::to_owned);
        let (uid, resource_version) = (text("uid"), text("resourceVersion"));
        Ok(Self {
            dry_run: call.parameters("dryRun").map(str::to_owned).collect(),
            grace: grace.map(at_least_one),
            orphan_dependents: call.parameter("orphanDependents").map(query::is_true),
            propagation: call.parameter("propagationPolicy").map(str::to_owned),
            has_preconditions: uid.is_some() || resource_version.is_some(),
            uid,
            resource_version,
            of_unreadable: call.parameter(UNREADABLE).is_some_and(query::is_true),
        })
    }

    /// From an object, which need not be checked yet.
    ///
    /// # Errors
    /// 400 for a field of another type.
    pub fn of(body: &Map<String, Value>) -> Result<Self, Status> {
        let field = |name: &str| body.get(name).filter(|value| !value.is_null());
        let none = Value::Null;
        let preconditions = field("preconditions").unwrap_or(&none);
        if !(preconditions.is_object() || preconditions.is_null()) {
            return Err(mismatch(preconditions, "preconditions", "v1.Preconditions"));
        }
        let grace = field("gracePeriodSeconds").map(|it| whole(it, "gracePeriodSeconds"));
        Ok(Self {
            grace: grace.transpose()?.map(at_least_one),
            orphan_dependents: field("orphanDependents")
                .map(|it| flag(it, "orphanDependents"))
                .transpose()?,
            propagation: field("propagationPolicy")
                .map(|it| text(it, "propagationPolicy", "v1.DeletionPropagation"))
                .transpose()?,
            uid: precondition(preconditions, "uid", "types.UID")?,
            resource_version: precondition(preconditions, "resourceVersion", "string")?,
            has_preconditions: !preconditions.is_null(),
            of_unreadable: field(UNREADABLE).map(|it| flag(it, UNREADABLE)).transpose()? == Some(true),
            dry_run: match field("dryRun") {
                None => Vec::new(),
                Some(Value::Array(items)) => items
                    .iter()
                    .map(|it| text(it, "dryRun", "string"))
                    .collect::<Result<_, _>>()?,
                Some(other) => return Err(mismatch(other, "dryRun", "[]string")),
            },
        })
    }
}

/// The grace period that a client asks for, in seconds.
fn at_least_one(seconds: i64) -> i64 {
    if seconds < 0 { 1 } else { seconds }
}

/// Checks the options' `kind`, which may be empty; their `apiVersion` may name any group.
fn check_kind(body: &Map<String, Value>) -> Result<(), Status> {
    let text = |name: &str, default: &'static str| match body.get(name).and_then(Value::as_str) {
        None | Some("") => default.to_owned(),
        Some(text) => text.to_owned(),
    };
    let (kind, version) = (text("kind", "DeleteOptions"), text("apiVersion", "meta.k8s.io/v1"));
    if kind == "DeleteOptions" {
        return Ok(());
    }
    let (kind, version) = (go::quote(&kind), go::quote(&version));
    let message = format!("no kind {kind} is registered for version {version} in scheme \"pkg/runtime/scheme.go:111\"");
    Err(Status::bad_request(message))
}

fn precondition(preconditions: &Value, name: &str, wanted: &str) -> Result<Option<String>, Status> {
    let Some(value) = preconditions.get(name).filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let text = value.as_str().map(str::to_owned);
    let field = format!("Preconditions.preconditions.{name}");
    text.map(Some).ok_or_else(|| unfit(go::kind(value), &field, wanted))
}

fn text(value: &Value, field: &str, wanted: &str) -> Result<String, Status> {
    let text = value.as_str().map(str::to_owned);
    text.ok_or_else(|| mismatch(value, field, wanted))
}

fn whole(value: &Value, field: &str) -> Result<i64, Status> {
    match go::stored(value.clone()) {
        Value::Number(number) => number.as_i64().ok_or_else(|| {
            let found = format!("number {number}");
            unfit(&found, &format!("DeleteOptions.{field}"), "int64")
        }),
        _ => Err(mismatch(value, field, "int64")),
    }
}

fn flag(value: &Value, field: &str) -> Result<bool, Status> {
    value.as_bool().ok_or_else(|| mismatch(value, field, "bool"))
}

fn mismatch(value: &Value, field: &str, wanted: &str) -> Status {
    unfit(go::kind(value), &format!("DeleteOptions.{field}"), wanted)
}

fn unfit(found: &str, field: &str, wanted: &str) -> Status {
    let message = format!("json: cannot unmarshal {found} into Go struct field {field} of type {wanted}");
    Status::bad_request(message)
}

fn check_manager(manager: &str) -> Vec<Cause> {
    let at = Path::new("fieldManager");
    let mut causes = Vec::new();
    if manager.len() > LONGEST_MANAGER {
        causes.push(at.too_long(LONGEST_MANAGER));
    }
    for (index, found) in manager.char_indices().filter(|(_, found)| !go::printable(*found)) {
        let rule = format!("invalid character U+{:04X} (at position {index})", u32::from(found));
        causes.push(at.invalid(manager, &rule));
    }
    causes
}

fn check_dry_run(values: &[&str]) -> Option<Cause> {
    let bad = values.iter().any(|value| *value != "All");
    bad.then(|| Path::new("dryRun").unsupported(json!(values), &["All"]))
}

fn refuse(kind: &str, causes: &[Cause]) -> Result<(), Status> {
    if causes.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(Subject::new("meta.k8s.io", kind), "", causes))
}
