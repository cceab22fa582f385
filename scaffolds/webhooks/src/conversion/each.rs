//! Converts the objects of one request one after the other, each in its own memory. Threads are known elsewhere.

use std::{sync::Arc, time::Instant};

use bytes::Bytes;
use kubewright_runtime::component::http::{Reserved, Share};
use serde_json::Value;
use tokio::{runtime::Handle, time::timeout};

use super::{
    convert::{Converter, Outcome},
    failure::{Failure, Failures},
    review::separate,
    shell::{Shell, filled},
    stored::Stored,
};
use crate::webhook::envelope::undecodable;

/// The number of copies of a decoded object that exist at a time during its conversion: the object, the argument and the result of both
/// functions, and what is restored.
const COPIES: usize = 6;
/// The same of the metadata of a shell: the text, the shell, and what its fingerprint is calculated from.
const SHELL_COPIES: usize = 4;
/// The length in bytes up to which converted objects are put together in one part of the answer.
const PART: usize = 64 << 10;
/// About how much longer an object is in another version, with its annotation.
const GROWTH: usize = 2;

/// Converts objects.
pub(super) struct ObjectConverter {
    pub(super) converter: Converter,
    /// `None` in tests of the functions alone.
    pub(super) stored: Option<Stored>,
}

/// The version that a request demands, and the end of the time for it.
#[derive(Clone)]
pub(super) struct TargetVersion {
    pub(super) desired: String,
    pub(super) deadline: Instant,
    /// Whether the request has one object. API servers write objects one at a time.
    pub(super) is_alone: bool,
    /// The memory of whoever asks.
    pub(super) share: Arc<Share>,
}

impl TargetVersion {
    /// Memory for work, once it is there.
    fn scratch(&self, bytes: usize) -> Result<Reserved, Failure> {
        let share = self.share.clone();
        match share.try_scratch(bytes) {
            Some(reserved) => Ok(reserved),
            None => self.wait(async move { share.scratch(bytes).await }),
        }
    }

    /// The result of this future, if it ends before the deadline. It is a task of its own: the runtime may end while a thread waits.
    fn wait<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> Result<T, Failure> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let runtime = Handle::current();
        match runtime.block_on(runtime.spawn(async move { timeout(left, future).await })) {
            Ok(Ok(result)) => Ok(result),
            _ => Err(Failure::temporary("other requests use all of the memory".to_owned())),
        }
    }
}

/// The results for some objects: each of them in the desired version, with a comma after it, in memory that is reserved; and the
/// failures.
#[derive(Default)]
pub(super) struct Converted {
    parts: Vec<Vec<u8>>,
    memory: Vec<Reserved>,
    pub(super) failures: Failures,
}

impl Converted {
    /// Adds an object of a list of about this length.
    fn push(&mut self, object: &str, length: usize, goal: &TargetVersion) -> Result<(), Failure> {
        let needed = object.len() + 1;
        let room = self.parts.last().map_or(0, |part| part.capacity() - part.len());
        if room < needed {
            let size = needed.max(PART.min(length.saturating_mul(GROWTH)));
            let share = goal.share.clone();
            let reserved = match share.try_answer(size) {
                Some(reserved) => reserved,
                None => goal
                    .wait(async move { share.answer(size).await })?
                    .map_err(Failure::temporary)?,
            };
            self.memory.push(reserved);
            self.parts.push(Vec::with_capacity(size));
        }
        if let Some(part) = self.parts.last_mut() {
            part.extend_from_slice(object.as_bytes());
            part.push(b',');
        }
        Ok(())
    }

    /// Adds later objects.
    pub(super) fn extend(&mut self, later: Self) {
        self.parts.extend(later.parts);
        self.memory.extend(later.memory);
        self.failures.extend(later.failures);
    }

    /// The objects, with commas between them, and the memory that is reserved for them.
    pub(super) fn into_list(mut self) -> (Vec<Bytes>, Vec<Reserved>) {
        if let Some(part) = self.parts.last_mut() {
            part.pop();
        }
        (self.parts.into_iter().map(Bytes::from).collect(), self.memory)
    }
}

