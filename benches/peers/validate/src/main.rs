//! `validate CRD.json OBJECT.json`: how often per second the schema of the CRD's first version validates the object.

use kubewright_schema::value::Structural;
use serde_json::Value;
use std::time::{Duration, Instant};

fn read(at: usize) -> Value {
    let path = std::env::args().nth(at).expect("validate CRD.json OBJECT.json");
    serde_json::from_str(&std::fs::read_to_string(&path).expect(&path)).expect(&path)
}

fn main() {
    let (crd, object) = (read(1), read(2));
    let schema = Structural::compile(&crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]);
    assert!(schema.validate(&object).is_empty(), "{:?}", schema.validate(&object));
    let (began, mut count) = (Instant::now(), 0u32);
    while began.elapsed() < Duration::from_secs(2) {
        for _ in 0..100 {
            assert!(std::hint::black_box(schema.validate(&object)).is_empty());
        }
        count += 100;
    }
    println!("{:.0}", f64::from(count) / began.elapsed().as_secs_f64());
}
