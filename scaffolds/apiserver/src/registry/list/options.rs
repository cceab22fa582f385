//! The parameters of lists, watches and deletions of collections. They are read in upstream's order, so that of several
//! errors the same one is reported.

use std::cell::LazyCell;

use kubewright_machinery::{Cause, cause::Path};

use crate::{
    call::Call,
    registry::record,
    request::query,
    select::{FieldSelector, LabelSelector},
    status::{Status, Subject},
    store::Record,
};

/// The parameters, validated.
#[derive(Debug, Default)]
pub struct ListParameters {
    /// The label selector.
    pub labels: LabelSelector,
    /// The field selector; the kind supports all of its fields.
    pub fields: FieldSelector,
    /// The parameter as sent.
    pub resource_version: String,
    /// The interpretation of `resource_version`; empty if the client does not send it.
    pub resource_version_match: String,
    /// At most this many objects; 0 for all.
    pub limit: usize,
    /// The continue token of the previous page.
    pub token: String,
    /// The time that a watch lasts, in seconds.
    pub timeout: Option<i64>,
    /// Whether a watch sends bookmarks.
    pub bookmarks: bool,
    /// Whether a watch begins with the existing objects, if the client says so.
    pub initial_events: Option<bool>,
}

impl ListParameters {
    /// Reads the parameters of a request.
    ///
    /// # Errors
    /// 400 for parameters that cannot be parsed, 422 for combinations that are invalid.
    pub fn read(call: &Call) -> Result<Self, Status> {
        let text = |name: &str| call.parameter(name).unwrap_or_default().to_owned();
        let flag = |name: &str| call.parameter(name).map(query::is_true);
        let number = |name: &str| {
            let number = call.parameter(name).map(query::integer);
            number.transpose().map_err(Status::bad_request)
        };
        let mut options = Self {
            resource_version: text("resourceVersion"),
            resource_version_match: text("resourceVersionMatch"),
            token: text("continue"),
            timeout: number("timeoutSeconds")?,
            limit: usize::try_from(number("limit")?.unwrap_or_default()).unwrap_or_default(),
            bookmarks: flag("allowWatchBookmarks").unwrap_or_default(),
            initial_events: flag("sendInitialEvents"),
            labels: LabelSelector::parse(&text("labelSelector")).map_err(Status::bad_request)?,
            fields: FieldSelector::parse(&text("fieldSelector")).map_err(Status::bad_request)?,
        };
        let causes = if flag("watch") == Some(true) {
            options.check_watch()
        } else {
            options.check_list()
        };
        if !causes.is_empty() {
            return Err(Status::invalid(Subject::new("meta.k8s.io", "ListOptions"), "", &causes));
        }
        options.fields.check(&call.resource).map_err(Status::bad_request)?;
        options.name_one(&call.name)?;
        Ok(options)
    }

    /// Whether the selectors match an object.
    pub fn matches(&self, call: &Call, found: &Record) -> bool {
        if !self.labels.is_empty() && !self.labels.matches(found.labels()) {
            return false;
        }
        let resource = &call.resource;
        let object = LazyCell::new(|| record::read(resource, found).unwrap_or_default());
        let read = |path: &str| resource.strategy.field(&object, path).unwrap_or_default();
        // If an object is not read as it is stored, its kind's definition can change the result: do not cache that.
        let is_kept = record::is_final(resource, found);
        self.fields.matches(&found.key, |path| match is_kept {
            true => found.field([&resource.group, &resource.version], path, || read(path)),
            false => read(path).into(),
        })
    }

    /// Whether every object matches.
    pub fn selects_all(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// A watch of one object, by the deprecated paths below `/watch/`: the name becomes a field selector.
    fn name_one(&mut self, name: &str) -> Result<(), Status> {
        if name.is_empty() {
            return Ok(());
        }
        if self.fields.is_empty() {
            self.fields = FieldSelector::of_name(name);
        }
        match self.fields.name() == Some(name) {
            true => Ok(()),
            false => Err(Status::bad_request(
                "fieldSelector metadata.name doesn't match requested name",
            )),
        }
    }

    fn check_list(&self) -> Vec<Cause> {
        let at = Path::new("resourceVersionMatch");
        let said = self.resource_version_match.as_str();
        let mut causes = Vec::new();
        if !said.is_empty() {
            if self.resource_version.is_empty() {
                causes.push(at.forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided"));
            }
            if !self.token.is_empty() {
                causes.push(at.forbidden("resourceVersionMatch is forbidden when continue is provided"));
            }
            if !["Exact", "NotOlderThan"].contains(&said) {
                causes.push(at.unsupported(said, &["Exact", "NotOlderThan", ""]));
            }
            if said == "Exact" && self.resource_version == "0" {
                causes.push(at.forbidden("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
            }
        }
        if self.initial_events.is_some() {
            causes.push(Path::new("sendInitialEvents").forbidden("sendInitialEvents is forbidden for list"));
        }
        causes
    }

    fn check_watch(&self) -> Vec<Cause> {
        let at = Path::new("resourceVersionMatch");
        let said = self.resource_version_match.as_str();
        let mut causes = Vec::new();
        if self.initial_events.is_some() && said != "NotOlderThan" {
            causes.push(at.forbidden("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
        }
        if !said.is_empty() {
            if self.initial_events.is_none() {
                let rule = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
                causes.push(at.forbidden(rule));
            }
            if said != "NotOlderThan" {
                causes.push(at.unsupported(said, &["NotOlderThan"]));
            }
        }
        if !self.token.is_empty() {
            causes.push(at.forbidden("resourceVersionMatch is forbidden when continue is provided"));
        }
        causes
    }
}
