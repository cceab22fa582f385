//! Failures of conversions: of one object, and of a request.

use std::fmt;

use kubewright_runtime::component::Panic;

/// The maximum of named objects of a request.
const NAMED: usize = 3;
/// The longest message in bytes. `serde` quotes invalid values in full.
const LONGEST: usize = 1 << 10;

/// The reason that an object was not converted.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// Whether a function panicked.
    pub(crate) panicked: bool,
    /// Whether the same conversion may succeed later, because the failure is not the object's.
    pub(super) is_temporary: bool,
}

impl Failure {
    /// A failure that is not the object's.
    pub(super) fn temporary(message: String) -> Self {
        Self {
            is_temporary: true,
            ..Self::from(message)
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self {
            message,
            panicked: false,
            is_temporary: false,
        }
    }
}

impl From<Panic> for Failure {
    fn from(panic: Panic) -> Self {
        Self {
            panicked: true,
            ..Self::from(format!("the conversion panicked: {panic}"))
        }
    }
}

/// The failures of a request. However many there are, they take little memory.
#[derive(Default)]
pub(super) struct Failures {
    pub(super) count: usize,
    pub(super) panics: usize,
    /// The number of failed objects that are in the answer nevertheless, without the parts that could not be converted.
    pub(super) shown: usize,
    /// The first ones, each with its object.
    pub(super) named: Vec<String>,
}

impl Failures {
    /// Adds the failure of an object.
    pub(super) fn add(&mut self, object: Option<&dyn fmt::Display>, failure: &Failure, is_shown: bool) {
        self.count += 1;
        self.panics += usize::from(failure.panicked);
        self.shown += usize::from(is_shown);
        if self.named.len() < NAMED {
            // A message is one line.
            let why = failure.message.replace("\n\nhint: ", "; ");
            let mut message = object.map_or_else(|| why.clone(), |object| format!("{object}: {why}"));
            if message.len() > LONGEST {
                message.truncate(message.floor_char_boundary(LONGEST));
                message.push('…');
            }
            self.named.push(message);
        }
    }

    /// Adds the failures of later objects.
    pub(super) fn extend(&mut self, later: Self) {
        self.count += later.count;
        self.panics += later.panics;
        self.shown += later.shown;
        let left = NAMED - self.named.len();
        self.named.extend(later.named.into_iter().take(left));
    }

    /// The reason that the request fails: the first failure, and how many there are besides; `None` if each object is in the answer.
    pub(super) fn refusal(&self) -> Option<String> {
        let first = self.named.first().filter(|_| self.count > self.shown)?;
        Some(match self.count - 1 {
            0 => first.clone(),
            more => format!("{first}; and {more} more objects"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_has_a_message_of_its_own_and_many_take_no_more_memory_than_a_few() {
        let of = |names: std::ops::Range<u32>| {
            let mut failures = Failures::default();
            for name in names {
                let failure = Failure::from(format!("it is {}\n\nhint: none", "ü".repeat(100_000)));
                failures.add(Some(&name), &failure, name > 0);
            }
            failures
        };
        let mut failures = of(0..2);
        failures.extend(of(2..1_000));
        assert_eq!((failures.count, failures.shown, failures.named.len()), (1_000, 999, 3));
        for (name, message) in failures.named.iter().enumerate() {
            assert!(message.starts_with(&format!("{name}: it is ü")) && message.len() < 1_100);
        }
        let refusal = failures.refusal().unwrap();
        assert!(refusal.ends_with("ü…; and 999 more objects"), "{refusal}");
        let mut shown = Failures::default();
        shown.add(None, &Failure::from("it is\n\nhint: none".to_owned()), true);
        assert_eq!((shown.refusal(), shown.named), (None, vec!["it is; none".to_owned()]));
    }
}
