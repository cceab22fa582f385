//! The query of a request, parsed like Go's net/url, with values converted like apimachinery.

use percent_encoding::percent_decode_str;

/// The parameters, decoded, in order. A pair with a semicolon or an invalid escape is dropped, as in Go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Parses the text after the `?`.
    pub fn read(query: &str) -> Self {
        let pairs = query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';'));
        Self(
            pairs
                .filter_map(|pair| {
                    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                    Some((decode(name)?, decode(value)?))
                })
                .collect(),
        )
    }

    /// All pairs.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.0
    }

    /// The first value of a parameter; upstream ignores further values.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Whether a boolean parameter is set to true.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(is_true)
    }
}

/// A boolean parameter: every value but `false` and `0` is true, even the empty string.
pub fn is_true(value: &str) -> bool {
    !value.eq_ignore_ascii_case("false") && value != "0"
}

/// `strconv.ParseInt` for decimal numbers; the error is Go's message.
///
/// # Errors
/// A text that is not an int64.
pub fn integer(text: &str) -> Result<i64, String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let why = if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        "invalid syntax"
    } else {
        match text.parse() {
            Ok(number) => return Ok(number),
            Err(_) => "value out of range",
        }
    };
    Err(format!(
        "strconv.ParseInt: parsing {}: {why}",
        kubewright_machinery::go::quote(text)
    ))
}

fn decode(text: &str) -> Option<String> {
    let broken = text.split('%').skip(1).any(|rest| {
        !rest
            .as_bytes()
            .get(..2)
            .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    });
    (!broken).then(|| {
        percent_decode_str(&text.replace('+', " "))
            .decode_utf8_lossy()
            .into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_go_drops_are_dropped() {
        let query = Query::read("limit=1;b=2&a=%zz&c=%41+x&c=2&d");
        assert_eq!(query.get("limit"), None);
        assert_eq!(query.get("a"), None);
        assert_eq!(query.get("c"), Some("A x"));
        assert_eq!(query.get("d"), Some(""));
    }

    #[test]
    fn anything_but_false_and_zero_is_true() {
        let query = Query::read("a=false&b=0&c=&d=maybe&e=FALSE");
        assert_eq!(
            ["a", "b", "c", "d", "e", "f"].map(|name| query.flag(name)),
            [false, false, true, true, false, false]
        );
    }

    #[test]
    fn invalid_numbers_have_the_errors_of_go() {
        let said = |text| integer(text).unwrap_err();
        assert_eq!(said("abc"), "strconv.ParseInt: parsing \"abc\": invalid syntax");
        assert_eq!(said(""), "strconv.ParseInt: parsing \"\": invalid syntax");
        assert_eq!(
            said("9999999999999999999999"),
            "strconv.ParseInt: parsing \"9999999999999999999999\": value out of range"
        );
        assert_eq!(integer("-1"), Ok(-1));
    }
}
