//! The two forms of a decision: a verdict of a validator, a patch of a defaulter.

use std::future::Future;

use serde_json::Value;

use super::{Admission, Change, Defaulter, Validator, Verdict, merge::carry_over, patch::difference};
use crate::{
    error::{Error, Result},
    object::AnyObject,
    scope::Operation,
};

/// What became of a request.
pub(super) enum Decision {
    /// Allowed or refused.
    Verdict(Verdict),
    /// Allowed, with the operations of a JSON patch.
    Patch(Vec<Value>),
    /// The object does not fit the type, for this reason: nobody was asked.
    Undecodable(serde_json::Error),
}

/// An author's code, and what to make of its answer.
pub(super) trait Decides<K>: Send + Sync + 'static {
    /// Whether it may change objects.
    const MUTATING: bool;

    fn decide(&self, cx: &Admission) -> impl Future<Output = Result<Decision>> + Send;
}

/// A [`Validator`].
pub struct Validating<V>(pub(super) V);

/// A [`Defaulter`].
pub struct Defaulting<D>(pub(super) D);

impl<K: AnyObject, V: Validator<K>> Decides<K> for Validating<V> {
    const MUTATING: bool = false;

    async fn decide(&self, cx: &Admission) -> Result<Decision> {
        let request = cx.request();
        let decoded = decode::<K>(request.object.as_ref()).and_then(|new| {
            let old = decode::<K>(request.old_object.as_ref())?;
            Ok((new, old))
        });
        let (new, old) = match decoded {
            Ok(both) => both,
            Err(error) => return Ok(Decision::Undecodable(error)),
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
    const MUTATING: bool = true;

    async fn decide(&self, cx: &Admission) -> Result<Decision> {
        let Some(original) = &cx.request().object else {
            return Err(incomplete(cx.operation()));
        };
        let mut object = match K::deserialize(original) {
            Ok(object) => object,
            Err(error) => return Ok(Decision::Undecodable(error)),
        };
        let encoded = |object: &K| {
            serde_json::to_value(object).map_err(|error| Error::Setup(format!("the object cannot be encoded: {error}")))
        };
        let before = encoded(&object)?;
        self.0.default(cx, &mut object).await?;
        let changed = carry_over(original, &before, &encoded(&object)?);
        Ok(Decision::Patch(difference(original, &changed)))
    }
}

fn decode<K: AnyObject>(object: Option<&Value>) -> serde_json::Result<Option<K>> {
    object.map(K::deserialize).transpose()
}

fn incomplete(operation: Operation) -> Error {
    Error::Setup(format!(
        "the request has no objects that fit its operation {operation:?}"
    ))
}
