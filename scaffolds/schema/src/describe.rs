//! Calls the functions that describe types. kube-derive panics on types it cannot make structural; here a panic becomes
//! a finding with the type's name and a way out.

use crate::{dropped, finding::Finding, parallel};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

/// Held while the panic hook is replaced: two threads that swapped it at once would leave the silent one behind.
static HOOK: Mutex<()> = Mutex::new(());

/// A type that describes itself: its name and a function, with or without a second one that shows the schema as it was
/// written.
///
/// Functions and not their results, because describing a type can panic: who calls them can then say for which type. Several
/// threads call them.
pub trait Describe: Sync {
    /// The path of the Rust type, for example `api::test::v1::FooBar`.
    fn type_name(&self) -> &'static str;

    /// The type as a CustomResourceDefinition.
    ///
    /// # Errors
    /// It is no JSON.
    fn describe(&self) -> Result<Value, serde_json::Error>;

    /// The schema of the whole resource before it became part of a CustomResourceDefinition, which has no field for keywords
    /// that are misspelt.
    fn written(&self) -> Option<Value>;
}

/// The path of a Rust type and the function that describes it, for example `("api::test::v1::FooBar", FooBar::crd)`.
pub type Crd<C> = (&'static str, fn() -> C);

/// `("FooBar", FooBar::crd)`: misspelt keywords of `#[schemars(extend(…))]` are not noticed.
impl<C: Serialize> Describe for (&'static str, fn() -> C) {
    fn type_name(&self) -> &'static str {
        self.0
    }

    fn describe(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value((self.1)())
    }

    fn written(&self) -> Option<Value> {
        None
    }
}

/// The Rust type of a custom resource, with its schema as it is written: misspelt keywords of `#[schemars(extend(…))]`, which
/// its CustomResourceDefinition has no place for, are found.
///
/// ```
/// # use schemars::JsonSchema;
/// # use serde_json::{Value, json};
/// # #[derive(JsonSchema)]
/// # struct FooBar { target: String }
/// # impl FooBar { fn crd() -> Value { json!({}) } }
/// use kubewright_schema::CustomType;
///
/// // `crd` is that of kube's `CustomResourceExt`.
/// let foobar = CustomType::of::<FooBar>(FooBar::crd);
/// assert!(foobar.name.ends_with("::FooBar"));
/// ```
#[derive(Clone, Debug)]
pub struct CustomType<C> {
    /// The path of the type, for example `api::test::v1::FooBar`.
    pub name: &'static str,
    /// Makes the CustomResourceDefinition.
    pub crd: fn() -> C,
    /// Makes the schema, inline and with the settings of OpenAPI 3.
    pub schema: fn() -> Value,
}

impl<C> CustomType<C> {
    /// The type `K`, whose CustomResourceDefinition `crd` makes.
    pub fn of<K: JsonSchema>(crd: fn() -> C) -> Self {
        Self {
            name: std::any::type_name::<K>(),
            crd,
            schema: schema::<K>,
        }
    }
}

fn schema<K: JsonSchema>() -> Value {
    let settings = SchemaSettings::openapi3().with(|it| it.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<K>().to_value()
}

impl<C: Serialize> Describe for CustomType<C> {
    fn type_name(&self) -> &'static str {
        self.name
    }

    fn describe(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value((self.crd)())
    }

    fn written(&self) -> Option<Value> {
        Some((self.schema)())
    }
}

/// A type and the CRD it describes itself as.
pub(crate) struct Described {
    pub type_name: String,
    pub crd: Value,
}

/// What came of one type.
#[derive(Default)]
struct Outcome {
    described: Option<Described>,
    findings: Vec<Finding>,
}

/// Describes every type, and says which ones could not be.
pub(crate) fn all<D: Describe>(crds: &[D]) -> (Vec<Described>, Vec<Finding>) {
    let mut outcomes = Vec::new();
    silently(|| outcomes = parallel::each(crds.iter().collect(), one));
    let (mut described, mut findings) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        described.extend(outcome.described);
        findings.extend(outcome.findings);
    }
    (described, findings)
}

fn one<D: Describe>(one: &D) -> Outcome {
    let type_name = one.type_name();
    let mut outcome = Outcome::default();
    // A schema that cannot be had says nothing; describing the type then fails for the same reason.
    let schema = caught(|| one.written()).ok().flatten();
    let misfits = schema
        .as_ref()
        .map(|it| dropped::findings(type_name, it))
        .unwrap_or_default();
    match caught(|| one.describe()).and_then(|crd| crd.map_err(|error| error.to_string())) {
        Ok(mut crd) => {
            if let Some(schema) = &schema {
                restore(&mut crd, schema);
            }
            let type_name = type_name.to_owned();
            outcome.described = Some(Described { type_name, crd });
        }
        // What was found in the schema says it better.
        Err(panic) if panic.starts_with(NOT_A_CRD) && !misfits.is_empty() => {}
        Err(panic) => {
            let field = schema.as_ref().map(|it| dropped::place(&panic, it)).unwrap_or_default();
            outcome.findings.push(refusal(type_name, field, &panic));
        }
    }
    outcome.findings.extend(misfits);
    outcome
}

/// Puts back what the derive dropped of a schema.
fn restore(crd: &mut Value, schema: &Value) {
    let versions = crd.pointer_mut("/spec/versions").and_then(Value::as_array_mut);
    let roots = versions.into_iter().flatten();
    for root in roots.filter_map(|version| version.pointer_mut("/schema/openAPIV3Schema")) {
        dropped::restore(root, schema);
    }
}

/// How kube-derive's panic over a schema of the wrong shape begins.
const NOT_A_CRD: &str = "valid JSONSchemaProps";

/// Calls a function in which, on whatever thread, nothing is printed of panics: the hook would show them raw, with a
/// backtrace; the finding says the same in the user's terms.
fn silently(call: impl FnOnce()) {
    let _held = HOOK.lock().unwrap_or_else(PoisonError::into_inner);
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let result = panic::catch_unwind(AssertUnwindSafe(call));
    panic::set_hook(hook);
    if let Err(payload) = result {
        panic::resume_unwind(payload);
    }
}

/// Calls a function that may panic; the panic's message. What the call was in the middle of is not looked at again.
fn caught<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
        match (payload.downcast_ref::<String>(), payload.downcast_ref::<&str>()) {
            (Some(text), _) => text.clone(),
            (_, Some(text)) => (*text).to_owned(),
            _ => "the function panicked without a message".to_owned(),
        }
    })
}

/// kube-derive 5 has four panics; each says what it met in terms of its own types.
fn refusal(type_name: &str, field: String, panic: &str) -> Finding {
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
    } else if panic.starts_with(NOT_A_CRD) {
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
        field,
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
