//! A disk that fails while the server runs.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use redb::{Database, StorageBackend, backends::InMemoryBackend};
use tower::ServiceExt;

use super::{Store, load, prepare};
use crate::{
    Options,
    server::ApiServer,
    store::{HISTORY, Key},
};

/// Memory that can no longer be written once the flag is set.
#[derive(Debug)]
struct FailingBackend(InMemoryBackend, Arc<AtomicBool>);

impl FailingBackend {
    fn check(&self) -> Result<(), io::Error> {
        match self.1.load(Ordering::SeqCst) {
            true => Err(io::Error::from(io::ErrorKind::StorageFull)),
            false => Ok(()),
        }
    }
}

impl StorageBackend for FailingBackend {
    fn len(&self) -> Result<u64, io::Error> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        self.check()?;
        self.0.set_len(len)
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        self.check()?;
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.check()?;
        self.0.write(offset, data)
    }
}

async fn send(server: &ApiServer, method: &str, path: &str, body: &str) -> (u16, String) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json");
    let request = request.body(Full::<Bytes>::from(body.to_owned())).unwrap();
    let answer = server.service().oneshot(request).await.unwrap();
    let code = answer.status().as_u16();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (code, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn a_full_disk_is_reported_and_further_writes_change_nothing() {
    let is_full = Arc::new(AtomicBool::new(false));
    let backend = FailingBackend(InMemoryBackend::new(), Arc::clone(&is_full));
    let database = Database::builder().create_with_backend(backend).unwrap();
    prepare(&database).unwrap();
    let state = load(&database, HISTORY).unwrap();
    let store = Store::on(database, state);
    let server = ApiServer::on(store.clone(), Options::default());
    let maps = "/api/v1/namespaces/default/configmaps";
    let create = async |name: &str| {
        let body = format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
        send(&server, "POST", maps, &body).await
    };
    assert_eq!(create("before").await.0, 201);
    assert_eq!(send(&server, "GET", "/readyz", "").await, (200, "ok".to_owned()));

    is_full.store(true, Ordering::SeqCst);
    for name in ["during", "after"] {
        let (code, text) = create(name).await;
        assert_eq!(code, 500);
        assert!(text.contains("no longer writable: "), "{text}");
        assert!(text.contains("no storage space"), "{text}");
    }
    assert!(server.disk_failure().await.contains("no storage space"));
    let revision = store.revision();
    assert_eq!(create("late").await.0, 500);
    assert_eq!(store.revision(), revision);
    assert!(store.get(&Key::new("/configmaps", "default", "late")).is_none());
    for probe in ["livez", "readyz", "healthz"] {
        let (code, text) = send(&server, "GET", &format!("/{probe}"), "").await;
        assert_eq!(code, 500);
        assert!(text.contains("[-]etcd failed: reason withheld\n"), "{text}");
        assert!(text.ends_with(&format!("{probe} check failed\n")), "{text}");
    }
    let (code, text) = send(&server, "GET", "/readyz/etcd-readiness", "").await;
    assert_eq!(code, 500);
    assert!(text.starts_with("internal server error: "), "{text}");
    assert_eq!(send(&server, "GET", "/readyz/ping", "").await.0, 200);
}
