//! Protobuf's wire format: numbered fields, each with a number or bytes.

/// Writes a field with bytes: a text, a message or arbitrary ones.
pub(crate) fn bytes(number: u64, bytes: &[u8], out: &mut Vec<u8>) {
    push(number << 3 | 2, out);
    push(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Writes a field with a message.
pub(crate) fn nested(number: u64, out: &mut Vec<u8>, contents: impl FnOnce(&mut Vec<u8>)) {
    let mut inner = Vec::new();
    contents(&mut inner);
    bytes(number, &inner, out);
}

/// Writes a field with an integer, or with 0 and 1 for a boolean.
pub(crate) fn integer(number: u64, integer: i64, out: &mut Vec<u8>) {
    push(number << 3, out);
    push(integer.cast_unsigned(), out);
}

/// Writes a field with a float.
pub(crate) fn double(number: u64, double: f64, out: &mut Vec<u8>) {
    push(number << 3 | 1, out);
    out.extend(double.to_le_bytes());
}

/// Seven bits per byte, the lowest first.
fn push(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// A message, not yet decoded.
#[derive(Clone, Copy, Default)]
pub(super) struct Message<'a>(&'a [u8]);

/// The value of a field.
#[derive(Clone, Copy)]
pub(super) enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

const SHORT: &str = "unexpected EOF";

impl<'a> Message<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// All fields, in their order.
    pub fn fields(&self) -> Result<Vec<(u64, Wire<'a>)>, String> {
        let mut rest = self.0;
        let mut fields = Vec::new();
        while !rest.is_empty() {
            let key = varint(&mut rest)?;
            let wire = match key & 7 {
                0 => Wire::Number(varint(&mut rest)?),
                1 => Wire::Number(fixed::<8>(&mut rest).map(u64::from_le_bytes)?),
                2 => {
                    let length = usize::try_from(varint(&mut rest)?).map_err(|_| SHORT)?;
                    Wire::Bytes(take(&mut rest, length)?)
                }
                5 => Wire::Number(fixed::<4>(&mut rest).map(u32::from_le_bytes)?.into()),
                other => return Err(format!("proto: illegal wireType {other}")),
            };
            fields.push((key >> 3, wire));
        }
        Ok(fields)
    }

    /// The bytes of a field; the last one wins, as everywhere in Protobuf.
    pub fn bytes(&self, wanted: u64) -> Result<&'a [u8], String> {
        let mut found: &[u8] = &[];
        for (number, wire) in self.fields()? {
            if let (true, Wire::Bytes(bytes)) = (number == wanted, wire) {
                found = bytes;
            }
        }
        Ok(found)
    }

    /// The last value of a field.
    pub fn find(&self, wanted: u64) -> Result<Option<Wire<'a>>, String> {
        let fields = self.fields()?.into_iter().rev();
        let mut found = fields.filter(|(number, _)| *number == wanted);
        Ok(found.next().map(|(_, wire)| wire))
    }

    /// The string in a field.
    pub fn text(&self, wanted: u64) -> Result<String, String> {
        Ok(String::from_utf8_lossy(self.bytes(wanted)?).into_owned())
    }

    /// The number in a field.
    pub fn number(&self, wanted: u64) -> Result<i64, String> {
        let mut found = 0;
        for (number, wire) in self.fields()? {
            if let (true, Wire::Number(value)) = (number == wanted, wire) {
                found = value.cast_signed();
            }
        }
        Ok(found)
    }
}

/// Seven bits per byte, the lowest first.
fn varint(rest: &mut &[u8]) -> Result<u64, String> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(rest, 1)?.first().copied().unwrap_or_default();
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err("proto: integer overflow".to_owned())
}

fn fixed<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], String> {
    <[u8; N]>::try_from(take(rest, N)?).map_err(|_| SHORT.to_owned())
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Result<&'a [u8], String> {
    let (taken, left) = rest.split_at_checked(length).ok_or(SHORT)?;
    *rest = left;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_byte_strings_are_distinguished() {
        let message = Message::new(b"\x08\x96\x01\x12\x02ab\x08\x01\x21\x00\x00\x00\x00\x00\x00\xf8\x3f");
        assert_eq!(message.number(1), Ok(1));
        assert_eq!(message.text(2), Ok("ab".to_owned()));
        assert_eq!(
            message.number(4).map(|bits| f64::from_bits(bits.cast_unsigned())),
            Ok(1.5)
        );
    }

    #[test]
    fn truncated_and_malformed_messages_are_refused() {
        let broken: [&[u8]; 5] = [
            b"\x08",
            b"\x12\x05ab",
            b"\x0b",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            b"\x21\0",
        ];
        for bytes in broken {
            assert!(Message::new(bytes).fields().is_err(), "{bytes:?}");
        }
    }
}
