//! Whether a write fits into the quotas of its namespace, and what it adds to their usage.

use std::cmp::Ordering;

use serde_json::Value;

use super::{amounts::Amounts, limits::Quota, measure::Measure};

/// A write of an object.
pub struct QuotaRequest<'a> {
    /// The measure of its resource.
    pub measure: Measure<'a>,
    /// The object's next state.
    pub new: &'a Value,
    /// The present state; `None` for a new object.
    pub old: Option<&'a Value>,
    /// Whether the usage may exceed the limits, as it may where a status reports what is used already.
    pub is_report: bool,
}

/// The usage of a quota after a write.
pub struct Charged {
    /// The position of the quota.
    pub position: usize,
    /// Its next `status.used`.
    pub used: Amounts,
}

/// The quotas whose usage a write changes.
///
/// # Errors
/// The reason why the write is refused.
pub fn charge(quotas: &[Quota], request: &QuotaRequest<'_>) -> Result<Vec<Charged>, String> {
    let mut concerned = Vec::new();
    for (position, quota) in quotas.iter().enumerate() {
        if quota.concerns(request)? {
            concerned.push(position);
        }
    }
    let added = |position: usize| (position, quotas[position].added(request));
    let added: Vec<(usize, Amounts)> = concerned.into_iter().map(added).collect();
    let mut charged = Vec::new();
    for (position, added) in added.into_iter().filter(|(_, added)| !added.is_empty()) {
        let quota = &quotas[position];
        let mut used = quota.used.clone();
        used.add(&added);
        if !request.is_report {
            quota.check(&added, &used)?;
        }
        charged.push(Charged { position, used });
    }
    Ok(charged)
}

impl Quota {
    /// Whether the quota limits the object.
    fn concerns(&self, request: &QuotaRequest<'_>) -> Result<bool, String> {
        let limited: Vec<&str> = self
            .hard
            .names()
            .filter(|name| request.measure.concerns(name))
            .collect();
        if limited.is_empty() || !self.is_about(request.measure, request.new) {
            return Ok(false);
        }
        let name = &self.name;
        if let Some(missing) = request.measure.missing(&limited, request.new) {
            return Err(format!("failed quota: {name}: must specify {missing}"));
        }
        match limited.iter().any(|name| self.used.get(name).is_none()) {
            true => Err(format!(
                "status unknown for quota: {name}, resources: {}",
                limited.join(",")
            )),
            false => Ok(true),
        }
    }

    /// The amounts of limited resources that the write adds. Usage that an update gives up is not subtracted here: the object may
    /// not be stored after all.
    fn added(&self, request: &QuotaRequest<'_>) -> Amounts {
        let mut added = request.measure.usage(request.new);
        if let Some(old) = request.old.filter(|old| self.is_about(request.measure, old)) {
            added.subtract(&request.measure.usage(old));
        }
        added.positive().only(|name| self.hard.get(name).is_some())
    }

    fn check(&self, added: &Amounts, used: &Amounts) -> Result<(), String> {
        let exceeds = |name: &str| match (used.get(name), self.hard.get(name)) {
            (Some(used), Some(hard)) => added.get(name).is_some() && used.compare(hard) == Ordering::Greater,
            _ => false,
        };
        let [added, used, hard] = [added, &self.used, &self.hard].map(|amounts| amounts.only(exceeds).shown());
        match added.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "exceeded quota: {}, requested: {added}, used: {used}, limited: {hard}",
                self.name
            )),
        }
    }
}
