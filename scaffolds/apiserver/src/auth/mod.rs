//! Authentication: credentials, service accounts and their tokens, impersonation, and reviews.
//! [`authorize`](crate::authorize) decides what a user may do.

mod access;
mod credentials;
mod impersonate;
mod issuer;
mod key;
mod reviews;
mod service_account;
mod token;

pub use credentials::{Authenticator, Peer, space_warning};
pub use impersonate::{Requestor, impersonate};
pub use issuer::Issuer;
pub use key::{KeyError, SigningKey};
pub use reviews::{Asked, is_review, review};
pub use token::{is_token, kind as token_kind, token};

pub use crate::user::User;

/// The key in a user's extra for the ID of the token or certificate.
pub(crate) const CREDENTIAL: &str = "authentication.kubernetes.io/credential-id";
/// The default audience of tokens, as kubeadm sets it.
const AUDIENCE: &str = "https://kubernetes.default.svc.cluster.local";
