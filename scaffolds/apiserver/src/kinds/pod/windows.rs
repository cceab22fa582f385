//! Options of Windows Pods and containers.

use crate::kinds::{faults::Faults, format::subdomain, located::Located, pod::os::contexts};

/// The maximum size of a credential specification.
const LARGEST_CREDENTIALS: usize = 64 * 1024;

/// The maximum length of the domain in the name of a user, and of the rest of the name.
const LONGEST_DOMAIN: usize = 255;
const LONGEST_USER: usize = 104;

/// Validates the options in a security context.
pub(super) fn options(options: &Located<'_>, faults: &mut Faults) {
    let (name, credentials) = (options.get("gmsaCredentialSpecName"), options.get("gmsaCredentialSpec"));
    if name.is_set() {
        faults.format(&name, subdomain);
    }
    if credentials.is_set() && credentials.str().is_empty() {
        faults.invalid(&credentials, "gmsaCredentialSpec cannot be an empty string");
    } else if credentials.str().len() > LARGEST_CREDENTIALS {
        faults.invalid(&credentials, "gmsaCredentialSpec size must be under 64 KiB");
    }
    let user = options.get("runAsUserName");
    if user.is_set() {
        for sentence in user_name(user.str()) {
            faults.invalid(&user, &format!("runAsUserName{sentence}"));
        }
    }
}

/// The errors of the name of a user, which may begin with a domain.
fn user_name(text: &str) -> Vec<&'static str> {
    let (domain, user) = match text.split_once('\\') {
        _ if text.is_empty() => return vec![" cannot be an empty string"],
        _ if text.bytes().any(|byte| byte.is_ascii_control()) => return vec![" cannot contain control characters"],
        Some((_, user)) if user.contains('\\') => return vec![" cannot contain more than one backslash"],
        Some((domain, user)) => (Some(domain), user),
        None => (None, text),
    };
    let rules = [
        (
            domain.is_some_and(|domain| domain.len() > LONGEST_DOMAIN),
            "'s Domain length must be under 256 characters",
        ),
        (
            domain.is_some_and(|domain| !is_netbios_name(domain) && !is_dns_name(domain)),
            "'s Domain doesn't match the NetBios nor the DNS format",
        ),
        (user.is_empty(), "'s User cannot be empty"),
        (
            user.len() > LONGEST_USER,
            "'s User length must not be longer than 104 characters",
        ),
        (
            !user.is_empty() && user.chars().all(|letter| matches!(letter, '.' | ' ')),
            "'s User cannot contain only periods or spaces",
        ),
        (
            user.contains(|letter| "\"/\\:;|=,+*?<>@[]".contains(letter)),
            "'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]",
        ),
    ];
    let broken = rules.into_iter().filter(|(is_broken, _)| *is_broken);
    broken.map(|(_, sentence)| sentence).collect()
}

fn is_netbios_name(domain: &str) -> bool {
    (1..=15).contains(&domain.chars().count())
        && !domain.starts_with('.')
        && !domain.contains(|letter| "\\/:*?\"<>|".contains(letter))
}

fn is_dns_name(domain: &str) -> bool {
    domain.split('.').all(|label| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

/// Checks that all containers of a Pod are processes of its host, or none is.
pub(super) fn host_processes(spec: &Located<'_>, faults: &mut Faults) {
    let own = spec.at("securityContext.windowsOptions.hostProcess");
    let (mut all, mut on_host) = (0, 0);
    for of_container in contexts(spec).map(|context| context.at("windowsOptions.hostProcess")) {
        if own.is_set() && of_container.is_set() && own.value != of_container.value {
            let detail = format!(
                "pod hostProcess value must be identical if both are specified, was {}",
                own.value
            );
            faults.invalid(&of_container, &detail);
        }
        let decisive = if of_container.is_set() { &of_container } else { &own };
        all += 1;
        on_host += usize::from(decisive.is_true());
    }
    if on_host > 0 && on_host < all {
        let detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        faults.invalid_as(spec, "\"\"", detail);
    }
    let network = spec.get("hostNetwork");
    if on_host > 0 && !network.is_true() {
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        faults.invalid_as(&network, "false", detail);
    }
}
