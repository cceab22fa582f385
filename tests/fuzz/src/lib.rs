//! Properties that must hold for any bytes: one function for each parser of foreign input. They panic where a property
//! does not hold. `libfuzzer/` looks for such bytes, guided by coverage; `tests/replay.rs` runs `corpus/` on stable Rust.

mod apply;
mod cel;
mod conversion;
mod parts;
mod patches;
mod project;
mod request;
mod schema;
mod selectors;
mod text;

/// A target: its name, which is that of its folder in `corpus/`, and its function.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: [Target; 9] = [
    ("apply", apply::apply),
    ("cel", cel::cel),
    ("conversion", conversion::conversion),
    ("patches", patches::patches),
    ("project", project::project),
    ("request", request::request),
    ("schema", schema::schema),
    ("selectors", selectors::selectors),
    ("text", text::text),
];

/// Runs the target of this name.
///
/// # Panics
/// When what it holds to does not hold, or there is no such target.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    let (_, body) = target.unwrap_or_else(|| panic!("`{name}` is no target"));
    body(bytes);
}
