//! The condition that each controller writes its failures into. Each controller has its own, also where a kind has
//! several controllers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{
    error::{Error, Result},
    kind::Kind,
};

/// The condition that summarises an object; a kind has one.
const READY: &str = "Ready";

/// The last words of condition types that are `True` if something is wrong, in Kubernetes and in common use.
const ABNORMAL: [&str; 14] = [
    "Degraded",
    "Stalled",
    "Failed",
    "Failing",
    "Failure",
    "Error",
    "Errored",
    "Unhealthy",
    "Unavailable",
    "Unreachable",
    "Unschedulable",
    "Blocked",
    "Pressure",
    "NotReady",
];
/// The last words of condition types that are `True` if all is well.
const NORMAL: [&str; 6] = [READY, "Available", "Healthy", "Succeeded", "Complete", "Reconciled"];

/// Checks that failures set a condition of this type to the value that its name promises to whoever reads it.
///
/// # Errors
///
/// [`Error::Setup`] if they do not.
pub(crate) fn check_polarity(controller: &str, type_: Option<&str>, abnormal: bool) -> Result<()> {
    let type_ = type_.unwrap_or(READY);
    let ends = |words: &[&str]| words.iter().any(|word| type_.ends_with(word));
    let (value, hint) = match (ends(&ABNORMAL), ends(&NORMAL)) {
        (true, _) if !abnormal => ("False", "abnormal_condition"),
        (false, true) if abnormal => ("True", "condition"),
        _ => return Ok(()),
    };
    let text = format!("failures of `{controller}` would set the condition `{type_}` to `{value}`, against its name");
    Err(Error::Setup(format!("{text}\n\nhint: use `.{hint}(\"{type_}\")`")))
}

/// The controllers of one manager that write statuses. Clones share the list.
#[derive(Clone, Default)]
pub(crate) struct ConditionTypes(Arc<Mutex<Vec<Writer>>>);

#[derive(Clone)]
struct Writer {
    controller: String,
    group: String,
    kind: String,
    asked: Option<String>,
}

impl ConditionTypes {
    /// Adds a controller of this kind, with the condition type that it requests, if any.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if another controller of the kind writes the same type.
    pub(crate) fn add<K>(&self, controller: &str, kind: &Kind<K>, asked: Option<String>) -> Result<()> {
        let mut writers = self.writers();
        writers.push(Writer::new(controller, kind, asked));
        let types: Vec<_> = writers
            .iter()
            .map(|writer| (writer, type_of(&writers, writer)))
            .collect();
        let Some((last, type_)) = types.last() else {
            return Ok(());
        };
        let same = types[..types.len() - 1]
            .iter()
            .find(|(writer, known)| writer.is_beside(last) && known == type_);
        let Some((other, _)) = same else { return Ok(()) };
        let text = format!(
            "`{}` and `{controller}` both write the condition `{type_}` of {}",
            other.controller,
            kind.kind()
        );
        let another = named_after(controller);
        Err(Error::Setup(format!(
            "{text}\n\nhint: add `.condition(\"{another}\")` to one of them"
        )))
    }

    /// As [`add`](Self::add), for a controller that starts while others run: those keep their types. So it writes `Ready`
    /// only if no other controller of the kind does, and one that has the name of its kind is refused otherwise.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add).
    pub(crate) fn add_running<K>(&self, controller: &str, kind: &Kind<K>, asked: Option<String>) -> Result<()> {
        self.settle();
        let new = Writer::new(controller, kind, asked.clone());
        let writes_ready = |other: &Writer| other.is_beside(&new) && other.asked.as_deref() == Some(READY);
        let taken = self.writers().iter().any(writes_ready);
        let type_ = asked.unwrap_or_else(|| {
            if taken && !new.is_named_after_its_kind() {
                named_after(controller)
            } else {
                READY.to_owned()
            }
        });
        let added = self.add(controller, kind, Some(type_));
        if added.is_err() {
            self.remove(controller);
        }
        added
    }

    /// Removes a controller that has stopped. The others keep their types.
    pub(crate) fn remove(&self, controller: &str) {
        self.settle();
        self.writers().retain(|writer| writer.controller != controller);
    }

    /// From now on each controller keeps the type that it writes now.
    fn settle(&self) {
        let mut writers = self.writers();
        let types: Vec<_> = writers.iter().map(|writer| type_of(&writers, writer)).collect();
        for (writer, type_) in writers.iter_mut().zip(types) {
            writer.asked = Some(type_);
        }
    }

    /// The type that this controller writes.
    pub(crate) fn of(&self, controller: &str) -> String {
        let writers = self.writers();
        let writer = writers.iter().find(|writer| writer.controller == controller);
        writer.map_or_else(|| READY.to_owned(), |writer| type_of(&writers, writer))
    }

    /// Whether the controller is the one whose runs the kind's `observedGeneration` counts: a single one, or the one that
    /// writes `Ready`.
    pub(crate) fn is_main(&self, controller: &str) -> bool {
        let writers = self.writers();
        let Some(writer) = writers.iter().find(|writer| writer.controller == controller) else {
            return true;
        };
        let is_single = writers.iter().filter(|other| other.is_beside(writer)).count() == 1;
        is_single || type_of(&writers, writer) == READY
    }

    fn writers(&self) -> MutexGuard<'_, Vec<Writer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writer {
    fn new<K>(controller: &str, kind: &Kind<K>, asked: Option<String>) -> Self {
        Self {
            controller: controller.to_owned(),
            group: kind.group().to_owned(),
            kind: kind.kind().to_lowercase(),
            asked,
        }
    }

    fn is_beside(&self, other: &Self) -> bool {
        (&self.group, &self.kind) == (&other.group, &other.kind)
    }

