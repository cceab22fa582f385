//! Addresses to listen on, in Go's syntax.

use std::{
    fmt, io,
    net::{SocketAddr, TcpListener, ToSocketAddrs},
    str::FromStr,
};

use tokio::net::TcpSocket;

/// Connections that wait to be accepted; the system limits them to `net.core.somaxconn`. With std's 128, if many
/// clients connect at once, the kubelet's first packet is dropped, and sent again only after a second.
const BACKLOG: u32 = 4096;

/// The address of a server: `:8081` (all addresses), `127.0.0.1:8081`, `[::1]:8081`, `localhost:8081`; or `0` to turn
/// the server off. Port 0 is any free port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindAddress {
    /// The server is turned off.
    Off,
    /// The server is on.
    On {
        /// A name or an address; empty means all addresses of both families.
        host: String,
        /// The port.
        port: u16,
    },
}

impl BindAddress {
    /// Starts to listen; `None` if the server is turned off.
    ///
    /// # Errors
    ///
    /// An error of the system, such as that the address is in use.
    ///
    /// # Panics
    ///
    /// Outside a Tokio runtime.
    pub fn listen(&self) -> io::Result<Option<TcpListener>> {
        let Self::On { host, port } = self else { return Ok(None) };
        if !host.is_empty() {
            return bind((host.as_str(), *port)).map(Some);
        }
        // `[::]` includes IPv4, except if the system has no IPv6.
        match bind(("::", *port)) {
            Err(error) if error.kind() != io::ErrorKind::AddrInUse => bind(("0.0.0.0", *port)),
            bound => bound,
        }
        .map(Some)
    }
}

/// Listens at the first of these addresses that is available.
fn bind(addresses: impl ToSocketAddrs) -> io::Result<TcpListener> {
    let mut failure = io::ErrorKind::AddrNotAvailable.into();
    for address in addresses.to_socket_addrs()? {
        match bind_one(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn bind_one(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    }?;
    // As std does: a restarted process can listen although connections of the earlier one remain.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?.into_std()
}

impl FromStr for BindAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if matches!(text, "" | "0") {
            return Ok(Self::Off);
        }
        let (host, port) = text
            .rsplit_once(':')
            .ok_or("write it as `:8081`, `127.0.0.1:8081`, or `0` for off")?;
        let port = port.parse().map_err(|_| format!("`{port}` is not a port"))?;
        let host = match host.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').ok_or("a `]` is missing")?,
            None if host.contains(':') => return Err("write an IPv6 address in brackets, as `[::1]:8081`".to_owned()),
            None => host,
        };
        Ok(Self::On {
            host: host.to_owned(),
            port,
        })
    }
}

impl fmt::Display for BindAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("0"),
            Self::On { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::On { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_as_in_go() {
        for text in ["0", ":8081", "127.0.0.1:0", "localhost:8443", "[::1]:9443"] {
            assert_eq!(text.parse::<BindAddress>().unwrap().to_string(), text);
        }
        for text in ["8081", ":http", "::1:80", "[::1:80", ":70000"] {
            assert!(text.parse::<BindAddress>().is_err(), "{text}");
        }
    }

    #[tokio::test]
    async fn an_address_in_use_is_an_error_not_another_family() {
        let any = BindAddress::On {
            host: String::new(),
            port: 0,
        };
        let first = any.listen().unwrap().unwrap();
        let same = BindAddress::On {
            host: String::new(),
            port: first.local_addr().unwrap().port(),
        };
        assert_eq!(same.listen().unwrap_err().kind(), io::ErrorKind::AddrInUse);
        assert!(BindAddress::Off.listen().unwrap().is_none());
    }
}
