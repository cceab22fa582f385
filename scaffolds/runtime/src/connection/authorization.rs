//! Values of the headers `Authorization` and `Proxy-Authorization`. They are marked as sensitive, so that no log contains them.

use http::HeaderValue;
use kubewright_machinery::base64::{Encoding, encode};

/// The value for a bearer token. Space around the token is not part of it.
///
/// # Errors
/// If there is no token, or it contains characters that a header cannot have. The message does not contain the token.
pub(super) fn bearer(token: &str) -> Result<HeaderValue, String> {
    match token.trim() {
        "" => Err("it is empty".to_owned()),
        token => sensitive(&format!("Bearer {token}")),
    }
}

/// The value for a user with a password.
pub(super) fn basic(user: &[u8], password: &[u8]) -> Result<HeaderValue, String> {
    let pair = [user, b":", password].concat();
    sensitive(&format!("Basic {}", encode(&pair, Encoding::Standard)))
}

fn sensitive(value: &str) -> Result<HeaderValue, String> {
    let value = HeaderValue::from_str(value);
    let mut value = value.map_err(|_| "it contains characters that a header cannot have".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}