    /// Whether the controller has the name that `create api` gives to a kind's controller.
    fn is_named_after_its_kind(&self) -> bool {
        let group = self.group.split('.').next().unwrap_or_default();
        self.controller == self.kind || self.controller == format!("{group}_{}", self.kind)
    }
}

/// The controller that is named after its kind writes `Ready`, or else the controller that was registered first.
fn type_of(writers: &[Writer], writer: &Writer) -> String {
    if let Some(asked) = &writer.asked {
        return asked.clone();
    }
    let mut siblings = writers
        .iter()
        .filter(|other| other.asked.is_none() && other.is_beside(writer));
    let first = siblings.clone().next();
    let main = siblings.find(|other| other.is_named_after_its_kind()).or(first);
    if main.is_none_or(|main| main.controller == writer.controller) {
        READY.to_owned()
    } else {
        named_after(&writer.controller)
    }
}

/// `foobar-backup` → `FoobarBackupReady`, as in the generated reconcilers.
fn named_after(controller: &str) -> String {
    let words = controller.split(|c: char| !c.is_ascii_alphanumeric());
    let capitalised = words.map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + &rest.to_ascii_lowercase()
    });
    capitalised.collect::<String>() + READY
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};

    use super::*;

    fn types(controllers: &[(&str, Option<&str>)]) -> Result<Vec<String>> {
        let types = ConditionTypes::default();
        for (name, asked) in controllers {
            types.add(name, &Kind::<ConfigMap>::of(), asked.map(str::to_owned))?;
        }
        Ok(controllers.iter().map(|(name, _)| types.of(name)).collect())
    }

    #[test]
    fn a_single_controller_writes_ready_whatever_its_name() {
        assert_eq!(types(&[("backup", None)]).unwrap(), ["Ready"]);
        assert_eq!(types(&[("backup", Some("Saved"))]).unwrap(), ["Saved"]);
    }

    #[test]
    fn of_several_controllers_the_one_named_after_the_kind_writes_ready() {
        let several = types(&[("nightly-backup", None), ("configmap", None), ("backup", None)]);
        assert_eq!(several.unwrap(), ["NightlyBackupReady", "Ready", "BackupReady"]);
        assert_eq!(types(&[("one", None), ("two", None)]).unwrap(), ["Ready", "TwoReady"]);
    }

    #[test]
    fn one_controller_of_a_kind_is_the_main_one() {
        let types = ConditionTypes::default();
        let kind = Kind::<ConfigMap>::of();
        types.add("backup", &kind, Some("Saved".to_owned())).unwrap();
        assert!(types.is_main("backup"));
        types.add("configmap", &kind, None).unwrap();
        assert_eq!(["backup", "configmap"].map(|name| types.is_main(name)), [false, true]);
    }

    #[test]
    fn a_condition_that_failures_set_against_its_name_is_refused() {
        let check = |type_: &str, abnormal| check_polarity("foobar", Some(type_), abnormal).map_err(|e| e.to_string());
        let named = [
            "Degraded",
            "example.com/Stalled",
            "ReplicaFailure",
            "DiskPressure",
            "NotReady",
            "BackupFailed",
        ];
        for type_ in named {
            let refused = check(type_, false).unwrap_err();
            let hint = format!("hint: use `.abnormal_condition(\"{type_}\")`");
            assert!(refused.contains("to `False`") && refused.ends_with(&hint), "{refused}");
            assert_eq!(check(type_, true), Ok(()));
        }
        for type_ in ["Ready", "BackupReady", "Available", "example.com/Healthy"] {
            let refused = check(type_, true).unwrap_err();
            assert!(
                refused.ends_with(&format!("hint: use `.condition(\"{type_}\")`")),
                "{refused}"
            );
            assert_eq!(check(type_, false), Ok(()));
        }
        for abnormal in [false, true] {
            assert_eq!(check("Saved", abnormal), Ok(()), "the name promises nothing");
        }
        assert!(check_polarity("foobar", None, false).is_ok());
    }

    #[test]
    fn controllers_of_other_kinds_do_not_count() {
        let types = ConditionTypes::default();
        types.add("backup", &Kind::<ConfigMap>::of(), None).unwrap();
        types.add("secret", &Kind::<Secret>::of(), None).unwrap();
        assert_eq!([types.of("backup"), types.of("secret")], ["Ready", "Ready"]);
    }

    #[test]
    fn a_controller_that_is_added_while_others_run_takes_no_condition_from_them() {
        let types = ConditionTypes::default();
        let kind = Kind::<ConfigMap>::of();
        types.add("backup", &kind, None).unwrap();
        types.add_running("copy", &kind, None).unwrap();
        assert_eq!([types.of("backup"), types.of("copy")], ["Ready", "CopyReady"]);
        let error = types.add_running("configmap", &kind, None).unwrap_err().to_string();
        assert!(
            error.starts_with("`backup` and `configmap` both write the condition `Ready`"),
            "{error}"
        );

        types.remove("backup");
        assert_eq!(types.of("copy"), "CopyReady", "it keeps its own");
        types.add_running("configmap", &kind, None).unwrap();
        assert_eq!(types.of("configmap"), "Ready");
        types.add_running("backup", &kind, None).unwrap();
        assert_eq!(types.of("backup"), "BackupReady");
    }

    #[test]
    fn two_controllers_with_one_condition_type_are_refused() {
        let error = types(&[("configmap", None), ("backup", Some("Ready"))])
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("`configmap` and `backup` both write the condition `Ready` of ConfigMap\n\nhint: "),
            "{error}"
        );
        assert!(error.contains(".condition(\"BackupReady\")"), "{error}");
    }
}
