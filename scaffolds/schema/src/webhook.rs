//! The names that an operator's webhooks share with the manifests that install them.

/// The suffix of the Service of `config/webhook`, after the prefix of the project's objects, as in kubebuilder's projects.
pub const SERVICE: &str = "webhook-service";

/// The suffix of the Secret that the operator fills with the certificates of [`SERVICE`], as in kubebuilder's projects.
pub const SECRET: &str = "webhook-server-cert";

/// Name and expression of the match condition that the runtime adds to webhooks, and keeps itself where no API server evaluates it: OLM knows
/// no match conditions.
///
/// It is false if the object is being deleted and nothing but its metadata and status changes. A deletion has no object. By `dyn`,
/// because the type of an object in a policy has no keys to iterate over.
pub const SPARED: [&str; 2] = [
    "unless-deleting",
    "object == null || !has(object.metadata.deletionTimestamp) || \
     dyn(object).exists(k, !(k in ['metadata', 'status']) && !(k in dyn(oldObject) && dyn(object)[k] == dyn(oldObject)[k])) || \
     dyn(oldObject).exists(k, !(k in ['metadata', 'status']) && !(k in dyn(object)))",
];

/// The path at which an operator converts objects of a kind.
pub fn conversion_path(group: &str, kind: &str) -> String {
    format!("/convert-{}-{}", group.replace('.', "-"), kind.to_lowercase())
}
