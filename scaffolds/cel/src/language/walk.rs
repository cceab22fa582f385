//! Evaluates the rules of a schema on an object: finds each value's rules and its old value, and turns the results into causes.

use super::ratchet::{Ratchet, same, with_same_keys};
use super::rules::{Compiled, usable};
use super::{value::Fault, value::Val, variables::Variables};
use crate::declare::{Declared, Shape};
use crate::schema::Node;
use kubewright_machinery::cause::{Cause, Objections, Path};
use kubewright_machinery::rule_names::escape;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The cost limit of all rules on one object together (celconfig.RuntimeCELCostBudget).
const BUDGET: u64 = 10_000_000;

/// The rules of a node and of those below it.
#[derive(Debug)]
pub(super) struct Checks {
    node: Arc<Node>,
    rules: Vec<Compiled>,
    /// Whether there are rules although the type of the value cannot be declared.
    undeclared: bool,
    items: Option<Box<Checks>>,
    properties: BTreeMap<String, Checks>,
    additional: Option<Box<Checks>>,
    all_of: Vec<Checks>,
}

/// A value, its old value, and whether they are equal.
#[derive(Clone, Copy)]
struct Pair<'a> {
    new: &'a Value,
    old: Option<&'a Value>,
    ratchet: Ratchet,
}

impl Checks {
    pub(super) fn compile(node: Arc<Node>) -> Option<Self> {
        if !node.has_rules() {
            return None;
        }
        let declared = Declared::of(&node, true).map(Arc::new);
        Self::of(&node, &node, declared)
    }

    /// For a value anywhere inside a resource.
    pub(super) fn compile_inner(node: Arc<Node>) -> Option<Self> {
        let declared = Declared::of(&node, node.embedded).map(Arc::new);
        Self::of(&node, &node, declared)
    }

    /// `rules` is the node whose rules apply, which is `node` or a branch of its `allOf`.
    fn of(rules: &Arc<Node>, node: &Arc<Node>, declared: Option<Arc<Declared>>) -> Option<Self> {
        let compiled = match &declared {
            Some(declared) => compile(rules, node, declared),
            None => Vec::new(),
        };
        let inner = match declared.as_deref().map(|it| &it.shape) {
            Some(Shape::List(inner) | Shape::Map(inner)) => Some(inner.clone()),
            _ => None,
        };
        let child = |rules: &Option<Arc<Node>>, node: &Option<Arc<Node>>| {
            let (rules, node) = rules.as_ref().zip(node.as_ref())?;
            Self::of(rules, node, inner.clone()).map(Box::new)
        };
        let mut properties = BTreeMap::new();
        for (name, property) in rules.properties.iter().flatten() {
            let Some(spine) = node.properties.as_ref().and_then(|it| it.get(name)) else {
                continue;
            };
            let field = match (escape(name), declared.as_deref().map(|it| &it.shape)) {
                (Some(escaped), Some(Shape::Object(fields))) => fields.get(&escaped).cloned(),
                (Some(_), _) => None,
                (None, _) => Declared::of(spine, spine.embedded).map(Arc::new),
            };
            if let Some(field) = field
                && let Some(checks) = Self::of(property, spine, Some(field))
            {
                properties.insert(name.clone(), checks);
            }
        }
        let all_of: Vec<Self> = rules
            .all_of
            .iter()
            .filter_map(|branch| Self::of(branch, node, declared.clone()))
            .collect();
        let this = Self {
            node: node.clone(),
            rules: compiled,
            undeclared: declared.is_none() && !rules.rules.is_empty(),
            items: child(&rules.items, &node.items),
            properties,
            additional: child(&rules.additional, &node.additional),
            all_of,
        };
        let idle = this.rules.is_empty()
            && !this.undeclared
            && this.items.is_none()
            && this.properties.is_empty()
            && this.additional.is_none()
            && this.all_of.is_empty();
        (!idle).then_some(this)
    }

    pub(super) fn evaluate(&self, object: &Value, old: Option<&Value>) -> Objections {
        let ratchet = old.map_or_else(Ratchet::default, |old| Ratchet::root(same(object, old, &self.node)));
        let new = object;
        self.run(&Path::root(), Pair { new, old, ratchet })
    }

    /// The causes for which a default at `path` violates the rules: first as an unchanged value, and if there are none, as a new value. There is
    /// no ratcheting.
    pub(super) fn of_default(&self, default: &Value, path: &Path) -> Vec<Cause> {
        let told = |old| {
            let (new, ratchet) = (default, Ratchet::default());
            self.run(path, Pair { new, old, ratchet }).causes
        };
        let causes = told(Some(default));
        if causes.is_empty() { told(None) } else { causes }
    }

