//! Sets of fields as managedFields write them: `fieldsV1`.

use serde_json::{Map, Value};

use super::{
    element::Element,
    set::{Node, Set},
};

/// `{"f:spec": {".": {}, "f:replicas": {}}}`: `.` says that the node itself is a member where there is more below it.
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

/// Reads what [`encode`] writes; elements of unknown kinds are dropped.
pub(super) fn decode(fields: &Value) -> Result<Set, String> {
    match fields {
        Value::Null => Ok(Set::default()),
        Value::Object(members) => Ok(read(members)?.children),
        _ => Err("fieldsV1 must be an object".to_owned()),
    }
}

/// A node without anything below it is a member.
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
