//! One step of a conversion: calls the function, restores what the new version alone can hold, and keeps what it cannot hold.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    body::{self, Parts},
    convert::{ConversionFault, Convert, Converter, Spoke, Version},
    failure::Failure,
    kept,
};

/// One step: from a version to another, one of which is the hub.
pub(super) struct Step<'a> {
    pub(super) from: &'a Version,
    to: &'a Version,
    forth: &'a Convert,
    back: &'a Convert,
}

impl Converter {
    pub(super) fn inward<'a>(&'a self, spoke: &'a Spoke) -> Step<'a> {
        Step {
            from: &spoke.version,
            to: &self.hub,
            forth: &spoke.to_hub,
            back: &spoke.from_hub,
        }
    }

    pub(super) fn outward<'a>(&'a self, spoke: &'a Spoke) -> Step<'a> {
        Step {
            from: &self.hub,
            to: &spoke.version,
            forth: &spoke.from_hub,
            back: &spoke.to_hub,
        }
    }

    /// Takes one step, restores what the new version alone can hold, and keeps what it cannot hold. If there is no room for
    /// that, the reason is returned as well.
    pub(super) fn take(
        &self,
        step: &Step<'_>,
        object: Value,
        is_write: bool,
    ) -> Result<(Value, Option<String>), Failure> {
        let [from, to] = [step.from, step.to].map(|version| kept::annotation(&self.group, &version.name));
        let mut parts = Parts::of(object, &self.names())?;
        let api_version = |version: &Version| format!("{}/{}", self.group, version.name);
        let input = parts.object(&parts.body, &api_version(step.from));
        let (converted, filled) = self.call(step.forth, step.from, &input)?;
        let converted = parts.body_of(converted)?;
        let claimed = parts.kept.remove(&to);
        let claimed = claimed.and_then(|text| kept::restored(&converted, &text, &kept::digest(&parts.body)));
        if let Some(filled) = filled {
            // Otherwise the annotation would keep that fields were missing.
            parts.body = parts.body_of(filled)?;
        }
        let back = |body: &Value| {
            let output = parts.object(body, &api_version(step.to));
            let (back, _) = self.call(step.back, step.to, &output)?;
            parts.body_of(back).map_err(Failure::from)
        };
        let shown = back(&converted).map_err(|mut failure| {
            failure.message = format!("the result cannot be converted back: {}", failure.message);
            failure
        })?;
        // Whoever may write the object may write the annotation. It adds only what the version converted from cannot show.
        let claimed = claimed.and_then(|body| Some((back(&body).ok()?, body)));
        let claimed = claimed.filter(|(back, _)| kept::adds_nothing(back, &parts.body, &shown));
        let (shown, converted) = match claimed {
            Some((back, body)) => match self.objection(&step.to.name, [&converted, &body]) {
                None => (back, body),
                Some(why) if is_write => {
                    return Err(format!("the annotation `{to}` has an invalid value: {why}").into());
                }
                Some(_) => (shown, converted),
            },
            None => (shown, converted),
        };
        parts.kept.remove(&from);
        let left_out = match kept::lost(&parts.body, &shown, &converted) {
            Ok(kept) => {
                parts.kept.extend(kept.map(|text| (from, text)));
                None
            }
            Err(why) => Some(why),
        };
        Ok(match body::join(parts, converted, &api_version(step.to)) {
            Ok(object) => (object, left_out),
            Err((object, why)) => (object, Some(why)),
        })
    }

    /// The first objection of a version's schema to a restored body that is not one to the body before.
    fn objection(&self, version: &str, [before, restored]: [&Value; 2]) -> Option<String> {
        let schema = self.assembled().schemas.get(version)?;
        let causes = |body: &Value| {
            // The metadata of a body is labels and annotations.
            let mut object = body.clone();
            object.as_object_mut().map(|fields| fields.remove("metadata"));
            schema.validate(&object).into_iter().map(|cause| cause.to_string())
        };
        let known: HashSet<_> = causes(before).collect();
        causes(restored).find(|cause| !known.contains(cause))
    }

    /// Calls a function with an object in a version. If the object does not fit its type because required fields are
    /// missing, they are filled in; then the object that was converted is returned as well.
    fn call(&self, convert: &Convert, version: &Version, object: &Value) -> Result<(Value, Option<Value>), Failure> {
        let filled = || self.assembled().required.get(&version.name)?.filled(object);
        let result = convert.call(|convert| match convert(object) {
            Err(ConversionFault::Undecodable(error)) => match filled() {
                Some(filled) => Ok((convert(&filled)?, Some(filled))),
                None => Err(ConversionFault::Undecodable(error)),
            },
            result => Ok((result?, None)),
        })?;
        result.map_err(|why| match why {
            ConversionFault::Failed(why) => why.into(),
            ConversionFault::Undecodable(error) => {
                Failure::from(format!("the object does not fit the type of {}: {error}", version.name))
            }
        })
    }
}
