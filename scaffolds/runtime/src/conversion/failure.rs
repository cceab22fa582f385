//! Failures of conversions, with what panicked.

use std::fmt;

use crate::isolate::Panic;

/// Why an object was not converted.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// Whether a function panicked.
    pub(crate) panicked: bool,
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
        }
    }
}

impl From<Panic> for Failure {
    fn from(panic: Panic) -> Self {
        Self {
            message: format!("the conversion panicked: {panic}"),
            panicked: true,
        }
    }
}
