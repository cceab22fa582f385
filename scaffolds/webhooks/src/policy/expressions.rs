//! The expressions of a policy: compiled as the API server compiles them, and by the type of the kind, which it does not know;
//! then priced.

use kubewright_runtime::Result;
use kubewright_schema::policy::{self, Purpose, Refused, excess};
use serde_json::Value;

use super::{
    declare::{DeclaredPolicy, Policy},
    form::PolicyForm,
    lint::refused,
};

/// A hint for an expression that does not compile.
const VARIABLES: &str = "it is over object, oldObject, request, authorizer";
/// A hint for an expression that is too expensive.
const LIMIT: &str = "limit what it reads in the type, as with `#[schemars(length(max = 100))]` on a list or a string";

/// Checks all expressions of a policy, by the types in these CustomResourceDefinitions. Returns notes about it.
///
/// # Errors
///
/// [`Error::Setup`](kubewright_runtime::Error::Setup) with the policy, the first expression that is wrong, and the remedy.
pub(super) fn check<F: PolicyForm>(policy: &Policy<F>, definitions: &[Value]) -> Result<Vec<String>> {
    let (declared, scope) = (&policy.declared, &policy.declared.scope);
    let schema = schema(definitions, [&scope.group, &scope.plural, &scope.version]);
    Compiler::new(declared, None).check(&policy.form)?;
    let Some(schema) = schema else {
        return Ok(Vec::new());
    };
    let params = declared.params.as_ref();
    let params = params.and_then(|it| self::schema(definitions, [&it.group, &it.plural, &it.version]));
    Compiler::new(declared, Some([Some(schema), params])).check(&policy.form)?;
    Ok(policy.form.notes(declared, schema))
}

/// The `openAPIV3Schema` of a kind that one of these definitions defines: by group, plural and version.
fn schema<'d>(definitions: &'d [Value], [group, plural, version]: [&str; 3]) -> Option<&'d Value> {
    let of_kind = |it: &&Value| it["spec"]["group"] == *group && it["spec"]["names"]["plural"] == *plural;
    let versions = definitions.iter().find(of_kind)?["spec"]["versions"].as_array()?;
    let found = versions.iter().find(|it| it["name"] == *version)?;
    found.pointer("/schema/openAPIV3Schema")
}

/// Compiles the expressions of one policy.
pub(crate) struct Compiler<'p> {
    declared: &'p DeclaredPolicy,
    /// The schemas of the object and of the parameters.
    schemas: Option<[Option<&'p Value>; 2]>,
}

impl<'p> Compiler<'p> {
    fn new(declared: &'p DeclaredPolicy, schemas: Option<[Option<&'p Value>; 2]>) -> Self {
        Self { declared, schemas }
    }

    fn policy(&self, composes: bool) -> policy::Policy {
        let has_params = self.declared.params.is_some();
        match self.schemas {
            Some([Some(object), params]) => policy::Policy::typed(has_params, composes, object, params),
            _ => policy::Policy::new(has_params, composes),
        }
    }

    fn check(&self, form: &impl PolicyForm) -> Result<()> {
        let alone = self.policy(false);
        for [name, expression] in &self.declared.scope.conditions() {
            self.one(&alone, Purpose::Condition, &format!("condition `{name}`"), expression)?;
        }
        let mut policy = self.policy(!self.declared.variables.is_empty());
        for [name, expression] in &self.declared.variables {
            let (what, text) = (format!("variable `{name}`"), expression.trim());
            policy.add(name, text).map_err(|why| self.wrong(&what, text, &why))?;
            self.affordable(&what, text, policy.price_of_variable(name))?;
        }
        form.check(self, &policy)
    }

    /// Compiles one expression, checks what it builds by the type of the kind, and prices it.
    pub(super) fn one(&self, policy: &policy::Policy, purpose: Purpose, what: &str, expression: &str) -> Result<()> {
        let text = expression.trim();
        let compiled = policy.compile(purpose, text);
        let compiled = compiled.map_err(|why| self.wrong(what, text, &why))?;
        let fits = policy.fits(&compiled);
        fits.map_err(|why| self.wrong(what, text, &Refused::Invalid(why)))?;
        self.affordable(what, text, policy.price(&compiled))
    }

    fn affordable(&self, what: &str, expression: &str, price: Option<u64>) -> Result<()> {
        match price.and_then(excess) {
            None => Ok(()),
            Some(why) => Err(self.refused(what, expression, &why, LIMIT)),
        }
    }

    fn wrong(&self, what: &str, expression: &str, why: &Refused) -> kubewright_runtime::Error {
        let (kind, params) = (&self.declared.scope.kind, &self.declared.params);
        let hint = match self.schemas {
            Some(_) => format!("the API server would find this at the first request: see the fields of {kind}"),
            None => {
                let params = if params.is_some() { ", params" } else { "" };
                format!("{VARIABLES}{params}; all but conditions also see namespaceObject and variables")
            }
        };
        self.refused(what, expression, why.detail(), &hint)
    }

    fn refused(&self, what: &str, expression: &str, why: &str, hint: &str) -> kubewright_runtime::Error {
        refused(self.declared, &format!("{what}, `{expression}`: {why}"), hint)
    }
}
