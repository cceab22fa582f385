//! One write before a policy, without a server: tests pass the object, and check what is refused or changed.

mod mutate;

use std::collections::BTreeMap;

use kube::core::{Selector, SelectorExt};
use kubewright_machinery::labels;
use kubewright_runtime::{AnyObject, Kind, Object};
use kubewright_schema::{
    condition::{self, Asked, Authorizer, Decision, Spent},
    policy::{self, Expression, Input, Purpose, Validation},
};
use serde::Serialize;
use serde_json::{Value, json};

pub use self::mutate::Mutated;
use crate::{
    policy::{Policy, PolicyForm, Validating, check, documents},
    scope::{FailurePolicy, Operation, Scope},
};

/// The namespace of objects that name none.
const NAMESPACE: &str = "default";

/// One write of an object, to be judged by a policy: no server, no socket, no process.
///
/// ```
/// # use kubewright_webhooks::{FailurePolicy, Policy, Validation, testing::Trial};
/// # use k8s_openapi::api::core::v1::ConfigMap;
/// let policy = Policy::validating::<ConfigMap>("settings-of-admins")
///     .failure_policy(FailurePolicy::Ignore)
///     .validation(Validation::new("'admins' in request.userInfo.groups").message("only admins may"));
/// let write = Trial::create(&ConfigMap::default());
/// assert_eq!(write.refusals(&policy), ["only admins may"]);
/// assert!(write.user("jane", ["admins"]).refusals(&policy).is_empty());
/// ```
///
/// # Flow
///
/// [`create`](Self::create), [`update`](Self::update) or [`delete`](Self::delete); then what expressions read besides the object;
/// then [`refusals`](Self::refusals), or [`mutate`](Self::mutate) of a policy that changes objects.
///
/// # Guarantees
///
/// Expressions are compiled and evaluated as by kube-apiserver 1.37, with its messages and within its limits of cost. A policy that is
/// not about the operation, the namespace or the object refuses nothing.
///
/// # Caveats
///
/// The object is as given: an API server has pruned it, and set the defaults of its schema. With
/// [`schema_of`](Self::schema_of) its type, the trial does that.
#[derive(Clone)]
pub struct Trial {
    kind: Value,
    resource: Value,
    asked: Asked,
    operation: Operation,
    object: Value,
    old: Value,
    /// Null for what is in none.
    namespace: Value,
    user: Value,
    params: Value,
    /// Verbs and resources.
    allowed: Vec<[String; 2]>,
    /// The `openAPIV3Schema` of the kind, if it is given.
    schema: Option<Value>,
}

/// A policy whose expressions are compiled.
struct Compiled {
    /// The value in the form of the API server.
    spec: Value,
    expressions: policy::Policy,
    conditions: Vec<Result<Expression, String>>,
}

impl Trial {
    /// The creation of an object.
    ///
    /// # Panics
    ///
    /// If the object cannot be serialized, as all of these.
    pub fn create<K: Object>(object: &K) -> Self {
        Self::create_of(&Kind::of(), object)
    }

    /// As [`create`](Self::create), of a kind that may have no Rust type.
    pub fn create_of<K: AnyObject>(kind: &Kind<K>, object: &K) -> Self {
        Self::of(kind, Operation::Create, [Some(object), None])
    }

    /// The change of an object.
    pub fn update<K: Object>(old: &K, new: &K) -> Self {
        Self::update_of(&Kind::of(), old, new)
    }

    /// As [`update`](Self::update), of a kind that may have no Rust type.
    pub fn update_of<K: AnyObject>(kind: &Kind<K>, old: &K, new: &K) -> Self {
        Self::of(kind, Operation::Update, [Some(new), Some(old)])
    }

    /// The deletion of an object.
    pub fn delete<K: Object>(object: &K) -> Self {
        Self::delete_of(&Kind::of(), object)
    }

    /// As [`delete`](Self::delete), of a kind that may have no Rust type.
    pub fn delete_of<K: AnyObject>(kind: &Kind<K>, object: &K) -> Self {
        Self::of(kind, Operation::Delete, [None, Some(object)])
    }

