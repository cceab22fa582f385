//! The commands, with a kubectl that plays a cluster and writes down what it is asked.

use super::{Removed, execute_with};
use kubewright_schema::files::Streams;
use std::fs;
use std::time::Duration;

/// The output of kustomize.
const OBJECTS: &str = "\
apiVersion: v1
kind: Namespace
metadata:
  labels: {app.kubernetes.io/component: namespace, app.kubernetes.io/name: foo}
  name: foo-system
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  labels: {app.kubernetes.io/component: crd}
  name: foobars.test.example.com
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: foo-controller-manager
  namespace: foo-system
";

/// The labels of a namespace that `make deploy` has made.
const MADE: &str =
    r#"{"metadata": {"labels": {"app.kubernetes.io/component": "namespace", "app.kubernetes.io/name": "foo"}}}"#;

/// The namespace is `$namespace`, and its objects are `$objects`.
const NAMESPACE: &str = r#"
"get namespace foo-system"*name) [ -z "$namespace" ] || echo namespace/foo-system ;;
"get namespace foo-system"*) echo "$namespace" ;;
"api-resources --namespaced"*) [ -z "$unlisted" ] && printf 'configmaps\nleases.coordination.k8s.io\n' ;;
"get configmaps,leases.coordination.k8s.io --namespace foo-system"*) printf "$objects" ;;
"#;

/// Two CRDs, one of them with a converter. The operator does not clean up after the objects of the other.
const KINDS: &str = r#"
"get -k config/crd"*json) echo '{"kind": "List", "items": [
    {"metadata": {"name": "foobars.test.example.com"}, "spec": {"conversion": {"strategy": "Webhook"},
        "versions": [{"name": "v1", "storage": false}, {"name": "v2", "storage": true}]}},
    {"metadata": {"name": "greeters.test.example.com"}, "spec": {"conversion": {"strategy": "None"}}}]}' ;;
"delete greeters"*--cascade=foreground*) echo "error: timed out waiting for the condition" >&2 && exit 1 ;;
"#;

/// A CRD whose objects wait for a garbage collector that never ends their deletion: it has first seen them in a version that is gone. The operator
/// needs a moment to clean up, and the collector one for their child.
const STUCK: &str = r#"
"get -k config/crd"*) echo '{"metadata": {"name": "foobars.test.example.com"}}' ;;
"api-resources"*) echo configmaps ;;
"delete foobars"*--cascade=foreground*) until [ -e released ]; do sleep 0.05; done ;;
"delete foobars"*--cascade=background*) touch released ;;
"get foobars"*) [ "$(nth "get foobars")" -gt 3 ] && echo '["foregroundDeletion"] uid-1' || echo '["foregroundDeletion","ours"] uid-1' ;;
"get configmaps"*) [ "$(nth "get configmaps")" -gt 2 ] || echo "ConfigMap default/sample uid-0 uid-1" ;;
"#;

struct Cluster {
    folder: tempfile::TempDir,
}

impl Cluster {
    /// `answers` are branches of a `case`, and `settings` variables that they use.
    fn new(settings: &str, answers: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = format!(
            "cd \"${{0%/*}}\"\n{settings}\necho \"$*\" >>log\n\
             case \"$*\" in *' -f -') sed -n 's/^kind: /sent /p' >>log ;; esac\nnth() {{ grep -c -- \"^$1\" log; }}\n\
             case \"$*\" in\nkustomize*) cat objects ;;\n{answers}\nesac\n"
        );
        fs::write(folder.path().join("kubectl"), program).unwrap();
        fs::write(folder.path().join("objects"), OBJECTS).unwrap();
        Self { folder }
    }

    /// Runs the command with pauses that take no time. Returns the exit code, what is printed, and what kubectl was asked.
    fn run(&self, removed: Removed, flags: &[&str]) -> (u8, String, String) {
        let kubectl = self.folder.path().join("kubectl").display().to_string();
        let words = [&["--operator", "foo"], flags, &["--", "sh", &kubectl]].concat();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let streams = Streams {
            out: &mut out,
            err: &mut err,
        };
        let words = words.into_iter().map(str::to_owned);
        let code = execute_with(removed, words, streams, &|pause| {
            std::thread::sleep(pause.min(Duration::from_millis(2)));
        });
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        (code, String::from_utf8([out, err].concat()).unwrap(), log)
    }
}

