//! Makes up values for a schema. They fit its types, limits and patterns; rules and `oneOf` are left to chance.

use kubewright_schema::value::Structural;
use serde_json::{Map, Value, json};

use super::dice::Dice;

/// Texts among which most formats and many patterns find some.
const TEXTS: [&str; 34] = [
    "",
    "a",
    "b",
    "ab",
    "abc",
    "foo",
    "a-b",
    "x1",
    "A",
    "Red",
    "red",
    "a.b",
    "a/b",
    "a:1",
    "a:80",
    "1",
    "10",
    "1.5",
    "true",
    "1m",
    "30s",
    "100Mi",
    "v1",
    "example.com",
    "10.0.0.1",
    "10.0.0.0/8",
    "https://example.com/a",
    "a@example.com",
    "2026-01-02T03:04:05Z",
    "2026-01-02",
    "YQ==",
    "9a2f1c64-0d7e-4f3b-8a51-2b9d6c7e8f10",
    "é ü",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];
const NUMBERS: [i64; 16] = [
    0,
    1,
    -1,
    2,
    3,
    5,
    7,
    10,
    80,
    100,
    443,
    1_000,
    8_080,
    65_535,
    1 << 31,
    -7,
];
/// Names in maps.
const NAMES: [&str; 4] = ["a", "b", "app.kubernetes.io/name", "c-d"];

/// The ways to make values of a schema.
pub(super) enum Made {
    /// One of these.
    Leaf(Vec<Value>),
    Object {
        /// Names, whether they are required, and their values.
        fields: Vec<(String, bool, Made)>,
        /// The values of other names.
        others: Option<Box<Made>>,
    },
    List {
        items: Box<Made>,
        least: usize,
        most: usize,
    },
}

impl Made {
    /// Of the schema of whole objects: all but what every object has.
    pub(super) fn of_root(schema: &Value) -> Self {
        let mut schema = schema.clone();
        if let Some(properties) = schema["properties"].as_object_mut() {
            properties.retain(|name, _| !["apiVersion", "kind", "metadata"].contains(&name.as_str()));
        }
        Self::of(&schema)
    }

    fn of(schema: &Value) -> Self {
        let has = |keyword: &str| schema.get(keyword).is_some();
        let is_free = schema["x-kubernetes-preserve-unknown-fields"] == true && !has("properties");
        match schema["type"].as_str() {
            _ if has("enum") => Self::leaf(schema, schema["enum"].as_array().cloned().unwrap_or_default()),
            _ if schema["x-kubernetes-int-or-string"] == true => {
                Self::leaf(schema, vec![json!(0), json!(8_080), json!("50%"), json!("http")])
            }
            Some("object") if is_free => {
                Self::Leaf(vec![json!({}), json!({"a": 1}), json!({"b": {"c": [1, "x", {}]}})])
            }
            Some("object") => Self::object(schema),
            Some("array") => Self::list(schema),
            Some("boolean") => Self::leaf(schema, vec![json!(false), json!(true)]),
            Some("string") => Self::leaf(schema, texts(schema)),
            Some("integer") => Self::leaf(schema, numbers(schema)),
            Some("number") => {
                let fractions = [json!(0.5), json!(1.5), json!(-2.25)];
                Self::leaf(schema, numbers(schema).into_iter().chain(fractions).collect())
            }
            _ if is_free => Self::Leaf(vec![json!({"a": 1}), json!("a"), json!(1), json!([])]),
            _ => Self::Leaf(Vec::new()),
        }
    }

    /// Those of the values that are valid.
    fn leaf(schema: &Value, values: Vec<Value>) -> Self {
        let checked = Structural::compile(&json!({"type": "object", "properties": {"value": schema}}));
        let valid = |value: &Value| checked.validate(&json!({"value": value})).is_empty();
        Self::Leaf(values.into_iter().filter(valid).collect())
    }

    fn object(schema: &Value) -> Self {
        let required = schema["required"].as_array();
        let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
        let fields = schema["properties"].as_object().into_iter().flatten();
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        Self::Object {
            fields: fields
                .map(|(name, schema)| (name.clone(), is_required(name), Self::of(schema)))
                .collect(),
            others: others.map(|others| Box::new(Self::of(others))),
        }
    }

    fn list(schema: &Value) -> Self {
        let number = |keyword: &str| schema[keyword].as_u64().and_then(|it| usize::try_from(it).ok());
        let least = number("minItems").unwrap_or_default();
        Self::List {
            items: Box::new(Self::of(&schema["items"])),
            least,
            most: number("maxItems").unwrap_or(usize::MAX).min(least + 3),
        }
    }

    /// A value; `None` if a required one cannot be made.
    pub(super) fn value(&self, dice: &mut Dice) -> Option<Value> {
        match self {
            Self::Leaf(values) if values.is_empty() => None,
            Self::Leaf(values) => Some(values[dice.below(values.len())].clone()),
            Self::List { items, least, most } => {
                let length = least + dice.below(most.saturating_sub(*least) + 1);
                (0..length)
                    .map(|_| items.value(dice))
                    .collect::<Option<Vec<_>>>()
                    .map(Value::Array)
            }
            Self::Object { fields, others } => {
                let mut object = Map::new();
                // None, half, or all of the optional fields.
                let density = dice.below(3);
                for (name, required, made) in fields {
                    let chosen = *required || dice.below(2) < density;
                    match made.value(dice) {
                        Some(value) if chosen => _ = object.insert(name.clone(), value),
                        None if *required => return None,
                        _ => {}
                    }
                }
                if let Some(made) = others {
                    let names = dice.below(NAMES.len());
                    for name in &NAMES[..names] {
                        object.insert((*name).to_owned(), made.value(dice)?);
                    }
                }
                Some(Value::Object(object))
            }
        }
    }
}

fn texts(schema: &Value) -> Vec<Value> {
    let least = schema["minLength"].as_u64().and_then(|it| usize::try_from(it).ok());
    let long = least.map(|length| "a".repeat(length.min(10_000)));
    let texts = TEXTS.iter().map(|text| json!(text));
    texts.chain(long.map(Value::String)).collect()
}

fn numbers(schema: &Value) -> Vec<Value> {
    let limits = ["minimum", "maximum"].map(|keyword| schema[keyword].as_f64());
    // A limit of an integer is written as a number with a fraction at times.
    let limits = limits.into_iter().flatten().filter(|limit| limit.fract() == 0.0);
    let limits = limits.map(|limit| json!(limit as i64));
    let step = schema["multipleOf"].as_i64().unwrap_or(1);
    let multiples = NUMBERS.iter().map(|number| json!(number.saturating_mul(step)));
    multiples.chain(limits).collect()
}
