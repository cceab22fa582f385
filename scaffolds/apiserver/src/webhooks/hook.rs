//! One webhook of a configuration, ready to be matched and called.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use kubewright_schema::condition::Condition;
use serde_json::Value;

use super::{
    Selection, Target,
    selection::{items, texts},
};
use crate::meta;

/// A webhook.
#[derive(Debug)]
pub struct Hook {
    /// By configuration, name, and index among webhooks of the same name.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its address; otherwise the reason that no client can be made.
    pub target: Result<Arc<Target>, String>,
    /// The requests for which it is called.
    pub selection: Selection,
    /// It is called if all of them are true. One that does not compile has its error.
    pub conditions: Vec<Result<Condition, String>>,
    /// Whether a request goes on if the webhook cannot be called.
    pub ignores_failures: bool,
    /// Its side effects.
    pub side_effects: SideEffects,
    /// The time that a call may take.
    pub timeout: Duration,
    /// The versions of AdmissionReview that it accepts, in the order of its preference.
    pub reviews: Vec<String>,
    /// Whether it is called again if the object has changed since.
    pub is_reinvoked: bool,
}

/// The side effects of a webhook.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SideEffects {
    /// No side effects, at least not in a dry run.
    None,
    /// Something, or it does not say.
    Some,
    /// The configuration does not say.
    Missing,
}

impl Hook {
    /// All webhooks of a configuration.
    pub(super) fn all(configuration: &Value) -> Vec<Self> {
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        let hooks = configuration["webhooks"].as_array().into_iter().flatten();
        hooks
            .map(|hook| {
                let name = hook["name"].as_str().unwrap_or_default();
                let index = count.entry(name).or_default();
                *index += 1;
                let id = format!("{}/{name}/{index}", meta::text(configuration, "name"));
                Self::read(hook, id)
            })
            .collect()
    }

    fn read(hook: &Value, id: String) -> Self {
        let text = |field: &str| hook[field].as_str().unwrap_or_default();
        Self {
            id,
            name: text("name").to_owned(),
            target: Target::read(&hook["clientConfig"]).map(Arc::new),
            selection: Selection::of_webhook(hook),
            conditions: items(&hook["matchConditions"])
                .map(|condition| Condition::compile(condition["expression"].as_str().unwrap_or_default()))
                .collect(),
            ignores_failures: text("failurePolicy") == "Ignore",
            side_effects: match text("sideEffects") {
                "None" | "NoneOnDryRun" => SideEffects::None,
                "" => SideEffects::Missing,
                _ => SideEffects::Some,
            },
            timeout: Duration::from_secs(hook["timeoutSeconds"].as_u64().unwrap_or(10)),
            reviews: texts(&hook["admissionReviewVersions"]),
            is_reinvoked: text("reinvocationPolicy") == "IfNeeded",
        }
    }
}
