//! Whether what a mutation builds fits the schema of the kind. A server does not know that schema when it compiles the expression: it
//! refuses each request from then on, or drops the fields.

use super::admitted::{is_open, metadata};
use super::policy::{Expression, Policy};
use super::program::Program;
use crate::ast::{Expr, Kind, Literal, Slot, op};
use crate::types::{JSON_PATCH, OBJECT, Type};
use serde_json::Value;

impl Policy {
    /// Checks what an expression builds, if it is a mutation and the policy is [typed](Self::typed): fields that the schema does not
    /// have, values of other types, and lists and maps that an apply configuration cannot set, because they can only be replaced as a
    /// whole. Paths of JSON patches are checked as far as they are constant.
    ///
    /// # Errors
    /// The first of them.
    pub fn fits(&self, expression: &Expression) -> Result<(), String> {
        let Some(schema) = &self.schema else { return Ok(()) };
        let metadata = &metadata();
        let fit = Fit {
            schema,
            metadata,
            program: &expression.program,
        };
        let mut wrong = Ok(());
        fit.program.expr.walk(&mut |expr| {
            if let (Kind::Struct(name, slots), Ok(())) = (&expr.kind, &wrong) {
                wrong = match name.trim_start_matches('.') {
                    JSON_PATCH => fit.operation(slots),
                    name => fit.object(name, slots),
                };
            }
        });
        wrong
    }
}

struct Fit<'s> {
    schema: &'s Value,
    /// The schema of ObjectMeta, which CRDs leave out.
    metadata: &'s Value,
    program: &'s Program,
}

/// The schema of a place in an object.
enum Place<'s> {
    /// There is a value of this schema.
    Known(&'s Value),
    /// There may be any value.
    Open,
    /// The schema has no such field.
    Nowhere,
}

