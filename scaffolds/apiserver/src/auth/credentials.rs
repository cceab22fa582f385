//! Authenticates requests: by client certificate, by a configured token, or by a service account's token.

use std::collections::BTreeMap;

use http::{HeaderMap, header};

use super::{Issuer, User, service_account::Tokens};
use crate::{status::Status, store::Store};

/// The origin of a request. Its connection sets this as an extension of the request.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Peer {
    /// From within the process: allowed everything unless it has other credentials.
    #[default]
    Process,
    /// Over a socket, without a client certificate.
    Unknown,
    /// Over a socket, with a client certificate of the server's CA for this user.
    Certified(User),
}

/// A user, and the audiences of the token.
pub type Found = (User, Vec<String>);

/// The known tokens and their users.
#[derive(Default)]
pub struct Authenticator {
    tokens: BTreeMap<String, User>,
    /// Whether requests without credentials are refused.
    refuses_anonymous: bool,
    /// The tokens issued to service accounts.
    pub(crate) issued: Tokens,
}

impl Authenticator {
    /// Accepts these tokens, and those that it issues.
    pub fn new(tokens: impl IntoIterator<Item = (String, User)>) -> Self {
        Self {
            tokens: tokens.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Issues and accepts tokens of this issuer, instead of one with a key of this process.
    pub fn issuing_as(mut self, issuer: Option<Issuer>) -> Self {
        if let Some(issuer) = issuer {
            self.issued = Tokens::of(issuer);
        }
        self
    }

    /// Whether requests without credentials are refused (`--anonymous-auth=false`).
    pub fn refusing_anonymous(mut self, refuses: bool) -> Self {
        self.refuses_anonymous = refuses;
        self
    }

    /// The audiences of tokens that are for this server.
    pub fn audiences(&self) -> Vec<&str> {
        self.issued.audiences().iter().map(String::as_str).collect()
    }

    /// The user of a token, and the token's audiences among these. Takes the same time for all tokens of the same
    /// length, whether they are configured or not.
    ///
    /// # Errors
    /// The error message for a TokenReview.
    pub fn user(&self, token: &str, audiences: &[&str], store: &Store, now: i64) -> Result<Found, String> {
        const INVALID: &str = "invalid bearer token";
        let mut found = None;
        for (known, user) in &self.tokens {
            if same(known.as_bytes(), token.as_bytes()) {
                found = Some(user);
            }
        }
        let own: Vec<String> = self
            .audiences()
            .into_iter()
            .filter(|it| audiences.contains(it))
            .map(str::to_owned)
            .collect();
        if let Some(user) = found.filter(|_| !own.is_empty()) {
            return Ok((user.clone(), own));
        }
        match self.issued.know(token, store, now) {
            None => Err(INVALID.to_owned()),
            Some(Err(why)) => Err(format!("[{INVALID}, {why}]")),
            Some(Ok(known)) => {
                let fits = |it: &&String| audiences.contains(&it.as_str());
                let fitting: Vec<String> = known.audiences.iter().filter(fits).cloned().collect();
                if fitting.is_empty() {
                    let (own, wanted) = (known.audiences.iter().map(String::as_str), audiences.iter().copied());
                    return Err(format!(
                        "[{INVALID}, token audiences {} is invalid for the target audiences {}]",
                        list(own),
                        list(wanted)
                    ));
                }
                Ok((known.user, fitting))
            }
        }
    }

    /// The user that sent a request. A certificate takes precedence over a token.
    ///
    /// # Errors
    /// 401 for an unknown token, and for a request without credentials where those are refused.
    pub fn authenticate(&self, headers: &HeaderMap, peer: &Peer, store: &Store, now: i64) -> Result<User, Status> {
        match (peer, bearer(headers)) {
            (Peer::Certified(user), _) => Ok(user.clone()),
            (_, Some(token)) => match self.user(token, &self.audiences(), store, now) {
                Ok((user, _)) => Ok(user),
                Err(_) => Err(Status::unauthorized()),
            },
            (Peer::Process, None) => Ok(User::admin()),
            (Peer::Unknown, None) if self.refuses_anonymous => Err(Status::unauthorized()),
            (Peer::Unknown, None) => Ok(User::anonymous()),
        }
    }
}

/// A list of strings in Go's notation.
fn list<'a>(items: impl Iterator<Item = &'a str>) -> String {
    let items: Vec<String> = items.map(kubewright_machinery::go::quote).collect();
    format!("[{}]", items.join(" "))
}

/// The token of `Authorization: Bearer TOKEN`; the server ignores other schemes.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    bearer_words(headers)?.next().filter(|token| !token.is_empty())
}

/// The words behind `Bearer`.
fn bearer_words(headers: &HeaderMap) -> Option<impl Iterator<Item = &str>> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let mut words = text.trim().splitn(3, ' ');
    let is_bearer = words.next()?.eq_ignore_ascii_case("bearer");
    is_bearer.then_some(words)
}

/// The warning about a token that is ignored because of a second space before it.
pub fn space_warning(headers: &HeaderMap, peer: &Peer) -> Option<&'static str> {
    let mut words = bearer_words(headers).filter(|_| !matches!(peer, Peer::Certified(_)))?;
    let is_ignored = words.next().is_some_and(str::is_empty);
    is_ignored
        .then_some("the provided Authorization header contains extra space before the bearer token, and is ignored")
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
            .authenticate(&headers, &peer, &Store::default(), 0)
            .map(|user| user.name)
            .map_err(|status| status.code)
    }

    #[test]
    fn credentials_are_valid_invalid_or_absent() {
        assert_eq!(who(Some("Bearer secret"), Peer::Unknown), Ok("bob".into()));
        assert_eq!(who(Some("bearer secret x"), Peer::Process), Ok("bob".into()));
        assert_eq!(who(Some("bearer  secret "), Peer::Process), Ok("admin".into()));
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
