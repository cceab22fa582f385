//! Proxies on loopback that record what arrives, and the fields of kubeconfigs.

mod fields;

use std::{
    fs,
    path::PathBuf,
    process, slice,
    sync::{Arc, Mutex},
    time::Duration,
};

use http::{Request, Uri};
use kube::{
    Config,
    config::{ExecConfig, ExecInteractiveMode, Kubeconfig},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::{
    builder,
    kubeconfig::{existing, from_merged},
    plugin,
    proxy::{self, Environment},
};

/// The requests at a proxy, one entry per connection.
type Arrived = Arc<Mutex<Vec<String>>>;

/// A proxy that answers each request with `{}`. It accepts tunnels, records what arrives in them first, and closes them.
async fn proxy() -> (String, Arrived) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let arrived = Arrived::default();
    let record = arrived.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = vec![0; 8192];
            let length = stream.read(&mut bytes).await.unwrap();
            let mut text = String::from_utf8_lossy(&bytes[..length]).into_owned();
            if text.starts_with("CONNECT ") {
                stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                let length = stream.read(&mut bytes).await.unwrap();
                text += &String::from_utf8_lossy(&bytes[..length]);
            } else {
                let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
                stream.write_all(answer).await.unwrap();
            }
            record.lock().unwrap().push(text);
        }
    });
    (address, arrived)
}

fn config(server: &str, proxy: &str) -> Config {
    let mut config = Config::new(server.parse().unwrap());
    config.proxy_url = Some(proxy.parse().unwrap());
    config.default_retry = false;
    config
}

async fn get(config: Config) -> Result<String, String> {
    let client = builder(config, |_| ())?.build();
    let request = Request::get("/version").body(Vec::new()).unwrap();
    client.request_text(request).await.map_err(|error| format!("{error:?}"))
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_kernel_looks_whether_the_other_side_of_a_connection_is_there() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = tokio::spawn(get(Config::new(format!("http://127.0.0.1:{port}").parse().unwrap())));
    let (mut stream, _) = listener.accept().await.unwrap();
    assert!(stream.read(&mut [0; 1024]).await.unwrap() > 0);
    let peer = format!(" 0100007F:{port:04X} 01 ");
    let timer = || {
        let table = fs::read_to_string("/proc/self/net/tcp").unwrap();
        let connection = table.lines().find(|line| line.contains(&peer)).expect(&table);
        connection.split_whitespace().nth(5).unwrap().to_owned()
    };
    // Another timer runs until the request is acknowledged, 2 is that of keepalive. Its time is in hundredths of a second.
    while timer().starts_with("01:") {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let (timer, left) = timer()
        .split_once(':')
        .map(|(kind, left)| (kind.to_owned(), left.to_owned()))
        .unwrap();
    assert_eq!(timer, "02");
    assert!(
        (2000..=3000).contains(&u32::from_str_radix(&left, 16).unwrap()),
        "{left}"
    );
    asked.abort();
}

#[tokio::test]
async fn a_proxy_forwards_requests_to_http_servers() {
    let (address, arrived) = proxy().await;
    let config = config("http://foobar.invalid:8080", &format!("http://user:p%40ss@{address}"));
    assert_eq!(get(config).await.unwrap(), "{}");
    let arrived = arrived.lock().unwrap().join("");
    assert!(
        arrived.starts_with("GET http://foobar.invalid:8080/version HTTP/1.1\r\n"),
        "{arrived}"
    );
    // `user:p@ss`
    assert!(
        arrived.to_lowercase().contains("proxy-authorization: basic "),
        "{arrived}"
    );
    assert!(arrived.contains("dXNlcjpwQHNz"), "{arrived}");
}

#[tokio::test]
async fn a_proxy_tunnels_connections_to_https_servers() {
    let (address, arrived) = proxy().await;
    // The proxy closes the tunnel after the first message.
    get(config(
        "https://foobar.invalid",
        &format!("http://user:p%40ss@{address}"),
    ))
    .await
    .unwrap_err();
    let arrived = arrived.lock().unwrap().join("");
    let (head, tunnelled) = arrived.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("CONNECT foobar.invalid:443 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("dXNlcjpwQHNz"), "{head}");
    // A ClientHello that names the server.
    assert!(
        tunnelled.starts_with('\u{16}') && tunnelled.contains("foobar.invalid"),
        "{tunnelled:?}"
    );
}

#[tokio::test]
async fn the_server_name_of_the_kubeconfig_holds_in_a_tunnel() {
    let (address, arrived) = proxy().await;
    let mut config = config("https://foobar.invalid:6443", &format!("http://{address}"));
    config.tls_server_name = Some("other.invalid".to_owned());
    get(config).await.unwrap_err();
    let arrived = arrived.lock().unwrap().join("");
    let (head, tunnelled) = arrived.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("CONNECT foobar.invalid:6443 "), "{head}");
    assert!(tunnelled.contains("other.invalid"), "{tunnelled:?}");
}

#[tokio::test]
async fn an_error_names_the_proxy_and_its_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        assert_ne!(stream.read(&mut [0; 4096]).await.unwrap(), 0);
        let answer = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n";
        stream.write_all(answer).await.unwrap();
    });
    let why = get(config("https://foobar.invalid", &format!("http://{address}")))
        .await
        .unwrap_err();
    assert!(why.contains(&address) && why.contains("407"), "{why}");
}

