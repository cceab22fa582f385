//! Standard base64 with padding, with the positions that Go's decoder reports.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// # Errors
/// The offset of the first byte that does not belong.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let bytes: Vec<(usize, u8)> = text
        .bytes()
        .enumerate()
        .filter(|(_, byte)| !b"\r\n".contains(byte))
        .collect();
    let mut out = Vec::with_capacity(bytes.len() / 4 * 3);
    let last = bytes.len().div_ceil(4).saturating_sub(1);
    for (number, chunk) in bytes.chunks(4).enumerate() {
        quantum(chunk, number == last, &mut out).map_err(|at| at.unwrap_or(text.len()))?;
    }
    Ok(out)
}

/// Four characters; `Err(None)` when the text ends too early.
fn quantum(chunk: &[(usize, u8)], is_last: bool, out: &mut Vec<u8>) -> Result<(), Option<usize>> {
    let mut bits = 0_u32;
    let mut digits = 0_usize;
    for (index, (at, byte)) in chunk.iter().enumerate() {
        match ALPHABET.iter().position(|letter| letter == byte) {
            Some(value) => bits = bits << 6 | u32::try_from(value).unwrap_or_default(),
            None if *byte == b'=' && index >= 2 => {
                padding(chunk, index, is_last)?;
                break;
            }
            None => return Err(Some(*at)),
        }
        digits += 1;
    }
    if chunk.len() < 4 {
        // Go points at the beginning of what is incomplete.
        return Err(chunk.first().map(|(at, _)| *at));
    }
    bits <<= 6 * (4 - digits.min(4));
    let bytes = bits.to_be_bytes();
    out.extend_from_slice(bytes.get(1..digits.max(1)).unwrap_or_default());
    Ok(())
}

/// After the first `=` only another may follow, and then nothing.
fn padding(chunk: &[(usize, u8)], index: usize, is_last: bool) -> Result<(), Option<usize>> {
    if index == 2 {
        match chunk.get(3) {
            None => return Err(None),
            Some((_, b'=')) => {}
            Some((at, _)) => return Err(Some(at.saturating_sub(1))),
        }
    }
    match (is_last, chunk.last()) {
        (false, Some((at, _))) => Err(Some(at + 1)),
        _ => Ok(()),
    }
}

/// With padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let letter = |index: u32| char::from(ALPHABET[index as usize & 63]);
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            out.push(if place <= chunk.len() {
                letter(bits >> (18 - 6 * place))
            } else {
                '='
            });
        }
    }
    out
}
