//! One operation: a method on a path.

use super::parameters::{self, NAME, NAMESPACE, Parameter};
use crate::resource::Resource;
use serde_json::{Map, Value, json};

/// The position of schemas in a document.
pub(super) const COMPONENTS: &str = "#/components/schemas/";
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// The resource that operations are about, and the schemas of its kind and list.
pub(super) struct Subject<'a> {
    pub resource: &'a Resource,
    pub built_in: bool,
    pub object: String,
    pub list: String,
}

/// The parameters of one operation.
pub(super) struct OperationParameters<'a> {
    pub subject: &'a Subject<'a>,
    pub path: &'a str,
    /// The action: `list`, `post`, `deletecollection`, `get`, `put`, `delete` or `patch`.
    pub action: &'static str,
    /// For example `status`; empty for the object itself.
    pub subresource: &'a str,
    /// The schema that is sent and answered.
    pub schema: &'a str,
    /// Group, version and kind of the operation's object.
    pub about: (&'a str, &'a str, &'a str),
}

impl OperationParameters<'_> {
    pub(super) fn method(&self) -> &'static str {
        match self.action {
            "list" => "get",
            "deletecollection" => "delete",
            other => other,
        }
    }

    /// All parameters, including those that all operations of the path share.
    pub(super) fn parameters(&self) -> Vec<Parameter> {
        let mut all = parameters::of(self.action, self.subject.built_in);
        for (place, parameter) in [("{name}", NAME), ("{namespace}", NAMESPACE)] {
            if self.path.contains(place) {
                all.push(parameter);
            }
        }
        all.sort_unstable();
        all
    }

    /// The operation without its parameters.
    pub(super) fn document(&self) -> Value {
        let (group, version, kind) = self.about;
        let mut document = json!({
            "tags": [self.tag()],
            "description": self.description(),
            "operationId": self.id(),
            "responses": self.responses(),
            "x-kubernetes-action": self.action,
            "x-kubernetes-group-version-kind": {"group": group, "version": version, "kind": kind},
        });
        if let Some(body) = self.request() {
            document["requestBody"] = body;
        }
        document
    }

    fn verb(&self) -> &'static str {
        match self.action {
            "get" => "read",
            "put" => "replace",
            "post" => "create",
            other => other,
        }
    }

    fn description(&self) -> String {
        let kind = &self.subject.resource.names.kind;
        let of = if self.subresource.is_empty() {
            String::new()
        } else {
            format!(" {} of", self.subresource)
        };
        match self.verb() {
            "list" if self.subject.built_in => format!("list or watch objects of kind {kind}"),
            "list" => format!("list objects of kind {kind}"),
            "patch" => format!("partially update{of} the specified {kind}"),
            "deletecollection" => format!("delete collection of {kind}"),
            verb @ ("read" | "replace") => format!("{verb}{of} the specified {kind}"),
            verb => format!("{verb}{of}{}{kind}", article(kind)),
        }
    }

    fn group(&self) -> &str {
        let group = self.subject.resource.group.as_str();
        if group.is_empty() {
            "core"
        } else {
            group.strip_suffix(".k8s.io").unwrap_or(group)
        }
    }

    fn tag(&self) -> String {
        format!(
            "{}_{}",
            camel(self.group(), false),
            camel(&self.subject.resource.version, false)
        )
    }

    fn id(&self) -> String {
        let Resource {
            version,
            names,
            namespaced,
            ..
        } = self.subject.resource;
        let (verb, collection) = match self.verb() {
            "deletecollection" => ("delete", "Collection"),
            verb => (verb, ""),
        };
        let place = camel(self.group(), true) + &camel(version, true);
        let scope = if self.path.contains("{namespace}") {
            "Namespaced"
        } else {
            ""
        };
        let everywhere = *namespaced && self.action == "list" && scope.is_empty();
        let end = if everywhere {
            "ForAllNamespaces".to_owned()
        } else {
            camel(self.subresource, true)
        };
        format!("{verb}{place}{collection}{scope}{}{end}", names.kind)
    }

    fn request(&self) -> Option<Value> {
        let patch = format!("{META}.Patch");
        let options = format!("{META}.DeleteOptions");
        let custom = ["application/json", "application/yaml"];
        let plain: &[&str] = if self.subject.built_in { &["*/*"] } else { &custom };
        let mut patches = vec![
            "application/apply-patch+yaml",
            "application/json-patch+json",
            "application/merge-patch+json",
        ];
        if self.subject.resource.rules().is_built_in() {
            patches.push("application/strategic-merge-patch+json");
        }
        match self.action {
            "post" | "put" => Some(json!({"content": content(plain, self.schema), "required": true})),
            "patch" => Some(json!({"content": content(&patches, &patch), "required": true})),
            "delete" => Some(json!({"content": content(plain, &options)})),
            "deletecollection" if self.subject.built_in => Some(json!({"content": content(plain, &options)})),
            _ => None,
        }
    }

    fn responses(&self) -> Value {
        let status = format!("{META}.Status");
        let schema = match self.action {
            "list" => &self.subject.list,
            "delete" | "deletecollection" => &status,
            _ => self.schema,
        };
        let mut types = vec!["application/json", "application/yaml"];
        if self.action == "list" && self.subject.built_in {
            types.push("application/json;stream=watch");
        }
        let with = |description: &str| json!({"description": description, "content": content(&types, schema)});
        let mut responses = json!({"200": with("OK"), "401": {"description": "Unauthorized"}});
        if matches!(self.action, "post" | "put") || self.action == "patch" && self.subject.built_in {
            responses["201"] = with("Created");
        }
        if matches!(self.action, "post" | "delete") {
            responses["202"] = with("Accepted");
        }
        responses
    }
}

fn content(types: &[&str], name: &str) -> Value {
    let schema = json!({"schema": {"$ref": format!("{COMPONENTS}{name}")}});
    Value::Object(
        types
            .iter()
            .map(|it| ((*it).to_owned(), schema.clone()))
            .collect::<Map<_, _>>(),
    )
}

/// The article before a noun. Plurals have none; words that end in `ss` are not plurals.
fn article(noun: &str) -> &'static str {
    if noun.ends_with('s') && !noun.ends_with("ss") {
        " "
    } else if noun.starts_with(['A', 'E', 'I', 'O', 'U']) {
        " an "
    } else {
        " a "
    }
}

/// Converts `rbac.authorization` to `rbacAuthorization`.
fn camel(text: &str, upper: bool) -> String {
    let mut out = String::new();
    let mut raise = upper;
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(if raise { c.to_ascii_uppercase() } else { c });
            raise = false;
        } else {
            raise = upper || !out.is_empty();
        }
    }
    out
}
