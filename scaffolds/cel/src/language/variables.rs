//! The values of the variables of an expression. Those of a policy (`variables.NAME`) are computed when they are first read.

use super::program::Program;
use super::value::{Fault, Outcome, Val};
use kubewright_machinery::go;
use kubewright_machinery::rule_names::unescape;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};

/// The compiled variables of a policy, by name; of one that does not compile, the error.
pub(super) type Composed = BTreeMap<String, Result<Program, String>>;

/// The name by which expressions read the variables of a policy.
pub(super) const COMPOSED: &str = "variables";

/// The maximum depth of references between variables of a policy. The server has no limit but its stack.
pub(super) const DEEPEST: usize = 16;

/// The values of all variables, by their names. One that is missing is an error where it is read.
#[derive(Debug, Default)]
pub(super) struct Variables<'a> {
    given: HashMap<&'static str, Outcome<Val<'a>>>,
    composed: Option<&'a Composed>,
    /// The values of composed variables that have been read.
    known: RefCell<HashMap<&'a str, Outcome<Val<'a>>>>,
    /// Their cost since [`Variables::take_cost`].
    spent: Cell<u64>,
    depth: Cell<usize>,
}

impl<'a> FromIterator<(&'static str, Outcome<Val<'a>>)> for Variables<'a> {
    fn from_iter<I: IntoIterator<Item = (&'static str, Outcome<Val<'a>>)>>(given: I) -> Self {
        Self {
            given: given.into_iter().collect(),
            ..Self::default()
        }
    }
}

impl<'a> Variables<'a> {
    pub(super) fn insert(&mut self, name: &'static str, value: Outcome<Val<'a>>) {
        self.given.insert(name, value);
    }

    /// Adds the variables of a policy.
    pub(super) fn compose(&mut self, composed: &'a Composed) {
        self.composed = Some(composed);
    }

    pub(super) fn get(&self, name: &str) -> Option<&Outcome<Val<'a>>> {
        self.given.get(name)
    }

    /// The value of a variable of the policy, by the name in the expression; with `test`, whether there is one.
    pub(super) fn select(&self, field: &str, test: bool) -> Outcome<Val<'a>> {
        let found = unescape(field).and_then(|name| self.composed(&name));
        match found {
            found if test => Ok(Val::Bool(found.transpose()?.is_some())),
            Some(value) => value,
            None => Err(Fault::no_key(&Val::text(field))),
        }
    }

    fn composed(&self, name: &str) -> Option<Outcome<Val<'a>>> {
        let (name, program) = self.composed?.get_key_value(name)?;
        if let Some(known) = self.known.borrow().get(name.as_str()) {
            return Some(known.clone());
        }
        let value = self.compute(program).map_err(|why| {
            let name = go::quote(name);
            Fault::new(format!("composited variable {name} fails to {why}"))
        });
        self.known.borrow_mut().insert(name, value.clone());
        Some(value)
    }

    fn compute(&self, program: &'a Result<Program, String>) -> Result<Val<'a>, String> {
        let program = program.as_ref().map_err(|why| format!("compile: {why}"))?;
        let depth = self.depth.get();
        if depth >= DEEPEST {
            return Err(format!(
                "evaluate: variables refer to each other more than {DEEPEST} deep"
            ));
        }
        self.depth.set(depth + 1);
        let (value, cost) = program.run(self);
        self.depth.set(depth);
        self.spent.set(self.spent.get().saturating_add(cost));
        value.map_err(|fault| format!("evaluate: {}", fault.told()))
    }

    /// The cost of the policy's variables since the last call.
    pub(super) fn take_cost(&self) -> u64 {
        self.spent.take()
    }
}