#[tokio::test]
async fn a_socks_proxy_resolves_the_name_of_the_server() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answering = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = [0; 4096];
        stream.read_exact(&mut bytes[..3]).await.unwrap();
        stream.write_all(&[5, 0]).await.unwrap();
        let length = stream.read(&mut bytes).await.unwrap();
        let asked = bytes[..length].to_vec();
        stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
        assert_ne!(stream.read(&mut bytes).await.unwrap(), 0);
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            .await
            .unwrap();
        asked
    });
    let config = config("http://foobar.invalid:8080", &format!("socks5://{address}"));
    assert_eq!(get(config).await.unwrap(), "{}");
    let expected = [[5, 1, 0, 3, 14].as_slice(), b"foobar.invalid", &8080_u16.to_be_bytes()].concat();
    assert_eq!(answering.await.unwrap(), expected);
}

fn environment(variables: &[(&str, &str)]) -> Environment {
    let get = |name: &str| {
        variables
            .iter()
            .find(|(it, _)| *it == name)
            .map(|(_, value)| (*value).to_owned())
    };
    Environment::of(get)
}

/// Server, `NO_PROXY`, and whether the proxy is used. Most rows are of `httpproxy`'s own `proxy_test.go`.
const NO_PROXY: [(&str, &str, bool); 34] = [
    ("https://example.com", "", true),
    ("https://localhost:6443", "", false),
    ("https://127.0.0.1", "", false),
    ("https://127.0.0.2:6443", "", false),
    ("https://[::1]:6443", "", false),
    ("https://example.com", "*", false),
    ("https://example.com", "example.com", false),
    ("https://example.com", " EXAMPLE.com ,", false),
    ("https://api.example.com", "example.com", false),
    ("https://api.example.com", ".example.com", false),
    ("https://api.example.com", "*.example.com", false),
    ("https://example.com", "ample.com", true),
    ("https://example.com", "*ample.com", true),
    ("https://barbaz.com", "baz.com", true),
    ("https://example.com", "example.com:443", false),
    ("https://example.com:6443", "example.com:443", true),
    ("https://example.com:6443", "example.com:6443", false),
    ("https://10.0.0.7", "10.0.0.7", false),
    ("https://10.0.0.7:6443", "10.0.0.7:6443", false),
    ("https://10.0.0.7:6443", "10.0.0.7:443", true),
    ("https://10.0.0.7", "10.0.0.8", true),
    ("https://10.0.0.7", "10.0.0.0/8", false),
    ("https://11.0.0.7", "10.0.0.0/8", true),
    ("https://10.0.0.7", "0.0.0.0/0", false),
    ("https://10.0.0.7", "10.0.0.0/33", true),
    ("https://10.0.0.7", ".0.0.7", true),
    ("https://example.com", "10.0.0.0/8", true),
    ("https://[fd00::1]", "fd00::1", false),
    ("https://[fd00::1]:6443", "[fd00::1]:6443", false),
    ("https://[fd00::1]:6443", "[fd00::1]:443", true),
    ("https://[fd00::1]", "fd00::/8", false),
    ("https://[fd00::1]", "fe80::/10", true),
    ("https://[::ffff:10.0.0.7]", "10.0.0.0/8", false),
    ("https://kubernetes.default.svc", "localhost,.svc,10.96.0.1", false),
];

