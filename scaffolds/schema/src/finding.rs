//! A finding: what is wrong with a type, in which field, and the remedy.

use std::fmt;

/// One reason why a type cannot become a CustomResourceDefinition that the API server accepts.
///
/// Displays as an error message: the type and field, what is wrong, then a blank line and `hint: …`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The Rust type, as its [`Describe`](crate::Describe) names it.
    pub type_name: String,
    /// The field inside a custom resource (`spec.items[].name`; `{}` stands for any key of a map), or, if the finding is not about a
    /// field, the path in the CRD. Empty if it concerns the type as a whole.
    pub field: String,
    /// The problem. If it violates a rule of the API server, this is the API server's message.
    pub message: String,
    /// The change to make in the Rust code.
    pub remedy: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.type_name)?;
        if !self.field.is_empty() {
            write!(f, ", `{}`", self.field)?;
        }
        write!(f, ": {}", self.message)?;
        match &self.remedy {
            Some(remedy) => write!(f, "\n\nhint: {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Finding {}
