//! Objects in the versions of their managers' entries, for kinds that a webhook converts. Server-side apply is a pure
//! function that cannot wait, so it is given what is converted already, and asks for the rest: the caller converts that and
//! begins again.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::work::Work;
use crate::{meta, status::Status};

/// The objects that were converted in the course of one write.
#[derive(Default)]
pub(super) struct Conversions(Mutex<ConversionState>);

#[derive(Default)]
struct ConversionState {
    done: Vec<(WantedConversion, Result<Value, Status>)>,
    /// The first object that was asked for and is not converted.
    wanted: Option<WantedConversion>,
}

/// An object, and the version in which it is wanted.
#[derive(Clone, PartialEq)]
struct WantedConversion {
    object: Value,
    api_version: String,
}

impl Conversions {
    /// An object in a version.
    ///
    /// # Errors
    /// The reason that it cannot be converted, or that it has yet to be, which [`Work::convert_owned`] does.
    pub(super) fn get(&self, object: &Value, api_version: &str) -> Result<Value, String> {
        let mut object = object.clone();
        // As upstream, the webhook does not see them.
        let managed = meta::of_mut(&mut object).remove("managedFields");
        let wanted = WantedConversion {
            object,
            api_version: api_version.to_owned(),
        };
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, result)) = state.done.iter().find(|(known, _)| *known == wanted) {
            let mut object = result.clone().map_err(|status| status.message)?;
            meta::set(&mut object, "managedFields", managed);
            return Ok(object);
        }
        state.wanted.get_or_insert(wanted);
        Err("not yet converted".to_owned())
    }

    fn next(&self) -> Option<WantedConversion> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.wanted.take()
    }

    fn put(&self, wanted: WantedConversion, result: Result<Value, Status>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.done.push((wanted, result));
    }
}

impl Work<'_> {
    /// Converts the object that server-side apply has asked for since the last call. Returns false if there is none, so
    /// that its result is valid.
    ///
    /// # Errors
    /// 501 in a build that cannot call webhooks. Other failures are results, which server-side apply deals with.
    pub async fn convert_owned(&self) -> Result<bool, Status> {
        let Some(conversion) = self.resource().rules().conversion() else {
            return Ok(false);
        };
        let Some(wanted) = self.conversions.next() else {
            return Ok(false);
        };
        let object = wanted.object.clone();
        let result = conversion.convert(object, &wanted.api_version).await;
        match result {
            Err(status) if status.code == 501 => Err(status),
            result => {
                self.conversions.put(wanted, result);
                Ok(true)
            }
        }
    }
}
