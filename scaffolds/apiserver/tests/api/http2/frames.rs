//! A client of HTTP/2 that sends and receives frames (RFC 9113, 4.1), for what client libraries do not do.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::client::TlsStream;

use super::client::{PATIENCE, Server, TOKEN};

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const ACK: u8 = 1;
pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;

/// The methods of requests, as fields of HPACK's static table (RFC 7541, A).
pub const GET: u8 = 0x82;
pub const POST: u8 = 0x83;

#[derive(Debug)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

pub struct Frames(TlsStream<TcpStream>);

impl Frames {
    /// A connection on which the preface and empty settings were sent.
    pub async fn begin(server: &Server) -> Self {
        let mut frames = Self(server.connect(&["h2"]).await.unwrap());
        frames.0.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
        frames.send(SETTINGS, 0, 0, &[]).await;
        frames
    }

    /// Sends a frame; a connection that is closed already is no error.
    pub async fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut frame = length[1..].to_vec();
        frame.extend([kind, flags]);
        frame.extend(stream.to_be_bytes());
        frame.extend(payload);
        let _ = self.0.write_all(&frame).await;
        let _ = self.0.flush().await;
    }

    /// Begins a request of the administrator; with [`END_STREAM`] it has no body.
    pub async fn request(&mut self, method: u8, path: &str, stream: u32, flags: u8) {
        let mut block = vec![method, 0x87];
        // Literal values of `:path`, `:authority` and `authorization`, whose names are in the static table.
        for (name, value) in [(0x04, path), (0x01, "localhost"), (0x0f, &format!("Bearer {TOKEN}"))] {
            block.push(name);
            // `authorization` is beyond the 15 names that fit into the first byte.
            block.extend((name == 0x0f).then_some(23 - 15));
            block.push(u8::try_from(value.len()).unwrap());
            block.extend(value.as_bytes());
        }
        self.send(HEADERS, flags | END_HEADERS, stream, &block).await;
    }

    /// The next frame; `None` at the end of the connection. Pings of the server are answered.
    pub async fn next(&mut self) -> Option<Frame> {
        loop {
            let mut head = [0; 9];
            let read = timeout(PATIENCE * 60, self.0.read_exact(&mut head)).await;
            read.expect("a frame or an end").ok()?;
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            let mut payload = vec![0; length];
            self.0.read_exact(&mut payload).await.ok()?;
            let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
            let [kind, flags] = [head[3], head[4]];
            if kind == PING && flags & ACK == 0 {
                self.send(PING, ACK, 0, &payload).await;
                continue;
            }
            return Some(Frame {
                kind,
                flags,
                stream,
                payload,
            });
        }
    }

    /// The next frame of a kind; `None` if the connection ends before it.
    pub async fn until(&mut self, kind: u8) -> Option<Frame> {
        loop {
            let frame = self.next().await?;
            if frame.kind == kind {
                return Some(frame);
            }
        }
    }
}
