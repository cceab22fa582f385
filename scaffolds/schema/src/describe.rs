//! Calls the functions that make the CRDs of types. kube-derive panics on types for which it cannot make a structural schema; here a
//! panic becomes a finding with the type's name and a remedy.

use crate::{
    dropped::{self, Cause},
    embedded,
    finding::Finding,
    options::Options,
    parallel, unions,
};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::cell::Cell;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread becomes a finding, which explains it better than the panic hook.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// A Rust type with the function that makes its CustomResourceDefinition, and optionally a second function that makes the schema as it
/// was written.
///
/// The trait has functions instead of their results because they can panic: the caller then knows for which type. They are called on several
/// threads.
pub trait Describe: Sync {
    /// The path of the Rust type, for example `api::test::v1::FooBar`.
    fn type_name(&self) -> &'static str;

    /// Makes the CustomResourceDefinition of the type.
    ///
    /// # Errors
    /// The CustomResourceDefinition cannot be serialized to JSON.
    fn describe(&self) -> Result<Value, serde_json::Error>;

    /// Makes the schema of the whole resource, as it is before it becomes part of a CustomResourceDefinition, which has no fields for
    /// misspelt keywords. `None` if there is no such function.
    fn schema(&self) -> Option<Value>;

    /// Makes that schema with references to `$defs` in place of the types inside it, whose names it thus has. `None` if there is no such
    /// function: then Kubernetes' own types are not marked as Kubernetes marks them.
    fn named(&self) -> Option<Value> {
        None
    }

    /// Decodes an object of the resource, and encodes it again. `None` if there is no such function: then the schema is not compared with
    /// what the type can hold.
    ///
    /// # Errors
    /// The object cannot be decoded, with the reason.
    fn round_trip(&self, _object: &Value) -> Option<Result<Value, String>> {
        None
    }
}

/// The path of a Rust type and the function that makes its CRD, for example `("api::test::v1::FooBar", FooBar::crd)`.
pub type Crd<C> = (&'static str, fn() -> C);

/// `("FooBar", FooBar::crd)`. Misspelt keywords of `#[schemars(extend(…))]` are not detected.
impl<C: Serialize> Describe for (&'static str, fn() -> C) {
    fn type_name(&self) -> &'static str {
        self.0
    }

    fn describe(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value((self.1)())
    }

    fn schema(&self) -> Option<Value> {
        None
    }
}

/// The Rust type of a custom resource, with its schema as it is written. So misspelt keywords of `#[schemars(extend(…))]` are detected,
/// which the CustomResourceDefinition no longer has.
///
/// ```
/// # use schemars::JsonSchema;
/// # use serde_json::{Value, json};
/// # #[derive(serde::Deserialize, serde::Serialize, JsonSchema)]
/// # struct FooBar { target: String }
/// # impl FooBar { fn crd() -> Value { json!({}) } }
/// use kubewright_schema::CustomType;
///
/// // `crd` is the function of kube's `CustomResourceExt`.
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
    /// Makes the schema with references to `$defs`.
    pub named: fn() -> Value,
    /// Decodes an object, and encodes it again.
    pub round_trip: fn(&Value) -> Result<Value, String>,
}

impl<C> CustomType<C> {
    /// The type `K`; `crd` makes its CustomResourceDefinition.
    pub fn of<K: DeserializeOwned + JsonSchema + Serialize>(crd: fn() -> C) -> Self {
        Self {
            name: std::any::type_name::<K>(),
            crd,
            schema: schema::<K>,
            named: named::<K>,
            round_trip: |object| {
                let decoded = K::deserialize(object).map_err(|error| error.to_string())?;
                serde_json::to_value(decoded).map_err(|error| error.to_string())
            },
        }
    }
}

fn schema<K: JsonSchema>() -> Value {
    let settings = SchemaSettings::openapi3().with(|it| it.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<K>().to_value()
}

fn named<K: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12();
    settings.into_generator().into_root_schema_for::<K>().to_value()
}

impl<C: Serialize> Describe for CustomType<C> {
    fn type_name(&self) -> &'static str {
        self.name
    }

    fn describe(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value((self.crd)())
    }

    fn schema(&self) -> Option<Value> {
        Some((self.schema)())
    }

    fn named(&self) -> Option<Value> {
        Some((self.named)())
    }

    fn round_trip(&self, object: &Value) -> Option<Result<Value, String>> {
        Some((self.round_trip)(object))
    }
}

/// The name of a type and its CRD.
pub(crate) struct Described {
    pub type_name: String,
    pub crd: Value,
}

/// The CRD or the findings of one type.
#[derive(Default)]
struct Outcome {
    described: Option<Described>,
    findings: Vec<Finding>,
}

