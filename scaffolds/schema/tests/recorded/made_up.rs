//! Normalises the parts of messages that a server chooses at random.

/// Removes the number that the server chooses at random for the type of `self`.
pub fn without_numbers(message: &str) -> String {
    let mut parts = message.split("selfType");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        out.push_str("selfType0");
        // The marker below the line keeps its position, because the source never contains types.
        out.push_str(rest);
    }
    out
}
