//! A run over many programs ends, even if a server does not answer.

use fidelity::{Program, Step, Target, comparison::Comparison, random};
use std::{collections::BTreeSet, env, fs, net::TcpListener, process};

/// A server that accepts connections but never answers.
async fn mute(listener: &TcpListener) -> Target {
    let url = format!("http://{}", listener.local_addr().unwrap());
    let path = env::temp_dir().join(format!("fidelity-mute-{}", process::id()));
    let config = format!(
        r#"{{"clusters": [{{"name": "a", "cluster": {{"server": "{url}"}}}}], "users": [{{"name": "a", "user": {{}}}}],
            "contexts": [{{"name": "a", "context": {{"cluster": "a", "user": "a"}}}}], "current-context": "a"}}"#
    );
    fs::write(&path, config).unwrap();
    let target = Target::of_kubeconfig(&path).await.unwrap();
    fs::remove_file(&path).unwrap();
    target
}

#[tokio::test(start_paused = true)]
async fn programs_that_never_end_are_given_up_and_counted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let comparison = Comparison {
        real: mute(&listener).await,
        ours: Target::in_process(),
        known: BTreeSet::new(),
        whole: true,
    };
    assert_eq!(comparison.of((1..20).map(random::program).collect()).await, 19);
}

#[tokio::test(start_paused = true)]
async fn a_server_does_not_differ_from_itself_and_random_programs_tidy_up() {
    let comparison = Comparison {
        real: Target::in_process(),
        ours: Target::in_process(),
        known: BTreeSet::new(),
        whole: true,
    };
    assert_eq!(comparison.of((1..40).map(random::program).collect()).await, 0);
    let list = Program {
        name: "what is left".to_owned(),
        steps: vec![Step {
            r#do: "GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions".to_owned(),
            // A CRD is removed once its objects are gone.
            until: [("/items".to_owned(), serde_json::json!([]))].into(),
            ..Step::default()
        }],
        after: Vec::new(),
    };
    let answers = comparison.ours.run(&list, "after").await.unwrap();
    assert_eq!(answers[0].body["items"], serde_json::json!([]), "left");
}
