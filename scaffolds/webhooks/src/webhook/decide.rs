//! The two forms of a decision: a verdict of a validator, a patch of a defaulter.

use std::future::Future;

use kubewright_runtime::{AnyObject, Error, Result};
use serde_json::Value;

use super::{
    Admission, Change, Defaulter, Validator, Verdict, envelope::undecodable, merge::carry_over, patch::difference,
};
use crate::scope::Operation;

/// The result of a request.
pub(super) enum Decision {
    /// Allowed or refused.
    Verdict(Verdict),
    /// Allowed, with the operations of a JSON patch.
    Patch(Vec<Value>),
    /// The object does not fit the type, for this reason; the author's code was not called.
    Undecodable(serde_json::Error),
}

/// An author's code, and what to make of its answer.
pub(super) trait Decides<K>: Send + Sync + 'static {
    fn decide(&self, cx: &Admission) -> impl Future<Output = Result<Decision>> + Send;
}

/// A [`Validator`].
pub struct Validating<V>(pub(super) V);

/// A [`Defaulter`].
pub struct Defaulting<D>(pub(super) D);

impl<K: AnyObject, V: Validator<K>> Decides<K> for Validating<V> {
    async fn decide(&self, cx: &Admission) -> Result<Decision> {
        let request = cx.request();
        let (new, old) = match (request.object.decode::<K>(), request.old_object.decode::<K>()) {
            (Ok(new), Ok(old)) => (new, old),
            // An object that was stored before its type changed can be repaired, but not without being checked.
            (Ok(Some(new)), Err(why)) => {
                cx.warn(format!(
                    "checked as a new object, because the stored one does not fit its type: {}",
                    undecodable(&why)
                ));
                return self.0.validate(cx, Change::Create(&new)).await.map(Decision::Verdict);
            }
            (Err(why), _) | (_, Err(why)) => return Ok(Decision::Undecodable(why)),
        };
        let change = match (cx.operation(), &new, &old) {
            (Operation::Create, Some(new), _) => Change::Create(new),
            (Operation::Update, Some(new), Some(old)) => Change::Update { old, new },
            (Operation::Delete, _, Some(old)) => Change::Delete(old),
            (operation, ..) => return Err(incomplete(operation)),
        };
        self.0.validate(cx, change).await.map(Decision::Verdict)
    }
}

impl<K: AnyObject, D: Defaulter<K>> Decides<K> for Defaulting<D> {
    async fn decide(&self, cx: &Admission) -> Result<Decision> {
        let decoded = cx.request().object.decode::<Value>().and_then(|original| {
            let object = original.as_ref().map(K::deserialize).transpose()?;
            Ok(original.zip(object))
        });
        let (original, mut object) = match decoded {
            Ok(Some(both)) => both,
            Ok(None) => return Err(incomplete(cx.operation())),
            Err(why) => return Ok(Decision::Undecodable(why)),
        };
        let encoded = |object: &K| {
            serde_json::to_value(object).map_err(|error| Error::Setup(format!("the object cannot be encoded: {error}")))
        };
        let before = encoded(&object)?;
        self.0.default(cx, &mut object).await?;
        let changed = carry_over(&original, &before, &encoded(&object)?);
        Ok(Decision::Patch(difference(&original, &changed)))
    }
}

fn incomplete(operation: Operation) -> Error {
    Error::Setup(format!(
        "the request has no objects that fit its operation {operation:?}"
    ))
}
