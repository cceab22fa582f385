//! A probe that succeeds once the process runs. The driver waits three more seconds, in which the caches are filled.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

pub async fn serve(address: &str) -> std::io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // A client that has disconnected needs no response.
            _ = stream.read(&mut [0; 1024]).await;
            _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").await;
        }
    });
    Ok(())
}
