//! Webhooks of kinds without a Rust type.

use super::*;

/// The kind `Bucket.storage.example.org/v1`.
fn buckets() -> Kind<DynamicObject> {
    let kind = GroupVersionKind::gvk("storage.example.org", "v1", "Bucket");
    Kind::namespaced(ApiResource::from_gvk_with_plural(&kind, "buckets"))
}

/// Demands a size, and reads the kind that it is given.
struct Sized(Kind<DynamicObject>);

impl Validator<DynamicObject> for Sized {
    async fn validate(&self, cx: &Admission, change: Change<'_, DynamicObject>) -> Result<Verdict> {
        let object = change.new_object().unwrap();
        if object.data["spec"]["read"] == true {
            cx.of(&self.0).get("a")?;
        }
        let mut verdict = Verdict::allowed();
        if object.data["spec"]["size"].is_null() {
            verdict.required("spec.size", "");
        }
        Ok(verdict)
    }
}

impl Defaulter<DynamicObject> for Sized {
    async fn default(&self, _: &Admission, object: &mut DynamicObject) -> Result<()> {
        object.data["spec"]["size"] = json!(1);
        Ok(())
    }
}

#[tokio::test]
async fn a_kind_without_a_rust_type_has_webhooks() {
    let manager = manager();
    Webhook::validating_of(&buckets(), Sized(buckets()))
        .register(&manager)
        .unwrap();
    Webhook::defaulting_of(&buckets(), Sized(buckets()))
        .register(&manager)
        .unwrap();
    let hooks = hooks(&manager);
    let paths: Vec<_> = hooks.iter().map(|hook| hook.endpoint.path()).collect();
    assert_eq!(
        paths,
        [
            "/validate-storage-example-org-v1-bucket",
            "/mutate-storage-example-org-v1-bucket"
        ]
    );
    let Purpose::Admission { entry, .. } = &hooks[0].purpose else {
        panic!("another purpose")
    };
    assert_eq!(entry["rules"][0]["resources"], json!(["buckets"]));
    let request = |spec: Value| {
        let object =
            json!({"apiVersion": "storage.example.org/v1", "kind": "Bucket", "metadata": {"name": "x"}, "spec": spec});
        let kind = json!({"group": "storage.example.org", "version": "v1", "kind": "Bucket"});
        json!({"kind": kind, "object": object})
    };
    let (_, refused) = ask(&manager, false, request(json!({}))).await;
    assert_eq!(
        refused["status"]["message"],
        r#"Bucket.storage.example.org "x" is invalid: spec.size: Required value"#
    );
    let (_, defaulted) = ask(&manager, true, request(json!({"a": 2}))).await;
    let patch = base64::decode(defaulted["patch"].as_str().unwrap(), Encoding::Standard).unwrap();
    let patch: Value = serde_json::from_slice(&patch).unwrap();
    assert_eq!(patch, json!([{"op": "add", "path": "/spec/size", "value": 1}]));
    let (code, status) = ask(&manager, false, request(json!({"read": true}))).await;
    let why = "the webhook does not read Bucket\n\nhint: add `.reads_of(…)` with this kind to its declaration";
    assert_eq!((code, status["message"].as_str()), (500, Some(why)));
}

/// Forbids everything with what it reads.
struct Reads(Kind<DynamicObject>);

impl Validator<ConfigMap> for Reads {
    async fn validate(&self, cx: &Admission, _: Change<'_, ConfigMap>) -> Result<Verdict> {
        let secrets = cx.of(&self.0);
        let found = secrets.get("a")?.unwrap();
        let elsewhere = secrets.find(&ObjectKey::new(Some("elsewhere"), "a"))?;
        let said = json!([found.data["type"], elsewhere.is_none(), secrets.list()?.len()]);
        Ok(Verdict::forbidden(said.to_string()))
    }
}

#[tokio::test]
async fn a_kind_without_a_rust_type_is_read_and_granted() {
    let server = ApiServer::new(Options {
        controllers: Controllers::NONE,
        ..Options::default()
    });
    let client = Client::new(server.service(), "default");
    let secret = json!({"metadata": {"name": "a"}, "type": "example.com/x"});
    let secret: Secret = serde_json::from_value(secret).unwrap();
    let api: Api<Secret> = Api::default_namespaced(client.clone());
    api.create(&PostParams::default(), &secret).await.unwrap();

    let manager = Manager::builder(client).name("foobar-operator").build();
    let secrets = Kind::namespaced(ApiResource::erase::<Secret>(&()));
    Webhook::validating(Reads(secrets.clone()))
        .failure_policy(FailurePolicy::Ignore)
        .reads_of(&secrets)
        .register(&manager)
        .unwrap();
    let rules = &manager.roles(false).unwrap()[0]["rules"];
    assert_eq!(
        rules,
        &json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "watch"]}])
    );
    let running = tokio::spawn(manager.informer_of(&secrets).run(pending()));
    let request = json!({"namespace": "default", "object": {"metadata": {"name": "x"}}});
    let (_, answer) = ask(&manager, false, request).await;
    assert_eq!(answer["status"]["message"], r#"["example.com/x",true,1]"#, "{answer}");
    running.abort();
}