impl<'s> Fit<'s> {
    /// `Object.spec{field: value}`.
    fn object(&self, name: &str, slots: &[Slot]) -> Result<(), String> {
        let steps = name.strip_prefix(OBJECT).unwrap_or_default().split('.').skip(1);
        let steps: Vec<&str> = steps.collect();
        for slot in slots {
            let path: Vec<&str> = steps.iter().copied().chain([slot.field.as_str()]).collect();
            let shown = format!(".{}", path.join("."));
            match self.place(&path, false) {
                Place::Nowhere => return Err(format!("undefined field '{}': `{name}` has none", slot.field)),
                Place::Open => {}
                Place::Known(schema) => {
                    self.value(schema, slot, &shown)?;
                    if path[0] != "metadata" {
                        replaced(schema, &shown)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// `JSONPatch{op: 'add', path: '/spec/field', value: value}`.
    fn operation(&self, slots: &[Slot]) -> Result<(), String> {
        for slot in slots
            .iter()
            .filter(|slot| ["path", "from"].contains(&slot.field.as_str()))
        {
            let (text, is_whole) = beginning(&slot.value);
            let mut steps: Vec<String> = text.split('/').skip(1).map(unescaped).collect();
            if !is_whole {
                // The last step goes on.
                steps.pop();
            }
            let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
            let value = slots.iter().find(|other| other.field == "value");
            match self.place(&steps, true) {
                Place::Nowhere => return Err(format!("undefined path '{text}': the schema has no such field")),
                Place::Known(schema) if is_whole && slot.field == "path" => {
                    value.map_or(Ok(()), |value| self.value(schema, value, &text))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The place at a path. Steps into lists are left out, as in names of types, or indices, as in JSON pointers.
    fn place(&self, steps: &[&str], indexed: bool) -> Place<'s> {
        let mut at = self.schema;
        for (depth, step) in steps.iter().enumerate() {
            while at["type"] == "array" && !indexed {
                at = &at["items"];
            }
            if is_open(at) {
                return Place::Open;
            }
            let below = match (depth, *step) {
                (0, "metadata") => Some(self.metadata),
                (0, "apiVersion" | "kind") => return Place::Open,
                _ if at["type"] == "array" => Some(&at["items"]),
                (_, step) => {
                    let others = || at.get("additionalProperties").filter(|it| it.is_object());
                    at["properties"].get(step).or_else(others)
                }
            };
            match below {
                Some(below) => at = below,
                None => return Place::Nowhere,
            }
        }
        if is_open(at) { Place::Open } else { Place::Known(at) }
    }

    /// Whether the type of a value matches the schema.
    fn value(&self, schema: &Value, slot: &Slot, shown: &str) -> Result<(), String> {
        let given = self.program.checked.of(&slot.value);
        let given = match slot.optional {
            true => given.unwrapped().unwrap_or(&Type::Dyn),
            false => given,
        };
        let wanted = schema["type"].as_str().unwrap_or_default();
        let is_number = matches!(given, Type::Int | Type::Double);
        let fits = match (wanted, given) {
            (_, Type::Dyn | Type::Error | Type::Opaque(..) | Type::Var(_) | Type::Param(_)) => true,
            ("string", _) => *given == Type::String,
            ("integer" | "number", _) => is_number,
            ("boolean", _) => *given == Type::Bool,
            ("array", _) => matches!(given, Type::List(_)),
            ("object", _) => matches!(given, Type::Map(_) | Type::Built(_) | Type::Object(_)),
            _ => true,
        };
        match fits {
            true => Ok(()),
            false => Err(format!("'{shown}' is of type {wanted}, not {given}")),
        }
    }
}

/// Refuses a list or a map that an apply configuration cannot set.
fn replaced(schema: &Value, shown: &str) -> Result<(), String> {
    let keyword = |name: &str| schema[name].as_str().unwrap_or_default();
    let what = match keyword("type") {
        "array" if !["map", "set"].contains(&keyword("x-kubernetes-list-type")) => "list",
        "object" if keyword("x-kubernetes-map-type") == "atomic" => "map",
        _ => return Ok(()),
    };
    Err(format!(
        "'{shown}' is an atomic {what}, which an apply configuration may not set: use a JSON patch, or give the {what} a type in the schema"
    ))
}

/// The constant beginning of a text, and whether it is all of it.
fn beginning(expr: &Expr) -> (String, bool) {
    match &expr.kind {
        Kind::Literal(Literal::String(text)) => (text.to_string(), true),
        Kind::Call { function, args, .. } if function == op::ADD => match args.first() {
            Some(first) => (beginning(first).0, false),
            None => (String::new(), false),
        },
        _ => (String::new(), false),
    }
}

fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::policy::Purpose;
    use serde_json::json;

    fn policy() -> Policy {
        let text = json!({"type": "string"});
        let port = json!({"type": "object", "properties": {"name": text, "port": {"type": "integer"}, "args": {"type": "array", "items": text}}});
        let spec = json!({"type": "object", "properties": {
            "target": text,
            "size": {"type": "integer"},
            "args": {"type": "array", "items": text},
            "ports": {"type": "array", "items": port, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
            "labels": {"type": "object", "additionalProperties": text},
            "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        }});
        Policy::typed(
            false,
            true,
            &json!({"type": "object", "properties": {"spec": spec}}),
            None,
        )
    }

    fn check(purpose: Purpose, expression: &str) -> Result<(), String> {
        let policy = policy();
        policy.fits(&policy.compile(purpose, expression).unwrap())
    }

    #[test]
    fn what_an_apply_configuration_builds_has_the_fields_and_types_of_the_schema() {
        for fine in [
            "Object{}",
            "Object{spec: Object.spec{target: object.metadata.name, size: 3}}",
            "Object{spec: Object.spec{ports: [Object.spec.ports{name: 'a', port: 80}]}}",
            "Object{spec: Object.spec{labels: {'a': 'b'}, raw: Object.spec.raw{anything: 1}}}",
            "Object{spec: Object.spec{?target: optional.of('a')}}",
            "Object{metadata: Object.metadata{labels: {'a': 'b'}, finalizers: ['x.example.com/y']}}",
            "has(object.spec.target) ? Object{} : Object{spec: Object.spec{target: 'a'}}",
        ] {
            assert_eq!(check(Purpose::ApplyConfiguration, fine), Ok(()), "{fine}");
        }
        for (wrong, why) in [
            (
                "Object{spec: Object.spec{tarket: 'a'}}",
                "undefined field 'tarket': `Object.spec` has none",
            ),
            (
                "Object{spec: Object.spec{size: 'a'}}",
                "'.spec.size' is of type integer, not string",
            ),
            (
                "Object{spec: Object.spec{?size: optional.of('a')}}",
                "'.spec.size' is of type integer, not string",
            ),
            (
                "Object{spec: Object.spec{args: ['a']}}",
                "'.spec.args' is an atomic list",
            ),
            (
                "Object{spec: Object.spec{ports: [Object.spec.ports{name: 'a', args: ['b']}]}}",
                "'.spec.ports.args' is an atomic list",
            ),
            (
                "Object{metadata: Object.metadata{lables: {'a': 'b'}}}",
                "undefined field 'lables'",
            ),
        ] {
            let found = check(Purpose::ApplyConfiguration, wrong).unwrap_err();
            assert!(found.starts_with(why), "{wrong}: {found}");
        }
    }

    #[test]
    fn constant_paths_of_json_patches_lead_somewhere() {
        for fine in [
            "[JSONPatch{op: 'add', path: '/spec/args/-', value: 'a'}]",
            "[JSONPatch{op: 'replace', path: '/spec/ports/0/port', value: 80}]",
            "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: 'c'}]",
            "[JSONPatch{op: 'remove', path: '/spec/labels/a~1b'}]",
            "[JSONPatch{op: 'add', path: object.metadata.name, value: 1}]",
        ] {
            assert_eq!(check(Purpose::JsonPatch, fine), Ok(()), "{fine}");
        }
        for (wrong, why) in [
            (
                "[JSONPatch{op: 'add', path: '/spec/tarket', value: 'a'}]",
                "undefined path '/spec/tarket'",
            ),
            (
                "[JSONPatch{op: 'add', path: '/spek/' + object.metadata.name, value: 'a'}]",
                "undefined path '/spek/'",
            ),
            (
                "[JSONPatch{op: 'add', path: '/spec/size', value: 'a'}]",
                "'/spec/size' is of type integer, not string",
            ),
        ] {
            let found = check(Purpose::JsonPatch, wrong).unwrap_err();
            assert!(found.starts_with(why), "{wrong}: {found}");
        }
    }

    #[test]
    fn without_a_schema_nothing_is_known() {
        let policy = Policy::new(false, true);
        let built = policy.compile(Purpose::ApplyConfiguration, "Object{spec: Object.spec{tarket: 'a'}}");
        assert_eq!(policy.fits(&built.unwrap()), Ok(()));
    }
}
