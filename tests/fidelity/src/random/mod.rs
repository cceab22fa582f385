//! Random programs from a seed: few names, so that requests concern the same objects; every verb and patch format; some
//! invalid bodies.

mod builtin;
mod grown;
mod shapes;
pub mod valid;
mod values;

use fastrand::Rng;
use serde_json::{Value, json};

use crate::{Program, Step};

use self::shapes::Kind;

/// The minimum number of requests in a program, and the maximum number of further ones.
const STEPS: std::ops::Range<usize> = 4..14;

/// The names of objects.
const NAMES: [&str; 3] = ["a", "b", "c"];

/// The content type of an apply.
const APPLY: &str = "application/apply-patch+yaml";

/// The header `Accept` of kubectl's lists.
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// The program of a seed; the same in every build.
pub fn program(seed: u64) -> Program {
    let mut rng = Rng::with_seed(seed);
    // Drawn apart, so that a seed whose kind has one version makes the same requests as before there were several.
    let mut apart = Rng::with_seed(!seed);
    let kind = shapes::any(&mut rng).in_versions(&mut apart);
    let mut steps = kind.preparation();
    steps.push(get(kind.path.clone()));
    for _ in 0..rng.usize(STEPS) {
        steps.extend(requests(&mut rng, kind.in_one(&mut apart)));
    }
    steps.iter_mut().for_each(|step| empty_metadata(&mut apart, step));
    steps.extend(kind.other_versions().map(|version| get(version.path.clone())));
    steps.push(Step {
        accept: rng.bool().then(|| TABLE.to_owned()),
        ..get(kind.path.clone())
    });
    // A watch from revision 0 begins with the existing objects; one from the first list has every change.
    let since = rng.choice(["0", "${list:/metadata/resourceVersion}"]).unwrap_or("0");
    steps.push(watch(format!("{}?resourceVersion={since}&timeoutSeconds=1", kind.path)));
    Program {
        name: format!("seed {seed}: {}", kind.name),
        steps,
        after: kind.tidying(),
    }
}

fn get(path: String) -> Step {
    Step {
        r#do: format!("GET {path}"),
        ..Step::default()
    }
}

/// Now and then adds an empty map or list to the metadata of a body. Not to those of applies: the ledger has a row for them.
fn empty_metadata(rng: &mut Rng, step: &mut Step) {
    if step.r#as.as_deref() == Some(APPLY) {
        return;
    }
    let metadata = step
        .body
        .as_mut()
        .and_then(|body| body.get_mut("metadata")?.as_object_mut());
    let Some(metadata) = metadata.filter(|_| rng.u8(..8) == 0) else {
        return;
    };
    let empties = [
        ("annotations", json!({})),
        ("labels", json!({})),
        ("finalizers", json!([])),
        ("ownerReferences", json!([])),
    ];
    for (field, empty) in empties {
        if rng.bool() {
            metadata.entry(field).or_insert(empty);
        }
    }
}

fn watch(path: String) -> Step {
    Step {
        r#do: format!("WATCH {path}&watch=true"),
        ..Step::default()
    }
}

fn requests(rng: &mut Rng, kind: &Kind) -> Vec<Step> {
    let object = format!("{}/{}", kind.path, rng.choice(NAMES).unwrap_or("a"));
    let subresource = if kind.status && rng.u8(..4) == 0 { "/status" } else { "" };
    let target = format!("{object}{subresource}");
    match rng.u8(..20) {
        0..5 => vec![send(
            "POST",
            kind.path.clone() + &query(rng),
            kind.object(rng, name(&object)),
            None,
        )],
        5..8 => {
            let mut body = kind.object(rng, name(&object));
            if rng.u8(..4) > 0 {
                body["metadata"]["resourceVersion"] = "${last:/metadata/resourceVersion}".into();
            }
            vec![get(object.clone()), send("PUT", target + &query(rng), body, None)]
        }
        8..12 => vec![apply(rng, kind, &object, subresource)],
        12 | 13 => {
            let patch = kind.part(rng);
            vec![send(
                "PATCH",
                target + &query(rng),
                patch,
                Some("application/merge-patch+json"),
            )]
        }
        14 => {
            let patch = kind.part(rng);
            vec![send(
                "PATCH",
                target + &query(rng),
                patch,
                Some("application/strategic-merge-patch+json"),
            )]
        }
        15 => vec![send(
            "PATCH",
            target,
            json_patch(rng, kind),
            Some("application/json-patch+json"),
        )],
        16 => vec![send("DELETE", object, delete_options(rng), None)],
        17 => vec![send("PATCH", object, labels(rng), Some("application/merge-patch+json"))],
        18 => vec![get(target)],
        _ => vec![get(format!(
            "{}?labelSelector={}",
            kind.path,
            rng.choice(["l=1", "l!=1", "l in (1,2)", "!l"])
                .unwrap_or("l")
                .replace(' ', "%20")
        ))],
    }
}

fn name(object: &str) -> &str {
    object.rsplit('/').next().unwrap_or(object)
}

fn send(method: &str, path: String, body: Value, content_type: Option<&str>) -> Step {
    Step {
        r#do: format!("{method} {path}"),
        r#as: content_type.map(str::to_owned),
        body: Some(body),
        ..Step::default()
    }
}

fn query(rng: &mut Rng) -> String {
    let options = [
        "",
        "",
        "",
        "?fieldValidation=Strict",
        "?dryRun=All",
        "?fieldManager=tool",
        "?fieldValidation=Ignore",
    ];
    rng.choice(options).unwrap_or_default().to_owned()
}

fn apply(rng: &mut Rng, kind: &Kind, object: &str, subresource: &str) -> Step {
    let manager = rng.choice(["one", "two", "three"]).unwrap_or("one");
    let force = if rng.u8(..3) == 0 { "&force=true" } else { "" };
    let mut body = kind.object(rng, name(object));
    if rng.bool() {
        values::thin(rng, &mut body);
    }
    let path = format!("{object}{subresource}?fieldManager={manager}{force}");
    send("PATCH", path, body, Some(APPLY))
}

fn delete_options(rng: &mut Rng) -> Value {
    let policy = rng
        .choice(["Background", "Foreground", "Orphan"])
        .unwrap_or("Background");
    json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy})
}

fn labels(rng: &mut Rng) -> Value {
    let value = rng.choice([json!("1"), json!("2"), json!(null), json!("no label!"), json!(3)]);
    let finalizers = rng.choice([json!(["example.com/hold"]), json!([]), json!(null), json!(["hold"])]);
    if rng.u8(..3) == 0 {
        return json!({"metadata": {"finalizers": finalizers}});
    }
    json!({"metadata": {"labels": {"l": value}}})
}

fn json_patch(rng: &mut Rng, kind: &Kind) -> Value {
    let part = kind.part(rng);
    let operations = ["add", "replace", "remove", "test", "copy", "move"];
    let mut patch = Vec::new();
    for pointer in values::pointers(rng, &part).into_iter().take(3) {
        let operation = rng.choice(operations).unwrap_or("add");
        let value = part.pointer(&pointer).cloned().unwrap_or_default();
        patch.push(json!({"op": operation, "path": pointer, "from": "/metadata/labels", "value": value}));
    }
    patch.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_program_and_seeds_differ() {
        assert_eq!(program(7), program(7));
        assert_ne!(program(7).steps, program(8).steps);
    }
}