    fn run(&self, path: &Path, pair: Pair<'_>) -> Objections {
        let mut run = Run {
            outcome: Objections::default(),
            budget: BUDGET,
        };
        // If the budget is exhausted, the walk ends; the causes found so far stay.
        _ = run.node(self, path, pair);
        run.outcome
    }
}

fn compile(rules: &Node, node: &Node, declared: &Declared) -> Vec<Compiled> {
    if std::ptr::eq(rules, node) {
        return Compiled::all(node, declared);
    }
    let merged = Node {
        rules: rules.rules.clone(),
        properties: node.properties.clone(),
        additional: node.additional.clone(),
        ..Node::default()
    };
    Compiled::all(&merged, declared)
}

/// The budget is used up.
struct Spent;

/// A rule that a value violates.
struct Broken<'r, 'a> {
    compiled: &'a Compiled,
    pair: Pair<'r>,
    /// The type in the schema.
    kind: &'r str,
    variables: &'r Variables<'a>,
}

struct Run {
    outcome: Objections,
    budget: u64,
}

impl Run {
    fn node(&mut self, checks: &Checks, path: &Path, pair: Pair<'_>) -> Result<(), Spent> {
        if pair.new.is_null() {
            return Ok(());
        }
        self.rules(checks, path, pair)?;
        for branch in &checks.all_of {
            let ratchet = pair.ratchet.branch();
            self.node(branch, path, Pair { ratchet, ..pair })?;
        }
        match pair.new {
            Value::Array(items) => self.items(checks, path, items, pair),
            Value::Object(map) => self.fields(checks, path, map, pair),
            _ => Ok(()),
        }
    }

    fn items(&mut self, checks: &Checks, path: &Path, items: &[Value], pair: Pair<'_>) -> Result<(), Spent> {
        let (Some(inner), Some(node)) = (&checks.items, &checks.node.items) else {
            return Ok(());
        };
        let before = pair.old.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (index, item) in items.iter().enumerate() {
            let old = match checks.node.list_type.as_deref() {
                Some("map") => with_same_keys(item, before, &checks.node.list_keys),
                _ => None,
            };
            let ratchet = pair.ratchet.further(old.map(|old| same(item, old, node)));
            self.node(
                inner,
                &path.index(index),
                Pair {
                    new: item,
                    old,
                    ratchet,
                },
            )?;
        }
        Ok(())
    }

    fn fields(
        &mut self,
        checks: &Checks,
        path: &Path,
        map: &serde_json::Map<String, Value>,
        pair: Pair<'_>,
    ) -> Result<(), Spent> {
        let node = &checks.node;
        for (name, value) in map {
            let property = checks.properties.get(name);
            let (Some(inner), at) = (match (&checks.additional, property) {
                (Some(additional), _) => (Some(&**additional), path.key(name)),
                (None, property) => (property, path.child(name)),
            }) else {
                continue;
            };
            let old = pair.old.and_then(|old| old.get(name));
            let equal = old.map(|old| same(value, old, &inner.node));
            let old = if node.is_correlatable() { old } else { None };
            self.node(
                inner,
                &at,
                Pair {
                    new: value,
                    old,
                    ratchet: pair.ratchet.further(equal),
                },
            )?;
        }
        Ok(())
    }

