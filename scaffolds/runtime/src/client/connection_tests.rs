//! Clients of an API server with TLS, as the fields of a kubeconfig and the environment of a pod make them: proxies, and
//! credentials that rotate.

mod server;

use std::{fs, path::PathBuf, time::Duration};

use http::Request;
use kube::{Client, Config};
use serde_json::{Value, json};

use self::server::{Authority, TlsServer, TunnelProxy};
use crate::connection::{self, pod};

/// A folder that is deleted at the end of its test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("client-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file, and returns its path.
    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    }

    /// The configuration of a kubeconfig with this cluster and user.
    async fn config(&self, cluster: Value, user: Value) -> Result<Config, String> {
        let file = json!({
            "current-context": "a",
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
            "clusters": [{"name": "a", "cluster": cluster}],
            "users": [{"name": "a", "user": user}],
        });
        let path = self.write("kubeconfig", &file.to_string());
        connection::config(Some(path.as_ref())).await
    }

    async fn client(&self, cluster: Value, user: Value) -> Result<Client, String> {
        Ok(connection::builder(self.config(cluster, user).await?, |_| ())?.build())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

async fn get(client: &Client) -> Result<String, String> {
    let request = Request::get("/version").body(Vec::new()).unwrap();
    client.request_text(request).await.map_err(|error| format!("{error:?}"))
}

/// Advances the clock of the runtime, not the clock of the system.
async fn pass(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

#[tokio::test]
async fn a_proxy_is_spoken_to_in_tls() {
    let (folder, authority) = (Folder::new("https-proxy"), Authority::new());
    let server = TlsServer::start(&authority, "api.invalid").await;
    let cluster = |proxy: &TunnelProxy| {
        json!({
            "server": "https://api.invalid:6443",
            "certificate-authority": folder.write("ca.crt", &authority.pem()),
            "proxy-url": format!("https://user:p%40ss@{}", proxy.address),
        })
    };
    let proxy = TunnelProxy::start(Some(&authority), &server).await;
    let client = folder.client(cluster(&proxy), json!({"token": "t"})).await.unwrap();
    assert_eq!(get(&client).await.unwrap(), "{}");
    let connect = proxy.last();
    assert!(
        connect.starts_with("CONNECT api.invalid:6443 HTTP/1.1\r\n"),
        "{connect}"
    );
    // `user:p@ss`
    assert!(connect.contains("Basic dXNlcjpwQHNz"), "{connect}");
    assert_eq!(server.last().header("authorization"), ["Bearer t"]);
    // As in client-go, the certificate of the proxy is verified by the authorities of the cluster.
    let foreign = TunnelProxy::start(Some(&Authority::new()), &server).await;
    let client = folder.client(cluster(&foreign), json!({})).await.unwrap();
    let why = get(&client).await.unwrap_err();
    assert!(why.contains(&foreign.address) && why.contains("certificate"), "{why}");
}

#[tokio::test]
async fn an_operator_in_a_pod_uses_the_proxy_of_its_environment() {
    let (folder, authority) = (Folder::new("pod"), Authority::new());
    let server = TlsServer::start(&authority, "10.96.0.1").await;
    let proxy = TunnelProxy::start(None, &server).await;
    folder.write("ca.crt", &authority.pem());
    folder.write("token", "first\n");
    folder.write("namespace", "here\n");
    let config = |none: &str| {
        let url = format!("http://{}", proxy.address);
        let none = none.to_owned();
        pod::config(&folder.0, move |name| match name {
            "KUBERNETES_SERVICE_HOST" => Some("10.96.0.1".to_owned()),
            "KUBERNETES_SERVICE_PORT" => Some("443".to_owned()),
            "HTTPS_PROXY" => Some(url.clone()),
            "NO_PROXY" => Some(none.clone()),
            _ => None,
        })
    };
    assert_eq!(config("10.96.0.0/16").unwrap().proxy_url, None);
    let proxied = config("").unwrap();
    assert_eq!(proxied.default_namespace, "here");
    let client = connection::builder(proxied, |_| ()).unwrap().build();
    assert_eq!(get(&client).await.unwrap(), "{}");
    assert!(proxy.last().starts_with("CONNECT 10.96.0.1:443 "), "{}", proxy.last());
    assert_eq!(server.last().header("authorization"), ["Bearer first"]);
    // Token and authority rotate.
    let next = Authority::new();
    server.present(&next, "10.96.0.1");
    folder.write("ca.crt", &next.pem());
    folder.write("token", "second\n");
    pass(61).await;
    assert_eq!(get(&client).await.unwrap(), "{}");
    assert_eq!(server.last().header("authorization"), ["Bearer second"]);
    fs::remove_file(folder.0.join("namespace")).unwrap();
    let why = config("").unwrap_err();
    assert!(why.contains("namespace`: "), "{why}");
}

#[tokio::test]
async fn a_token_file_comes_before_a_token_and_leaves_its_last_contents_in_use() {
    let (folder, authority) = (Folder::new("token"), Authority::new());
    let server = TlsServer::start(&authority, "127.0.0.1").await;
    let cluster = json!({"server": server.url(), "certificate-authority": folder.write("ca", &authority.pem())});
    let user = json!({"tokenFile": "token", "token": "fixed"});
    let without_file = folder.client(cluster.clone(), user.clone()).await.unwrap();
    get(&without_file).await.unwrap();
    assert_eq!(server.last().header("authorization"), ["Bearer fixed"]);
    folder.write("token", "first\n");
    let client = folder.client(cluster.clone(), user).await.unwrap();
    for (token, sent) in [
        ("first", "first"),
        ("second\n", "second"),
        ("", "second"),
        ("third", "third"),
    ] {
        folder.write("token", token);
        pass(61).await;
        get(&client).await.unwrap();
        assert_eq!(server.last().header("authorization"), [format!("Bearer {sent}")]);
    }
    fs::remove_file(folder.0.join("token")).unwrap();
    pass(61).await;
    get(&client).await.unwrap();
    assert_eq!(server.last().header("authorization"), ["Bearer third"]);
    let why = folder
        .client(cluster, json!({"tokenFile": "token"}))
        .await
        .err()
        .unwrap();
    assert!(why.starts_with("`tokenFile` `"), "{why}");
}

#[tokio::test]
async fn a_token_file_is_read_again_when_its_token_is_refused() {
    let (folder, authority) = (Folder::new("refused"), Authority::new());
    let server = TlsServer::start(&authority, "127.0.0.1").await;
    let cluster = json!({"server": server.url(), "certificate-authority": folder.write("ca", &authority.pem())});
    folder.write("token", "first");
    let client = folder.client(cluster, json!({"tokenFile": "token"})).await.unwrap();
    get(&client).await.unwrap();
    server.refuse("Bearer first");
    get(&client).await.unwrap_err();
    pass(1).await;
    get(&client).await.unwrap_err();
    folder.write("token", "second");
    // Another refused request would otherwise read the file at once, and each one after it too.
    get(&client).await.unwrap_err();
    pass(1).await;
    get(&client).await.unwrap();
    assert_eq!(server.last().header("authorization"), ["Bearer second"]);
}

#[tokio::test]
async fn certificates_and_authorities_in_files_rotate() {
    let (folder, authority) = (Folder::new("rotation"), Authority::new());
    let server = TlsServer::start(&authority, "127.0.0.1").await;
    let write = |certificate: &server::Leaf| {
        folder.write("tls.crt", &certificate.pem);
        folder.write("tls.key", &certificate.key);
    };
    let [first, second] = [authority.client("first"), authority.client("second")];
    write(&first);
    folder.write("ca.crt", &authority.pem());
    let cluster = json!({"server": server.url(), "certificate-authority": "ca.crt"});
    // Paths are relative to the folder of the kubeconfig.
    let user = json!({"client-certificate": "tls.crt", "client-key": "tls.key"});
    let client = folder.client(cluster, user).await.unwrap();
    get(&client).await.unwrap();
    assert_eq!(server.last().certificate, Some(first.der.clone()));
    write(&second);
    pass(30).await;
    get(&client).await.unwrap();
    assert_eq!(server.last().certificate, Some(first.der));
    pass(31).await;
    get(&client).await.unwrap();
    assert_eq!(server.last().certificate, Some(second.der.clone()));
    // A certificate without its key is not used.
    folder.write("tls.crt", &authority.client("third").pem);
    pass(61).await;
    get(&client).await.unwrap();
    assert_eq!(server.last().certificate, Some(second.der));
    let next = Authority::new();
    server.present(&next, "127.0.0.1");
    write(&authority.client("fourth"));
    pass(61).await;
    get(&client).await.unwrap_err();
    folder.write("ca.crt", &next.pem());
    pass(61).await;
    get(&client).await.unwrap();
}

#[tokio::test]
async fn empty_paths_are_not_the_folder_of_the_kubeconfig() {
    let folder = Folder::new("empty");
    let cluster = json!({"server": "https://127.0.0.1:1", "certificate-authority": ""});
    let user = json!({"client-certificate": "", "client-key": "", "tokenFile": "", "token": "t"});
    let config = folder.config(cluster, user).await.unwrap();
    let user = &config.auth_info;
    let paths = [&user.client_certificate, &user.client_key, &user.token_file];
    assert_eq!((config.root_cert_file, paths), (None, [&None; 3]));
}

#[tokio::test]
async fn the_server_name_of_the_kubeconfig_is_sent_and_verified() {
    let (folder, authority) = (Folder::new("name"), Authority::new());
    let server = TlsServer::start(&authority, "other.invalid").await;
    let mut cluster = json!({"server": server.url(), "certificate-authority": folder.write("ca", &authority.pem())});
    let why = get(&folder.client(cluster.clone(), json!({})).await.unwrap()).await;
    assert!(why.unwrap_err().contains("NotValidForName"));
    cluster["tls-server-name"] = json!("other.invalid");
    get(&folder.client(cluster.clone(), json!({})).await.unwrap())
        .await
        .unwrap();
    assert_eq!(server.last().server_name.as_deref(), Some("other.invalid"));
    cluster["tls-server-name"] = json!("not a name");
    let why = folder.client(cluster, json!({})).await.err().unwrap();
    assert!(why.starts_with("`tls-server-name` `not a name`: "), "{why}");
}

#[tokio::test]
async fn each_request_names_whom_it_impersonates() {
    let (folder, authority) = (Folder::new("as"), Authority::new());
    let server = TlsServer::start(&authority, "127.0.0.1").await;
    let cluster = json!({"server": server.url(), "certificate-authority": folder.write("ca", &authority.pem())});
    let user = json!({
        "token": "t",
        "as": "jane",
        "as-uid": "7",
        "as-groups": ["developers", "admins"],
        "as-user-extra": {"example.com/Scopes": ["a", "b"]},
    });
    get(&folder.client(cluster.clone(), user).await.unwrap()).await.unwrap();
    let seen = server.last();
    assert_eq!(seen.header("authorization"), ["Bearer t"]);
    assert_eq!(seen.header("impersonate-user"), ["jane"]);
    assert_eq!(seen.header("impersonate-uid"), ["7"]);
    assert_eq!(seen.header("impersonate-group"), ["developers", "admins"]);
    assert_eq!(seen.header("impersonate-extra-example.com%2fscopes"), ["a", "b"]);
    get(&folder.client(cluster, json!({"as": ""})).await.unwrap())
        .await
        .unwrap();
    assert_eq!(server.last().header("impersonate-user"), [""; 0]);
}

/// A plugin that prints `answer`, and adds a line to `runs`.
#[cfg(unix)]
fn plugin(folder: &Folder) -> Value {
    use std::os::unix::fs::PermissionsExt as _;
    let script = "#!/bin/sh\ncd \"$(dirname \"$0\")\" && echo \"$KUBERNETES_EXEC_INFO\" >> runs && cat answer\n";
    let path = folder.write("login", script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "./login",
        "interactiveMode": "Never",
        "provideClusterInfo": true,
    }})
}