/// Makes the CRD of every type; findings for types without a CRD.
pub(crate) fn all<D: Describe>(crds: &[D], options: &Options) -> (Vec<Described>, Vec<Finding>) {
    let outcomes = parallel::each(crds.iter().collect(), |crd| one(crd, options));
    let (mut described, mut findings) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        described.extend(outcome.described);
        findings.extend(outcome.findings);
    }
    (described, findings)
}

fn one<D: Describe>(one: &D, options: &Options) -> Outcome {
    let type_name = one.type_name();
    let mut outcome = Outcome::default();
    // If the schema cannot be made, making the CRD fails for the same reason, and that finding is enough.
    let schema = caught(|| one.schema()).ok().flatten();
    let misfits = schema
        .as_ref()
        .map(|it| dropped::findings(type_name, it))
        .unwrap_or_default();
    match caught(|| one.describe()).and_then(|crd| crd.map_err(|error| error.to_string())) {
        Ok(mut crd) => {
            if let Some(schema) = &schema {
                roots(&mut crd).for_each(|root| dropped::restore(root, schema));
            }
            if let Ok(Some(named)) = caught(|| one.named()) {
                let plain = options.plain_kubernetes_types;
                for root in roots(&mut crd) {
                    embedded::mark(root, &named, plain);
                    outcome.findings.extend(unions::write(type_name, root, &named));
                }
            }
            let type_name = type_name.to_owned();
            outcome.described = Some(Described { type_name, crd });
        }
        // The findings about the schema are more precise than the panic.
        Err(panic) if panic.starts_with(NOT_A_CRD) && !misfits.is_empty() => {}
        Err(panic) => {
            outcome.findings.extend(refusals(type_name, schema.as_ref(), &panic));
        }
    }
    outcome.findings.extend(misfits);
    outcome
}

/// The schema of each version of a CRD.
fn roots(crd: &mut Value) -> impl Iterator<Item = &mut Value> {
    let versions = crd.pointer_mut("/spec/versions").and_then(Value::as_array_mut);
    let versions = versions.into_iter().flatten();
    versions.filter_map(|version| version.pointer_mut("/schema/openAPIV3Schema"))
}

/// The start of kube-derive's panic message for a schema that it cannot decode.
const NOT_A_CRD: &str = "valid JSONSchemaProps";

/// Leaves out panics that are caught here from what the panic hook prints. Panics of other threads are printed as before.
fn silence_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_CAUGHT.get() {
                hook(info);
            }
        }));
    });
}

/// Calls a function that may panic, and returns the panic's message as the error. Values that the panic leaves half changed are not used again.
pub(crate) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    silence_hook();
    let before = IS_CAUGHT.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(call));
    IS_CAUGHT.set(before);
    result.map_err(
        |payload| match (payload.downcast_ref::<String>(), payload.downcast_ref::<&str>()) {
            (Some(text), _) => text.clone(),
            (_, Some(text)) => (*text).to_owned(),
            _ => "the function panicked without a message".to_owned(),
        },
    )
}

/// Turns a panic of kube-derive 5 into findings: for its own reason, and for those after which it would panic next.
fn refusals(type_name: &str, schema: Option<&Value>, panic: &str) -> Vec<Finding> {
    let mut causes = schema.map(dropped::causes).unwrap_or_default();
    let own = Cause::of(panic);
    let kind = own.as_ref().map(mem::discriminant);
    if !causes.iter().any(|(_, cause)| Some(mem::discriminant(cause)) == kind) {
        causes.extend(own.map(|own| (String::new(), own)));
    }
    let finding = |(field, message, remedy): (String, String, &str)| Finding {
        type_name: type_name.to_owned(),
        field,
        message,
        remedy: Some(remedy.to_owned()),
    };
    let other = kind.is_none().then(|| other(schema, panic));
    let known = causes.into_iter().map(|(field, cause)| {
        let (message, remedy) = cause.words();
        (field, message, remedy)
    });
    other.into_iter().chain(known).map(finding).collect()
}

/// Field, message and remedy for a panic that is not about the fields of an enum's variants.
fn other(schema: Option<&Value>, panic: &str) -> (String, String, &'static str) {
    if panic.starts_with("variant defined type") {
        return (
            schema.map(dropped::place).unwrap_or_default(),
            "the variants of an enum have different types, which a structural schema cannot express".to_owned(),
            "make every variant an object, or write the field's schema by hand with `#[schemars(schema_with = \"…\")]`",
        );
    }
    let (message, remedy) = if panic.starts_with(NOT_A_CRD) {
        (
            format!("the schema contains something that a CustomResourceDefinition cannot represent: {panic}"),
            "look for wrong values in `#[schemars(extend(…))]` and `schema_with`",
        )
    } else {
        (
            format!("cannot be described: {panic}"),
            "the type's `crd()` panicked with this message",
        )
    };
    (String::new(), message, remedy)
}
