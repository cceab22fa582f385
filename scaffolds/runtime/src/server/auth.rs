//! Authenticates and authorizes requests to the metrics server through the API server: TokenReview, then SubjectAccessReview.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use http::{HeaderMap, header::AUTHORIZATION};
use k8s_openapi::api::{
    authentication::v1::{TokenReview, TokenReviewSpec, UserInfo},
    authorization::v1::{NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec},
};
use kube::{Api, Client, api::PostParams};
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout},
};
use tracing::{debug, warn};

use crate::error::Error;

/// The time for which a positive answer is cached: controller-runtime (`pkg/metrics/filters/filters.go`) caches authentication
/// for a minute and authorization for five; this cache has one entry for both, so it uses the shorter time.
const ALLOWED_FOR: Duration = Duration::from_secs(60);
/// The time for which a negative answer is cached (ibid.: `DenyCacheTTL`).
const REFUSED_FOR: Duration = Duration::from_secs(30);
/// The time limit for both reviews (ibid.: `TokenAccessReviewTimeout`).
const TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum of cached answers of either kind: a scraper has one token, an attacker may try many.
const REMEMBERED: usize = 256;
/// Concurrent reviews. Every client can cause reviews; the limit protects the API server from a flood of them.
const REVIEWS: usize = 4;
/// Longer values are not tokens: the API server accepts a megabyte of headers, tokens have some thousand bytes.
const MAX_TOKEN: usize = 32 * 1024;

/// The API server's decision about a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The client may read the URL.
    Allowed,
    /// The client is authenticated, but may not read the URL.
    Denied,
    /// The client is not authenticated.
    Unknown,
    /// The API server could not be reached.
    Failed,
}

/// Decides which clients may read which URLs.
pub(super) struct Gatekeeper {
    client: Client,
    reviews: Semaphore,
    /// Running reviews, one for each address at a time, so that a client that tries many tokens does not delay others.
    turns: Mutex<HashMap<IpAddr, Weak<tokio::sync::Mutex<()>>>>,
    allowed: Mutex<Remembered>,
    refused: Mutex<Remembered>,
}

/// Verdicts by path and token, and until when they are valid. Only existing paths are asked for, so they are few.
type Remembered = HashMap<(String, String), (Verdict, Instant)>;

impl Gatekeeper {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            reviews: Semaphore::new(REVIEWS),
            turns: Mutex::default(),
            allowed: Mutex::default(),
            refused: Mutex::default(),
        }
    }

    /// The verdict about a `get` of this URL by the client that sent these headers from this address.
    pub(super) async fn ask(&self, path: &str, headers: &HeaderMap, peer: IpAddr) -> Verdict {
        let Some(token) = bearer(headers).filter(|token| token.len() <= MAX_TOKEN) else {
            return Verdict::Unknown;
        };
        if let Some(verdict) = [&self.allowed, &self.refused]
            .into_iter()
            .find_map(|cache| recall(cache, path, token))
        {
            return verdict;
        }
        match timeout(TIMEOUT, self.review(path, token, peer)).await {
            Ok(Ok(verdict)) => {
                let (cache, time) = match verdict {
                    Verdict::Allowed => (&self.allowed, ALLOWED_FOR),
                    _ => (&self.refused, REFUSED_FOR),
                };
                remember(
                    cache,
                    (path.to_owned(), token.to_owned()),
                    (verdict, Instant::now() + time),
                );
                verdict
            }
            Ok(Err(error)) => {
                let error = Error::from(error);
                warn!(
                    "a request to the metrics server could not be authenticated: {error}{}",
                    hint(&error)
                );
                Verdict::Failed
            }
            Err(_) => {
                warn!("a request to the metrics server could not be authenticated: no answer within {TIMEOUT:?}");
                Verdict::Failed
            }
        }
    }

    async fn review(&self, path: &str, token: &str, peer: IpAddr) -> kube::Result<Verdict> {
        let turn = self.turn_of(peer);
        let _turn = turn.lock().await;
        // The semaphore is never closed, so this always succeeds.
        let _place = self.reviews.acquire().await;
        let Some(user) = self.authenticate(token).await? else {
            return Ok(Verdict::Unknown);
        };
        let name = user.username.clone().unwrap_or_default();
        let verdict = if self.authorize(user, path).await? {
            Verdict::Allowed
        } else {
            Verdict::Denied
        };
        debug!(user = name, path, ?verdict, "a request to the metrics server");
        Ok(verdict)
    }

    fn turn_of(&self, peer: IpAddr) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| turn.strong_count() > 0);
        if let Some(turn) = turns.get(&peer).and_then(Weak::upgrade) {
            return turn;
        }
        let turn = Arc::default();
        turns.insert(peer, Arc::downgrade(&turn));
        turn
    }

    async fn authenticate(&self, token: &str) -> kube::Result<Option<UserInfo>> {
        let spec = TokenReviewSpec {
            token: token.to_owned(),
            audiences: None,
        };
        let review = TokenReview {
            spec,
            ..TokenReview::default()
        };
        let review = Api::all(self.client.clone())
            .create(&PostParams::default(), &review)
            .await?;
        let status = review.status.unwrap_or_default();
        Ok(status.user.filter(|_| status.authenticated == Some(true)))
    }

    async fn authorize(&self, user: UserInfo, path: &str) -> kube::Result<bool> {
        let spec = SubjectAccessReviewSpec {
            user: user.username,
            groups: user.groups,
            uid: user.uid,
            extra: user.extra,
            non_resource_attributes: Some(NonResourceAttributes {
                path: Some(path.to_owned()),
                verb: Some("get".to_owned()),
            }),
            ..SubjectAccessReviewSpec::default()
        };
        let review = SubjectAccessReview {
            spec,
            ..SubjectAccessReview::default()
        };
        let review = Api::all(self.client.clone())
            .create(&PostParams::default(), &review)
            .await?;
        let status = review.status.unwrap_or_default();
        Ok(status.allowed && status.denied != Some(true))
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn recall(cache: &Mutex<Remembered>, path: &str, token: &str) -> Option<Verdict> {
    let cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
    cache
        .get(&(path.to_owned(), token.to_owned()))
        .filter(|(_, until)| Instant::now() < *until)
        .map(|(verdict, _)| *verdict)
}

fn remember(cache: &Mutex<Remembered>, key: (String, String), verdict: (Verdict, Instant)) {
    let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
    if cache.len() >= REMEMBERED {
        let now = Instant::now();
        cache.retain(|_, (_, until)| now < *until);
    }
    if cache.len() >= REMEMBERED {
        cache.clear();
    }
    cache.insert(key, verdict);
}

fn hint(error: &Error) -> &'static str {
    match error.code() {
        Some(403) => {
            "\n\nhint: the operator may not create tokenreviews or subjectaccessreviews; bind it to metrics-auth-role"
        }
        _ => "",
    }
}
