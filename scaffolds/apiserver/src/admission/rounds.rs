//! The rounds of mutating admission. If a policy or a webhook changes the object, all members run once more, and of the policies
//! and webhooks those that ask for it and were called before the change.

use std::{collections::BTreeSet, sync::OnceLock};

use serde_json::Value;

use crate::meta;

/// A member that knows what it has called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Caller {
    /// `MutatingPolicies`.
    Policies,
    /// `MutatingWebhooks`.
    Webhooks,
}

/// The rounds of one request.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    is_second: bool,
    has_changed: bool,
    /// The managedFields before the first call.
    managers: OnceLock<Option<Value>>,
    policies: Called,
    webhooks: Called,
}

/// The webhooks and policies that a member has called, by ids.
#[derive(Debug, Default)]
struct Called {
    /// The ids to call again after the next change.
    waiting: BTreeSet<String>,
    /// The ids that are called in the second round.
    again: BTreeSet<String>,
    /// The object after the calls of the first round.
    last: Value,
}

impl Rounds {
    /// Begins the second round, if there is one.
    pub fn again(&mut self) -> bool {
        let begins = self.has_changed && !self.is_second;
        self.is_second = begins;
        begins
    }

    /// Whether a policy or a webhook has changed the object.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Before the calls of a member. If the object has changed since its calls in the first round, all that wants to sees it again.
    pub fn begin(&mut self, caller: Caller, object: &Value) {
        self.managers
            .get_or_init(|| meta::of(object).get("managedFields").cloned());
        if self.is_second && self.of(caller).last != *object {
            self.change(caller);
        }
    }

    /// The managedFields before the first call.
    pub fn managers(self) -> Option<Value> {
        self.managers.into_inner().flatten()
    }

    /// Whether something is called in this round.
    pub fn calls(&mut self, caller: Caller, id: &str) -> bool {
        !self.is_second || self.of(caller).again.contains(id)
    }

    /// After a call that has changed the object.
    pub fn change(&mut self, caller: Caller) {
        self.has_changed = true;
        let called = self.of(caller);
        called.again.append(&mut called.waiting);
    }

    /// After a call of something that wants to be called again after a change.
    pub fn wait(&mut self, caller: Caller, id: String) {
        self.of(caller).waiting.insert(id);
    }

    /// After the calls of a member.
    pub fn end(&mut self, caller: Caller, object: Value) {
        self.of(caller).last = object;
    }

    fn of(&mut self, caller: Caller) -> &mut Called {
        match caller {
            Caller::Policies => &mut self.policies,
            Caller::Webhooks => &mut self.webhooks,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_called_before_a_change_is_called_again_once() {
        let mut rounds = Rounds::default();
        rounds.begin(Caller::Webhooks, &json!(1));
        rounds.wait(Caller::Webhooks, "before".to_owned());
        rounds.change(Caller::Webhooks);
        rounds.wait(Caller::Webhooks, "after".to_owned());
        rounds.end(Caller::Webhooks, json!(2));
        assert!(rounds.again());
        rounds.begin(Caller::Webhooks, &json!(2));
        assert!(rounds.calls(Caller::Webhooks, "before"));
        assert!(!rounds.calls(Caller::Webhooks, "after"));
        assert!(!rounds.calls(Caller::Policies, "before"));
        assert!(!rounds.again(), "there are two rounds at most");
    }

    #[test]
    fn a_change_by_another_member_calls_all_that_wait() {
        let mut rounds = Rounds::default();
        rounds.wait(Caller::Policies, "policy".to_owned());
        rounds.end(Caller::Policies, json!(1));
        rounds.change(Caller::Webhooks);
        assert!(rounds.again());
        rounds.begin(Caller::Policies, &json!(1));
        assert!(!rounds.calls(Caller::Policies, "policy"));
        rounds.begin(Caller::Policies, &json!(2));
        assert!(rounds.calls(Caller::Policies, "policy"));
    }
}
