//! The order of merged lists: that of `$setElementOrder`, otherwise that of the patch. Items that only the server has
//! keep their own order and their positions between the others.

use serde_json::Value;

use super::{
    Bad, MAP, Members, Merged, SET_ORDER, Shape,
    directives::{key_of, without_directives},
    go,
    list::{self, Items},
    list_field,
};

/// The identification of items.
#[derive(Clone, Copy)]
pub(super) enum By<'a> {
    Key(&'a str),
    Value,
}

impl By<'_> {
    fn of<'v>(&self, item: &'v Value) -> Option<&'v Value> {
        match self {
            Self::Key(key) => item.get(key),
            Self::Value => Some(item),
        }
    }

    fn index(&self, list: &[Value], item: &Value) -> Option<usize> {
        list.iter().position(|it| self.of(it) == self.of(item))
    }
}

/// Merges the lists for which the patch gives an order, and removes them from the patch.
pub(super) fn ordered_lists(original: &mut Members, patch: &mut Members, shape: Option<Shape<'_>>) -> Merged<()> {
    let directives: Vec<String> = patch.keys().filter(|it| it.starts_with(SET_ORDER)).cloned().collect();
    for directive in directives {
        let Some(order) = patch.remove(&directive) else {
            continue;
        };
        let order = list::list(&order)?;
        let name = key_of(&directive, SET_ORDER)?;
        let mut items = patch.remove(name);
        if let Some(merged) = ordered(original.get(name), items.as_mut(), order, list_field(shape, name))? {
            original.insert(name.to_owned(), Value::Array(merged));
        }
    }
    Ok(())
}

fn ordered(
    there: Option<&Value>,
    items: Option<&mut Value>,
    order: &[Value],
    of: Merged<Items<'_>>,
) -> Merged<Option<Vec<Value>>> {
    let there = there.map(list::list).transpose()?;
    let items = match items {
        Some(Value::Array(items)) => Some(items),
        Some(other) => return Err(Bad::wrong_type(super::LIST, other)),
        None => None,
    };
    let of = of?;
    let by = of.how.merge_key.as_deref().map_or(By::Value, By::Key);
    if let Some(items) = &items {
        check(items, order, by)?;
    }
    let kind = element([
        there.map_or(&[][..], Vec::as_slice),
        items.as_ref().map_or(&[][..], |it| it.as_slice()),
    ])
    .map(drop);
    let merged = match (there, items) {
        (None, None) => return Ok(None),
        (Some(there), None) => there.clone(),
        (None, Some(items)) => items.iter().cloned().filter_map(without_directives).collect(),
        (Some(there), Some(items)) => list::merge(there.clone(), items, of, false)?,
    };
    let (ours, theirs) = partition(merged, order, by)?;
    kind?;
    let theirs = Side::new(theirs, there.map_or(&[], Vec::as_slice));
    arrange(Side::new(ours, order), theirs, by).map(Some)
}

/// Checks that the items of a patch are in the order that it requests.
fn check(items: &[Value], order: &[Value], by: By<'_>) -> Merged<()> {
    let keyed = |item: &Value| match (by, item) {
        (By::Value, _) => Ok(()),
        (By::Key(key), Value::Object(members)) if !members.contains_key(key) => Err(Bad::no_key(members, key)),
        (By::Key(_), Value::Object(_)) => Ok(()),
        (By::Key(_), other) => Err(Bad::wrong_type(MAP, other)),
    };
    if items.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut wanted = order.iter();
    for item in items.iter().filter(|it| it.get("$patch").is_none()) {
        keyed(item)?;
        loop {
            let Some(next) = wanted.next() else {
                let (items, order) = (list::shown(items), list::shown(order));
                let why = format!("The order in patch list:\n{items}\n doesn't match {SET_ORDER} list:\n{order}\n");
                return Err(Bad::Other(why));
            };
            keyed(next)?;
            if by.of(next) == by.of(item) {
                break;
            }
        }
    }
    Ok(())
}

/// An item of the lists, whose items must all be of one type.
pub(super) fn element(lists: [&[Value]; 2]) -> Merged<&Value> {
    let mut all = lists.into_iter().flatten();
    let Some(first) = all.next() else {
        return Err(Bad::Other("no elements in any of the given slices".to_owned()));
    };
    if first.is_array() {
        return Err(Bad::Rejected);
    }
    if first.is_null() || all.any(|it| go::type_name(it) != go::type_name(first)) {
        let shown = lists.map(list::shown).join(" ");
        return Err(Bad::Other(format!("list element types are not identical: [{shown}]")));
    }
    Ok(first)
}

/// Splits the items into those in `present` and the others.
pub(super) fn partition(items: Vec<Value>, present: &[Value], by: By<'_>) -> Merged<(Vec<Value>, Vec<Value>)> {
    if let By::Key(key) = by {
        for item in &items {
            let Some(members) = item.as_object() else {
                return Err(Bad::wrong_type(MAP, item));
            };
            if !members.contains_key(key) {
                return Err(Bad::no_key(members, key));
            }
        }
        if let Some(index) = present.iter().position(|it| !it.is_object()) {
            return Err(Bad::Other(format!("value for key {index} is not a map")));
        }
    }
    Ok(items.into_iter().partition(|it| by.index(present, it).is_some()))
}

/// The items of the patch or of the server, and the list whose order they take.
pub(super) struct Side<'a> {
    items: Vec<Value>,
    order: &'a [Value],
}

impl<'a> Side<'a> {
    pub(super) fn new(items: Vec<Value>, order: &'a [Value]) -> Self {
        Self { items, order }
    }

    fn sort(&mut self, by: By<'_>) {
        let Self { items, order } = self;
        items.sort_by_key(|it| by.index(order, it).unwrap_or(usize::MAX));
    }
}

/// Sorts the patch's items and the server's, each by its own order, and inserts each server item before the first of
/// the patch's items that followed it.
pub(super) fn arrange(mut ours: Side<'_>, mut theirs: Side<'_>, by: By<'_>) -> Merged<Vec<Value>> {
    ours.sort(by);
    theirs.sort(by);
    let order = theirs.order;
    let mut theirs = theirs.items.into_iter().peekable();
    let mut out = Vec::new();
    for item in ours.items {
        let place = by.index(order, &item);
        while let Some(next) = theirs.next_if(|it| place.zip(by.index(order, it)).is_some_and(|(us, it)| it < us)) {
            out.push(next);
        }
        out.push(item);
    }
    out.extend(theirs);
    Ok(out)
}
