//! Base64 as Go's `encoding/base64` has it. Not the crate `base64`: the server names the offset at which Go's decoder gives up, and
//! that decoder skips line breaks and ignores leftover bits.

/// An alphabet, and whether texts in it are padded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Encoding {
    /// With `+` and `/`, padded: `StdEncoding`.
    Standard,
    /// With `-` and `_`, padded: `URLEncoding`.
    Url,
    /// With `-` and `_`, not padded: `RawURLEncoding`.
    RawUrl,
}

impl Encoding {
    fn value(self, byte: u8) -> Option<u8> {
        let [first, second] = self.last();
        match byte {
            b'A'..=b'Z' => Some(byte - b'A'),
            b'a'..=b'z' => Some(byte - b'a' + 26),
            b'0'..=b'9' => Some(byte - b'0' + 52),
            _ if byte == first => Some(62),
            _ if byte == second => Some(63),
            _ => None,
        }
    }

    fn letter(self, bits: u32) -> char {
        let [first, second] = self.last();
        // Six bits.
        let bits = (bits & 63) as u8;
        char::from(match bits {
            0..26 => b'A' + bits,
            26..52 => b'a' + bits - 26,
            52..62 => b'0' + bits - 52,
            62 => first,
            _ => second,
        })
    }

    /// The last two characters of the alphabet.
    fn last(self) -> [u8; 2] {
        match self {
            Self::Standard => *b"+/",
            Self::Url | Self::RawUrl => *b"-_",
        }
    }

    fn is_padded(self) -> bool {
        self != Self::RawUrl
    }
}

/// Decodes a text.
///
/// # Errors
/// The offset that Go's error names.
pub fn decode(text: &str, encoding: Encoding) -> Result<Vec<u8>, usize> {
    let text = text.as_bytes();
    let (mut at, mut out) = (0, Vec::with_capacity(text.len() / 4 * 3));
    loop {
        let (mut bits, mut taken) = (0u32, 0);
        while taken < 4 {
            let Some(byte) = text.get(at) else {
                if taken == 1 || taken > 1 && encoding.is_padded() {
                    return Err(at - taken);
                }
                out.extend(whole_bytes(bits, taken));
                return Ok(out);
            };
            at += 1;
            match (encoding.value(*byte), byte) {
                (Some(value), _) => bits = bits << 6 | u32::from(value),
                (None, b'\r' | b'\n') => continue,
                (None, b'=') if taken >= 2 && encoding.is_padded() => {
                    padded(text, at, taken)?;
                    out.extend(whole_bytes(bits, taken));
                    return Ok(out);
                }
                _ => return Err(at - 1),
            }
            taken += 1;
        }
        out.extend(&bits.to_be_bytes()[1..]);
    }
}

/// The whole bytes in `taken` characters of six bits each: one in 12 bits, two in 18.
fn whole_bytes(bits: u32, taken: usize) -> impl Iterator<Item = u8> {
    let aligned = if taken == 0 { 0 } else { bits << (32 - 6 * taken) };
    aligned.to_be_bytes().into_iter().take(taken.saturating_sub(1))
}

/// Checks the text after the first `=`, from `at`: a second `=` if two characters are missing, and nothing else.
fn padded(text: &[u8], mut at: usize, taken: usize) -> Result<(), usize> {
    let next = |at: usize| {
        let breaks = text[at..].iter().take_while(|c| matches!(c, b'\r' | b'\n'));
        at + breaks.count()
    };
    if taken == 2 {
        at = next(at);
        match text.get(at) {
            None => return Err(text.len()),
            Some(b'=') => at += 1,
            Some(_) => return Err(at - 1),
        }
    }
    at = next(at);
    if at < text.len() { Err(at) } else { Ok(()) }
}

/// Encodes bytes.
pub fn encode(bytes: &[u8], encoding: Encoding) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            if place <= chunk.len() {
                out.push(encoding.letter(bits >> (18 - 6 * place)));
            } else if encoding.is_padded() {
                out.push('=');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded_as_in_go() {
        for (text, read) in [
            ("", Ok("")),
            ("YQ==", Ok("a")),
            ("YWI=", Ok("ab")),
            ("YW\nJj", Ok("abc")),
            ("YQ=\n=\n", Ok("a")),
            ("ab", Err(0)),
            ("YWJjY", Err(4)),
            ("Y=", Err(1)),
            ("YQ=", Err(3)),
            ("YQ=a", Err(2)),
            ("YQ==YQ==", Err(4)),
            ("a+bc", Err(1)),
            ("é", Err(0)),
        ] {
            let found = decode(text, Encoding::Url);
            assert_eq!(found, read.map(|it| it.as_bytes().to_vec()), "{text:?}");
        }
        assert_eq!(decode("-_-_", Encoding::Url), Ok(vec![0xfb, 0xff, 0xbf]));
        assert_eq!(decode("+/+/", Encoding::Standard), Ok(vec![0xfb, 0xff, 0xbf]));
        assert_eq!(decode("-_-_", Encoding::Standard), Err(0));
        for (text, read) in [
            ("YQ", Ok("a")),
            ("YW\nI", Ok("ab")),
            ("YWJj", Ok("abc")),
            ("YWJjZ", Err(4)),
            ("YQ==", Err(2)),
        ] {
            let found = decode(text, Encoding::RawUrl);
            assert_eq!(found, read.map(|it| it.as_bytes().to_vec()), "{text:?}");
        }
    }

    #[test]
    fn encoded_bytes_can_be_decoded() {
        let bytes: Vec<u8> = (0..=255).collect();
        for length in 0..=bytes.len() {
            let bytes = &bytes[..length];
            for encoding in [Encoding::Standard, Encoding::Url, Encoding::RawUrl] {
                assert_eq!(decode(&encode(bytes, encoding), encoding).as_deref(), Ok(bytes));
            }
        }
    }
}
