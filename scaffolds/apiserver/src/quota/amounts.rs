//! Quantities by the names of their resources: the form of requests, limits, and of what a quota allows.

use std::{cmp::Ordering, collections::BTreeMap};

use kubewright_machinery::quantity::Quantity;
use serde_json::{Map, Value};

/// Quantities by resource.
#[derive(Clone, Debug, Default)]
pub struct Amounts(BTreeMap<String, Quantity>);

impl Amounts {
    /// The amounts in a map of quantities; none if the value is not a map. Values that are not quantities are left out.
    pub fn of(value: Option<&Value>) -> Self {
        let fields = value.and_then(Value::as_object).into_iter().flatten();
        let read = |(name, amount): (&String, &Value)| Some((name.clone(), Quantity::parse(amount.as_str()?).ok()?));
        Self(fields.filter_map(read).collect())
    }

    pub fn get(&self, name: &str) -> Option<&Quantity> {
        self.0.get(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Quantity)> {
        self.0.iter().map(|(name, amount)| (name.as_str(), amount))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn set(&mut self, name: &str, amount: Quantity) {
        self.0.insert(name.to_owned(), amount);
    }

    /// Sets a whole number.
    pub fn count(&mut self, name: &str, number: usize) {
        self.set(name, Quantity::of(i64::try_from(number).unwrap_or(i64::MAX)));
    }

    /// Adds amounts, also of new resources.
    pub fn add(&mut self, other: &Self) {
        for (name, amount) in other.iter() {
            let sum = self.get(name).map(|present| present.plus(amount));
            self.set(name, sum.unwrap_or_else(|| amount.clone()));
        }
    }

    /// Subtracts the amounts of the resources that both have.
    pub fn subtract(&mut self, other: &Self) {
        for (name, amount) in other.iter() {
            if let Some(present) = self.0.get_mut(name) {
                *present = present.plus(&amount.negated());
            }
        }
    }

    /// Raises each amount to the amount in `other`, if it is larger.
    pub fn raise(&mut self, other: &Self) {
        for (name, amount) in other.iter() {
            let is_larger = |present: &Quantity| amount.compare(present) == Ordering::Greater;
            if self.get(name).is_none_or(is_larger) {
                self.set(name, amount.clone());
            }
        }
    }

    /// The amounts of the named resources.
    #[must_use]
    pub fn only(&self, is_named: impl Fn(&str) -> bool) -> Self {
        let named = self.iter().filter(|(name, _)| is_named(name));
        Self(named.map(|(name, amount)| (name.to_owned(), amount.clone())).collect())
    }

    /// The amounts that are above zero.
    #[must_use]
    pub fn positive(&self) -> Self {
        let positive = self.iter().filter(|(_, amount)| amount.sign() == Ordering::Greater);
        Self(
            positive
                .map(|(name, amount)| (name.to_owned(), amount.clone()))
                .collect(),
        )
    }

    /// Whether both have the same resources with equal amounts, in whatever form.
    pub fn is_equal(&self, other: &Self) -> bool {
        let equal = |(name, amount): (&str, &Quantity)| {
            let other = other.get(name);
            other.is_some_and(|other| other.compare(amount) == Ordering::Equal)
        };
        self.0.len() == other.0.len() && self.iter().all(equal)
    }

    /// The form in error messages: `cpu=1,memory=1Gi`.
    pub fn shown(&self) -> String {
        let shown = self
            .iter()
            .map(|(name, amount)| format!("{name}={}", amount.canonical()));
        shown.collect::<Vec<_>>().join(",")
    }

    /// The form in objects.
    pub fn json(&self) -> Value {
        let fields = self
            .iter()
            .map(|(name, amount)| (name.to_owned(), amount.canonical().into()));
        Value::Object(fields.collect::<Map<_, _>>())
    }
}
