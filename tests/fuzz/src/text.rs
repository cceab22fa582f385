//! JSON and YAML, read and written.

use kubewright_apiserver::testing::{json, yaml as reader};
use kubewright_schema::yaml;
use serde_json::Value;

/// Documents are read or refused, and what is written as YAML reads back as it was, by the rules of 1.1 and as JSON.
pub fn text(bytes: &[u8]) {
    if let Ok((value, _)) = reader::read(bytes) {
        round_trip(&value);
    }
    let Ok((value, _)) = json::read(bytes) else {
        // Go replaces what is no text; who does not is stricter.
        return assert!(
            serde_json::from_slice::<Value>(bytes).is_err()
                || json::read(bytes).is_err_and(|why| why.contains("depth")),
            "sound JSON is refused: {:?}",
            json::read(bytes)
        );
    };
    round_trip(&value);
    let written = value.to_string();
    let (again, twice) = json::read(written.as_bytes()).expect("what was written can be read");
    assert_eq!((again, twice), (value, Vec::new()), "{written}");
}

fn round_trip(value: &Value) {
    let written = yaml::to_string(value);
    let (again, twice) = reader::read(written.as_bytes()).unwrap_or_else(|why| panic!("{why}: {written}"));
    assert_eq!(&again, value, "{written}");
    assert_eq!(twice, Vec::<String>::new(), "{written}");
}
