//! Who is asking, and whether they may. Tokens and client certificates are known or not; there is no RBAC: members of
//! `system:masters` may do everything, and for everybody else the server says what it would have to evaluate.

mod authorize;
mod reviews;

pub use authorize::authorize;
pub use reviews::{is_review, review};

use std::collections::BTreeMap;

use http::{HeaderMap, header};
use serde_json::{Value, json};

use crate::status::Status;

/// The group that may do everything.
pub const MASTERS: &str = "system:masters";
/// What everybody with credentials is in.
const AUTHENTICATED: &str = "system:authenticated";
/// Who comes without credentials, and what they are in.
const ANONYMOUS: (&str, &str) = ("system:anonymous", "system:unauthenticated");

/// Somebody.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct User {
    /// `admin`.
    pub name: String,
    /// Empty where there is none.
    pub uid: String,
    /// In the order in which they were given; `system:authenticated` comes last.
    pub groups: Vec<String>,
}

impl User {
    /// Somebody with credentials.
    pub fn new<S: Into<String>>(name: &str, groups: impl IntoIterator<Item = S>) -> Self {
        let mut groups: Vec<String> = groups.into_iter().map(Into::into).collect();
        if !groups.iter().any(|group| group == AUTHENTICATED) {
            groups.push(AUTHENTICATED.to_owned());
        }
        Self {
            name: name.to_owned(),
            uid: String::new(),
            groups,
        }
    }

    /// Who may do everything.
    pub fn admin() -> Self {
        Self {
            uid: "admin".to_owned(),
            ..Self::new("admin", [MASTERS])
        }
    }

    /// Who comes without credentials.
    pub fn anonymous() -> Self {
        let (name, group) = ANONYMOUS;
        Self {
            name: name.to_owned(),
            uid: String::new(),
            groups: vec![group.to_owned()],
        }
    }

    /// Whether everything is allowed.
    pub fn is_master(&self) -> bool {
        self.groups.iter().any(|group| group == MASTERS)
    }

    fn is_anonymous(&self) -> bool {
        self.groups.iter().any(|group| group == ANONYMOUS.1)
    }

    /// As reviews show it.
    fn body(&self) -> Value {
        let mut body = json!({"username": self.name, "groups": self.groups});
        if !self.uid.is_empty() {
            body["uid"] = self.uid.as_str().into();
        }
        body
    }
}

/// How a request came in, told by whatever brought it, in its extensions.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Peer {
    /// Within the process: trusted with everything unless it sends other credentials.
    #[default]
    Process,
    /// Over a socket, with no client certificate.
    Unknown,
    /// Over a socket, with a certificate of the server's CA for this user.
    Certified(User),
}

/// Knows who has which token.
#[derive(Clone, Debug, Default)]
pub struct Authenticator {
    tokens: BTreeMap<String, User>,
}

impl Authenticator {
    /// Of these tokens.
    pub fn new(tokens: impl IntoIterator<Item = (String, User)>) -> Self {
        Self {
            tokens: tokens.into_iter().collect(),
        }
    }

    /// Whose token this is. Takes the same time for all tokens of one length, right or wrong.
    pub fn user(&self, token: &str) -> Option<&User> {
        let mut found = None;
        for (known, user) in &self.tokens {
            if same(known.as_bytes(), token.as_bytes()) {
                found = Some(user);
            }
        }
        found
    }

    /// Who sent this request: a certificate counts before a token.
    ///
    /// # Errors
    /// 401 for a token that nobody has; 501 for impersonation.
    pub fn authenticate(&self, headers: &HeaderMap, peer: &Peer) -> Result<User, Status> {
        let user = match (peer, bearer(headers)) {
            (Peer::Certified(user), _) => user.clone(),
            (_, Some(token)) => self.user(token).cloned().ok_or_else(Status::unauthorized)?,
            (Peer::Process, None) => User::admin(),
            (Peer::Unknown, None) => User::anonymous(),
        };
        if headers.keys().any(|name| name.as_str().starts_with("impersonate-")) {
            return Err(Status::not_implemented("impersonation"));
        }
        Ok(user)
    }
}

/// The token of `Authorization: Bearer TOKEN`; other schemes are no credentials to the server.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers
        .get(header::AUTHORIZATION)?
        .to_str()
        .ok()?
        .trim()
        .split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(authorization: Option<&str>, peer: Peer) -> Result<String, u16> {
        let mut headers = HeaderMap::new();
        if let Some(value) = authorization {
            headers.insert(header::AUTHORIZATION, value.parse().unwrap());
        }
        let authenticator = Authenticator::new([("secret".to_owned(), User::new("bob", ["devs"]))]);
        authenticator
            .authenticate(&headers, &peer)
            .map(|user| user.name)
            .map_err(|status| status.code)
    }

    #[test]
    fn credentials_are_known_unknown_or_absent() {
        assert_eq!(who(Some("Bearer secret"), Peer::Unknown), Ok("bob".into()));
        assert_eq!(who(Some("bearer  secret "), Peer::Process), Ok("bob".into()));
        assert_eq!(who(Some("Bearer nope"), Peer::Unknown), Err(401));
        assert_eq!(who(Some("Bearer nope"), Peer::Process), Err(401));
        assert_eq!(who(None, Peer::Process), Ok("admin".into()));
        for none in [None, Some("Basic Zm9vOmJhcg=="), Some("Bearer"), Some("bearer   ")] {
            assert_eq!(who(none, Peer::Unknown), Ok("system:anonymous".into()));
        }
        assert_eq!(
            who(Some("Bearer nope"), Peer::Certified(User::admin())),
            Ok("admin".into())
        );
    }
}
