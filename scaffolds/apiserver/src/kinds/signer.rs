//! Names of signers, and of the bundles of certificates that they attest.

use kubewright_machinery::{
    go,
    names::{self, Unit},
};

use crate::kinds::{
    faults::{Faults, quoted},
    located::Located,
};

/// The longest name: a domain, a slash, a label, a dot and a subdomain.
const LONGEST: usize = 253 + 1 + 63 + 1 + 253;

/// The shortest lifetime of a Pod's certificate, in seconds.
pub(in crate::kinds) const SHORTEST_LIFETIME: i64 = 60 * 60;

/// The longest lifetime, in seconds, of a Pod's certificate from this signer.
pub(in crate::kinds) fn longest_lifetime(signer: &str) -> i64 {
    const DAY: i64 = 24 * 60 * 60;
    if is_reserved(signer) { DAY } else { 91 * DAY }
}

/// Checks a name: a domain and a path.
pub(in crate::kinds) fn name(at: &Located<'_>, faults: &mut Faults) {
    if at.str().is_empty() {
        return faults.required(at, "");
    }
    let parts: Vec<&str> = at.str().split('/').collect();
    let [domain, path] = parts.as_slice() else {
        let detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        return faults.invalid(at, detail);
    };
    if domain.len() > 253 {
        faults.too_long(at, 253);
    }
    let complain = |part: &str, format: fn(&str) -> Vec<String>, faults: &mut Faults| {
        let found = part.split('.').map(|name| (name, format(name)));
        let first = found.into_iter().find(|(_, sentences)| !sentences.is_empty());
        for (name, sentence) in first
            .iter()
            .flat_map(|(name, all)| all.iter().map(move |it| (name, it)))
        {
            let detail = format!("validating label {}: {sentence}", go::quote(name));
            faults.invalid_as(at, &quoted(part), &detail);
        }
    };
    complain(domain, |name| names::label(name, Unit::Characters), faults);
    if !domain.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        faults.invalid_as(at, &quoted(domain), detail);
    }
    complain(path, |name| names::subdomain(name, Unit::Characters), faults);
    if at.str().len() > LONGEST {
        faults.too_long(at, LONGEST);
    }
}

/// Whether Kubernetes reserves the name.
pub(in crate::kinds) fn is_reserved(name: &str) -> bool {
    let domain = name.split('/').next().unwrap_or_default();
    domain == "kubernetes.io" || domain.ends_with(".kubernetes.io")
}

/// The sentences about the name of a ClusterTrustBundle of this signer, which may be empty.
pub(in crate::kinds) fn bundle_name(name: &str, signer: &str, is_prefix: bool) -> Vec<String> {
    let required = match signer {
        "" => String::new(),
        _ => signer.replace('/', ":") + ":",
    };
    let Some(rest) = name.strip_prefix(&required) else {
        return vec![format!(
            "ClusterTrustBundle for signerName {signer} must be named with prefix {required}"
        )];
    };
    if signer.is_empty() && name.contains(':') {
        return vec!["ClusterTrustBundle without signer name must not have \":\" in its name".to_owned()];
    }
    let masked = if is_prefix {
        names::as_prefix(rest)
    } else {
        rest.to_owned()
    };
    names::subdomain(&masked, Unit::Characters)
}
