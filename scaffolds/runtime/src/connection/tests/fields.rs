//! Fields of kubeconfigs that are refused, and those that count as absent.

use kube::config::ExecInteractiveMode;

use super::{
    super::{builder, kubeconfig::from_merged, plugin, proxy::Environment},
    kubeconfig,
};

/// More fields of the cluster and of the user, and what the error contains.
const REFUSED: [(&str, &str, &str); 22] = [
    (r#", "server": """#, "", "`server` is missing"),
    (
        r#", "server": "ftp://example.com""#,
        "",
        "another scheme than https and http",
    ),
    (
        r#", "server": "example.com:6443/path""#,
        "",
        "`server` `example.com:6443/path` has a path",
    ),
    (r#", "server": "https://:6443""#, "", "`server` `https://:6443` "),
    (
        r#", "certificate-authority": "/none", "certificate-authority-data": "YQ==""#,
        "",
        "`certificate-authority` and `certificate-authority-data` are both set",
    ),
    (
        r#", "insecure-skip-tls-verify": true, "certificate-authority-data": "YQ==""#,
        "",
        "`insecure-skip-tls-verify` and `certificate-authority-data` are both set",
    ),
    (
        r#", "certificate-authority": "/none/ca""#,
        "",
        "`certificate-authority` `/none/ca`: ",
    ),
    (
        r#", "certificate-authority-data": "a b""#,
        "",
        "`certificate-authority-data` is not Base64",
    ),
    (
        r#", "certificate-authority-data": "YQ==""#,
        "",
        "`certificate-authority-data` contains no certificate",
    ),
    (
        "",
        r#""client-certificate": "/none/crt", "client-key": "/none/key""#,
        "`client-certificate` `/none/crt`: ",
    ),
    (
        "",
        r#""client-certificate-data": "YQ==""#,
        "`client-certificate-data` is set, and `client-key` is not",
    ),
    (
        "",
        r#""client-key-data": "YQ==""#,
        "`client-key-data` is set, and `client-certificate` is not",
    ),
    (
        "",
        r#""client-key-data": "YQ==", "client-key": "/none""#,
        "`client-key` and `client-key-data` are both set",
    ),
    (
        "",
        r#""token": "t", "username": "u""#,
        "`token` and `username` are both set",
    ),
    ("", r#""password": "p""#, "`password` is set, and `username` is not"),
    ("", r#""as-groups": ["g"]"#, "`as-groups` is set, and `as` is not"),
    (
        "",
        r#""auth-provider": {"name": "oidc"}"#,
        "`auth-provider` is not supported",
    ),
    (
        "",
        r#""auth-provider": {"name": "oidc"}, "exec": {"command": "true"}"#,
        "`auth-provider` and `exec` are both set",
    ),
    (
        "",
        r#""exec": {"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never"}"#,
        "`command` of `exec` is missing",
    ),
    ("", r#""exec": {"command": "true"}"#, "`apiVersion` of `exec` must be "),
    (
        "",
        r#""exec": {"command": "true", "apiVersion": "client.authentication.k8s.io/v1alpha1"}"#,
        "and is `client.authentication.k8s.io/v1alpha1`",
    ),
    (
        "",
        r#""exec": {"command": "true", "apiVersion": "client.authentication.k8s.io/v1"}"#,
        "`interactiveMode` of `exec` is missing",
    ),
];

#[tokio::test]
async fn fields_that_client_go_refuses_are_refused_by_name() {
    for (cluster, user, expected) in REFUSED {
        let why = from_merged(kubeconfig(cluster, user), &Environment::default()).await;
        let why = why.err().unwrap_or_else(|| panic!("{cluster} {user} is accepted"));
        assert!(why.contains(expected), "{cluster} {user}: {why}");
    }
}

#[tokio::test]
async fn empty_fields_count_as_absent_and_a_server_needs_no_scheme() {
    let cluster =
        r#", "server": "example.com:6443", "certificate-authority": "", "tls-server-name": "", "proxy-url": """#;
    let user = r#""token": "", "tokenFile": "", "client-certificate": "", "as": "", "as-groups": []"#;
    let config = from_merged(kubeconfig(cluster, user), &Environment::default())
        .await
        .unwrap();
    assert_eq!(config.cluster_url.to_string(), "http://example.com:6443/");
    assert_eq!(
        (&config.tls_server_name, &config.proxy_url, &config.root_cert_file),
        (&None, &None, &None)
    );
    assert_eq!(
        (&config.auth_info.token_file, &config.auth_info.impersonate),
        (&None, &None)
    );
    assert!(config.auth_info.token.is_none());
    let cluster = r#", "server": "example.com:6443", "insecure-skip-tls-verify": true"#;
    let config = from_merged(kubeconfig(cluster, ""), &Environment::default())
        .await
        .unwrap();
    assert_eq!(config.cluster_url.to_string(), "https://example.com:6443/");
}

#[tokio::test]
async fn a_token_that_no_header_can_contain_is_not_shown() {
    let config = from_merged(kubeconfig("", r#""token": "sec\nret""#), &Environment::default())
        .await
        .unwrap();
    let why = builder(config, |_| ()).err().unwrap();
    assert!(why.starts_with("`token`: ") && !why.contains("sec"), "{why}");
}

#[test]
fn a_plugin_that_must_ask_needs_a_terminal() {
    let exec = |mode: &str| {
        let user = format!(
            r#""exec": {{"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "interactiveMode": "{mode}"}}"#
        );
        kubeconfig("", &user).auth_infos.remove(0).auth_info.unwrap()
    };
    let why = plugin::check(&mut exec("Always"), false).unwrap_err();
    assert!(
        why.contains("`sh`") && why.contains("interactiveMode: Always") && why.contains("hint: "),
        "{why}"
    );
    plugin::check(&mut exec("Always"), true).unwrap();
    let mut user = exec("IfAvailable");
    plugin::check(&mut user, false).unwrap();
    assert_eq!(user.exec.unwrap().interactive_mode, Some(ExecInteractiveMode::Never));
    // Other credentials come first.
    let mut user = exec("Always");
    user.username = Some("u".to_owned());
    plugin::check(&mut user, false).unwrap();
}