    /// In a namespace with these labels, in addition to the one with its name that every namespace has.
    ///
    /// # Panics
    ///
    /// If a label is invalid.
    pub fn namespace_labels<L: Into<String>>(mut self, given: impl IntoIterator<Item = (L, L)>) -> Self {
        for (key, value) in given {
            let (key, value) = (key.into(), value.into());
            if let Some(fault) = labels::key(&key).into_iter().chain(labels::value(&value)).next() {
                panic!("the label `{key}: {value}` is invalid: {fault}");
            }
            if self.namespace.is_object() {
                self.namespace["metadata"]["labels"][key] = json!(value);
            }
        }
        self
    }

    /// By a user of these groups, in place of `jane`, who is in none.
    pub fn user<G: Into<String>>(mut self, name: &str, groups: impl IntoIterator<Item = G>) -> Self {
        let groups: Vec<String> = groups.into_iter().map(Into::into).collect();
        self.user = json!({"username": name, "groups": groups});
        self
    }

    /// The user may do this with a resource, such as `create` and `deployments`; otherwise nothing.
    pub fn may(mut self, verb: &str, resource: &str) -> Self {
        self.allowed.push([verb.to_owned(), resource.to_owned()]);
        self
    }

    /// The object that expressions read as `params`.
    pub fn params(mut self, params: &impl Serialize) -> Self {
        self.params = json(params);
        self
    }

    /// The messages of all validations that fail, in their order, whatever the policy's actions are. An expression that has no value is
    /// one too, unless the policy ignores failures.
    ///
    /// # Panics
    ///
    /// If the policy is one that would not register, or an expression does not compile.
    pub fn refusals(&self, policy: &Policy<Validating>) -> Vec<String> {
        let compiled = Compiled::new(policy);
        if !self.is_subject_to(&policy.declared.scope) {
            return Vec::new();
        }
        let ignores = policy.declared.scope.failure_policy == Some(FailurePolicy::Ignore);
        let failed = self.evaluate(&compiled);
        let failed = failed.unwrap_or_else(|why| vec![Err(why)]).into_iter();
        failed
            .filter_map(|failed| match failed {
                Ok(message) => Some(message),
                Err(why) => (!ignores).then_some(why),
            })
            .collect()
    }

    /// The messages of validations that fail, and errors.
    fn evaluate(&self, compiled: &Compiled) -> Result<Vec<Result<String, String>>, String> {
        let policy = &compiled.expressions;
        let all = items(&compiled.spec["validations"]);
        let validations: Vec<_> = all.map(|item| Validation::read(item, policy)).collect();
        for validation in &validations {
            let expressions = [Some(&validation.expression), validation.message_expression.as_ref()];
            expressions.into_iter().flatten().for_each(compiles);
        }
        if !self.is_about(compiled, &self.object)? {
            return Ok(Vec::new());
        }
        let failed = self.with_input(&self.object, |input| policy.validate(&validations, input));
        let failed = failed.map_err(|Spent| Spent::MESSAGE.to_owned())?.into_iter();
        Ok(failed.map(|failed| failed.map(|failed| failed.message)).collect())
    }

    /// Whether all match conditions are true for this object. They do not see the namespace.
    fn is_about(&self, compiled: &Compiled, object: &Value) -> Result<bool, String> {
        self.with_input(object, |input| {
            let null = Value::Null;
            let input = Input {
                request: condition::Input { ..input.request },
                params: input.params,
                namespace: &null,
            };
            compiled.expressions.matches(&compiled.conditions, &input)
        })
    }

