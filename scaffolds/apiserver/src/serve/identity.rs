//! The user of a client certificate: the common name is the user's name, the organisations are the groups. The caller
//! has verified the certificate's signature.

use kubewright_machinery::{
    der::{EXPLICIT_0, OID, SEQUENCE, each, read},
    x509::{COMMON_NAME, ORGANIZATION},
};

use crate::{
    auth::{CREDENTIAL, User},
    digest,
};

/// The user of a certificate; `None` if it has no common name.
pub fn user(certificate: &[u8]) -> Option<User> {
    let mut name = None;
    let mut groups = Vec::new();
    for (_, set) in each(subject(certificate)?) {
        for (_, attribute) in each(set) {
            let Some((OID, id, rest)) = read(attribute) else {
                continue;
            };
            let Some((_, value, _)) = read(rest) else { continue };
            let value = String::from_utf8_lossy(value).into_owned();
            if id == COMMON_NAME {
                name = Some(value);
            } else if id == ORGANIZATION {
                groups.push(value);
            }
        }
    }
    let name = name.filter(|name| !name.is_empty())?;
    let mut user = User::new(&name, groups);
    user.extra.insert(
        CREDENTIAL.to_owned(),
        vec![format!("X509SHA256={}", digest::sha256_hex(certificate))],
    );
    Some(user)
}

/// The subject. RFC 5280, 4.1: version, serial number, algorithm, issuer and validity precede it.
fn subject(certificate: &[u8]) -> Option<&[u8]> {
    let (SEQUENCE, certificate, _) = read(certificate)? else {
        return None;
    };
    let (SEQUENCE, body, _) = read(certificate)? else {
        return None;
    };
    let fields = each(body).filter(|(tag, _)| *tag != EXPLICIT_0);
    fields.map(|(_, contents)| contents).nth(4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::certificate::Authority;

    #[test]
    fn a_certificate_identifies_user_and_groups() {
        let issued = Authority::new().unwrap().client("bob", &["devs", "ops"]).unwrap();
        let user = user(&issued.certificate).unwrap();
        assert_eq!(
            (user.name.as_str(), &user.groups[..2]),
            ("bob", &["devs".to_owned(), "ops".to_owned()][..])
        );
        assert!(user.extra[CREDENTIAL][0].starts_with("X509SHA256="));
    }

    #[test]
    fn an_invalid_certificate_identifies_nobody() {
        let issued = Authority::new().unwrap().client("bob", &[]).unwrap().certificate;
        for length in 0..issued.len() {
            let _ = user(&issued[..length]);
        }
        assert_eq!(user(b""), None);
        assert_eq!(user(b"\x30\x00"), None);
    }
}