impl ObjectConverter {
    /// Converts the objects in a part of a list.
    pub(super) fn convert(&self, part: &str, goal: &TargetVersion) -> Converted {
        let mut converted = Converted::default();
        for text in separate(part) {
            if Instant::now() > goal.deadline {
                let failure = Failure::temporary("nobody waits for the answer any more".to_owned());
                converted.failures.add(None, &failure, false);
                break;
            }
            let pushed = self.one(text, goal, &mut converted.failures);
            let pushed =
                pushed.and_then(|object| object.map_or(Ok(()), |object| converted.push(&object, part.len(), goal)));
            if let Err(failure) = pushed {
                converted.failures.add(None, &failure, false);
                break;
            }
        }
        converted
    }

    /// One object in the desired version; if it cannot be converted and will not be stored, its metadata: it must not take the
    /// list along that it is in.
    ///
    /// # Errors
    ///
    /// A failure that is not the object's, and ends the request.
    fn one(&self, text: &str, goal: &TargetVersion, failures: &mut Failures) -> Result<Option<String>, Failure> {
        let failure = match self.converted(text, goal) {
            Ok(object) => return Ok(Some(object)),
            Err(failure) if failure.is_temporary => return Err(failure),
            Err(failure) => failure,
        };
        let Ok(shell) = Shell::of(text) else {
            failures.add(None, &failure, false);
            return Ok(None);
        };
        let name = shell.to_string();
        let is_read = self.is_read(shell.api_version(), &goal.desired);
        let shown = is_read.then(|| self.shown(shell, goal)).transpose()?.flatten();
        failures.add(Some(&name), &failure, shown.is_some());
        Ok(shown)
    }

    /// A shell as it is shown; `None` if not even its metadata can be decoded.
    fn shown(&self, shell: Shell<'_>, goal: &TargetVersion) -> Result<Option<String>, Failure> {
        let Ok(bytes) = goal.share.cost(shell.fields(), SHELL_COPIES) else {
            return Ok(None);
        };
        let _memory = goal.scratch(bytes)?;
        let shown = self.converter.shown(&shell, &goal.desired);
        Ok(shown.map(|object| object.to_string()))
    }

    /// Whether the result of a conversion between these versions is not stored.
    fn is_read(&self, from: &str, desired: &str) -> bool {
        self.converter.has(from) && self.converter.has(desired) && !self.converter.is_stored(desired)
    }

    fn converted(&self, text: &str, goal: &TargetVersion) -> Result<String, Failure> {
        let shell = {
            let bytes = goal.share.cost([text.as_bytes()], COPIES)?;
            let _memory = goal.scratch(bytes)?;
            let object = serde_json::from_str(text);
            let object = object.map_err(|error| format!("it cannot be decoded: {}", undecodable(&error)))?;
            match self.converter.convert_or_strip(object, &goal.desired)? {
                Outcome::Whole(object) => return Ok(object.to_string()),
                Outcome::Shell(shell) => shell,
            }
        };
        self.written(&shell, goal)
    }

    /// The stored object with the metadata of its shell.
    ///
    /// # Errors
    ///
    /// The stored object is not one that the version of the shell cannot show, or cannot be read.
    fn written(&self, shell: &Value, goal: &TargetVersion) -> Result<String, Failure> {
        let failed = |why: String| Failure::from(format!("of this object, only metadata is shown: {why}"));
        let Some(stored) = self.stored.as_ref().filter(|_| goal.is_alone) else {
            return Err(failed("it is written alone".to_owned()));
        };
        let text = match stored.read(shell, &goal.desired) {
            Ok(reading) => goal.wait(reading)?,
            Err(why) => Err(why),
        };
        let text = text.map_err(|why| failed(format!("the stored object cannot be read: {why}")))?;
        let back = TargetVersion {
            desired: shell["apiVersion"].as_str().unwrap_or_default().to_owned(),
            ..goal.clone()
        };
        match self.converted(&text, &back) {
            Ok(_) => Err(failed("the stored object can be converted: read it again".to_owned())),
            Err(failure) if failure.is_temporary => Err(failure),
            Err(_) => filled(&text, shell).map_err(failed),
        }
    }
}
