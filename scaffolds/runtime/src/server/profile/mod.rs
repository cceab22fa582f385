//! `/debug/pprof/profile`: a CPU profile of this process, in the format of `go tool pprof`. Sampling needs the feature
//! `pprof`.

#[cfg(all(feature = "pprof", unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod sample;
#[cfg(not(all(feature = "pprof", unix, any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[path = "absent.rs"]
mod sample;

use std::{sync::Arc, time::Duration};

use http::{HeaderValue, StatusCode, header};
use tokio::{sync::Mutex, task::spawn_blocking, time::sleep};
use tracing::{info, warn};

use self::sample::Sampler;
use super::{
    answer_body::AnswerBody,
    http1::{Answer, text},
};

/// The beginning of the paths that are kept for profiles, as in Go's `net/http/pprof`.
pub(super) const PATHS: &str = "/debug/pprof/";
/// The path of the CPU profile.
pub(super) const PATH: &str = "/debug/pprof/profile";
/// The length of a profile in seconds if the request names none, as in Go's `net/http/pprof`.
const DEFAULT: u64 = 30;
/// The longest profile, in seconds.
const LONGEST: u64 = 300;

/// Takes profiles, one at a time.
#[derive(Default)]
pub(super) struct Profiles {
    /// Held while a profile is taken.
    turn: Arc<Mutex<()>>,
}

impl Profiles {
    /// The profile that a query asks for. Sampling ends if the client goes away.
    pub(super) async fn answer(&self, query: &str) -> Answer {
        let Some(seconds) = seconds(query) else {
            let wrong = format!("seconds: a whole number from 1 to {LONGEST}\n");
            return text(StatusCode::BAD_REQUEST, wrong);
        };
        match self.take(Duration::from_secs(seconds)).await {
            Ok(Some(profile)) => {
                let mut answer = Answer::new(AnswerBody::of(profile));
                let headers = answer.headers_mut();
                let media = HeaderValue::from_static("application/octet-stream");
                headers.insert(header::CONTENT_TYPE, media);
                let file = HeaderValue::from_static("attachment; filename=\"profile.pb\"");
                headers.insert(header::CONTENT_DISPOSITION, file);
                answer
            }
            Ok(None) => text(StatusCode::CONFLICT, "another profile is being taken\n"),
            Err(error) => {
                warn!("no CPU profile: {error}");
                text(StatusCode::INTERNAL_SERVER_ERROR, format!("no profile: {error}\n"))
            }
        }
    }

    /// Returns `None` while another profile is taken.
    async fn take(&self, length: Duration) -> Result<Option<Vec<u8>>, String> {
        let Ok(turn) = self.turn.clone().try_lock_owned() else {
            return Ok(None);
        };
        info!(seconds = length.as_secs(), "taking a CPU profile");
        let sampler = Sampler::start()?;
        sleep(length).await;
        // Looking up the names of functions takes a while, and this thread serves the probes.
        let named = spawn_blocking(move || {
            let _turn = turn;
            sampler.profile(length)
        });
        named.await.map_err(|error| error.to_string())?.map(Some)
    }
}

/// The length that a query asks for.
fn seconds(query: &str) -> Option<u64> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    match pairs.find(|(name, _)| *name == "seconds") {
        None => Some(DEFAULT),
        Some((_, value)) => value.parse().ok().filter(|seconds| (1..=LONGEST).contains(seconds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_a_profile_is_bounded() {
        assert_eq!(seconds(""), Some(30));
        assert_eq!(seconds("debug=1&seconds=300"), Some(300));
        for wrong in ["0", "301", "-1", "x", "1.5", ""] {
            assert_eq!(seconds(&format!("seconds={wrong}")), None, "{wrong}");
        }
    }
}
