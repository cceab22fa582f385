//! Label and field selectors: their grammars, their matching, and the server's messages for invalid ones.

mod field;
mod label;
mod lexer;
mod requirement;

pub use field::FieldSelector;
pub use label::LabelSelector;
