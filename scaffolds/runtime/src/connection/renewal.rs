//! When a credential plugin runs again: once its credentials have ended, or the API server has refused them, as in client-go.
//! The clients of one plugin share its credentials, so that a plugin that asks a question asks it once.

use std::{
    sync::{Arc, PoisonError, Weak, atomic::Ordering},
    time::{Duration, SystemTime},
};

use kube::config::ExecConfig;
use serde_json::{Value, json};
use tokio::{
    sync::Mutex,
    task::{JoinHandle, spawn_blocking},
    time::Instant,
};

use super::{
    Note,
    plugin::{self, IssuedCredentials},
};

/// The least time between two runs: for plugins that fail, and API servers that refuse every request.
const PAUSE: Duration = Duration::from_secs(1);

/// A plugin by its configuration.
type Known = (Value, Weak<Mutex<Renewal>>);

/// The plugins that clients of this process use.
static PLUGINS: std::sync::Mutex<Vec<Known>> = std::sync::Mutex::new(Vec::new());

/// A plugin with its last credentials.
pub(super) struct Renewal {
    exec: Arc<ExecConfig>,
    note: Note,
    issued: Arc<IssuedCredentials>,
    ended: Instant,
    failure: Option<String>,
    /// A run that outlives the request which has started it.
    running: Option<JoinHandle<Result<IssuedCredentials, String>>>,
}

/// A plugin with its credentials. If no client of this process uses the plugin yet, it runs and blocks the thread.
///
/// # Errors
/// As [`plugin::run`].
pub(super) fn start(exec: ExecConfig, note: Note) -> Result<(Arc<Mutex<Renewal>>, Arc<IssuedCredentials>), String> {
    let mut plugins = PLUGINS.lock().unwrap_or_else(PoisonError::into_inner);
    plugins.retain(|(_, renewal)| renewal.strong_count() > 0);
    let key = json!([&exec, &exec.cluster]);
    let known = plugins.iter().find(|(other, _)| *other == key);
    if let Some(renewal) = known.and_then(|(_, renewal)| renewal.upgrade())
        && let Some(issued) = renewal.try_lock().ok().map(|renewal| renewal.issued.clone())
    {
        return Ok((renewal, issued));
    }
    let issued = Arc::new(plugin::run(&exec, note)?);
    let renewal = Arc::new(Mutex::new(Renewal {
        exec: Arc::new(exec),
        note,
        issued: issued.clone(),
        ended: Instant::now(),
        failure: None,
        running: None,
    }));
    plugins.push((key, Arc::downgrade(&renewal)));
    Ok((renewal, issued))
}

impl Renewal {
    /// The credentials, new ones if they are due. Requests wait while the plugin runs.
    ///
    /// # Errors
    /// If the credentials have ended and the plugin fails. Credentials that were refused and have not ended stay in use if
    /// it fails.
    pub(super) async fn credentials(&mut self) -> Result<Arc<IssuedCredentials>, String> {
        let has_ended = self.issued.until.is_some_and(has_passed);
        let is_due = has_ended || self.issued.refused.load(Ordering::Relaxed);
        let is_early = self.running.is_none() && self.ended.elapsed() < PAUSE;
        if is_due && !is_early {
            let (exec, note) = (self.exec.clone(), self.note);
            let running = self
                .running
                .get_or_insert_with(|| spawn_blocking(move || plugin::run(&exec, note)));
            let run = running.await.unwrap_or_else(|error| Err(error.to_string()));
            (self.running, self.ended) = (None, Instant::now());
            self.failure = run.map(|issued| self.issued = Arc::new(issued)).err();
            self.issued.refused.store(false, Ordering::Relaxed);
        }
        match &self.failure {
            Some(why) if has_ended => Err(why.clone()),
            _ => Ok(self.issued.clone()),
        }
    }
}

fn has_passed(second: i64) -> bool {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    i64::try_from(now.as_secs()).is_ok_and(|now| second <= now)
}
