//! Connections that misbehave: slow, half-closed, aborted, with too many headers.
#![cfg(feature = "serve")]

use std::{net::SocketAddr, time::Duration};

use kubewright_apiserver::{
    ApiServer, Options,
    serve::{Listener, Running},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

const PATIENCE: Duration = Duration::from_secs(10);

async fn running() -> Running {
    let listener = Listener::bind(0, None).await.unwrap();
    listener.serve(ApiServer::new(Options::default())).unwrap()
}

/// Sends bytes that are not TLS, and returns the number of bytes that come back until the connection ends.
async fn send(address: SocketAddr, bytes: &[u8], half_close: bool) -> usize {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    if half_close {
        stream.shutdown().await.unwrap();
    }
    let mut back = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut back))
        .await
        .expect("the connection is closed");
    back.len()
}

#[tokio::test]
async fn a_connection_without_tls_is_closed() {
    let running = running().await;
    assert!(send(running.address(), b"GET /healthz HTTP/1.1\r\n\r\n", false).await < 100);
    assert!(send(running.address(), &[0x16, 3, 1], true).await < 100);
    assert!(send(running.address(), b"", true).await < 100);
}

#[tokio::test]
async fn hundreds_of_idle_connections_do_not_block_others() {
    let running = running().await;
    let mut silent = Vec::new();
    for _ in 0..500 {
        silent.push(TcpStream::connect(running.address()).await.unwrap());
    }
    assert!(send(running.address(), b"x\r\n\r\n", true).await < 100);
    timeout(PATIENCE, running.shutdown())
        .await
        .expect("a shutdown does not wait for the silent");
}