/// The position of the text in the log.
fn at(log: &str, words: &str) -> usize {
    log.find(words).unwrap_or_else(|| panic!("no `{words}` in\n{log}"))
}

#[test]
fn the_namespace_that_deploy_made_is_deleted_if_nobody_else_uses_it() {
    let ours = "ConfigMap/kube-root-ca.crt \\nServiceAccount/default \\nLease/foo \\nEvent/x \\nEndpointSlice/y \\nPod/mine uid-1\\n";
    let of_openshift = "RoleBinding/system:image-pullers \\nServiceAccount/builder \\nSecret/foo-controller-manager-dockercfg-x7k2p \\nConfigMap/istio-ca-root-cert \\n";
    for objects in ["", ours, of_openshift] {
        let settings = format!("namespace='{MADE}'; objects='{objects}'");
        let (code, said, log) = Cluster::new(&settings, NAMESPACE).run(Removed::Operator, &[]);
        assert_eq!((code, said.as_str()), (0, ""), "{log}");
        assert!(log.ends_with("\ndelete namespace foo-system\n"), "{log}");
    }
}

#[test]
fn a_namespace_that_others_made_or_use_stays_and_undeploy_says_why() {
    let others = r#"{"metadata": {"labels": {"app.kubernetes.io/name": "foo"}}}"#;
    for (namespace, objects, unlisted, left) in [
        (others, "", "", "which `make deploy` has not made"),
        (MADE, "", "yes", "of which not all objects can be listed"),
        (
            MADE,
            "Lease/other \\nConfigMap/settings \\nConfigMap/kube-root-ca.crt-2 \\n",
            "",
            "which has objects of others: Lease/other ConfigMap/settings ConfigMap/kube-root-ca.crt-2",
        ),
        (
            MADE,
            "Secret/x-dockercfg-x7k2p \\nSecret/default-dockercfg-prod \\n",
            "",
            "which has objects of others: Secret/x-dockercfg-x7k2p Secret/default-dockercfg-prod",
        ),
    ] {
        let settings = format!("namespace='{namespace}'; objects='{objects}'; unlisted='{unlisted}'");
        let (code, said, log) = Cluster::new(&settings, NAMESPACE).run(Removed::Operator, &[]);
        assert_eq!(
            (code, said),
            (0, format!("left: the namespace foo-system, {left}\n")),
            "{log}"
        );
        assert!(!log.contains("delete namespace"), "{log}");
        let rest = "delete --ignore-not-found=true -f -\nsent CustomResourceDefinition\n";
        assert!(log.contains(rest), "{log}");
    }
    let (code, said, log) = Cluster::new("namespace=", NAMESPACE).run(Removed::Operator, &[]);
    assert_eq!((code, said.as_str()), (0, ""));
    assert!(!log.contains("delete namespace"), "{log}");
}

#[test]
fn objects_that_would_be_refused_today_are_deleted() {
    let cluster = Cluster::new("", KINDS);
    let long = format!("  name: {}\n", "a".repeat(254));
    fs::write(
        cluster.folder.path().join("objects"),
        OBJECTS.replace("  name: foo-controller-manager\n", &long),
    )
    .unwrap();
    let (code, said, log) = cluster.run(Removed::Operator, &[]);
    assert_eq!(code, 0, "{said}");
    assert!(deleted(&log).contains(&"sent ServiceAccount"), "{log}");
}

#[test]
fn crds_and_objects_stay_if_asked() {
    let settings = format!("namespace='{MADE}'; objects='FooBar/sample \\n'");
    let (code, said, log) = Cluster::new(&settings, NAMESPACE).run(Removed::Operator, &["--keep-crds"]);
    let left = "left: the CRDs and all their objects\nleft: the namespace foo-system, which has objects of others: FooBar/sample\n";
    assert_eq!((code, said.as_str()), (0, left));
    assert_eq!(
        deleted(&log),
        ["delete --ignore-not-found=false -f -", "sent ServiceAccount"]
    );
}

/// The deletions, and the kinds of the objects that they have got.
fn deleted(log: &str) -> Vec<&str> {
    let starts = ["delete ", "sent "];
    let lines = log.lines();
    lines
        .filter(|line| starts.iter().any(|start| line.starts_with(start)))
        .collect()
}