#[test]
fn no_proxy_is_read_as_go_reads_it() {
    for (server, none, proxied) in NO_PROXY {
        let environment = environment(&[("HTTPS_PROXY", "http://proxy:3128"), ("NO_PROXY", none)]);
        let proxy = environment.proxy_of(&server.parse().unwrap()).unwrap();
        assert_eq!(proxy.is_some(), proxied, "`{server}` with NO_PROXY `{none}`");
    }
}

#[test]
fn the_variable_of_the_scheme_names_the_proxy_upper_case_first() {
    let of = |variables: &[(&str, &str)], server: &'static str| {
        let proxy = environment(variables).proxy_of(&Uri::from_static(server));
        proxy.map(|proxy| proxy.map(|proxy| proxy.to_string()))
    };
    let both = [
        ("HTTP_PROXY", "http://a:1"),
        ("HTTPS_PROXY", "http://b:2"),
        ("https_proxy", "http://c:3"),
    ];
    assert_eq!(of(&both, "http://example.com").unwrap().unwrap(), "http://a:1/");
    assert_eq!(of(&both, "https://example.com").unwrap().unwrap(), "http://b:2/");
    assert_eq!(
        of(&[("https_proxy", "c:3")], "https://example.com").unwrap().unwrap(),
        "http://c:3/"
    );
    assert_eq!(
        of(&[("HTTPS_PROXY", ""), ("https_proxy", "c:3")], "https://example.com")
            .unwrap()
            .unwrap(),
        "http://c:3/"
    );
    assert_eq!(of(&[("HTTP_PROXY", "a:1")], "https://example.com"), Ok(None));
    assert_eq!(of(&[("ALL_PROXY", "a:1")], "https://example.com"), Ok(None));
    let cgi = [("HTTP_PROXY", "a:1"), ("HTTPS_PROXY", "a:1"), ("REQUEST_METHOD", "GET")];
    assert!(of(&cgi, "http://example.com").unwrap_err().contains("REQUEST_METHOD"));
    assert!(of(&cgi, "https://example.com").unwrap().is_some());
}

#[test]
fn the_url_of_a_proxy_is_checked_and_its_password_not_shown() {
    let why = proxy::url("ftp://proxy:21").unwrap_err();
    assert!(why.contains("`ftp`") && why.contains("socks5"), "{why}");
    let why = proxy::url("http://user:secret@pro xy").unwrap_err();
    assert!(!why.contains("secret"), "{why}");
    assert!(proxy::url("").is_err() && proxy::url("http://").is_err());
}

fn kubeconfig(cluster: &str, user: &str) -> Kubeconfig {
    let cluster = match cluster.contains("\"server\"") {
        true => cluster.trim_start_matches(", ").to_owned(),
        false => format!(r#""server": "https://example.com"{cluster}"#),
    };
    let text = format!(
        r#"{{"current-context": "a", "contexts": [{{"name": "a", "context": {{"cluster": "a", "user": "a"}}}}],
        "clusters": [{{"name": "a", "cluster": {{{cluster}}}}}],
        "users": [{{"name": "a", "user": {{{user}}}}}]}}"#
    );
    Kubeconfig::from_yaml(&text).unwrap()
}