    /// Calls a function with what expressions are evaluated on, for this object in place of the one that was given.
    fn with_input<T>(&self, object: &Value, work: impl FnOnce(&Input<'_>) -> T) -> T {
        let (request, authorizer) = (self.request(), self.authorizer());
        work(&Input {
            request: condition::Input {
                object,
                old_object: &self.old,
                request: &request,
                authorizer: &authorizer,
                resource: &self.asked,
            },
            params: &self.params,
            namespace: &self.namespace,
        })
    }

    /// Whether the API server would evaluate a policy for this write.
    fn is_subject_to(&self, scope: &Scope) -> bool {
        let matches = |selector: &Option<_>, object: &Value| {
            let Some(selector) = selector.clone() else {
                return true;
            };
            let labels: BTreeMap<String, String> =
                serde_json::from_value(object["metadata"]["labels"].clone()).unwrap_or_default();
            // `check` has found it well-formed.
            Selector::try_from(selector).is_ok_and(|selector| selector.matches(&labels))
        };
        let mut objects = [&self.object, &self.old].into_iter().filter(|it| !it.is_null());
        scope.operations.contains(&self.operation)
            && (self.namespace.is_null() || matches(&scope.namespaces, &self.namespace))
            && objects.any(|object| matches(&scope.objects, object))
    }

    fn of<K: AnyObject>(kind: &Kind<K>, operation: Operation, objects: [Option<&K>; 2]) -> Self {
        let [object, old] = objects.map(|object| {
            let mut object = object.map_or(Value::Null, json);
            if object.is_object() {
                // An object without a Rust type need not have them.
                object["apiVersion"] = json!(kind.api_version());
                object["kind"] = json!(kind.kind());
            }
            object
        });
        let (group, version, plural) = (kind.group(), kind.version(), kind.plural());
        let metadata = if object.is_null() {
            &old["metadata"]
        } else {
            &object["metadata"]
        };
        let name = metadata["name"].as_str().unwrap_or_default().to_owned();
        let namespace = match (kind.is_namespaced(), metadata["namespace"].as_str()) {
            (false, _) => "",
            (true, named) => named.unwrap_or(NAMESPACE),
        };
        Self {
            kind: json!({"group": group, "version": version, "kind": kind.kind()}),
            resource: json!({"group": group, "version": version, "resource": plural}),
            asked: Asked {
                group: group.to_owned(),
                resource: plural.to_owned(),
                namespace: namespace.to_owned(),
                name,
                ..Asked::default()
            },
            operation,
            namespace: self::namespace(namespace),
            object,
            old,
            user: json!({"username": "jane", "groups": []}),
            params: Value::Null,
            allowed: Vec::new(),
            schema: None,
        }
    }

    /// The request, as expressions see it.
    fn request(&self) -> Value {
        let mut request = json!({
            "uid": "",
            "kind": self.kind,
            "resource": self.resource,
            "requestKind": self.kind,
            "requestResource": self.resource,
            "operation": self.operation,
            "userInfo": self.user,
            "dryRun": false,
            "options": {},
        });
        for (field, text) in [("name", &self.asked.name), ("namespace", &self.asked.namespace)] {
            if !text.is_empty() {
                request[field] = json!(text);
            }
        }
        request
    }

    fn authorizer(&self) -> Authorizer {
        let allowed = self.allowed.clone();
        Authorizer::new(move |asked| Decision {
            allowed: asked.account.is_none() && allowed.contains(&[asked.verb.clone(), asked.resource.clone()]),
            reason: String::new(),
        })
    }
}

impl Compiled {
    /// # Panics
    /// If the policy would not register, or a variable or a condition does not compile.
    fn new<F: PolicyForm>(policy: &Policy<F>) -> Self {
        check(policy).unwrap_or_else(|error| panic!("{error}"));
        let [mut stated, _] = documents(policy, "");
        let spec = stated["spec"].take();
        let mut expressions = policy::Policy::new(!spec["paramKind"].is_null(), true);
        for [name, expression] in &policy.declared.variables {
            must(name, expressions.add(name, expression.trim()));
        }
        let conditions = items(&spec["matchConditions"]).map(|item| {
            let text = item["expression"].as_str().unwrap_or_default();
            Ok(must(text, expressions.compile(Purpose::Condition, text)))
        });
        Self {
            conditions: conditions.collect(),
            expressions,
            spec,
        }
    }
}

/// A Namespace, as expressions see it; null if the name is empty.
fn namespace(name: &str) -> Value {
    if name.is_empty() {
        return Value::Null;
    }
    json!({
        "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    })
}

fn json(object: &impl Serialize) -> Value {
    serde_json::to_value(object).unwrap_or_else(|error| panic!("the object cannot be serialized: {error}"))
}

fn must<T>(of: &str, compiled: Result<T, policy::Refused>) -> T {
    compiled.unwrap_or_else(|refused| panic!("`{of}` does not compile: {}", refused.detail()))
}

/// # Panics
/// If it does not.
fn compiles(expression: &Result<Expression, String>) {
    if let Err(wrong) = expression {
        panic!("an expression does not compile: {wrong}");
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
