//! Secrets.

use kubewright_machinery::base64::{self, Encoding};
use serde_json::{Value, json};

use crate::{
    json,
    kinds::{
        edit::{section, set_text},
        faults::Faults,
        keyed_data::{MOST, bytes, fixed, keys},
        kind::{BuiltInKind, Change, Selectable, Warnings},
        located::Located,
    },
    strategy::{Passes, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            passes: Passes::UPDATE_THEN_VALIDATE,
            ..Rules::default()
        },
        distinguishes_empty: &["data"],
        decoded,
        defaults: &[("core.v1.Secret", |secret| set_text(secret, "type", "Opaque"))],
        validate,
        validate_update,
        warnings,
        selectable: const { &[Selectable::new("type", "/type")] },
        cells: |row| vec![row.name(), row.text("type"), json!(row.get("data").len()), row.age()],
        ..BuiltInKind::default()
    }
}

/// Merges `stringData` into `data`.
fn decoded(object: &mut Value) {
    let Some(fields) = object.as_object_mut() else { return };
    let Some(Value::Object(texts)) = fields.remove("stringData") else {
        return;
    };
    if texts.is_empty() {
        return;
    }
    let Some(data) = section(object, "data") else { return };
    for (key, text) in texts {
        let bytes = text.as_str().unwrap_or_default().as_bytes();
        data.insert(key, json!(base64::encode(bytes, Encoding::Standard)));
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let data = at.get("data");
    let mut size = 0;
    for (key, value) in data.entries() {
        keys(key, &value, faults);
        size += bytes(&value).len();
    }
    if size > MOST {
        faults.too_long(&data, MOST);
    }
    let key = |name: &str| {
        let found = data.get(name);
        let path = format!("data[{name}]");
        found.called(&path)
    };
    let mut required = |names: &[&str]| {
        for name in names.iter().filter(|name| !data.get(name).is_set()) {
            faults.required(&key(name), "");
        }
    };
    match at.get("type").str() {
        "kubernetes.io/service-account-token" => {
            let name = at.at("metadata.annotations").get("kubernetes.io/service-account.name");
            if name.str().is_empty() {
                faults.required(
                    &name.called("metadata.annotations[kubernetes.io/service-account.name]"),
                    "",
                );
            }
        }
        "kubernetes.io/dockercfg" => docker(&key(".dockercfg"), faults),
        "kubernetes.io/dockerconfigjson" => docker(&key(".dockerconfigjson"), faults),
        "kubernetes.io/basic-auth" if !data.get("username").is_set() && !data.get("password").is_set() => {
            required(&["username", "password"]);
        }
        "kubernetes.io/ssh-auth" if data.get("ssh-privatekey").str().is_empty() => {
            faults.required(&key("ssh-privatekey"), "");
        }
        "kubernetes.io/tls" => required(&["tls.crt", "tls.key"]),
        _ => {}
    }
}

fn docker(at: &Located<'_>, faults: &mut Faults) {
    if !at.is_set() {
        return faults.required(at, "");
    }
    let detail = match json::read(&bytes(at)) {
        Ok((Value::Object(_) | Value::Null, _)) => return,
        Ok((value, _)) => json::mismatch(&value, "value of type map[string]interface {}"),
        Err(why) => why,
    };
    faults.invalid_as(at, "\"<secret contents redacted>\"", &detail);
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    faults.immutable(&new.get("type"), &old.get("type"));
    fixed(new, old, &["data"], faults);
    validate(new, faults);
}

/// Warns about a key or a certificate that is not PEM.
fn warnings(Change { new: at, .. }: Change<'_, '_>) -> Warnings {
    let has_block = |name: &str| {
        let bytes = base64::decode(at.get("data").get(name).str(), Encoding::Standard).unwrap_or_default();
        String::from_utf8_lossy(&bytes).contains("-----BEGIN ")
    };
    let missing = [("tls.crt", "certificate"), ("tls.key", "key")];
    let missing = missing.into_iter().find(|(name, _)| !has_block(name));
    match missing {
        Some((_, what)) if at.get("type").str() == "kubernetes.io/tls" => {
            vec![format!("tls: failed to find any PEM data in {what} input")]
        }
        _ => Vec::new(),
    }
}