#[tokio::test]
async fn the_proxy_of_the_kubeconfig_comes_before_the_environment() {
    let environment = environment(&[("HTTPS_PROXY", "http://b:2"), ("NO_PROXY", "*")]);
    let file = kubeconfig(r#", "proxy-url": "http://a:1""#, "");
    let config = from_merged(file, &environment).await.unwrap();
    assert_eq!(config.proxy_url.unwrap().to_string(), "http://a:1/");
    let config = from_merged(kubeconfig("", ""), &environment).await.unwrap();
    assert_eq!(config.proxy_url, None);
    let file = kubeconfig(r#", "proxy-url": "ftp://a:1""#, "");
    let why = from_merged(file, &environment).await.unwrap_err();
    assert!(
        why.starts_with("`proxy-url`: ") && why.contains("`ftp`") && why.contains("hint: "),
        "{why}"
    );
}

#[tokio::test]
async fn a_plugin_that_is_not_installed_is_named_with_its_hint() {
    let exec = |more: &str| {
        let user = format!(
            r#""exec": {{"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-login", "interactiveMode": "Never" {more}}}"#
        );
        kubeconfig("", &user)
    };
    let environment = Environment::default();
    let why = from_merged(exec(r#", "installHint": "brew install login""#), &environment)
        .await
        .unwrap_err();
    assert!(
        why.contains("`no-such-login`") && why.ends_with("hint: brew install login"),
        "{why}"
    );
    let why = from_merged(exec(""), &environment).await.unwrap_err();
    assert!(
        why.ends_with("hint: install `no-such-login`, or add its folder to PATH"),
        "{why}"
    );
}

/// A new path in the folder for temporary files.
fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("connection-{}-{name}", process::id()))
}

#[test]
fn files_of_the_list_that_are_missing_are_skipped() {
    let (there, missing) = (path("there"), path("missing"));
    fs::write(&there, "{}").unwrap();
    let list = vec![missing.clone(), there.clone()];
    assert_eq!(existing(list).unwrap(), slice::from_ref(&there));
    fs::remove_file(there).unwrap();
    let why = existing(vec![missing.clone()]).unwrap_err();
    assert!(
        why.contains(&*missing.to_string_lossy()) && why.contains("hint: "),
        "{why}"
    );
}

#[tokio::test]
async fn an_error_in_a_file_shows_none_of_its_values() {
    for user in [
        "    token: SECRET\n   foo: bar\n",
        "    token: [SECRET]\n",
        "    token: \"SECRET\n",
        "    exec: SECRET\n",
    ] {
        let file = path("broken");
        fs::write(&file, format!("users:\n- name: u\n  user:\n{user}")).unwrap();
        let why = super::config(Some(&file)).await.err().unwrap();
        fs::remove_file(&file).unwrap();
        assert!(why.contains("line 4 ") || why.contains("line 5 "), "{why}");
        assert!(!why.contains("SECRET") && why.lines().count() == 1, "{why}");
    }
}

/// The texts of the note of [`a_plugin_that_does_not_end_is_named_while_it_runs`].
static NOTED: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn a_plugin_that_does_not_end_is_named_while_it_runs() {
    let exec = ExecConfig {
        api_version: Some("client.authentication.k8s.io/v1".to_owned()),
        command: Some("sleep".to_owned()),
        args: Some(vec!["6".to_owned()]),
        interactive_mode: Some(ExecInteractiveMode::Never),
        ..serde_json::from_str("{}").unwrap()
    };
    let why = plugin::run(&exec, |text| NOTED.lock().unwrap().push(text.to_owned()))
        .err()
        .unwrap();
    assert!(why.contains("returned no credentials"), "{why}");
    let noted = NOTED.lock().unwrap();
    assert!(
        noted[0].contains("waiting for the credential plugin `sleep`"),
        "{noted:?}"
    );
    assert!(noted[0].ends_with("for 5 s so far") && noted.len() == 1, "{noted:?}");
}