    fn rules(&mut self, checks: &Checks, path: &Path, pair: Pair<'_>) -> Result<(), Spent> {
        let kind = checks.node.kind.as_str();
        if checks.undeclared {
            let detail = "rule compiler initialization error: failed to convert to declType for CEL validation rules";
            self.outcome.causes.push(path.invalid(kind, detail));
        }
        if checks.rules.is_empty() {
            return Ok(());
        }
        if self.budget == 0 {
            return self.exhausted(path, kind);
        }
        let old = pair.old.filter(|old| !old.is_null());
        // All rules have the same values, because a list keeps what Go looks its items up in.
        let (this, old_this) = (
            Val::of(pair.new, Some(&checks.node)),
            old.map(|old| Val::of(old, Some(&checks.node))),
        );
        for compiled in &checks.rules {
            let program = match &compiled.program {
                None => continue,
                Some(Err(detail)) => {
                    self.outcome
                        .causes
                        .push(path.invalid(kind, &format!("rule compile error: {detail}")));
                    continue;
                }
                Some(Ok(program)) => program,
            };
            let optional = compiled.rule.optional_old_self == Some(true);
            // A transition rule needs an old value.
            if compiled.uses_old_self() && old.is_none() && !optional {
                continue;
            }
            let this = this.clone();
            let before = match (optional, old_this.clone()) {
                (true, None) => Some(Ok(Val::Optional(None))),
                // On the server an optional may contain an error, which is reported when it is read; an error of `self` is reported first.
                (true, Some(Err(fault))) => Some(Err(this.clone().err().unwrap_or(fault))),
                (true, Some(Ok(before))) => Some(Ok(before.some())),
                (false, before) => before,
            };
            let before = before.map(|before| ("oldSelf", before));
            let variables = before.into_iter().chain([("self", this)]).collect();
            let (result, cost) = program.run(&variables);
            self.pay(cost, path, kind)?;
            match result {
                Ok(Val::Bool(true)) => {}
                Ok(_) => {
                    let broken = Broken {
                        compiled,
                        pair,
                        kind,
                        variables: &variables,
                    };
                    self.failed(path, &broken)?;
                }
                Err(Fault::Budget) => {
                    let detail = format!(
                        "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: {}",
                        compiled.title()
                    );
                    self.outcome.causes.push(path.invalid(kind, &detail));
                    return Err(Spent);
                }
                Err(Fault::Error(error) | Fault::Panic(error)) => {
                    let title = compiled.title();
                    let detail = if error.starts_with("no such overload") {
                        format!(
                            "'{error}': call arguments did not match a supported operator, function or macro signature for rule: {title}"
                        )
                    } else {
                        format!("{error} evaluating rule: {title}")
                    };
                    self.outcome.causes.push(path.invalid(kind, &detail));
                }
            }
        }
        Ok(())
    }

    fn pay(&mut self, cost: u64, path: &Path, kind: &str) -> Result<(), Spent> {
        if cost > self.budget {
            return self.exhausted(path, kind);
        }
        self.budget -= cost;
        Ok(())
    }

    fn exhausted(&mut self, path: &Path, kind: &str) -> Result<(), Spent> {
        let detail = "validation failed due to running out of cost budget, no further validation rules will be run";
        self.outcome.causes.push(path.invalid(kind, detail));
        Err(Spent)
    }

    /// Adds the cause of a violated rule, with the rule's message.
    fn failed(&mut self, path: &Path, broken: &Broken<'_, '_>) -> Result<(), Spent> {
        let Broken {
            compiled,
            pair,
            kind,
            variables,
        } = *broken;
        let at = match compiled.field_path.as_deref().filter(|it| !it.is_empty()) {
            Some(below) => path.child(below),
            None => path.clone(),
        };
        let unchanged = !compiled.uses_old_self() && pair.ratchet.is_unchanged();
        let mut say = |cause: Cause| {
            if unchanged {
                self.outcome.warnings.push(cause.to_string());
            } else {
                self.outcome.causes.push(cause);
            }
        };
        let mut detail = None;
        if let Some(Ok(program)) = &compiled.message {
            let (message, cost) = program.run(variables);
            if cost > self.budget {
                say(at.invalid(kind, "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run"));
                return Err(Spent);
            }
            if let Err(Fault::Budget) = message {
                let source = kubewright_machinery::go::quote(&compiled.rule.message_expression);
                say(at.invalid(kind, &format!("no further validation rules will be run due to call cost exceeds limit for messageExpression: {source}")));
                return Err(Spent);
            }
            self.budget -= cost;
            detail = usable(message);
        }
        let detail = detail.unwrap_or_else(|| {
            if compiled.rule.message.is_empty() {
                format!("failed rule: {}", compiled.title())
            } else {
                compiled.title().to_owned()
            }
        });
        say(cause(broken, &at, &detail));
        Ok(())
    }
}

/// The cause with the rule's `reason`. Values of objects and lists are not printed.
fn cause(broken: &Broken<'_, '_>, at: &Path, detail: &str) -> Cause {
    let (value, hidden) = (broken.pair.new, matches!(broken.kind, "object" | "array"));
    let bare = |reason: &'static str, message: String| Cause {
        reason,
        field: at.to_string(),
        message,
    };
    match broken.compiled.rule.reason.as_deref() {
        Some("FieldValueForbidden") => at.forbidden(detail),
        Some("FieldValueRequired") => at.required(detail),
        Some("FieldValueDuplicate") if hidden => bare("FieldValueDuplicate", "Duplicate value".to_owned()),
        Some("FieldValueDuplicate") => at.duplicate(value.clone()),
        _ if hidden => bare("FieldValueInvalid", format!("Invalid value: {detail}")),
        _ => at.invalid(value.clone(), detail),
    }
}
