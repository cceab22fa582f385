//! What callers choose about the CRDs they get.

/// What the pipeline leaves to the caller.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Descriptions longer than this many characters are cut, at the end of a sentence or word where there is one; 0
    /// drops them all. None by default. A CRD holding whole Pod templates passes the 262,144 bytes that client-side
    /// `kubectl apply` can store; server-side apply has no such limit.
    pub max_description_length: Option<usize>,
    /// Keep `nullable: true` on properties that are not required. Off by default: `kubectl explain` cannot show such
    /// fields, and an absent value says the same. On create and update the API server drops a null that is not allowed;
    /// server-side apply refuses it with a 422, so types that are applied want
    /// `#[serde(skip_serializing_if = "Option::is_none")]` on their options, or this.
    pub keep_nullable: bool,
}
