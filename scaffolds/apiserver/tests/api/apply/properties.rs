//! Properties that hold for every sequence of writes, tested without a real server.

use kubewright_apiserver::testing::apply::{Error, Schema, Writer, apply, keep_times, update};
use serde_json::{Map, Value, json};

use super::{dice::Dice, widget};

const VERSION: &str = "apply.kubewright.dev/v1";

fn writer<'a>(schema: &'a Schema, manager: &'a str, now: &'a str) -> Writer<'a> {
    let versions = &|_: &str| None;
    Writer {
        manager,
        api_version: VERSION,
        kind: "Widget",
        subresource: "",
        now,
        reset: &["status"],
        schema,
        versions,
        convert: None,
    }
}

fn object(dice: &mut Dice) -> Value {
    let mut metadata = widget::metadata(dice);
    metadata["name"] = json!("it");
    json!({"apiVersion": VERSION, "kind": "Widget", "metadata": metadata, "spec": widget::spec(dice)})
}

/// Applies random writes; returns the resulting object.
fn live(dice: &mut Dice, schema: &Schema) -> Option<Value> {
    written(dice, schema, object)
}

fn written(dice: &mut Dice, schema: &Schema, object: impl Fn(&mut Dice) -> Value) -> Option<Value> {
    let mut live: Option<Value> = None;
    for second in 0..dice.roll(6) {
        let now = format!("2026-01-01T00:00:{second:02}Z");
        let writer = writer(schema, dice.pick(&["one", "two", "three"]), &now);
        let body = object(dice);
        if dice.chance(60) {
            live = apply(live.as_ref(), &body, true, &writer).ok().or(live);
        } else {
            let mut new = body;
            update(live.as_ref(), &mut new, &writer);
            live = Some(new);
        }
    }
    live
}

#[test]
fn applying_the_same_configuration_again_changes_nothing() {
    let schema = Schema::custom(&widget::schema());
    for seed in 0..300 {
        let mut dice = Dice::new(seed);
        let before = live(&mut dice, &schema);
        let body = object(&mut dice);
        let Ok(first) = apply(
            before.as_ref(),
            &body,
            true,
            &writer(&schema, "me", "2026-01-02T00:00:00Z"),
        ) else {
            continue;
        };
        let mut second = apply(
            Some(&first),
            &body,
            false,
            &writer(&schema, "me", "2026-01-03T00:00:00Z"),
        )
        .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        keep_times(&first, &mut second);
        assert_eq!(second, first, "seed {seed}: {body}");
    }
}

#[test]
fn a_forced_apply_never_conflicts_and_others_conflict_only_over_others_fields() {
    let schema = Schema::custom(&widget::schema());
    let mut conflicts = 0;
    for seed in 0..300 {
        let mut dice = Dice::new(seed);
        let before = live(&mut dice, &schema);
        let body = object(&mut dice);
        let writer = writer(&schema, "me", "2026-01-02T00:00:00Z");
        let forced = apply(before.as_ref(), &body, true, &writer);
        assert!(!matches!(forced, Err(Error::Conflict(_))), "seed {seed}");
        match apply(before.as_ref(), &body, false, &writer) {
            Err(Error::Conflict(found)) => {
                conflicts += 1;
                assert!(found.iter().all(|it| !it.message().contains("\"me\"")), "seed {seed}");
            }
            other => assert_eq!(other.ok(), forced.ok(), "seed {seed}"),
        }
    }
    assert!(conflicts > 30, "{conflicts}");
}

#[test]
fn no_manager_owns_an_absent_field() {
    let schema = Schema::custom(&widget::schema());
    for seed in 0..300 {
        let full = |dice: &mut Dice| without_empty(object(dice)).expect("a name at least");
        let Some(object) = written(&mut Dice::new(seed), &schema, full) else {
            continue;
        };
        for entry in object["metadata"]["managedFields"].as_array().into_iter().flatten() {
            if let Err(path) = exists(&entry["fieldsV1"], &object) {
                panic!("seed {seed}: {} owns {path} of {object}", entry["manager"]);
            }
        }
    }
}