#[cfg(unix)]
fn answer(folder: &Folder, status: Value) {
    let version = "client.authentication.k8s.io/v1";
    let credential = json!({"apiVersion": version, "kind": "ExecCredential", "status": status});
    folder.write("answer", &credential.to_string());
}

#[cfg(unix)]
#[tokio::test]
async fn a_plugin_runs_again_when_its_certificate_has_ended() {
    let (folder, authority) = (Folder::new("plugin-certificate"), Authority::new());
    let server = TlsServer::start(&authority, "127.0.0.1").await;
    let cluster = json!({"server": server.url(), "certificate-authority": folder.write("ca", &authority.pem())});
    let status = |certificate: &server::Leaf, until: &str| {
        json!({
            "clientCertificateData": certificate.pem,
            "clientKeyData": certificate.key,
            "token": "t",
            "expirationTimestamp": until,
        })
    };
    let [first, second] = [authority.client("first"), authority.client("second")];
    answer(&folder, status(&first, "2020-01-01T00:00:00Z"));
    let client = folder.client(cluster.clone(), plugin(&folder)).await.unwrap();
    // It shares the credentials of the first client.
    let other = folder.client(cluster.clone(), plugin(&folder)).await.unwrap();
    get(&client).await.unwrap();
    let seen = server.last();
    assert_eq!(seen.certificate, Some(first.der));
    assert_eq!(seen.header("authorization"), ["Bearer t"]);
    answer(&folder, status(&second, "2999-01-01T00:00:00Z"));
    pass(2).await;
    get(&client).await.unwrap();
    assert_eq!(server.last().certificate, Some(second.der.clone()));
    // These have not ended.
    answer(&folder, json!({}));
    pass(2).await;
    for client in [&client, &other] {
        get(client).await.unwrap();
        assert_eq!(server.last().certificate, Some(second.der.clone()));
    }
    let runs = fs::read_to_string(folder.0.join("runs")).unwrap();
    assert_eq!(runs.lines().count(), 2, "{runs}");
    let question: Value = serde_json::from_str(runs.lines().next().unwrap()).unwrap();
    assert_eq!(question["spec"]["interactive"], json!(false));
    assert_eq!(question["spec"]["cluster"]["server"], cluster["server"]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_plugin_runs_again_when_its_token_is_refused() {
    let (folder, authority) = (Folder::new("plugin-token"), Authority::new());
    let server = TlsServer::start(&authority, "127.0.0.1").await;
    let cluster = json!({"server": server.url(), "certificate-authority": folder.write("ca", &authority.pem())});
    answer(&folder, json!({"token": "first"}));
    let client = folder.client(cluster, plugin(&folder)).await.unwrap();
    get(&client).await.unwrap();
    server.refuse("Bearer first");
    answer(&folder, json!({"token": "second"}));
    let why = get(&client).await.unwrap_err();
    assert!(why.contains("401"), "{why}");
    pass(2).await;
    get(&client).await.unwrap();
    assert_eq!(server.last().header("authorization"), ["Bearer second"]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_plugin_that_fails_is_named_with_what_it_prints() {
    let (folder, user) = (Folder::new("plugin-fails"), json!({"server": "https://127.0.0.1:1"}));
    let exec = plugin(&folder);
    let why = |status: Value| {
        answer(&folder, status);
        folder.client(user.clone(), exec.clone())
    };
    let contains = |why: Result<Client, String>, text: &str| {
        let why = why.err().unwrap();
        assert!(
            why.contains("login` (`exec` of the kubeconfig) ") && why.contains(text),
            "{why}"
        );
    };
    contains(why(json!({})).await, "neither `token` nor `clientCertificateData`");
    contains(why(json!({"clientKeyData": "k"})).await, "without the other");
    contains(
        why(json!({"token": "t", "expirationTimestamp": "soon"})).await,
        "`expirationTimestamp`: ",
    );
    folder.write("answer", "{\"token\": \"secret\"");
    let unread = folder.client(user.clone(), exec.clone()).await.err().unwrap();
    assert!(unread.contains("is not JSON") && !unread.contains("secret"), "{unread}");
    fs::remove_file(folder.0.join("answer")).unwrap();
    contains(folder.client(user.clone(), exec.clone()).await, "answer: No such file");
}
