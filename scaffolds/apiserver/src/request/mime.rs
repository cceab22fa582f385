//! The parameters of a media type, as Go's package `mime` reads them.

use std::collections::BTreeMap;

/// Whether the parameters of a media type are well-formed.
pub fn has_valid_parameters(media_type: &str) -> bool {
    let Some(start) = media_type.find(';') else { return true };
    let (mut rest, mut seen) = (&media_type[start..], BTreeMap::new());
    loop {
        rest = rest.trim_start();
        if rest.trim_end() == ";" || rest.is_empty() {
            return true;
        }
        let Some((name, value, behind)) = parameter(rest) else {
            return false;
        };
        // A repeated parameter needs the same value.
        if seen.insert(name, value.clone()).is_some_and(|other| other != value) {
            return false;
        }
        rest = behind;
    }
}

/// The name and the value of the first parameter, and the text behind it.
fn parameter(text: &str) -> Option<(String, String, &str)> {
    let (name, rest) = token(text.strip_prefix(';')?.trim_start())?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let (value, rest) = match rest.strip_prefix('"') {
        Some(quoted) => unquoted(quoted)?,
        None => token(rest).map(|(value, rest)| (value.to_owned(), rest))?,
    };
    Some((name.to_ascii_lowercase(), value, rest))
}

fn is_special(letter: char) -> bool {
    "()<>@,;:\\\"/[]?=".contains(letter)
}

fn token(text: &str) -> Option<(&str, &str)> {
    let is_part = |letter: char| letter.is_ascii_graphic() && !is_special(letter);
    let end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// A quoted value without its quotes, and the text behind it. `text` begins behind the first quote.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let (mut value, mut letters) = (String::new(), text.chars());
    loop {
        match letters.next()? {
            '"' => return Some((value, letters.as_str())),
            '\r' | '\n' => return None,
            '\\' if letters.as_str().starts_with(is_special) => value.extend(letters.next()),
            letter => value.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::has_valid_parameters;

    #[test]
    fn parameters_are_judged_as_by_go() {
        for valid in ["a/b", "a/b;", "a/b ; c=d", "a/b;c=\"d;\\\"\"; e=f", "a/b;c=d;c=d"] {
            assert!(has_valid_parameters(valid), "{valid}");
        }
        for invalid in [
            "a/b;c",
            "a/b;c;d=e",
            "a/b;c=d;c=e",
            "a/b;c=\"d",
            "a/b, c/d;e",
            "a/b;;c=d",
        ] {
            assert!(!has_valid_parameters(invalid), "{invalid}");
        }
    }
}
