//! The context of one write.

use std::sync::Arc;

use kubewright_machinery::{names, time};
use serde_json::Value;

use super::{body::Decoded, owned::Conversions};
use crate::{
    apply::{self, Writer},
    authorize,
    call::Call,
    meta,
    resource::Resource,
    state::Core,
    status::{Status, Subject},
    store::Key,
    strategy::{Empties, Strategy},
};

/// One write of a client.
pub(super) struct Work<'a> {
    pub core: &'a Core,
    pub call: &'a Call,
    /// The current time, in the format of `creationTimestamp`.
    pub now: String,
    /// Objects in other versions, where a webhook converts them.
    pub(super) conversions: Conversions,
    /// The resource in all served versions: an entry of managedFields may be in any of them.
    versions: Vec<Arc<Resource>>,
}

impl<'a> Work<'a> {
    pub fn new(core: &'a Core, call: &'a Call) -> Self {
        let (group, plural) = (&call.resource.group, &call.resource.names.plural);
        let snapshot = core.catalogue.snapshot();
        let versions = snapshot.versions(group);
        let versions = versions
            .into_iter()
            .filter_map(|version| snapshot.resource(group, version, plural));
        Self {
            core,
            call,
            now: time::text(core.now()),
            conversions: Conversions::default(),
            versions: versions.collect(),
        }
    }

    pub fn resource(&self) -> &'a Resource {
        &self.call.resource
    }

    /// Group and plural, by which answers about missing and existing objects name the resource.
    pub fn subject(&self) -> Subject<'a> {
        self.call.subject()
    }

    /// Group and kind, by which answers about invalid objects name them.
    pub fn kind(&self) -> Subject<'a> {
        let resource = self.resource();
        let stored_in = resource.rules().storage.name.and_then(|name| name.split_once('/'));
        let group = stored_in.map_or(resource.group.as_str(), |(group, _)| group);
        Subject::new(group, &resource.names.kind)
    }

    /// As [`kind`](Self::kind), for an invalid object, which may be of another type.
    pub fn kind_of<'o>(&self, object: &'o Value) -> Subject<'o>
    where
        'a: 'o,
    {
        if self.resource().strategy.is_of_type(object) {
            return self.kind();
        }
        let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
        Subject::new(names::group_version(text("apiVersion")).0, text("kind"))
    }

    pub fn key(&self, name: &str) -> Key {
        self.call.key(name)
    }

    /// The attributes of this request with another verb, for authorization.
    pub fn asked(&self, verb: &str) -> authorize::Attributes {
        let (call, subject) = (self.call, self.subject());
        authorize::Attributes {
            is_resource: true,
            verb: verb.to_owned(),
            group: subject.group.to_owned(),
            namespace: call.namespace.clone(),
            resource: subject.name.to_owned(),
            subresource: call.subresource.clone(),
            name: call.name.clone(),
            ..authorize::Attributes::default()
        }
    }

    pub fn not_found(&self, name: &str) -> Status {
        Status::not_found(self.subject(), name)
    }

    pub fn is_built_in(&self) -> bool {
        self.resource().rules().is_built_in()
    }

    pub fn warn(&self, sentence: String) {
        self.call.warnings.add(sentence);
    }

    /// Sets the defaults of a decoded object.
    pub fn default(&self, object: &mut Value) {
        let resource = self.resource();
        resource.strategy.default(object);
        if let Some(date) = resource.rules().stamps.default {
            date(object, &self.now);
        }
    }

    /// Removes duplicate owner references from an object and warns about them.
    pub fn dedupe_owners(&self, object: &mut Value, afterwards: bool) {
        let twice = meta::owners::dedupe(object);
        if !twice.is_empty() {
            let after = if afterwards {
                " after mutating admission happens"
            } else {
                ""
            };
            self.warn(format!(
                ".metadata.ownerReferences contains duplicate entries{after}; API server dedups owner references in 1.20+, \
                 and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
                twice.join(", ")
            ));
        }
    }

    /// Updates managedFields after `manager` changed `live` to `new`.
    pub fn own(&self, manager: &str, live: Option<&Value>, new: &mut Decoded) {
        let Decoded {
            object: new,
            has_empties,
            ..
        } = new;
        if !*has_empties {
            return self.as_writer(manager, |writer| apply::update(live, new, writer));
        }
        let mut encoded = new.clone();
        self.resource().strategy.empties(&mut encoded, Empties::Encoded);
        // An empty list of managedFields asks to clear them.
        meta::set(
            &mut encoded,
            "managedFields",
            meta::of(new).get("managedFields").cloned(),
        );
        self.as_writer(manager, |writer| apply::update(live, &mut encoded, writer));
        meta::set(new, "managedFields", meta::of(&encoded).get("managedFields").cloned());
    }

    /// Gives an object the form that it will have when it is read from the store.
    pub fn forget_empties(&self, object: &mut Value) {
        self.resource().strategy.empties(object, Empties::Stored);
    }

    /// Calls `write` with the identity of `manager`, or of the user agent if that is empty.
    pub fn as_writer<T>(&self, manager: &str, write: impl FnOnce(&Writer<'_>) -> T) -> T {
        let resource = self.resource();
        let agent;
        let manager = if manager.is_empty() {
            agent = apply::manager_of(&self.call.user_agent);
            &agent
        } else {
            manager
        };
        let served = |version: &str| self.strategy_of(version).map(Strategy::schema);
        let versions = |version: &str| served(version).or_else(|| resource.strategy.unserved(version));
        let is_built_in = self.is_built_in();
        let convert = |object: &Value, version: &str| {
            if is_built_in {
                Ok(self.brought(object, version))
            } else {
                self.conversions.get(object, version)
            }
        };
        let converts = resource.rules().conversion().is_some() || is_built_in;
        write(&Writer {
            manager,
            api_version: &resource.api_version(),
            kind: &resource.names.kind,
            subresource: &self.call.subresource,
            now: &self.now,
            reset: self.reset(),
            schema: resource.strategy.schema(),
            versions: &versions,
            convert: converts.then_some(&convert as &apply::Convert<'_>),
        })
    }

    /// A built-in object in another version.
    fn brought(&self, object: &Value, version: &str) -> Value {
        let mut object = object.clone();
        let from = object["apiVersion"].as_str().and_then(|from| self.strategy_of(from));
        if let (Some(from), Some(to)) = (from, self.strategy_of(version)) {
            from.write(&mut object);
            to.read(&mut object);
        }
        object
    }

    /// The strategy of the kind in a version such as `apps/v1`.
    pub fn strategy_of(&self, version: &str) -> Option<&dyn Strategy> {
        let found = self
            .versions
            .iter()
            .find(|resource| resource.api_version() == version)?;
        Some(found.strategy.as_ref())
    }

    /// The fields that the endpoint does not write, so a write through it does not own them.
    fn reset(&self) -> &'static [&'static str] {
        let rules = self.resource().rules();
        let subresource = self.call.subresource.as_str();
        if let Some((_, reset)) = rules.resets.parts.iter().find(|(name, _)| *name == subresource) {
            return reset;
        }
        match (subresource, rules.has_status) {
            ("status", _) => rules.resets.status,
            ("", true) => rules.resets.object,
            ("finalize", _) => &["status"],
            _ => &[],
        }
    }
}
