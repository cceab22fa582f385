//! OpenAPI documents in Protobuf: what a real kube-apiserver sends in JSON, our encoder turns into what it sends in Protobuf.

use control_plane::{Assets, ControlPlane, Settings};
use http::{Request, header};
use http_body_util::BodyExt;
use kube::{
    Client, Config,
    client::Body,
    config::{KubeConfigOptions, Kubeconfig},
};
use kubewright_apiserver::testing::openapi::{V2, V3, Version};
use serde_json::Value;

async fn get(client: &Client, path: &str, accept: &str) -> Vec<u8> {
    let request = Request::get(path).header(header::ACCEPT, accept);
    let response = client.send(request.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.status(), 200, "{path}");
    let (_, body) = response.into_parts();
    body.collect().await.unwrap().to_bytes().to_vec()
}

/// Compares a document, and returns its length.
async fn compare(client: &Client, path: &str, version: &Version) -> Result<usize, String> {
    let json = get(client, path, "application/json").await;
    let theirs = get(client, path, version.media_types()[1]).await;
    let ours = version.encode(&serde_json::from_slice(&json).unwrap());
    match difference(&ours, &theirs) {
        None => Ok(theirs.len()),
        Some(difference) => Err(format!("{path}{difference}\n")),
    }
}

/// The first difference between two messages. Texts in YAML may have their keys in another order.
fn difference(ours: &[u8], theirs: &[u8]) -> Option<String> {
    if ours == theirs {
        return None;
    }
    let keys = |of: &[(u64, &[u8])]| of.iter().map(|(key, _)| *key).collect::<Vec<_>>();
    if let (Some(one), Some(other)) = (fields(ours), fields(theirs))
        && keys(&one) == keys(&other)
    {
        let mut fields = one.iter().zip(&other);
        return fields.find_map(|((number, one), (_, other))| {
            difference(one, other).map(|inner| format!(" {}{inner}", number >> 3))
        });
    }
    let yaml = |bytes| serde_saphyr::from_str::<Value>(std::str::from_utf8(bytes).ok()?).ok();
    if let (Some(one), Some(other)) = (yaml(ours), yaml(theirs))
        && one == other
    {
        return None;
    }
    let shown = |bytes| String::from_utf8_lossy(bytes).chars().take(300).collect::<String>();
    Some(format!("\n  server {:?}\n  ours   {:?}", shown(theirs), shown(ours)))
}

/// The keys and contents of the fields of a message; `None` if it is a text.
fn fields(mut message: &[u8]) -> Option<Vec<(u64, &[u8])>> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message)?;
        let length = match key & 7 {
            0 => message.iter().position(|byte| byte & 0x80 == 0)? + 1,
            1 => 8,
            2 => usize::try_from(varint(&mut message)?).ok()?,
            _ => return None,
        };
        let (contents, rest) = message.split_at_checked(length)?;
        fields.push((key, contents));
        message = rest;
    }
    Some(fields)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs KUBEBUILDER_ASSETS"]
async fn documents_in_protobuf_are_those_of_the_server() {
    let plane = ControlPlane::start(&Assets::find().unwrap(), Settings::default())
        .await
        .unwrap();
    let kubeconfig = Kubeconfig::read_from(plane.kubeconfig()).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let client = Client::try_from(config.unwrap()).unwrap();
    let index: Value = serde_json::from_slice(&get(&client, "/openapi/v3", "application/json").await).unwrap();
    let places = index["paths"].as_object().unwrap().keys();
    let mut documents = vec![("/openapi/v2".to_owned(), &V2)];
    documents.extend(places.map(|place| (format!("/openapi/v3/{place}"), &V3)));
    let mut report = String::new();
    let mut bytes = 0;
    for (path, version) in &documents {
        match compare(&client, path, version).await {
            Ok(length) => bytes += length,
            Err(difference) => report += &difference,
        }
    }
    println!("{} documents, {bytes} bytes are equal", documents.len());
    assert!(report.is_empty(), "\n{report}");
}
