//! Prevents privilege escalation: the permissions that the writer of a role or binding needs besides the right to write
//! it. Checked where the real server checks it, between admission and validation.

use serde_json::Value;

use super::{
    Attributes, Authorizer, Rule,
    policy::Reference,
    rule::{describe, missing, quoted},
};
use crate::{
    meta,
    status::{Status, Subject},
    store::Store,
    user::User,
};

/// A write of a role or binding.
pub struct Write<'a> {
    /// Decides.
    pub authorizer: &'a Authorizer,
    /// The store with the roles.
    pub store: &'a Store,
    /// The writer.
    pub user: &'a User,
    /// Group and plural of the written resource.
    pub resource: Subject<'a>,
    /// Empty for ClusterRoles and ClusterRoleBindings.
    pub namespace: &'a str,
    /// The name in the path; empty for creates.
    pub name: &'a str,
}

impl Write<'_> {
    /// Checks that the writer of a role may `escalate`, or has all permissions that it grants.
    ///
    /// # Errors
    /// 403 that names the missing permissions.
    pub fn role(&self, new: &Value, old: Option<&Value>) -> Result<(), Status> {
        if self.user.is_master() || self.may("escalate", self.resource.name, self.name) {
            return Ok(());
        }
        if old.is_some_and(|old| changes_references_only(new, old)) {
            return Ok(());
        }
        let rules = |object: &Value| rules(object.get("rules"));
        self.confirm(meta::text(new, "name"), &rules(new))?;
        let aggregates = |object: &Value| {
            let selectors = object.pointer("/aggregationRule/clusterRoleSelectors");
            selectors.and_then(Value::as_array).is_some_and(|it| !it.is_empty())
        };
        let has_all = || self.missing(&Rule::everything()).is_empty();
        if (aggregates(new) || old.is_some_and(aggregates)) && !has_all() {
            let why = "must have cluster-admin privileges to use the aggregationRule";
            return Err(Status::forbidden(self.resource, meta::text(new, "name"), why));
        }
        Ok(())
    }

    /// Checks that the writer of a binding may `bind` its role, or has all permissions that the role grants.
    ///
    /// # Errors
    /// 403 that names the missing permissions; 404 for a role that does not exist.
    pub fn binding(&self, new: &Value, old: Option<&Value>) -> Result<(), Status> {
        if self.user.is_master() || old.is_some_and(|old| changes_references_only(new, old)) {
            return Ok(());
        }
        let role: Reference = serde_json::from_value(new["roleRef"].clone()).unwrap_or_default();
        let plural = if role.kind == "Role" { "roles" } else { "clusterroles" };
        if self.may("bind", plural, &role.name) {
            return Ok(());
        }
        let policy = self.authorizer.policy(self.store);
        let rules = policy.rules(&role, self.namespace);
        let lost = || Status::not_found(self.resource, &role.name);
        self.confirm(meta::text(new, "name"), rules.ok_or_else(lost)?)
    }

    fn may(&self, verb: &str, plural: &str, name: &str) -> bool {
        let asked = Attributes {
            is_resource: true,
            verb: verb.to_owned(),
            group: self.resource.group.to_owned(),
            namespace: self.namespace.to_owned(),
            resource: plural.to_owned(),
            name: name.to_owned(),
            ..Attributes::default()
        };
        self.authorizer.decide(self.store, self.user, &asked).allowed
    }

    fn missing(&self, wanted: &[Rule]) -> Vec<Rule> {
        let (owned, _) = self.authorizer.policy(self.store).rules_of(self.user, self.namespace);
        missing(&owned, wanted)
    }

    fn confirm(&self, name: &str, wanted: &[Rule]) -> Result<(), Status> {
        let (owned, failed) = self.authorizer.policy(self.store).rules_of(self.user, self.namespace);
        let mut said: Vec<String> = missing(&owned, wanted).iter().map(describe).collect();
        if said.is_empty() {
            return Ok(());
        }
        said.sort_unstable();
        said.dedup();
        let (who, groups) = (
            kubewright_machinery::go::quote(&self.user.name),
            quoted(&self.user.groups),
        );
        let mut why = format!(
            "user {who} (groups={groups}) is attempting to grant RBAC permissions not currently held:\n{}",
            said.join("\n")
        );
        if let Some(failed) = failed {
            why.push_str(&format!("; resolution errors: [{failed}]"));
        }
        Err(Status::forbidden(self.resource, name, &why))
    }
}

fn rules(list: Option<&Value>) -> Vec<Rule> {
    let rules = list.cloned().map(serde_json::from_value::<Vec<Rule>>);
    rules.and_then(Result::ok).unwrap_or_default()
}

/// Whether a write changes only what the garbage collector changes, which needs no further permissions.
pub fn changes_references_only(new: &Value, old: &Value) -> bool {
    let mut new = new.clone();
    for field in ["ownerReferences", "finalizers", "managedFields"] {
        meta::set(&mut new, field, meta::of(old).get(field).cloned());
    }
    new == *old
}
