//! What a server says otherwise each time.

/// The server makes up a number for the type of `self`.
pub fn without_numbers(message: &str) -> String {
    let mut parts = message.split("selfType");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        out.push_str("selfType0");
        // The mark under the line stays where it is: types occur in no source.
        out.push_str(rest);
    }
    out
}
