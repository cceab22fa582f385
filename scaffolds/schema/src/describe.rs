//! Calls the functions that describe types. kube-derive panics on types it cannot make structural; here a panic becomes
//! a finding with the type's name and a way out.

use crate::{Crd, Finding};
use serde::Serialize;
use serde_json::Value;
use std::panic;
use std::sync::{Mutex, PoisonError};

/// Held while the panic hook is replaced: two threads that swapped it at once would leave the silent one behind.
static HOOK: Mutex<()> = Mutex::new(());

/// A type and the CRD it describes itself as.
pub(crate) struct Described {
    pub type_name: String,
    pub crd: Value,
}

/// Describes every type, and says which ones could not be.
pub(crate) fn all<C: Serialize>(crds: &[Crd<C>]) -> (Vec<Described>, Vec<Finding>) {
    let mut described = Vec::new();
    let mut findings = Vec::new();
    for (type_name, describe) in crds {
        match one(*describe) {
            Ok(crd) => described.push(Described {
                type_name: (*type_name).to_owned(),
                crd,
            }),
            Err(message) => findings.push(refusal(type_name, &message)),
        }
    }
    (described, findings)
}

fn one<C: Serialize>(describe: fn() -> C) -> Result<Value, String> {
    let _held = HOOK.lock().unwrap_or_else(PoisonError::into_inner);
    // The hook would print the panic raw, with a backtrace; the finding says the same in the user's terms.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let result = panic::catch_unwind(describe);
    panic::set_hook(hook);
    match result {
        Ok(crd) => serde_json::to_value(crd).map_err(|error| error.to_string()),
        Err(payload) => Err(
            match (payload.downcast_ref::<String>(), payload.downcast_ref::<&str>()) {
                (Some(text), _) => text.clone(),
                (_, Some(text)) => (*text).to_owned(),
                _ => "the function panicked without a message".to_owned(),
            },
        ),
    }
}

/// kube-derive 5 has four panics; each says what it met in terms of its own types.
fn refusal(type_name: &str, panic: &str) -> Finding {
    let (message, remedy) = if panic.contains("was already defined as") && panic.starts_with("Property") {
        shared_property(panic)
    } else if panic.starts_with("Enum variant set") {
        (
            format!(
                "an enum mixes the variant {} without fields and variants with fields, which no structural schema can say",
                panic.split(['[', ']']).nth(1).map_or("name", quoted)
            ),
            "give every variant fields (an empty struct variant will do: `Name {}`), or none",
        )
    } else if panic.starts_with("variant defined type") {
        (
            "the variants of an enum have different types, which no structural schema can say".to_owned(),
            "make every variant an object, or describe the field by hand with `#[schemars(schema_with = \"…\")]`",
        )
    } else if panic.starts_with("valid JSONSchemaProps") {
        (
            format!("the schema holds something that a CustomResourceDefinition has no place for: {panic}"),
            "look for `#[schemars(extend(…))]` and `schema_with` of the wrong shape",
        )
    } else {
        (
            format!("cannot be described: {panic}"),
            "the text before is a panic inside the type's `crd()`",
        )
    };
    Finding {
        type_name: type_name.to_owned(),
        field: String::new(),
        message,
        remedy: Some(remedy.to_owned()),
    }
}

/// Two variants of an enum name the same property and describe it differently.
fn shared_property(panic: &str) -> (String, &'static str) {
    let property = panic.split('"').nth(1).unwrap_or("?");
    if panic.matches("enum_values: Some([").count() >= 2 {
        let message = format!(
            "an enum carries its variant's name in the property `{property}` (`#[serde(tag = \"{property}\")]`); \
             kube-derive has no structural schema for internally and adjacently tagged enums"
        );
        let remedy = "drop `#[serde(tag = …)]`, so that each variant becomes a property of its own, or make it a struct with a \
                      plain enum and optional fields";
        return (message, remedy);
    }
    let message = format!(
        "the variants of an enum share the property `{property}` but describe it differently; type, constraints and \
         documentation must be the same in all of them"
    );
    (
        message,
        "use one type for the shared field in every variant, with the same doc comment, or rename one of them",
    )
}

/// The first string between quotes inside `text`, in backticks.
fn quoted(text: &str) -> &str {
    text.split('"').nth(1).unwrap_or("name")
}
