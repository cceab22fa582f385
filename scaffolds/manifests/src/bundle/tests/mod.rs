//! Tests of whole bundles: a project with one kind, of which each test changes a part.

mod program;
mod refused;
mod webhooks;

use super::{Bundle, BundleError, Package, Release, Sources, bundle};
use kubewright_schema::yaml;
use serde_json::{Value, json};

const NAMESPACE: &str = "foo-system";
const ACCOUNT: &str = "foo-controller-manager";

/// An object of the cluster.
fn cluster(api_version: &str, kind: &str, name: &str, fields: Value) -> Value {
    let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
    object
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    object
}

/// An object of the operator's namespace.
fn object(api_version: &str, kind: &str, name: &str, fields: Value) -> Value {
    let mut object = cluster(api_version, kind, name, fields);
    object["metadata"]["namespace"] = NAMESPACE.into();
    object
}

fn rules(resource: &str) -> Value {
    json!([{"apiGroups": [""], "resources": [resource], "verbs": ["get"]}])
}

fn binding(kind: &str, name: &str, role: [&str; 2], subjects: Value) -> Value {
    let [role_kind, role] = role;
    let fields = json!({"roleRef": {"kind": role_kind, "name": role}, "subjects": subjects});
    match kind {
        "RoleBinding" => object(RBAC, kind, name, fields),
        _ => cluster(RBAC, kind, name, fields),
    }
}

const RBAC: &str = "rbac.authorization.k8s.io/v1";

fn subject() -> Value {
    json!([{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}])
}

fn definition() -> Value {
    let version = |name: &str, served: bool, schema: Value| json!({"name": name, "served": served, "schema": {"openAPIV3Schema": schema}});
    let versions = [
        version("v1", true, json!({"description": "A foo."})),
        version("v2", true, json!({})),
        version("v1alpha1", false, json!({})),
    ];
    let spec = json!({"spec": {"group": "example.com", "names": {"kind": "FooBar", "plural": "foobars"}, "versions": versions}});
    cluster(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "foobars.example.com",
        spec,
    )
}

fn deployment() -> Value {
    let labels = json!({"control-plane": "controller-manager"});
    let container = json!({"name": "manager", "image": "foo:v1", "args": ["--leader-elect"]});
    let mut deployment = object(
        "apps/v1",
        "Deployment",
        ACCOUNT,
        json!({"spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"serviceAccountName": ACCOUNT, "containers": [container]}},
        }}),
    );
    deployment["metadata"]["labels"] = labels;
    deployment
}

fn project() -> Vec<Value> {
    vec![
        cluster("v1", "Namespace", NAMESPACE, json!({})),
        definition(),
        object("v1", "ServiceAccount", ACCOUNT, json!({})),
        object(RBAC, "Role", "foo-leader", json!({"rules": rules("leases")})),
        cluster(RBAC, "ClusterRole", "foo-manager-role", json!({"rules": rules("pods")})),
        cluster(RBAC, "ClusterRole", "foo-viewer", json!({"rules": rules("foobars")})),
        binding("RoleBinding", "foo-leader", ["Role", "foo-leader"], subject()),
        binding(
            "ClusterRoleBinding",
            "foo-manager",
            ["ClusterRole", "foo-manager-role"],
            subject(),
        ),
        object(
            "v1",
            "Service",
            "foo-metrics",
            json!({"spec": {"ports": [{"port": 8443}]}}),
        ),
        deployment(),
    ]
}

/// The position of the Deployment.
const DEPLOYMENT: usize = 9;

fn container(objects: &mut [Value]) -> &mut Value {
    &mut objects[DEPLOYMENT]["spec"]["template"]["spec"]["containers"][0]
}

fn release() -> Release {
    Release {
        version: "1.2.3".to_owned(),
        ..Release::default()
    }
}

/// The bundle of a package with an author.
fn made(objects: &[Value]) -> Result<Bundle, BundleError> {
    let package = Package {
        authors: vec!["Ann <ann@example.com>".to_owned()],
        ..Package::default()
    };
    let sources = Sources {
        objects,
        samples: &[],
        base: None,
        package: &package,
    };
    bundle(&sources, &release())
}

fn csv_of(bundle: &Bundle) -> Value {
    let text = &bundle.files["manifests/foo.clusterserviceversion.yaml"];
    yaml::documents(text).unwrap().remove(0)
}

fn csv(objects: &[Value]) -> Value {
    csv_of(&made(objects).unwrap())
}

