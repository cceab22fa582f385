//! Who is asking: credentials, service accounts and their tokens, impersonation, and the reviews that answer questions
//! about all that. What they may do is decided in [`authorize`](crate::authorize).

mod access;
mod credentials;
mod impersonate;
mod reviews;
mod service_account;
mod token;

pub use credentials::{Authenticator, Peer};
pub use impersonate::impersonate;
pub use reviews::{Asked, is_review, review};
pub use token::{is_token, kind as token_kind, token};

pub use crate::user::{MASTERS, User};

/// The part of a user's extra that tells which token or certificate it was.
pub(crate) const CREDENTIAL: &str = "authentication.kubernetes.io/credential-id";
/// Whom tokens are for, as kubeadm sets it.
const AUDIENCE: &str = "https://kubernetes.default.svc.cluster.local";
