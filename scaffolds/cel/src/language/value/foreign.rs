//! Values of the Kubernetes libraries.

use super::{Fault, Outcome};
use crate::language::library::{Decision, NamedFormat, Prefix, Question, Url, Version};
use kubewright_machinery::quantity::Quantity;
use std::net::IpAddr;

#[derive(Clone, Debug)]
pub(in crate::language) enum Foreign {
    Ip(IpAddr),
    Cidr(Prefix),
    Url(Url),
    Quantity(Quantity),
    Semver(Version),
    Format(&'static NamedFormat),
    Question(Question),
    Decision(Decision),
}

impl Foreign {
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Url(_) => "kubernetes.URL",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Format(_) => "kubernetes.NamedFormat",
            Self::Question(question) => question.type_name(),
            Self::Decision(_) => "kubernetes.authorization.Decision",
        }
    }

    pub(super) fn size(&self) -> Option<u64> {
        match self {
            Self::Ip(IpAddr::V4(_)) => Some(4),
            Self::Ip(IpAddr::V6(_)) => Some(16),
            Self::Cidr(prefix) => Some(u64::from(prefix.bits).div_ceil(8)),
            _ => None,
        }
    }

    pub(super) fn equal(&self, other: &Self) -> Outcome<bool> {
        Ok(match (self, other) {
            (Self::Ip(one), Self::Ip(other)) => one == other,
            (Self::Cidr(one), Self::Cidr(other)) => one == other,
            (Self::Url(one), Self::Url(other)) => one.raw == other.raw,
            (Self::Quantity(one), Self::Quantity(other)) => one.compare(other).is_eq(),
            (Self::Semver(one), Self::Semver(other)) => one.cmp(other).is_eq(),
            (Self::Format(one), Self::Format(other)) => one.name == other.name,
            _ => return Err(Fault::no_overload()),
        })
    }
}
