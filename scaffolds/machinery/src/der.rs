//! Reads and writes the parts of DER (X.690) that certificates need. Not the crate `der`: every project would compile its derives
//! for all of ASN.1.

/// A tag.
pub const BOOLEAN: u8 = 0x01;
/// A tag.
pub const INTEGER: u8 = 0x02;
/// A tag.
pub const BIT_STRING: u8 = 0x03;
/// A tag.
pub const OCTET_STRING: u8 = 0x04;
/// A tag.
pub const OID: u8 = 0x06;
/// A tag.
pub const UTF8_STRING: u8 = 0x0c;
/// A tag.
pub const UTC_TIME: u8 = 0x17;
/// A tag.
pub const GENERALIZED_TIME: u8 = 0x18;
/// A tag.
pub const SEQUENCE: u8 = 0x30;
/// A tag.
pub const SET: u8 = 0x31;
/// A tag.
pub const KEY_IDENTIFIER: u8 = 0x80;
/// A tag.
pub const DNS_NAME: u8 = 0x82;
/// A tag.
pub const IP_ADDRESS: u8 = 0x87;
/// A tag.
pub const EXPLICIT_0: u8 = 0xa0;
/// A tag.
pub const EXPLICIT_3: u8 = 0xa3;

/// Encodes a value: tag, length and contents.
pub fn encode(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let contents = parts.concat();
    let mut encoded = vec![tag];
    match u8::try_from(contents.len()) {
        Ok(short @ 0..=0x7f) => encoded.push(short),
        _ => {
            let length = contents.len().to_be_bytes();
            let digits: Vec<u8> = length.into_iter().skip_while(|byte| *byte == 0).collect();
            // A usize has at most eight bytes.
            encoded.push(0x80 | digits.len() as u8);
            encoded.extend(digits);
        }
    }
    encoded.extend_from_slice(&contents);
    encoded
}

/// A bit string without unused bits.
pub fn bits(bytes: &[u8]) -> Vec<u8> {
    encode(BIT_STRING, &[&[0], bytes])
}

/// Reads the first value of `bytes`: its tag, its contents, and the bytes after it.
pub fn read(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (
                digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)),
                rest,
            )
        }
        _ => return None,
    };
    let (contents, rest) = rest.split_at_checked(length)?;
    Some((tag, contents, rest))
}

/// The values in `bytes`, one after the other, up to the first malformed one.
pub fn each(mut bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (tag, contents, rest) = read(bytes)?;
        bytes = rest;
        Some((tag, contents))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoded_value_can_be_read() {
        for length in [0, 1, 0x7f, 0x80, 0xff, 0x100, 70_000] {
            let contents = vec![7; length];
            let written = encode(OCTET_STRING, &[&contents]);
            assert_eq!(read(&written), Some((OCTET_STRING, contents.as_slice(), [].as_slice())));
        }
    }

    #[test]
    fn a_truncated_value_is_refused() {
        for bytes in [
            &[][..],
            &[0x30],
            &[0x30, 5, 1],
            &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff],
            &[0x30, 0x80],
            &[0x30, 0x82, 1],
        ] {
            assert_eq!(read(bytes), None);
        }
    }
}