#[test]
fn nothing_is_deleted_if_the_objects_of_the_operator_cannot_be_rendered() {
    let cluster = Cluster::new("", KINDS);
    fs::write(cluster.folder.path().join("objects"), "[").unwrap();
    let (code, said, log) = cluster.run(Removed::Operator, &[]);
    assert_eq!((code, deleted(&log)), (1, Vec::new()), "{said}");
}

#[test]
fn crds_and_namespaces_are_known_by_their_kinds_whatever_their_labels() {
    let settings = "namespace='{}'; objects=";
    let cluster = Cluster::new(settings, NAMESPACE);
    let labelled = OBJECTS
        .replace("component: crd", "component: operator")
        .replace("component: namespace", "component: operator");
    fs::write(cluster.folder.path().join("objects"), labelled).unwrap();
    let (code, said, log) = cluster.run(Removed::Operator, &["--keep-crds"]);
    let left =
        "left: the CRDs and all their objects\nleft: the namespace foo-system, which `make deploy` has not made\n";
    assert_eq!((code, said.as_str()), (0, left), "{log}");
    assert_eq!(
        deleted(&log),
        ["delete --ignore-not-found=false -f -", "sent ServiceAccount"]
    );
}

#[test]
fn converters_leave_the_crds_once_the_operator_is_gone() {
    let (code, said, log) = Cluster::new("", KINDS).run(Removed::Operator, &["--ignore-not-found=true"]);
    assert_eq!(code, 0, "{said}");
    let none = r#"patch crd foobars.test.example.com --type merge --patch {"spec":{"conversion":{"strategy":"None","webhook":null}}}"#;
    assert!(at(&log, "delete --ignore-not-found=true -f -\nsent ServiceAccount") < at(&log, none));
    assert!(at(&log, none) < at(&log, "sent CustomResourceDefinition"));
    assert!(!log.contains("patch crd greeters"), "{log}");
    // One kind's deletion in the foreground does not end.
    let deleted = |kind: &str, cascade: &str| {
        format!("delete {kind}.test.example.com --all --all-namespaces --cascade={cascade}")
    };
    // In the version that is stored, which needs no converter.
    assert!(log.contains(&deleted("foobars.v2", "foreground")), "{log}");
    assert!(at(&log, &deleted("greeters", "foreground")) < at(&log, &deleted("greeters", "background")));
    assert!(!log.contains(&deleted("foobars.v2", "background")), "{log}");
}

#[test]
fn objects_that_do_not_go_keep_their_crd_and_are_named() {
    let answers = r#"
"get -k config/crd"*) echo '{"metadata": {"name": "foobars.test.example.com"}}' ;;
delete\ foobars*) exit 1 ;;
"get foobars"*) printf 'NAMESPACE   NAME\ndefault   sample\n' ;;
"#;
    let (code, said, log) = Cluster::new("", answers).run(Removed::Kinds, &["--timeout", "7s"]);
    assert_eq!(code, 1);
    assert!(
        said.starts_with("error: these are still there after 7s:\nNAMESPACE   NAME\ndefault   sample\n\nhint: is the operator running"),
        "{said}"
    );
    assert!(
        log.contains("--cascade=foreground --timeout 7s\n") && !log.contains("-k config/crd\n"),
        "{log}"
    );
}

#[test]
fn children_that_are_not_collected_keep_the_crds_and_are_named() {
    let answers = r#"
"api-resources"*) echo configmaps; exit 1 ;;
"get configmaps"*) echo "ConfigMap default/sample uid-0" ;;
"#;
    let (code, said, log) = Cluster::new("", answers).run(Removed::Kinds, &[]);
    let error = "error: these are not collected, though their owners are gone:\nConfigMap default/sample\n\nhint: does the cluster's garbage collector run?\n";
    assert_eq!((code, said.as_str()), (1, error));
    assert!(
        log.contains("--selector kubewright.dev/operator=foo ") && !log.contains("\ndelete "),
        "{log}"
    );
}

