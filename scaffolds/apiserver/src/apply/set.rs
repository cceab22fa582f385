//! Sets of fields: the fields and items of an object that a manager owns. A tree, in which nodes that are not members
//! only lead to members below them.

use std::collections::{BTreeMap, btree_map::Entry};

use kubewright_schema::typed::{Element, Id, Path, Schema};

/// A set of paths. The empty path is never a member: no manager owns the whole object.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Set {
    nodes: BTreeMap<Element, Node>,
}

/// A subtree, never without members: empty nodes are removed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Node {
    pub(super) member: bool,
    pub(super) children: Set,
}

impl Node {
    fn is_empty(&self) -> bool {
        !self.member && self.children.is_empty()
    }
}

impl Set {
    pub(super) fn of<'p>(paths: impl IntoIterator<Item = &'p [&'p str]>) -> Self {
        let mut set = Self::default();
        for path in paths {
            set.insert(&path.iter().map(|name| Element::field(name)).collect::<Path>());
        }
        set
    }

    pub(super) fn insert(&mut self, path: &[Element]) {
        let Some((first, rest)) = path.split_first() else {
            return;
        };
        if rest.is_empty() {
            self.nodes.entry(first.clone()).or_default().member = true;
        } else {
            self.nodes.entry(first.clone()).or_default().children.insert(rest);
        }
    }

    pub(super) fn has(&self, path: &[Element]) -> bool {
        match path {
            [] => false,
            [last] => self.member(last),
            [first, rest @ ..] => self.nodes.get(first).is_some_and(|node| node.children.has(rest)),
        }
    }

    pub(super) fn member(&self, element: &Element) -> bool {
        self.nodes.get(element).is_some_and(|node| node.member)
    }

    pub(super) fn child(&self, element: &Element) -> Option<&Self> {
        self.nodes
            .get(element)
            .map(|node| &node.children)
            .filter(|it| !it.is_empty())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = (&Element, &Node)> {
        self.nodes.iter()
    }

    /// Adds a decoded node, unless it is empty.
    pub(super) fn put(&mut self, element: Element, node: Node) {
        if node.is_empty() {
            return;
        }
        match self.nodes.entry(element) {
            Entry::Vacant(place) => drop(place.insert(node)),
            Entry::Occupied(mut place) => {
                place.get_mut().member |= node.member;
                place.get_mut().children = place.get().children.union(&node.children);
            }
        }
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        let mut out = self.clone();
        for (element, node) in &other.nodes {
            let into = out.nodes.entry(element.clone()).or_default();
            into.member |= node.member;
            into.children = into.children.union(&node.children);
        }
        out
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        self.filter(other, |node, with| {
            let with = with?;
            Some(Node {
                member: node.member && with.member,
                children: node.children.intersection(&with.children),
            })
        })
    }

    pub(super) fn difference(&self, other: &Self) -> Self {
        self.filter(other, |node, with| {
            let Some(with) = with else { return Some(node.clone()) };
            Some(Node {
                member: node.member && !with.member,
                children: node.children.difference(&with.children),
            })
        })
    }

    /// Removes the other set's members with all paths below them.
    pub(super) fn without(&self, other: &Self) -> Self {
        self.filter(other, |node, with| match with {
            None => Some(node.clone()),
            Some(with) if with.member => None,
            Some(with) => Some(Node {
                member: node.member,
                children: node.children.without(&with.children),
            }),
        })
    }

    fn filter(&self, other: &Self, each: impl Fn(&Node, Option<&Node>) -> Option<Node>) -> Self {
        let nodes = self.nodes.iter().filter_map(|(element, node)| {
            let node = each(node, other.nodes.get(element))?;
            (!node.is_empty()).then(|| (element.clone(), node))
        });
        Self { nodes: nodes.collect() }
    }

    /// Makes declared fields members if there are members below them.
    pub(super) fn with_named_fields(&self, schema: &Schema, id: Option<Id>) -> Self {
        let it = id.map(|id| schema.get(id));
        let map = it.and_then(|it| it.map.as_ref());
        let list = it.and_then(|it| it.list.as_ref());
        let nodes = self.nodes.iter().map(|(element, node)| {
            let property = match (element, map) {
                (Element::Field(name), Some(map)) => map.fields.get(name),
                _ => None,
            };
            let below = match element {
                Element::Field(_) => property.map(|it| it.id).or_else(|| map.and_then(|map| map.element)),
                Element::Key(_) => list.map(|list| list.element),
                _ => None,
            };
            let member = node.member || property.is_some();
            (
                element.clone(),
                Node {
                    member,
                    children: node.children.with_named_fields(schema, below),
                },
            )
        });
        Self { nodes: nodes.collect() }
    }

    /// All members; the members of each node come before those below them.
    pub(super) fn paths(&self) -> Vec<Path> {
        let mut out = Vec::new();
        self.collect(&mut Vec::new(), &mut out);
        out
    }

    fn collect(&self, prefix: &mut Path, out: &mut Vec<Path>) {
        for (element, _) in self.nodes.iter().filter(|(_, node)| node.member) {
            out.push(prefix.iter().chain([element]).cloned().collect());
        }
        for (element, node) in &self.nodes {
            prefix.push(element.clone());
            node.children.collect(prefix, out);
            prefix.pop();
        }
    }
}
