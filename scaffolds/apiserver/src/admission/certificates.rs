//! CertificateApproval, CertificateSigning and CertificateSubjectRestriction: who may approve and sign requests for a signer,
//! and which subjects are forbidden in certificates of API clients.

use kubewright_machinery::base64::{self, Encoding};
use serde_json::Value;

use super::{Attributes, Objects, Operation};
use crate::{
    authorize,
    kinds::certificates,
    state::Core,
    status::{Status, Subject},
    user::MASTERS,
};

const REQUESTS: Subject<'static> = Subject::new("certificates.k8s.io", "certificatesigningrequests");
/// Signs the certificates with which clients authenticate to the API server.
const CLIENTS: &str = "kubernetes.io/kube-apiserver-client";

/// # Errors
/// 403 if the user may not approve requests for the signer.
pub(super) fn approval(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    if !is_update_of(attributes, "approval") {
        return Ok(());
    }
    may(core, attributes, objects, "approve")
}

/// # Errors
/// 403 if the user changes the certificate or conditions and may not sign requests for the signer.
pub(super) fn signing(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    if !is_update_of(attributes, "status") {
        return Ok(());
    }
    let states = [objects.new.as_deref(), objects.old];
    let signed = states.map(|object| ["/status/certificate", "/status/conditions"].map(|at| object?.pointer(at)));
    match signed {
        [new, old] if new == old => Ok(()),
        _ => may(core, attributes, objects, "sign"),
    }
}

/// # Errors
/// 403 if the client would be a member of `system:masters`.
pub(super) fn subject(attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    let Some(new) = objects.new.as_deref() else {
        return Ok(());
    };
    if attributes.operation != Operation::Create || !attributes.is_about(REQUESTS) || signer(new) != CLIENTS {
        return Ok(());
    }
    let pem = new.pointer("/spec/request").and_then(Value::as_str).unwrap_or_default();
    let pem = base64::decode(pem, Encoding::Standard).unwrap_or_default();
    match certificates::organizations(&pem) {
        Ok(organizations) if organizations.iter().any(|it| it == MASTERS) => {
            let why = format!("use of {CLIENTS} signer with {MASTERS} group is not allowed");
            Err(attributes.forbid(objects, &why))
        }
        _ => Ok(()),
    }
}

fn is_update_of(attributes: &Attributes<'_>, subresource: &str) -> bool {
    let call = attributes.call;
    attributes.operation == Operation::Update && call.subject() == REQUESTS && call.subresource == subresource
}

fn signer(request: &Value) -> &str {
    let signer = request.pointer("/spec/signerName").and_then(Value::as_str);
    signer.unwrap_or_default()
}

/// Checks that the user has the verb for the signer, or for all signers of its domain.
fn may(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>, verb: &str) -> Result<(), Status> {
    let signer = objects.old.map(signer).unwrap_or_default();
    let domain = signer.split('/').next().unwrap_or_default();
    let is_allowed = |name: String| {
        let asked = authorize::Attributes {
            is_resource: true,
            verb: verb.to_owned(),
            group: REQUESTS.group.to_owned(),
            resource: "signers".to_owned(),
            name,
            ..authorize::Attributes::default()
        };
        let user = &attributes.call.user;
        core.authorizer.decide(&core.store, user, &asked).allowed
    };
    if is_allowed(signer.to_owned()) || is_allowed(format!("{domain}/*")) {
        return Ok(());
    }
    let why = format!("user not permitted to {verb} requests with signerName \"{signer}\"");
    Err(attributes.forbid(objects, &why))
}
