//! CertificateApproval, CertificateSigning, ClusterTrustBundleAttest and CertificateSubjectRestriction: who may approve and sign
//! requests for a signer and attest its bundles, and which subjects are forbidden in certificates of API clients.

use kubewright_machinery::{
    Cause,
    base64::{self, Encoding},
    time,
};
use serde_json::Value;

use super::{Attributes, Objects, Operation};
use crate::{
    authorize::{self, changes_references_only},
    kinds::certificates,
    state::Core,
    status::{Status, Subject},
    user::MASTERS,
};

const BUNDLES: Subject<'static> = Subject::new("certificates.k8s.io", "clustertrustbundles");
const POD_REQUESTS: Subject<'static> = Subject::new("certificates.k8s.io", "podcertificaterequests");
/// The seconds around the present in which the validity of a Pod's certificate begins.
const SKEW: i64 = 300;
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
/// 403 if the user may not attest bundles of the signer.
pub(super) fn attest(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    let Some(new) = objects.new.as_deref().filter(|_| attributes.is_about(BUNDLES)) else {
        return Ok(());
    };
    let is_free = objects.old.is_some_and(|old| changes_references_only(new, old));
    if is_free || signer(new).is_empty() || is_allowed(core, attributes, "attest", signer(new)) {
        return Ok(());
    }
    let why = format!("user not permitted to attest for signerName \"{}\"", signer(new));
    Err(attributes.forbid(objects, &why))
}

/// Upstream's storage checks this at the end of validation.
///
/// # Errors
/// 422 if the certificate of a Pod is not new, or if the user may not sign requests for the signer.
pub(super) fn pod_signing(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    let call = attributes.call;
    let (Some(new), Some(old)) = (objects.new.as_deref(), objects.old) else {
        return Ok(());
    };
    let is_status = call.subject() == POD_REQUESTS && call.subresource == "status";
    if !is_status || new.get("status") == old.get("status") {
        return Ok(());
    }
    let refuse = |reason: &'static str, field: &str, message: String| {
        let field = field.to_owned();
        let cause = Cause { reason, field, message };
        let kind = Subject::new(POD_REQUESTS.group, &call.resource.names.kind);
        Err(Status::invalid(kind, objects.name(), &[cause]))
    };
    let begin = new.pointer("/status/notBefore").and_then(Value::as_str);
    if let Some(begin) = begin
        && time::seconds(begin).is_some_and(|time| (core.now() - time).abs() >= SKEW)
    {
        let why = "must be set to within 5 minutes of kube-apiserver's current time";
        let message = format!("Invalid value: \"{begin}\": {why}");
        return refuse("FieldValueInvalid", "status.notBefore", message);
    }
    if is_allowed(core, attributes, "sign", signer(old)) {
        return Ok(());
    }
    let user = &call.user.name;
    let message = format!(
        "Forbidden: User \"{user}\" is not permitted to \"sign\" for signer \"{}\"",
        signer(old)
    );
    refuse("FieldValueForbidden", "spec.signerName", message)
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

/// Checks that the user has the verb for the signer.
fn may(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>, verb: &str) -> Result<(), Status> {
    let signer = objects.old.map(signer).unwrap_or_default();
    if is_allowed(core, attributes, verb, signer) {
        return Ok(());
    }
    let why = format!("user not permitted to {verb} requests with signerName \"{signer}\"");
    Err(attributes.forbid(objects, &why))
}

/// Whether the user has the verb for the signer, or for all signers of its domain.
fn is_allowed(core: &Core, attributes: &Attributes<'_>, verb: &str, signer: &str) -> bool {
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
    is_allowed(signer.to_owned()) || is_allowed(format!("{domain}/*"))
}
