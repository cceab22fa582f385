//! Tunnels through SOCKS 5 proxies: RFC 1928, and RFC 1929 for users with a password. The proxy resolves names.

use std::net::IpAddr;

use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tower::BoxError;

/// Names of the replies 1 to 8.
const REPLIES: [&str; 8] = [
    "general failure",
    "connection not allowed",
    "network unreachable",
    "host unreachable",
    "connection refused",
    "TTL expired",
    "command not supported",
    "address type not supported",
];

/// Opens a tunnel to a host and port.
pub(super) async fn open<T>(
    io: T,
    host: &str,
    port: u16,
    credentials: &Option<(Vec<u8>, Vec<u8>)>,
) -> Result<T, BoxError>
where
    T: Read + Write + Send + Unpin,
{
    let mut io = TokioIo::new(io);
    // No authentication; and a user with a password, if there is one.
    let methods: &[u8] = if credentials.is_some() {
        &[5, 2, 0, 2]
    } else {
        &[5, 1, 0]
    };
    io.write_all(methods).await?;
    let mut chosen = [0; 2];
    io.read_exact(&mut chosen).await?;
    match (chosen, credentials) {
        ([5, 0], _) => {}
        ([5, 2], Some((user, password))) => {
            let mut request = vec![1];
            for part in [user, password] {
                request.push(u8::try_from(part.len()).map_err(|_| "user and password may have 255 bytes each")?);
                request.extend(part);
            }
            io.write_all(&request).await?;
            let mut answer = [0; 2];
            io.read_exact(&mut answer).await?;
            if answer[1] != 0 {
                return Err("it refuses the user or the password".into());
            }
        }
        ([5, _], _) => return Err("it accepts none of the offered ways to authenticate".into()),
        _ => return Err("it does not speak SOCKS 5".into()),
    }
    io.write_all(&request(host, port)?).await?;
    let mut head = [0; 4];
    io.read_exact(&mut head).await?;
    if head[1] != 0 {
        let why = REPLIES.get(usize::from(head[1]) - 1).unwrap_or(&"unknown failure");
        return Err(format!("it answers `{why}` for `{host}:{port}`").into());
    }
    // The address from which the proxy connects, and its port.
    let length = match head[3] {
        1 => 4,
        4 => 16,
        _ => usize::from(io.read_u8().await?),
    };
    io.read_exact(&mut vec![0; length + 2]).await?;
    Ok(io.into_inner())
}

/// The request to connect to a host and port.
fn request(host: &str, port: u16) -> Result<Vec<u8>, BoxError> {
    let mut request = vec![5, 1, 0];
    match host.trim_start_matches('[').trim_end_matches(']').parse() {
        Ok(IpAddr::V4(address)) => {
            request.push(1);
            request.extend(address.octets());
        }
        Ok(IpAddr::V6(address)) => {
            request.push(4);
            request.extend(address.octets());
        }
        Err(_) => {
            request.extend([
                3,
                u8::try_from(host.len()).map_err(|_| "the host has more than 255 bytes")?,
            ]);
            request.extend(host.as_bytes());
        }
    }
    request.extend(port.to_be_bytes());
    Ok(request)
}
