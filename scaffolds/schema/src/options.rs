//! Options for the CRDs.

/// Options of [`finish`](crate::finish) and [`assemble`](crate::assemble).
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Cuts descriptions that are longer than this many characters, if possible at the end of a sentence or a word; 0
    /// removes them. The default, `None`, keeps them whole. A CRD with a whole Pod template exceeds the 262,144 bytes that client-side
    /// `kubectl apply` can store; server-side apply has no such limit.
    pub max_description_length: Option<usize>,
    /// Keeps `nullable: true` on properties that are not required. Off by default: `kubectl explain` cannot show such
    /// fields, and an absent value means the same. On create and update the API server drops a null that is not allowed;
    /// server-side apply refuses it with a 422. So types that are applied need
    /// `#[serde(skip_serializing_if = "Option::is_none")]` on their `Option` fields, or this option.
    pub keep_nullable: bool,
    /// Leaves Kubernetes' own types in a spec as k8s-openapi describes them, as kubewright 0.1 did: without list types and their keys, types of
    /// maps, and defaults. Off by default: field managers could not own single containers of a Pod template.
    pub plain_kubernetes_types: bool,
}
