//! Label and field selectors: their grammars, what they match, and what the server says of those that are wrong.

mod field;
mod label;
mod lexer;
mod requirement;

pub use field::FieldSelector;
pub use label::LabelSelector;
