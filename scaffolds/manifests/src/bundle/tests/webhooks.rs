//! Webhooks and converters: OLM makes their certificates, their Service and their configurations.

use super::*;

const CERTIFICATES: &str = "--webhook-cert-path=/tmp/k8s-webhook-server/serving-certs";

/// A webhook, as `make manifests` writes it.
fn webhook() -> Value {
    let [name, expression] = kubewright_schema::webhook::SPARED;
    json!({
        "name": "vfoobar-v1.example.com", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail", "matchPolicy": "Equivalent",
        "clientConfig": {"service": {"name": "foo-webhook-service", "namespace": NAMESPACE, "path": "/validate-example-com-v1-foobar"}},
        "matchConditions": [{"name": name, "expression": expression}],
        "rules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["foobars"], "scope": "Namespaced"}],
        "sideEffects": "None", "timeoutSeconds": 5,
    })
}

/// The project with the component ../webhook, and these webhooks.
pub(super) fn serving(webhooks: Value) -> Vec<Value> {
    let selector = json!({"control-plane": "controller-manager"});
    let service = json!({"spec": {"ports": [{"port": 443, "targetPort": "webhook"}], "selector": selector}});
    let admission = "admissionregistration.k8s.io/v1";
    let mut objects = project();
    objects.extend([
        object("v1", "Secret", "foo-webhook-server-cert", json!({})),
        object("v1", "Service", "foo-webhook-service", service),
        cluster(
            admission,
            "ValidatingWebhookConfiguration",
            "foo-validating",
            json!({"webhooks": webhooks}),
        ),
    ]);
    objects
}

/// The project with one webhook, of which a field differs.
pub(super) fn serving_with(path: &str, value: Value) -> Vec<Value> {
    let mut webhook = webhook();
    let (parent, field) = path.rsplit_once('/').unwrap();
    webhook.pointer_mut(parent).unwrap()[field] = value;
    serving(json!([webhook]))
}

fn arguments(csv: &Value) -> &Value {
    &csv["spec"]["install"]["spec"]["deployments"][0]["spec"]["template"]["spec"]["containers"][0]["args"]
}

#[test]
fn a_webhook_is_described_and_the_operator_gets_the_certificates_of_olm() {
    let bundle = made(&serving(json!([webhook()]))).unwrap();
    assert!(
        !bundle.files.keys().any(|path| path.contains("webhook")),
        "{:?}",
        bundle.files.keys()
    );
    let csv = csv_of(&bundle);
    assert_eq!(
        csv["spec"]["webhookdefinitions"],
        json!([{
            "type": "ValidatingAdmissionWebhook", "generateName": "vfoobar-v1.example.com", "deploymentName": ACCOUNT,
            "containerPort": 443, "targetPort": "webhook", "webhookPath": "/validate-example-com-v1-foobar",
            "admissionReviewVersions": ["v1"], "failurePolicy": "Fail", "matchPolicy": "Equivalent", "sideEffects": "None",
            "timeoutSeconds": 5, "rules": webhook()["rules"],
        }])
    );
    assert_eq!(*arguments(&csv), json!(["--leader-elect", CERTIFICATES]));
    assert_eq!(*arguments(&super::csv(&project())), json!(["--leader-elect"]));
}

#[test]
fn certificates_that_are_given_at_the_same_place_stay() {
    let mut objects = serving(json!([webhook()]));
    let given = json!(["--webhook-cert-path", "/tmp/k8s-webhook-server/serving-certs/"]);
    container(&mut objects)["args"] = given.clone();
    assert_eq!(*arguments(&csv(&objects)), given);
    for flags in [
        ["--webhook-cert-path=/certs", "-v"],
        ["--webhook-cert-name", "cert.pem"],
    ] {
        container(&mut objects)["args"] = json!(flags);
        let error = made(&objects).unwrap_err();
        assert!(matches!(error, BundleError::Certificates { .. }), "{error}");
    }
}

#[test]
fn a_kind_with_a_converter_is_described_and_is_never_read_without_it() {
    let mut objects = serving(json!([]));
    objects[1]["metadata"]["annotations"] = json!({"kubewright.dev/conversion": "Webhook"});
    let bundle = made(&objects).unwrap();
    assert_eq!(
        csv_of(&bundle)["spec"]["webhookdefinitions"],
        json!([{
            "type": "ConversionWebhook", "generateName": "cfoobars.example.com", "deploymentName": ACCOUNT, "containerPort": 443,
            "targetPort": "webhook", "webhookPath": "/convert-example-com-foobar", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "conversionCRDs": ["foobars.example.com"],
        }])
    );
    assert!(
        bundle.notes.is_empty(),
        "OLM replaces the namespace: {:?}",
        bundle.notes
    );
    let crd = yaml::documents(&bundle.files["manifests/example.com_foobars.yaml"])
        .unwrap()
        .remove(0);
    let service = &crd["spec"]["conversion"]["webhook"]["clientConfig"]["service"];
    assert_eq!(crd["spec"]["conversion"]["strategy"], "Webhook");
    assert_eq!(service["name"], "foo-controller-manager-service");

    let own = json!([{"name": "WATCH_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}]);
    container(&mut objects)["env"] = own;
    assert!(matches!(made(&objects), Err(BundleError::Conversion)));
}

#[test]
fn what_olm_would_drop_of_a_webhook_is_refused() {
    let refused = |path: &str, value: Value| made(&serving_with(path, value)).unwrap_err().to_string();
    let own = json!({"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [NAMESPACE]}]});
    let error = refused("/namespaceSelector", own);
    assert!(
        error.starts_with("OLM cannot carry `namespaceSelector` of the webhook `vfoobar-v1.example.com`"),
        "{error}"
    );
    let error = refused("/matchConditions", json!([{"name": "mine", "expression": "true"}]));
    assert!(error.starts_with("OLM cannot carry `matchConditions`"), "{error}");
    let error = refused("/name", "v".repeat(64).into());
    assert!(error.contains("must be no more than 63 bytes"), "{error}");
    let rules = |group: &str| json!([{"apiGroups": [group], "resources": ["*"]}]);
    for group in ["*", "operators.coreos.com", "admissionregistration.k8s.io"] {
        let error = refused("/rules", rules(group));
        assert!(
            error.starts_with(&format!("OLM accepts no webhook for the API group `{group}`")),
            "{error}"
        );
    }
    for (path, value) in [
        ("/clientConfig/service", Value::Null),
        ("/clientConfig/service/port", json!(444)),
    ] {
        let error = refused(path, value);
        assert!(
            error.starts_with("`vfoobar-v1.example.com` is not served through a Service"),
            "{error}"
        );
    }
    for (path, value) in [
        ("/namespaceSelector", json!({})),
        ("/objectSelector", json!({"matchLabels": {"a": "b"}})),
    ] {
        assert!(made(&serving_with(path, value)).is_ok(), "{path}");
    }
    let error = made(&serving(json!([webhook(), webhook()]))).unwrap_err();
    assert!(matches!(error, BundleError::Twice(_)), "{error}");
}
