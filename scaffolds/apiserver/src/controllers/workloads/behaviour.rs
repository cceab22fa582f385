//! The annotation with the behaviour of a Pod's containers, of which none runs.

use kubewright_machinery::go;
use serde_json::Value;

use super::fields;

/// The annotation.
pub const ANNOTATION: &str = "kubewright.dev/kubelet";

/// The behaviour of a Pod's containers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Behaviour {
    pub is_unschedulable: bool,
    pub is_pulled: bool,
    /// The seconds from a start until the container is ready; `None` for never.
    pub ready_after: Option<i64>,
    /// The end of a container that ends by itself.
    pub exit: Option<Exit>,
    /// The seconds from a start to that end.
    pub exit_after: i64,
    /// The seconds from the request to stop until it does.
    pub stop_after: i64,
}

/// The end of a container.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Exit {
    pub code: i64,
    pub is_out_of_memory: bool,
}

impl Behaviour {
    /// The behaviour of a Pod without the annotation: its containers are pulled, are ready at once, and stop at once.
    /// Unless they are always restarted, they succeed: at once, or after a second in a Job, which is seen to run.
    fn usual(pod: &Value) -> Self {
        let completes = ["OnFailure", "Never"].contains(&fields::text(pod, "/spec/restartPolicy"));
        let success = Exit {
            code: 0,
            is_out_of_memory: false,
        };
        Self {
            is_unschedulable: false,
            is_pulled: true,
            ready_after: Some(0),
            exit: completes.then_some(success),
            exit_after: i64::from(fields::controller(pod).is_some_and(|owner| owner["kind"] == "Job")),
            stop_after: 0,
        }
    }

    /// Reads the annotation of a Pod.
    ///
    /// # Errors
    /// The word that is not understood.
    pub fn of(pod: &Value) -> Result<Self, String> {
        let mut behaviour = Self::usual(pod);
        let words = fields::annotation(pod, ANNOTATION).unwrap_or_default().split(',');
        for word in words.map(str::trim).filter(|word| !word.is_empty()) {
            behaviour
                .set(word)
                .map_err(|why| format!("annotation {ANNOTATION}: `{word}` {why}"))?;
        }
        Ok(behaviour)
    }

    fn set(&mut self, word: &str) -> Result<(), String> {
        let (name, value) = word
            .split_once('=')
            .map_or((word, None), |(name, value)| (name, Some(value)));
        match (name, value) {
            ("unschedulable", None) => self.is_unschedulable = true,
            ("image-pull-fails", None) => self.is_pulled = false,
            ("never-ready", None) => self.ready_after = None,
            ("runs", None) => self.exit = None,
            ("out-of-memory", None) => {
                self.exit = Some(Exit {
                    code: 137,
                    is_out_of_memory: true,
                });
            }
            ("exit", Some(code)) => {
                let code = code
                    .parse::<u8>()
                    .map_err(|_| "needs a number from 0 to 255".to_owned())?;
                self.exit = Some(Exit {
                    code: i64::from(code),
                    is_out_of_memory: false,
                });
            }
            ("ready-after", Some(time)) => self.ready_after = Some(seconds(time)?),
            ("exit-after", Some(time)) => self.exit_after = seconds(time)?,
            ("stop-after", Some(time)) => self.stop_after = seconds(time)?,
            _ => {
                return Err(
                    "is not one of unschedulable, image-pull-fails, ready-after=30s, never-ready, runs, exit=1, \
                            exit-after=30s, out-of-memory, stop-after=30s"
                        .to_owned(),
                );
            }
        }
        Ok(())
    }
}

/// A duration, rounded up to seconds.
fn seconds(text: &str) -> Result<i64, String> {
    let nanoseconds = go::duration(text).ok().filter(|it| *it >= 0);
    let nanoseconds = nanoseconds.ok_or("needs a duration, such as 30s or 5m")?;
    Ok(nanoseconds.saturating_add(999_999_999) / 1_000_000_000)
}