#[test]
fn kinds_that_cannot_be_listed_are_named_and_the_others_are_waited_for() {
    // The converter of the operator's own kind is gone.
    let answers = r#"
"get -k config/crd"*) echo '{"metadata": {"name": "foobars.test.example.com"}, "spec": {"conversion": {"strategy": "Webhook"}}}' ;;
"api-resources"*) printf 'configmaps\nsecrets\nwidgets.other.io\nfoobars.test.example.com\n' ;;
"get configmaps,secrets,"*|"get secrets"*|"get widgets"*|"get foobars"*) echo "forbidden" >&2; exit 1 ;;
"get configmaps "*) [ "$(nth "get configmaps ")" -gt "$found" ] || echo "ConfigMap default/sample uid-0" ;;
"#;
    let (code, said, log) = Cluster::new("found=2", answers).run(Removed::Kinds, &[]);
    let warning = "warning: these kinds cannot be listed, so their objects may be left: secrets, widgets.other.io\n";
    assert_eq!((code, said.as_str()), (0, warning), "{log}");
    assert!(
        log.ends_with("delete --ignore-not-found=false -k config/crd\n"),
        "{log}"
    );
    assert_eq!(log.matches("\nget configmaps ").count(), 3, "{log}");
    assert_eq!(log.matches("\nget secrets ").count(), 1, "{log}");

    let (code, said, log) = Cluster::new("found=99", answers).run(Removed::Kinds, &[]);
    assert!(code == 1 && said.contains("\nConfigMap default/sample\n"), "{said}");
    assert!(!log.contains("\ndelete --ignore"), "{log}");

    let none = "\"api-resources\"*) echo configmaps ;;\nget*jsonpath*) exit 1 ;;\n";
    let (code, said, log) = Cluster::new("", none).run(Removed::Kinds, &[]);
    assert!(code == 1 && said.contains("` failed: exit status: 1"), "{said}");
    assert!(!log.contains("\ndelete "), "{log}");
}

#[test]
fn objects_that_the_garbage_collector_forgot_are_released_once_their_children_are_gone() {
    let (code, said, log) = Cluster::new("", STUCK).run(Removed::Kinds, &[]);
    assert_eq!((code, said.as_str()), (0, ""));
    let released = at(&log, "--cascade=background");
    // Three times the operator's finalizer is still there; then five quiet looks are needed; then two find the child.
    assert!(log[..released].matches("\nget foobars").count() >= 10, "{log}");
    assert_eq!(log[..released].matches("\nget configmaps").count(), 3, "{log}");
    let foreground = "delete foobars.test.example.com --all --all-namespaces --cascade=foreground --timeout 2m\n";
    assert_eq!(log.matches(foreground).count(), 1);
    assert!(
        released < at(&log, "delete --ignore-not-found=false -k config/crd\n"),
        "{log}"
    );
}

#[test]
fn an_object_that_is_gone_already_fails_with_the_remedy() {
    for removed in [Removed::Kinds, Removed::Operator] {
        for (flag, has_hint) in [("false", true), ("true", false)] {
            let found = format!("--ignore-not-found={flag}");
            let gone = "'delete --ignore-not-found='*) exit 1 ;;\n".to_owned() + KINDS;
            let (code, said, _) = Cluster::new("", &gone).run(removed, &[&found]);
            let hinted = said.ends_with("hint: with `ignore-not-found=true` what is gone already is no error\n");
            assert_eq!((code, hinted), (1, has_hint), "{said}");
        }
    }
}

#[test]
fn a_kubectl_that_cannot_list_the_crds_deletes_nothing() {
    for removed in [Removed::Kinds, Removed::Operator] {
        let (code, said, log) = Cluster::new("", "get*) exit 3 ;;").run(removed, &[]);
        assert!(code == 1 && said.contains("failed: exit status: 3"), "{said}");
        assert!(!log.contains("delete"), "{log}");
    }
}

#[test]
fn wrong_arguments_are_named() {
    for (removed, flag, wrong) in [
        (Removed::Kinds, "--keep-crds", "unknown argument `--keep-crds`"),
        (
            Removed::Kinds,
            "--kustomization=x",
            "unknown argument `--kustomization`",
        ),
        (Removed::Operator, "--image=x", "unknown argument `--image`"),
        (Removed::Operator, "--operator=", "`--operator` is missing"),
        (
            Removed::Operator,
            "--ignore-not-found=maybe",
            "`--ignore-not-found` is true or false, not `maybe`",
        ),
    ] {
        let (code, said, log) = Cluster::new("", "").run(removed, &[flag]);
        assert!(
            code == 2 && said.contains(&format!("error: {wrong}\n")) && log.is_empty(),
            "{said}"
        );
    }
}
