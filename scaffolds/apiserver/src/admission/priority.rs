//! Priority: Pods get the priority of their PriorityClass, and at most one class is the default.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Attributes, Objects, Operation};
use crate::{
    state::Core,
    status::{Status, Subject},
    store::{Key, Record},
};

/// The path of PriorityClasses in the store.
const CLASSES: &str = "scheduling.k8s.io/priorityclasses";

/// The fields that a Pod gets.
struct Priority {
    /// Empty if there is no class.
    class: String,
    value: i64,
    preemption: Option<String>,
}

/// The fields of a PriorityClass that are needed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Class {
    #[serde(default)]
    value: i64,
    #[serde(default)]
    global_default: bool,
    #[serde(default)]
    preemption_policy: Option<String>,
}

/// Gives a new Pod its priority; an update keeps it.
///
/// # Errors
/// 403 if the class does not exist, and if the Pod's priority or preemption policy differs from that of its class.
pub(super) fn admit(core: &Core, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> Result<(), Status> {
    if !attributes.is_about(Subject::new("", "pods")) {
        return Ok(());
    }
    match attributes.operation {
        Operation::Create => set(core, attributes, objects),
        Operation::Update => {
            keep(objects);
            Ok(())
        }
        Operation::Delete | Operation::Connect => Ok(()),
    }
}

fn set(core: &Core, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> Result<(), Status> {
    let Some(spec) = spec(objects) else { return Ok(()) };
    let class = text(spec, "priorityClassName");
    let found = match class {
        "" => Some(default_priority(core)?),
        class => of_class(core, class)?,
    };
    let missing = || format!("no PriorityClass with name {class} was found");
    let priority = found.ok_or_else(missing).and_then(|found| match differs(spec, &found) {
        Some(why) => Err(why),
        None => Ok(found),
    });
    let priority = match priority {
        Ok(priority) => priority,
        Err(why) => return Err(attributes.forbid(objects, &why)),
    };
    if !priority.class.is_empty() {
        spec.insert("priorityClassName".to_owned(), json!(priority.class));
    }
    spec.insert("priority".to_owned(), json!(priority.value));
    if let Some(policy) = priority.preemption {
        spec.insert("preemptionPolicy".to_owned(), json!(policy));
    }
    Ok(())
}

/// The error for a Pod whose fields differ from its class.
fn differs(spec: &Map<String, Value>, priority: &Priority) -> Option<String> {
    const BY: &str = "priority admission controller computed";
    let said = spec.get("priority").and_then(Value::as_i64);
    if let Some(said) = said.filter(|said| *said != priority.value) {
        let (rule, value) = ("must not be provided in pod spec", priority.value);
        return Some(format!(
            "the integer value of priority ({said}) {rule}; {BY} {value} from the given PriorityClass name"
        ));
    }
    let said = spec.get("preemptionPolicy").and_then(Value::as_str)?;
    let policy = priority.preemption.as_deref().filter(|policy| *policy != said)?;
    let rule = "must not be provided in pod spec";
    Some(format!(
        "the string value of PreemptionPolicy ({said}) {rule}; {BY} {policy} from the given PriorityClass name"
    ))
}

fn keep(objects: &mut Objects<'_>) {
    let before = objects.old.and_then(|old| old.get("spec")).and_then(Value::as_object);
    let (Some(before), Some(spec)) = (before, spec(objects)) else {
        return;
    };
    for name in ["priority", "preemptionPolicy"] {
        if let (None, Some(value)) = (spec.get(name), before.get(name)) {
            spec.insert(name.to_owned(), value.clone());
        }
    }
}

/// Checks a PriorityClass.
///
/// # Errors
/// 403 for a second default class.
pub(super) fn only_default(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    let is_default = |class: &Value| class.get("globalDefault").and_then(Value::as_bool) == Some(true);
    let Some(new) = objects.new.as_deref().filter(|class| is_default(class)) else {
        return Ok(());
    };
    if !attributes.is_about(Subject::new("scheduling.k8s.io", "priorityclasses")) {
        return Ok(());
    }
    let is_itself = |name: &str| attributes.operation == Operation::Update && name == crate::meta::text(new, "name");
    match default_class(core)? {
        Some((name, _)) if !is_itself(&name) => {
            let why = format!("PriorityClass {name} is already marked as default. Only one default can exist");
            Err(attributes.forbid(objects, &why))
        }
        _ => Ok(()),
    }
}

/// The priority of a class, if the class exists.
fn of_class(core: &Core, name: &str) -> Result<Option<Priority>, Status> {
    let Some(record) = core.store.get(&Key::new(CLASSES, "", name)) else {
        return Ok(None);
    };
    Ok(Some(Priority::of(name.to_owned(), Class::read(&record)?)))
}

/// The priority of the default class, or that of Pods without a class.
fn default_priority(core: &Core) -> Result<Priority, Status> {
    Ok(match default_class(core)? {
        Some((name, class)) => Priority::of(name, class),
        None => Priority {
            class: String::new(),
            value: 0,
            preemption: Some("PreemptLowerPriority".to_owned()),
        },
    })
}

/// The default class; of several, the one with the lowest value.
fn default_class(core: &Core) -> Result<Option<(String, Class)>, Status> {
    let mut found: Option<(String, Class)> = None;
    for record in core.store.all(CLASSES, "") {
        let class = Class::read(&record)?;
        let is_lower = found.as_ref().is_none_or(|(_, found)| class.value < found.value);
        if class.global_default && is_lower {
            found = Some((record.key.name.clone(), class));
        }
    }
    Ok(found)
}

impl Class {
    fn read(record: &Record) -> Result<Self, Status> {
        Ok(record.read()?)
    }
}

impl Priority {
    fn of(name: String, class: Class) -> Self {
        Self {
            class: name,
            value: class.value,
            preemption: class.preemption_policy,
        }
    }
}

fn spec<'a>(objects: &'a mut Objects<'_>) -> Option<&'a mut Map<String, Value>> {
    objects.new.as_deref_mut()?.get_mut("spec")?.as_object_mut()
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}
