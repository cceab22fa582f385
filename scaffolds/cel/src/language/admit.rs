//! Validates the rules of a schema when a CustomResourceDefinition is written.

use super::rules::Compiled;
use crate::declare::Declared;
use crate::schema::Node;
use kubewright_machinery::cause::{Cause, Path};

/// The limits of the estimated cost of one rule, and of all rules of a schema together
/// (StaticEstimatedCostLimit and StaticEstimatedCRDCostLimit of apiextensions-apiserver).
pub(super) const MOST_PER_RULE: u64 = 10_000_000;
const MOST_PER_SCHEMA: u64 = 100_000_000;

/// The number of the most expensive rules in a report.
const NAMED: usize = 4;

const ADVICE: &str = "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)";

struct Admission<'a> {
    causes: Vec<Cause>,
    structural: &'a [Cause],
    total: u64,
    expensive: Vec<(u64, Path)>,
}

/// A rule, and what its cost depends on.
struct Priced<'a> {
    compiled: &'a Compiled,
    declared: &'a Declared,
    count: u64,
}

/// The position of a node.
#[derive(Clone)]
struct NodePosition {
    path: Path,
    root: bool,
    /// The maximum of values of the node in one object; `None` without a limit.
    count: Option<u64>,
    /// The outermost ancestor below which new values cannot be matched with old ones.
    uncorrelatable: Option<Path>,
}

pub(super) fn check(root: &Node, path: &str, structural: &[Cause]) -> Vec<Cause> {
    let mut admission = Admission {
        causes: Vec::new(),
        structural,
        total: 0,
        expensive: Vec::new(),
    };
    let place = NodePosition {
        path: Path::new(path),
        root: true,
        count: Some(1),
        uncorrelatable: None,
    };
    admission.node(root, &place);
    if admission.total > MOST_PER_SCHEMA {
        for (_, path) in &admission.expensive {
            admission.causes.push(path.forbidden(
                "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
            ));
        }
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        admission
            .causes
            .push(Path::new(path).forbidden(&too_expensive(what, admission.total, MOST_PER_SCHEMA)));
    }
    admission.causes
}

pub(super) fn too_expensive(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let shown = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!("{what} exceeds budget by factor of {shown} {ADVICE}")
}

/// The path of the node that a cause is about. Causes about the items of a set or map are about the list.
fn node_of(cause: &Cause) -> &str {
    const OF_A_LIST: [&str; 4] = [
        "as item of a list with x-kubernetes-list-type=set",
        "parent array's x-kubernetes-list-type is map",
        "cannot be nullable when x-kubernetes-list-type is",
        "this property is in x-kubernetes-list-map-keys",
    ];
    let field = cause.field.as_str();
    match field.rfind(".items") {
        Some(end) if OF_A_LIST.iter().any(|text| cause.message.contains(text)) => &field[..end],
        _ => field,
    }
}

impl Admission<'_> {
    fn node(&mut self, node: &Node, place: &NodePosition) {
        let below = |path: Path, uncorrelatable: bool| NodePosition {
            path,
            root: false,
            count: place
                .count
                .and_then(|count| Some(count.saturating_mul(most_children(node)?))),
            // The outermost such ancestor is reported.
            uncorrelatable: (place.uncorrelatable.clone()).or_else(|| uncorrelatable.then(|| place.path.clone())),
        };
        if let Some(values) = &node.additional {
            self.node(values, &below(place.path.child("additionalProperties"), false));
        }
        for (name, property) in node.properties.iter().flatten() {
            self.node(property, &below(place.path.property(name), !node.is_correlatable()));
        }
        if let Some(items) = &node.items {
            self.node(
                items,
                &below(place.path.child("items"), node.list_type.as_deref() != Some("map")),
            );
        }
        if !node.rules.is_empty() && !self.is_objected_to(&place.path) {
            self.rules(node, place);
        }
    }

    /// Whether the node or anything below it already has a cause.
    fn is_objected_to(&self, path: &Path) -> bool {
        let path = path.to_string();
        self.structural.iter().any(|cause| {
            node_of(cause)
                .strip_prefix(&path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    }

    fn rules(&mut self, node: &Node, place: &NodePosition) {
        let at = place.path.child("x-kubernetes-validations");
        let Some(declared) = Declared::of(node, place.root || node.embedded) else {
            let why = "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";
            let message = format!("Internal error: {why}");
            self.causes.push(Cause {
                reason: "InternalError",
                field: at.to_string(),
                message,
            });
            return;
        };
        let count = place.count.unwrap_or_else(|| declared.most_in_a_request());
        for (index, compiled) in Compiled::all(node, &declared).iter().enumerate() {
            let priced = Priced {
                compiled,
                declared: &declared,
                count,
            };
            self.rule(&priced, &at.index(index), place.uncorrelatable.as_ref());
        }
    }

    fn rule(&mut self, priced: &Priced<'_>, at: &Path, uncorrelatable: Option<&Path>) {
        let Priced {
            compiled,
            declared,
            count,
        } = *priced;
        let rule = &compiled.rule;
        let (rule_at, message_at) = (at.child("rule"), at.child("messageExpression"));
        let cost = match &compiled.program {
            Some(Ok(program)) => program.most(declared).saturating_mul(count),
            _ => 0,
        };
        if cost > MOST_PER_RULE {
            self.causes
                .push(rule_at.forbidden(&too_expensive("estimated rule cost", cost, MOST_PER_RULE)));
        }
        self.observe(cost, &rule_at);
        if let Some(Err(detail)) = &compiled.program {
            self.causes.push(rule.invalid(&rule_at.to_string(), detail));
        }
        match &compiled.message {
            Some(Err(detail)) => self.causes.push(rule.invalid(&message_at.to_string(), detail)),
            Some(Ok(program)) => {
                let most = program.most(declared);
                if most > MOST_PER_RULE {
                    let what = "estimated messageExpression cost";
                    self.causes
                        .push(message_at.forbidden(&too_expensive(what, most, MOST_PER_RULE)));
                }
                self.observe(most, &message_at);
            }
            None => {}
        }
        if compiled.uses_old_self() {
            if let Some(within) = uncorrelatable {
                let detail =
                    format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {within}");
                self.causes.push(rule_at.invalid(rule.rule.as_str(), &detail));
            }
        } else if let Some(flag) = rule.optional_old_self {
            let detail = "may not be set if oldSelf is not used in rule";
            self.causes.push(at.child("optionalOldSelf").invalid(flag, detail));
        }
    }

    fn observe(&mut self, cost: u64, at: &Path) {
        self.total = self.total.saturating_add(cost);
        if cost >= MOST_PER_SCHEMA / 100 {
            self.expensive.push((cost, at.clone()));
            self.expensive.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
            self.expensive.truncate(NAMED);
        }
    }
}

/// The maximum number of children of a value of the node.
fn most_children(node: &Node) -> Option<u64> {
    let limit = match node.kind.as_str() {
        "object" if node.any_additional => node.max_properties?,
        "array" => node.max_items?,
        _ => return Some(1),
    };
    Some(u64::try_from(limit).unwrap_or(0))
}
