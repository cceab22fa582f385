//! Makes up objects for a schema, with values at the edges of Rust's types. They fit its types, limits and patterns, and have the fields of one
//! variant of an enum, or one member of a union; other rules and branches are left to chance.

mod dice;
pub(crate) mod edges;
mod required;
mod text;

use serde_json::{Map, Value, json};

pub use self::{dice::Dice, required::Required};
use crate::unions::{self, Member};
use crate::value::Structural;

/// Names in maps.
const NAMES: [&str; 4] = ["a", "b", "app.kubernetes.io/name", "c-d"];

/// The objects that can be made of a schema. The same [`Dice`] make the same objects.
#[derive(Debug)]
pub struct Examples(Made);

/// The values that can be made of a part of a schema.
#[derive(Debug)]
enum Made {
    /// One of these.
    Leaf(Vec<Value>),
    Object {
        /// Names, whether they are required, and their values.
        fields: Vec<(String, bool, Made)>,
        /// The required fields of each variant, of which an object has one.
        variants: Vec<Vec<String>>,
        /// The members of unions, which the values of discriminators name.
        members: Vec<Member>,
        /// The values of other names.
        others: Option<Box<Made>>,
    },
    List {
        items: Box<Made>,
        least: usize,
        most: usize,
    },
}

/// The values to try in a field.
type Values = fn(&Value) -> Vec<Value>;

impl Examples {
    /// With values at the edges of types, in forms that types may write in another way. The schema is one of whole objects; the objects have all but
    /// what every object has.
    pub fn at_edges(schema: &Value) -> Self {
        Self::of(schema, edges::of_schema)
    }

    /// With values that types write as they read them.
    pub fn typical(schema: &Value) -> Self {
        Self::of(schema, edges::typical_of)
    }

    fn of(schema: &Value, values: Values) -> Self {
        let mut schema = schema.clone();
        if let Some(properties) = schema["properties"].as_object_mut() {
            properties.retain(|name, _| !["apiVersion", "kind", "metadata"].contains(&name.as_str()));
            // kube's types need a spec, also where the schema of a kind taken over from others does not.
            if properties.contains_key("spec") {
                schema["required"] = json!(["spec"]);
            }
        }
        Self(Made::of(&schema, values))
    }

    /// An object; `None` if a required value cannot be made, such as a text for an unusual pattern.
    pub fn object(&self, dice: &mut Dice) -> Option<Value> {
        self.0.value(dice, 0)
    }
}

/// The number of values in a value, with those inside lists and objects.
pub fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

impl Made {
    fn of(schema: &Value, values: Values) -> Self {
        let has = |keyword: &str| schema.get(keyword).is_some();
        let is_free = schema["x-kubernetes-preserve-unknown-fields"] == true && !has("properties");
        match schema["type"].as_str() {
            Some("object") if is_free => {
                Self::Leaf(vec![json!({}), json!({"a": 1}), json!({"b": {"c": [1, "x", {}]}})])
            }
            Some("object") => Self::object(schema, values),
            Some("array") => Self::list(schema, values),
            None if is_free => Self::Leaf(vec![json!({"a": 1}), json!("a"), json!(1), json!([])]),
            _ => Self::leaf(schema, values(schema)),
        }
    }

    /// The valid values.
    fn leaf(schema: &Value, values: Vec<Value>) -> Self {
        const SILENT: [&str; 3] = ["type", "description", "default"];
        let mut keywords = schema.as_object().into_iter().flat_map(Map::keys);
        if keywords.all(|keyword| SILENT.contains(&keyword.as_str())) {
            return Self::Leaf(values);
        }
        let checked = Structural::compile(&json!({"type": "object", "properties": {"value": schema}}));
        let valid = |value: &Value| checked.validate(&json!({"value": value})).is_empty();
        Self::Leaf(values.into_iter().filter(valid).collect())
    }

    fn object(schema: &Value, values: Values) -> Self {
        let required = schema["required"].as_array();
        let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
        let fields = schema["properties"].as_object().into_iter().flatten();
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        Self::Object {
            fields: fields
                .map(|(name, schema)| (name.clone(), is_required(name), Self::of(schema, values)))
                .collect(),
            variants: variants(&schema["oneOf"]),
            members: unions::members(schema),
            others: others.map(|others| Box::new(Self::of(others, values))),
        }
    }

    fn list(schema: &Value, values: Values) -> Self {
        let number = |keyword: &str| schema[keyword].as_u64().and_then(|it| usize::try_from(it).ok());
        let least = number("minItems").unwrap_or_default();
        Self::List {
            items: Box::new(Self::of(&schema["items"], values)),
            least,
            most: number("maxItems").unwrap_or(usize::MAX).min(least + 3),
        }
    }

    /// A value; `None` if a required one cannot be made. Below this depth there are fewer optional fields and items, so that the size of an object
    /// is bounded.
    fn value(&self, dice: &mut Dice, depth: usize) -> Option<Value> {
        const DEEP: usize = 6;
        match self {
            Self::Leaf(values) if values.is_empty() => None,
            Self::Leaf(values) => Some(values[dice.below(values.len())].clone()),
            Self::List { items, least, most } => {
                let most = if depth < DEEP { *most } else { (*most).min(least + 1) };
                let length = least + dice.below(most.saturating_sub(*least) + 1);
                (0..length)
                    .map(|_| items.value(dice, depth + 1))
                    .collect::<Option<Vec<_>>>()
                    .map(Value::Array)
            }
            Self::Object {
                fields,
                variants,
                members,
                others,
            } => {
                let mut object = Map::new();
                let chosen = (!variants.is_empty()).then(|| &variants[dice.below(variants.len())]);
                let is_chosen = |name| chosen.is_some_and(|chosen| chosen.contains(name));
                let is_of_another = |name| variants.iter().any(|variant| variant.contains(name));
                // No optional field, half of them, or all; deep inside an eighth.
                let (density, of) = if depth < DEEP { (dice.below(3), 2) } else { (1, 8) };
                for (name, required, made) in fields {
                    let required = *required || is_chosen(name);
                    if !required && (is_of_another(name) || dice.below(of) >= density) {
                        continue;
                    }
                    match made.value(dice, depth + 1) {
                        Some(value) => _ = object.insert(name.clone(), value),
                        None if required => return None,
                        None => {}
                    }
                }
                unions::settle(members, &mut object, None, |field| {
                    let (_, _, made) = fields.iter().find(|(name, ..)| name == field)?;
                    made.value(dice, depth + 1)
                })?;
                if let Some(made) = others {
                    let names = dice.below(NAMES.len());
                    for name in &NAMES[..names] {
                        object.insert((*name).to_owned(), made.value(dice, depth + 1)?);
                    }
                }
                Some(Value::Object(object))
            }
        }
    }
}

/// The required fields of each branch; none unless every branch has some.
fn variants(branches: &Value) -> Vec<Vec<String>> {
    let names = |branch: &Value| -> Option<Vec<String>> {
        let names = branch["required"].as_array()?.iter();
        names.map(|name| name.as_str().map(str::to_owned)).collect()
    };
    let branches = branches.as_array().into_iter().flatten();
    branches.map(names).collect::<Option<_>>().unwrap_or_default()
}
