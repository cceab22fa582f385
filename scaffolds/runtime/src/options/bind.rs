//! Addresses to listen on, as Go writes them.

use std::{fmt, io, net::TcpListener, str::FromStr};

/// Where a server listens: `:8081` (all addresses), `127.0.0.1:8081`, `[::1]:8081`, `localhost:8081`; or `0`, nowhere.
/// Port 0 is any free port.
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
    /// Starts to listen; `None` when turned off.
    ///
    /// # Errors
    ///
    /// The system's, such as that the address is in use.
    pub fn listen(&self) -> io::Result<Option<TcpListener>> {
        let Self::On { host, port } = self else { return Ok(None) };
        if !host.is_empty() {
            return TcpListener::bind((host.as_str(), *port)).map(Some);
        }
        // `[::]` takes IPv4 too, except where the system has no IPv6.
        match TcpListener::bind(("::", *port)) {
            Err(error) if error.kind() != io::ErrorKind::AddrInUse => TcpListener::bind(("0.0.0.0", *port)),
            bound => bound,
        }
        .map(Some)
    }
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
    fn addresses_are_read_as_go_reads_them() {
        for text in ["0", ":8081", "127.0.0.1:0", "localhost:8443", "[::1]:9443"] {
            assert_eq!(text.parse::<BindAddress>().unwrap().to_string(), text);
        }
        for text in ["8081", ":http", "::1:80", "[::1:80", ":70000"] {
            assert!(text.parse::<BindAddress>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_taken_address_is_an_error_not_another_family() {
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