fn exists(fields: &Value, value: &Value) -> Result<(), String> {
    for (key, below) in fields.as_object().into_iter().flatten().filter(|(key, _)| *key != ".") {
        let found = match key.split_at(2) {
            ("f:", name) => value.get(name),
            ("v:", item) => {
                let item: Value = serde_json::from_str(item).map_err(|err| err.to_string())?;
                find(value, |it| *it == item)
            }
            (_, keys) => {
                let keys: Map<String, Value> = serde_json::from_str(keys).map_err(|err| err.to_string())?;
                find(value, |it| {
                    keys.iter()
                        .all(|(name, key)| it.get(name).unwrap_or(&json!("TCP")) == key)
                })
            }
        };
        let found = found.ok_or_else(|| key.clone())?;
        exists(below, found).map_err(|path| format!("{key} {path}"))?;
    }
    Ok(())
}

fn find(list: &Value, is: impl Fn(&Value) -> bool) -> Option<&Value> {
    list.as_array()?.iter().find(|it| is(it))
}

/// Removes empty values: nobody owns empty lists, and a map that loses all its owned members is removed with them, so
/// its owner would own an absent field.
fn without_empty(value: Value) -> Option<Value> {
    match value {
        Value::Object(members) => {
            let kept = members
                .into_iter()
                .filter_map(|(name, it)| Some((name, without_empty(it)?)));
            Some(Value::Object(kept.collect())).filter(|it| *it != json!({}))
        }
        Value::Array(items) => {
            Some(Value::Array(items.into_iter().filter_map(without_empty).collect())).filter(|it| *it != json!([]))
        }
        other => Some(other),
    }
}

/// Any JSON value.
fn anything(dice: &mut Dice, depth: usize) -> Value {
    const KEYS: [&str; 12] = [
        "spec",
        "metadata",
        "managedFields",
        "ports",
        "port",
        "f:spec",
        "k:{\"port\":1}",
        "v:1",
        "i:-1",
        ".",
        "name",
        "é",
    ];
    match dice.roll(if depth == 0 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => json!(dice.chance(50)),
        2 => json!(dice.pick(&[&json!(0), &json!(-1), &json!(1e300), &json!(u64::MAX), &json!(1.5)])),
        3 | 4 => json!(dice.pick(&["", "x", "Apply", "Update", "FieldsV1", "v1", "é/ü", VERSION, "Widget"])),
        5 => (0..dice.roll(4)).map(|_| anything(dice, depth - 1)).collect(),
        _ => Value::Object(
            (0..dice.roll(5))
                .map(|_| (dice.pick(&KEYS).to_owned(), anything(dice, depth - 1)))
                .collect(),
        ),
    }
}

#[test]
fn no_input_causes_a_panic() {
    let custom = Schema::custom(&widget::schema());
    for seed in 0..3_000 {
        let mut dice = Dice::new(seed);
        let schema = if dice.chance(20) {
            Schema::custom(&anything(&mut dice, 5))
        } else {
            Schema::deduced()
        };
        let schema = if dice.chance(50) { &custom } else { &schema };
        let writer = writer(schema, dice.pick(&["", "kubectl", "x"]), "2026-01-02T00:00:00Z");
        let (mut old, mut new) = (anything(&mut dice, 5), anything(&mut dice, 5));
        for it in [&mut old, &mut new] {
            if dice.chance(80) {
                let entry = json!({"manager": "a", "operation": "Update", "apiVersion": VERSION,
                    "fieldsType": "FieldsV1", "fieldsV1": anything(&mut dice, 4)});
                let metadata = json!({"managedFields": [entry, anything(&mut dice, 2)], "annotations":
                    {"kubectl.kubernetes.io/last-applied-configuration": anything(&mut dice, 3).to_string()}});
                *it = json!({"apiVersion": VERSION, "kind": "Widget", "spec": it.clone(), "metadata": metadata});
            }
        }
        let _ = apply(Some(&old), &new, dice.chance(50), &writer);
        if let Some(metadata) = new.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        let _ = apply(Some(&old), &new, dice.chance(50), &writer);
        update(Some(&old), &mut new.clone(), &writer);
        update(None, &mut old, &writer);
    }
}

#[test]
fn values_deeper_than_any_request_are_refused() {
    let schema = Schema::deduced();
    let applied = |depth: usize| {
        let deep = (0..depth).fold(json!({}), |deep, _| json!({"a": deep}));
        let body = json!({"apiVersion": VERSION, "kind": "Widget", "spec": deep});
        apply(None, &body, true, &writer(&schema, "me", "2026-01-02T00:00:00Z"))
    };
    assert!(applied(290).is_ok());
    assert!(applied(400).is_err_and(|it| it.to_string().ends_with("exceeded max depth")));
}