#[test]
fn the_operator_is_in_the_csv_and_all_else_beside_it() {
    let bundle = made(&project()).unwrap();
    let names: Vec<_> = bundle.files.keys().map(String::as_str).collect();
    let wanted = [
        "bundle.Dockerfile",
        "manifests/example.com_foobars.yaml",
        "manifests/foo-metrics_v1_service.yaml",
        "manifests/foo-viewer_rbac.authorization.k8s.io_v1_clusterrole.yaml",
        "manifests/foo.clusterserviceversion.yaml",
        "metadata/annotations.yaml",
    ];
    assert_eq!(names, wanted);
    assert!(bundle.notes.is_empty(), "{:?}", bundle.notes);
    let one_document = |text: &String| !text.contains("---\n");
    assert!(bundle.files.values().all(one_document), "OLM reads the first alone");
    let service = yaml::documents(&bundle.files["manifests/foo-metrics_v1_service.yaml"]).unwrap();
    assert_eq!(service[0]["metadata"], json!({"name": "foo-metrics"}));
    let csv = csv_of(&bundle);
    assert_eq!(csv["metadata"]["name"], "foo.v1.2.3");
    let annotations = &csv["metadata"]["annotations"];
    assert_eq!(annotations["operatorframework.io/suggested-namespace"], NAMESPACE);
    assert_eq!(annotations["containerImage"], "foo:v1");
    let install = &csv["spec"]["install"]["spec"];
    assert_eq!(
        install["permissions"],
        json!([{"serviceAccountName": ACCOUNT, "rules": rules("leases")}])
    );
    assert_eq!(
        install["clusterPermissions"],
        json!([{"serviceAccountName": ACCOUNT, "rules": rules("pods")}])
    );
    let given = deployment();
    assert_eq!(
        install["deployments"],
        json!([{"name": ACCOUNT, "label": given["metadata"]["labels"], "spec": given["spec"]}])
    );
}

#[test]
fn each_served_version_is_owned_and_samples_of_them_are_examples() {
    let sample = |api_version: &str, kind: &str| json!({"apiVersion": api_version, "kind": kind});
    let samples = [
        sample("example.com/v1", "FooBar"),
        sample("example.com/v3", "FooBar"),
        sample("v1", "Secret"),
        sample("kustomize.config.k8s.io/v1beta1", "Kustomization"),
    ];
    let objects = project();
    let sources = Sources {
        objects: &objects,
        samples: &samples,
        base: None,
        package: &Package::default(),
    };
    let csv = csv_of(&bundle(&sources, &release()).unwrap());
    let owned = |version: &str, description: &str| json!({"name": "foobars.example.com", "kind": "FooBar", "displayName": "Foo Bar", "version": version, "description": description});
    assert_eq!(
        csv["spec"]["customresourcedefinitions"]["owned"],
        json!([owned("v1", "A foo."), owned("v2", "FooBar of example.com/v2")])
    );
    let examples = csv["metadata"]["annotations"]["alm-examples"].as_str().unwrap();
    let examples: Value = serde_json::from_str(examples).unwrap();
    assert_eq!(examples, json!([samples[0]]));
}

#[test]
fn a_role_that_others_are_bound_to_as_well_stays() {
    let others = json!([{"kind": "Group", "name": "viewers"}]);
    let mut objects = project();
    objects.push(binding(
        "ClusterRoleBinding",
        "foo-others",
        ["ClusterRole", "foo-manager-role"],
        others,
    ));
    let bundle = made(&objects).unwrap();
    let role = "manifests/foo-manager-role_rbac.authorization.k8s.io_v1_clusterrole.yaml";
    assert!(bundle.files.contains_key(role), "{:?}", bundle.files.keys());
    assert_eq!(csv_of(&bundle), csv(&project()));
}

#[test]
fn an_operator_of_its_own_namespace_watches_those_of_the_operator_group() {
    let modes = |csv: &Value| -> Vec<bool> {
        let modes = csv["spec"]["installModes"].as_array().unwrap().iter();
        modes.map(|mode| mode["supported"].as_bool().unwrap()).collect()
    };
    assert_eq!(modes(&csv(&project())), [false, false, false, true]);
    let mut objects = project();
    let from = |path: &str| json!([{"name": "WATCH_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": path}}}]);
    container(&mut objects)["env"] = from("metadata.namespace");
    let csv = csv(&objects);
    assert_eq!(modes(&csv), [true, true, true, false]);
    let container = &csv["spec"]["install"]["spec"]["deployments"][0]["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["env"], from("metadata.annotations['olm.targetNamespaces']"));
}

