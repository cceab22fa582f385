//! Probes and hooks of containers.

use crate::kinds::{faults::Faults, format::header, located::Located, pod::context::PodContext};

pub(in crate::kinds) fn life(container: &Located<'_>, around: &PodContext<'_>, faults: &mut Faults) {
    for name in ["postStart", "preStop"] {
        let hook = container.get("lifecycle").get(name);
        if hook.is_set() {
            handler(&hook, around, faults);
        }
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let at = container.get(name);
        if at.is_set() {
            probe(&at, around, faults);
            let (success, grace) = (at.get("successThreshold"), at.get("terminationGracePeriodSeconds"));
            if name != "readinessProbe" && success.int() != 1 {
                faults.invalid(&success, "must be 1");
            }
            if name == "readinessProbe" && grace.is_set() {
                faults.invalid(&grace, "must not be set for readinessProbes");
            }
        }
    }
}

fn probe(at: &Located<'_>, around: &PodContext<'_>, faults: &mut Faults) {
    handler(at, around, faults);
    for name in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        faults.not_negative(&at.get(name));
    }
    let grace = at.get("terminationGracePeriodSeconds");
    if grace.is_set() && grace.int() <= 0 {
        faults.invalid(&grace, "must be greater than 0");
    }
}

fn handler(at: &Located<'_>, around: &PodContext<'_>, faults: &mut Faults) {
    let mut count = 0;
    for name in ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] {
        let action = at.get(name);
        if !action.is_set() {
            continue;
        }
        count += 1;
        if count > 1 {
            faults.forbidden(&action, "may not specify more than 1 handler type");
            continue;
        }
        match name {
            "exec" if action.get("command").len() == 0 => faults.required(&action.get("command"), ""),
            "exec" => {}
            "httpGet" => http_get(&action, faults),
            "sleep" => sleep(&action, around, faults),
            _ => faults.port_or_name(&action.get("port")),
        }
    }
    if count == 0 {
        faults.required(at, "must specify a handler type");
    }
}

fn http_get(action: &Located<'_>, faults: &mut Faults) {
    if action.get("path").str().is_empty() {
        faults.required(&action.get("path"), "");
    }
    faults.port_or_name(&action.get("port"));
    faults.one_of(&action.get("scheme"), &["HTTP", "HTTPS"]);
    for entry in action.get("httpHeaders").items() {
        for sentence in header(entry.get("name").str()) {
            faults.invalid(
                &entry.get("name").called(&format!("{}.httpHeaders", action.path)),
                &sentence,
            );
        }
    }
}

fn sleep(action: &Located<'_>, around: &PodContext<'_>, faults: &mut Faults) {
    let seconds = action.get("seconds").int();
    let most = around.grace_seconds;
    if !(0..=most).contains(&seconds) {
        let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({most})");
        faults.invalid(
            &Located {
                value: action.get("seconds").value,
                path: action.path.clone(),
            },
            &detail,
        );
    }
}
