//! Conditions in the status of a CustomResourceDefinition.

use serde_json::{Map, Value, json};

/// A condition such as `NamesAccepted` or `Established`, without its times.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct DefinitionCondition {
    pub kind: &'static str,
    pub status: bool,
    pub reason: &'static str,
    pub message: String,
}

impl DefinitionCondition {
    pub(crate) fn new(kind: &'static str, status: bool, reason: &'static str, message: &str) -> Self {
        Self {
            kind,
            status,
            reason,
            message: message.to_owned(),
        }
    }

    fn text(&self) -> &'static str {
        if self.status { "True" } else { "False" }
    }

    /// Whether `crd` has this condition already, ignoring its times.
    pub(crate) fn stands_in(&self, crd: &Value) -> bool {
        find(crd, self.kind).is_some_and(|it| {
            it["status"] == self.text() && it["reason"] == self.reason && it["message"] == self.message
        })
    }

    /// Writes the condition to `crd`. The time of the last transition changes only with the status.
    pub(crate) fn set(&self, crd: &mut Value, now: &str) {
        let conditions = &mut crd["status"]["conditions"];
        if !conditions.is_array() {
            *conditions = json!([]);
        }
        let Some(all) = conditions.as_array_mut() else { return };
        let index = all.iter().position(|it| it["type"] == self.kind).unwrap_or(all.len());
        if index == all.len() {
            all.push(Value::Object(Map::new()));
        }
        let condition = &mut all[index];
        let moved = condition["status"] != self.text();
        if moved || condition["lastTransitionTime"].is_null() {
            condition["lastTransitionTime"] = json!(now);
        }
        condition["type"] = json!(self.kind);
        condition["status"] = json!(self.text());
        condition["reason"] = json!(self.reason);
        condition["message"] = json!(self.message);
    }
}

pub(crate) fn find<'a>(crd: &'a Value, kind: &str) -> Option<&'a Value> {
    crd["status"]["conditions"]
        .as_array()?
        .iter()
        .find(|it| it["type"] == kind)
}

/// Whether `crd` has the condition with status `True`.
pub(crate) fn holds(crd: &Value, kind: &str) -> bool {
    find(crd, kind).is_some_and(|it| it["status"] == "True")
}
