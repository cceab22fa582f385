//! Reads the parts of an X.509 certificate (RFC 5280) that the rules of a kind are about.

use kubewright_machinery::{
    der::{BIT_STRING, BOOLEAN, EXPLICIT_3, OCTET_STRING, OID, SEQUENCE, UTC_TIME, each, read},
    time,
};

/// `basicConstraints`, 2.5.29.19.
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];

/// A certificate.
pub(super) struct Certificate<'b> {
    /// The first and the last second of its validity, since 1970.
    pub validity: [i64; 2],
    /// The subject's key with its algorithm.
    pub key: &'b [u8],
    /// Whether its key may sign certificates.
    pub is_authority: bool,
}

impl<'b> Certificate<'b> {
    /// The certificate in these bytes of DER, if they contain one and nothing else.
    pub fn read(bytes: &'b [u8]) -> Option<Self> {
        let (SEQUENCE, certificate, []) = read(bytes)? else {
            return None;
        };
        let parts: Vec<(u8, &[u8])> = each(certificate).collect();
        let [(SEQUENCE, signed), (SEQUENCE, _), (BIT_STRING, _)] = parts[..] else {
            return None;
        };
        // The algorithm, the issuer, the validity, the subject and the key; version and serial number are no sequences.
        let fields: Vec<&[u8]> = each(signed).filter(|it| it.0 == SEQUENCE).map(|it| it.1).collect();
        let [_, _, validity, _, key] = fields[..] else {
            return None;
        };
        let times: Option<Vec<i64>> = each(validity).map(|(tag, text)| seconds(tag, text)).collect();
        Some(Self {
            validity: times?.try_into().ok()?,
            key,
            is_authority: is_authority(signed),
        })
    }
}

fn is_authority(signed: &[u8]) -> bool {
    let extensions = each(signed).filter(|it| it.0 == EXPLICIT_3);
    let extensions = extensions.filter_map(|(_, list)| read(list));
    let constraints = extensions
        .flat_map(|(_, list, _)| each(list))
        .filter(|(_, extension)| matches!(read(extension), Some((OID, BASIC_CONSTRAINTS, _))));
    constraints
        .flat_map(|(_, extension)| each(extension))
        .filter(|it| it.0 == OCTET_STRING)
        .filter_map(|(_, value)| read(value))
        .any(|(_, constraints, _)| matches!(read(constraints), Some((BOOLEAN, [1..=255], _))))
}

/// RFC 5280, 4.1.2.5: two digits of the year until 2049, four from then on.
fn seconds(tag: u8, text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = match tag {
        UTC_TIME if text < "50" => format!("20{text}"),
        UTC_TIME => format!("19{text}"),
        _ => text.to_owned(),
    };
    let at = |from: usize, to: usize| digits.get(from..to);
    let text = format!(
        "{}-{}-{}T{}:{}:{}",
        at(0, 4)?,
        at(4, 6)?,
        at(6, 8)?,
        at(8, 10)?,
        at(10, 12)?,
        digits.get(12..)?
    );
    time::seconds(&text)
}
