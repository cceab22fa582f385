//! Behaviour that depends on the release of Kubernetes: the table of docs/src/reference/kubernetes-versions.md.

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, api::PostParams};
use kubewright_schema::lint::release_needs;
use serde_json::{Value, json};

use crate::stage::case;

/// The oldest release that operators are tested on.
const OLDEST: u16 = 33;

/// Rules, and the first minor release of Kubernetes 1 whose API server compiles them in a new CRD: the one after the release
/// that introduced their functions, so that a release before it can still serve them.
const RULES: [(&str, u16); 10] = [
    ("self.all(i, x, i != 0 || x != '')", 33),
    ("isSemver(self[0]) && semver(self[0]).major() > 1", 34),
    ("self.distinct().size() == self.size()", 35),
    ("self.slice(0, 1).size() == 1", 35),
    ("[self].flatten().size() > 0", 35),
    ("self.sort() == self", 35),
    ("self.sortBy(x, x.size()) == self", 35),
    ("self.reverse() != self", 35),
    ("lists.range(2) == [0, 1]", 35),
    ("self.size() > {'a-b': 0}.`a-b`", 37),
];

/// A rule about a list of numbers or texts whose cost only their `maxLength` limits.
const OF_LENGTHS: (&str, u16) = ("self.all(x, string(x).matches('^[0-9]+([.][0-9]+)?$'))", 34);

#[test]
fn a_rule_compiles_from_the_release_on_that_the_book_names() -> Result<()> {
    case(async |case| {
        let minor: u16 = case
            .client
            .apiserver_version()
            .await?
            .minor
            .parse()
            .context("the minor release")?;
        let definitions: Api<CustomResourceDefinition> = Api::all(case.client.clone());
        let dry_run = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        let of_texts = RULES.map(|rule| (rule, json!({"type": "string", "maxLength": 10})));
        let of_lengths = (OF_LENGTHS, json!({"x-kubernetes-int-or-string": true, "maxLength": 10}));
        for ((rule, first), items) in of_texts.into_iter().chain([of_lengths]) {
            let definition = definition(rule, &items)?;
            // `make manifests` names the release.
            let needs = release_needs(&serde_json::to_value(&definition)?);
            let named = needs.iter().map(|need| need.minor).max();
            ensure!(named == (first > OLDEST).then_some(first), "`{rule}` needs {named:?}");
            let created = definitions.create(&dry_run, &definition).await;
            let is_accepted = created.is_ok();
            let words = created.err().map(|error| error.to_string()).unwrap_or_default();
            ensure!(
                is_accepted == (minor >= first),
                "1.{minor} and `{rule}`, since 1.{first}: accepted {is_accepted}; {words}"
            );
            ensure!(
                is_accepted
                    || [
                        "undeclared reference",
                        "incorrect number",
                        "unsupported syntax",
                        "exceeds budget"
                    ]
                    .iter()
                    .any(|it| words.contains(it)),
                "{words}"
            );
        }
        Ok(())
    })
}

/// A kind with a list of such items under this rule.
fn definition(rule: &str, items: &Value) -> Result<CustomResourceDefinition> {
    let list = json!({
        "type": "array", "maxItems": 10, "items": items,
        "x-kubernetes-validations": [{"rule": rule}],
    });
    Ok(serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "ruled.rules.example.com"},
        "spec": {
            "group": "rules.example.com", "scope": "Namespaced", "names": {"plural": "ruled", "kind": "Ruled"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"list": list}}},
            }],
        },
    }))?)
}
