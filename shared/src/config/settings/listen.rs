//! Where a local run listens: an address of this machine, with or without a port.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// An address to listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listen {
    /// Which interface. Default 127.0.0.1: this machine only.
    pub ip: IpAddr,
    /// Which port, where one is given with the address.
    pub port: Option<u16>,
}

impl Listen {
    /// This machine only.
    pub const LOOPBACK: Self = Self {
        ip: IpAddr::V4(Ipv4Addr::LOCALHOST),
        port: None,
    };

    /// The whole address; `port` is the one where none was given.
    pub fn at(self, port: u16) -> SocketAddr {
        SocketAddr::new(self.ip, self.port.unwrap_or(port))
    }
}

/// `127.0.0.1`, `0.0.0.0:8787`, `[::]:8787`, `::1`, `localhost`, `:8787` for every interface of IPv4.
impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "must be an address of this machine such as 127.0.0.1 or 0.0.0.0:8787, not {text:?}"
            )
        };
        if let Ok(ip) = text.parse::<IpAddr>() {
            return Ok(Self { ip, port: None });
        }
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(Self {
                ip: address.ip(),
                port: Some(address.port()),
            });
        }
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) => (name, Some(port.parse().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let ip = match name {
            "localhost" => Ipv4Addr::LOCALHOST,
            "" if port.is_some() => Ipv4Addr::UNSPECIFIED,
            _ => return Err(wrong()),
        };
        Ok(Self {
            ip: ip.into(),
            port,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_with_and_without_a_port() {
        for (text, expected) in [
            ("127.0.0.1", Some("127.0.0.1:1")),
            ("127.0.0.1:0", Some("127.0.0.1:0")),
            ("0.0.0.0:8787", Some("0.0.0.0:8787")),
            (":8787", Some("0.0.0.0:8787")),
            ("localhost", Some("127.0.0.1:1")),
            ("localhost:80", Some("127.0.0.1:80")),
            ("::1", Some("[::1]:1")),
            ("[::]:8787", Some("[::]:8787")),
            ("", None),
            (":", None),
            ("8787", None),
            ("bot.example.org:80", None),
            ("http://127.0.0.1:80", None),
            ("127.0.0.1:99999", None),
        ] {
            let read = text
                .parse::<Listen>()
                .map(|listen| listen.at(1).to_string());
            assert_eq!(read.ok().as_deref(), expected, "{text:?}");
        }
    }
}
