//! Sets of fields in the format of managedFields: `fieldsV1`.

use kubewright_schema::typed::Element;
use serde_json::{Map, Value};

use super::set::{Node, Set};

/// Encodes a set: `{"f:spec": {".": {}, "f:replicas": {}}}`. `.` marks a node that is itself a member and has members
/// below it.
pub(super) fn encode(set: &Set) -> Value {
    let nodes = set.nodes().map(|(element, node)| {
        let mut below = encode(&node.children);
        if let (true, Value::Object(members)) = (node.member && !node.children.is_empty(), &mut below) {
            members.insert(".".to_owned(), Value::Object(Map::new()));
        }
        (element.encode(), below)
    });
    Value::Object(nodes.collect())
}

/// Decodes the result of [`encode`]; elements of unknown kinds are dropped.
pub(super) fn decode(fields: &Value) -> Result<Set, String> {
    match fields {
        Value::Null => Ok(Set::default()),
        Value::Object(members) => Ok(read(members)?.children),
        _ => Err("fieldsV1 must be an object".to_owned()),
    }
}

/// A node with nothing below it is a member.
fn read(members: &Map<String, Value>) -> Result<Node, String> {
    let mut node = Node {
        member: members.contains_key("."),
        children: Set::default(),
    };
    for (key, below) in members.iter().filter(|(key, _)| *key != ".") {
        let Some(element) = Element::parse(key)? else { continue };
        let below = match below {
            Value::Object(members) => read(members)?,
            Value::Null => Node {
                member: true,
                children: Set::default(),
            },
            _ => return Err(format!("`{key}` must be an object")),
        };
        node.children.put(element, below);
    }
    node.member |= node.children.is_empty();
    Ok(node)
}