#[test]
fn what_the_author_writes_is_merged_over_the_rest() {
    let package = Package {
        version: "0.1.0".to_owned(),
        description: Some("Manages foos.".to_owned()),
        authors: vec!["Ann <ann@example.com>".to_owned()],
        repository: Some("https://example.com/foo".to_owned()),
        ..Package::default()
    };
    let owned = json!({"name": "foobars.example.com", "version": "v1", "specDescriptors": [{"path": "size"}]});
    let base = json!({
        "metadata": {"annotations": {"categories": "Database", "capabilities": null}},
        "spec": {
            "displayName": "Foo", "provider": {"url": "https://example.com"}, "replaces": "foo.v1.2.2",
            "customresourcedefinitions": {"owned": [owned], "required": [{"name": "bars.example.org"}]},
        },
    });
    let objects = project();
    let mut sources = Sources {
        objects: &objects,
        samples: &[],
        base: Some(&base),
        package: &package,
    };
    let csv = csv_of(&bundle(&sources, &release()).unwrap());
    let spec = &csv["spec"];
    assert_eq!(spec["displayName"], "Foo");
    assert_eq!(spec["description"], "Manages foos.");
    assert_eq!(spec["provider"], json!({"name": "Ann", "url": "https://example.com"}));
    assert_eq!(
        spec["maintainers"],
        json!([{"name": "Ann", "email": "ann@example.com"}])
    );
    assert_eq!(
        spec["links"],
        json!([{"name": "Source code", "url": "https://example.com/foo"}])
    );
    assert_eq!(spec["replaces"], "foo.v1.2.2");
    assert_eq!(spec["maturity"], "stable");
    let kinds = &spec["customresourcedefinitions"];
    assert_eq!(kinds["owned"][0]["specDescriptors"], json!([{"path": "size"}]));
    assert_eq!(kinds["owned"][0]["displayName"], "Foo Bar");
    assert_eq!(kinds["owned"][1]["version"], "v2");
    assert_eq!(kinds["required"], json!([{"name": "bars.example.org"}]));
    assert_eq!(csv["metadata"]["annotations"]["categories"], "Database");
    assert!(csv["metadata"]["annotations"].get("capabilities").is_none());

    let unknown =
        json!({"spec": {"customresourcedefinitions": {"owned": [{"name": "foos.example.com", "version": "v1"}]}}});
    let cases = [
        (unknown, "config/bundle/csv.yaml describes a kind"),
        (json!([]), "config/bundle/csv.yaml is not"),
    ];
    for (base, why) in &cases {
        sources.base = Some(base);
        let error = bundle(&sources, &release()).unwrap_err().to_string();
        assert!(error.starts_with(why), "{error}");
    }
}

#[test]
fn what_fits_one_namespace_only_is_noted() {
    let mut objects = project();
    let monitor = json!({"spec": {"endpoints": [{"tlsConfig": {"serverName": "foo-metrics.foo-system.svc"}}]}});
    objects.push(object(
        "monitoring.coreos.com/v1",
        "ServiceMonitor",
        "foo-monitor",
        monitor,
    ));
    let notes = made(&objects).unwrap().notes;
    assert_eq!(
        notes,
        [
            "ServiceMonitor/foo-monitor names the namespace `foo-system`, which the bundle suggests: it does not fit another one"
        ]
    );
}

#[test]
fn a_bundle_without_a_provider_is_written_with_a_note() {
    let objects = project();
    let notes = |base: Option<&Value>| {
        let sources = Sources {
            objects: &objects,
            samples: &[],
            base,
            package: &Package::default(),
        };
        bundle(&sources, &release()).unwrap().notes
    };
    let wanted = "the ClusterServiceVersion has no `spec.provider.name`, without which OperatorHub does not accept it: write it in \
                  config/bundle/csv.yaml, or `authors` in Cargo.toml";
    assert_eq!(notes(None), [wanted]);
    let url_alone = json!({"spec": {"provider": {"url": "https://example.com"}}});
    assert_eq!(notes(Some(&url_alone)), [wanted]);
    let named = json!({"spec": {"provider": {"name": "Example"}}});
    assert_eq!(notes(Some(&named)), Vec::<String>::new());
}
