//! Runs deeply nested rules on a thread with a large stack. A server accepts expressions that nest some hundred levels, which is more than the
//! stack of an ordinary thread can hold in a build without optimisation.

use super::schema::Node;
use kubewright_machinery::cause::Cause;
use std::collections::BTreeMap;

/// The stack size: enough for the deepest expression that is accepted.
const STACK: usize = 64 << 20;

/// Rules with at most this many levels of brackets, and this many operators and dots, run on the caller's stack.
const LEVELS: usize = 16;
const SIGNS: usize = 100;

/// Runs `work`, on a separate thread if `deep`. If the thread cannot be started, the error is a cause that reports it.
pub(super) fn with_stack<T: Send>(deep: bool, work: impl FnOnce() -> T + Send) -> Result<T, Cause> {
    with_levels(deep, 1, work)
}

/// Like [`with_stack`], for `levels` expressions that are evaluated within each other.
pub(super) fn with_levels<T: Send>(deep: bool, levels: usize, work: impl FnOnce() -> T + Send) -> Result<T, Cause> {
    if !deep {
        return Ok(work());
    }
    std::thread::scope(|scope| {
        match std::thread::Builder::new()
            .stack_size(STACK * levels)
            .spawn_scoped(scope, work)
        {
            Ok(worker) => Ok(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
            Err(error) => Err(Cause {
                reason: "InternalError",
                field: "<nil>".to_owned(),
                message: format!("Internal error: cannot start a thread for a deeply nested validation rule: {error}"),
            }),
        }
    })
}

/// Whether any rule of a schema may nest deeply.
pub(super) fn is_deep(node: &Node) -> bool {
    let below = node.items.iter().chain(&node.additional).chain(&node.all_of);
    let fields = node.properties.iter().flat_map(BTreeMap::values);
    let expressions = node
        .rules
        .iter()
        .flat_map(|rule| [&rule.rule, &rule.message_expression]);
    expressions.into_iter().any(|text| nests(text)) || below.chain(fields).any(|node| is_deep(node))
}

/// Whether an expression may nest deeply.
pub(super) fn nests(text: &str) -> bool {
    let (mut level, mut deepest, mut signs) = (0usize, 0, 0);
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => {
                level += 1;
                deepest = deepest.max(level);
            }
            ')' | ']' | '}' => level = level.saturating_sub(1),
            '.' | '!' | '?' | '+' | '-' | '*' | '/' | '%' | '=' | '<' | '>' => signs += 1,
            _ => {}
        }
    }
    deepest > LEVELS || signs > SIGNS
}
