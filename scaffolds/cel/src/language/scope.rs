//! The variables of admission: what the expressions of webhooks and policies may use, and their types.

use super::variables::COMPOSED;
use crate::types::{Object, Scope, Type, Variable};
use std::sync::Arc;

/// The variables in addition to the variables of every expression.
#[derive(Clone, Debug, Default)]
pub(super) struct Declared {
    /// The type of `object` and `oldObject`; `None` for any.
    pub(super) object: Option<Type>,
    /// `params`, of this type.
    pub(super) params: Option<Type>,
    /// `authorizer`.
    pub(super) authorizer: bool,
    /// `variables`, of this type.
    pub(super) variables: Option<Type>,
    /// Whether it is a mutation.
    pub(super) mutates: bool,
}

pub(super) fn scope(declared: &Declared) -> Scope {
    let variable = |name, r#type| Variable { name, r#type };
    let object = || declared.object.clone().unwrap_or(Type::Dyn);
    let mut all = vec![
        variable("object", object()),
        variable("oldObject", object()),
        variable("namespaceObject", namespace()),
        variable("request", request()),
    ];
    let params = declared.params.iter();
    all.extend(params.map(|r#type| variable("params", r#type.clone())));
    if declared.authorizer {
        all.push(variable(
            "authorizer",
            Type::Message("kubernetes.authorization.Authorizer"),
        ));
        let check = Type::Message("kubernetes.authorization.ResourceCheck");
        all.push(variable("authorizer.requestResource", check));
    }
    all.extend(
        declared
            .variables
            .iter()
            .map(|r#type| variable(COMPOSED, r#type.clone())),
    );
    Scope {
        variables: all,
        mutates: declared.mutates,
    }
}

/// An object type; `fields` are names and types.
fn object<const N: usize>(name: &str, fields: [(&str, Type); N]) -> Type {
    let fields = fields.map(|(field, r#type)| (field.to_owned(), r#type));
    Type::Object(Arc::new(Object {
        name: name.to_owned(),
        fields: fields.into(),
    }))
}

/// An AdmissionRequest without uid and objects.
pub(super) fn request() -> Type {
    let kind = object(
        "kubernetes.GroupVersionKind",
        ["group", "version", "kind"].map(|field| (field, Type::String)),
    );
    let resource = object(
        "kubernetes.GroupVersionResource",
        ["group", "version", "resource"].map(|field| (field, Type::String)),
    );
    let texts = || Type::list(Type::String);
    let user = object(
        "kubernetes.UserInfo",
        [
            ("username", Type::String),
            ("uid", Type::String),
            ("groups", texts()),
            ("extra", Type::map(Type::String, texts())),
        ],
    );
    object(
        "kubernetes.AdmissionRequest",
        [
            ("kind", kind.clone()),
            ("resource", resource.clone()),
            ("subResource", Type::String),
            ("requestKind", kind),
            ("requestResource", resource),
            ("requestSubResource", Type::String),
            ("name", Type::String),
            ("namespace", Type::String),
            ("operation", Type::String),
            ("userInfo", user),
            ("dryRun", Type::Bool),
            ("options", Type::Dyn),
        ],
    )
}

pub(super) fn namespace() -> Type {
    let texts = || Type::list(Type::String);
    let map = || Type::map(Type::String, Type::String);
    let condition = object(
        "kubernetes.NamespaceCondition",
        [
            ("status", Type::String),
            ("type", Type::String),
            ("lastTransitionTime", Type::Timestamp),
            ("message", Type::String),
            ("reason", Type::String),
        ],
    );
    let metadata = object(
        "kubernetes.NamespaceMetadata",
        [
            ("name", Type::String),
            ("generateName", Type::String),
            ("namespace", Type::String),
            ("labels", map()),
            ("annotations", map()),
            ("UID", Type::String),
            ("creationTimestamp", Type::Timestamp),
            ("deletionGracePeriodSeconds", Type::Int),
            ("deletionTimestamp", Type::Timestamp),
            ("generation", Type::Int),
            ("resourceVersion", Type::String),
            ("finalizers", texts()),
        ],
    );
    let spec = object("kubernetes.NamespaceSpec", [("finalizers", texts())]);
    let status = object(
        "kubernetes.NamespaceStatus",
        [("conditions", Type::list(condition)), ("phase", Type::String)],
    );
    object(
        "kubernetes.Namespace",
        [("metadata", metadata), ("spec", spec), ("status", status)],
    )
}
