//! Which addresses a tool may reach: those of the public net, unless its agent file says otherwise.
//!
//! A name is looked up here, every address it has is checked, and the connection goes to what was checked: a name that
//! has one address for the check and another for the connection has no second look-up to do it with.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// The addresses of a name.
type LookUp = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// Looks names up and gives only public addresses.
pub struct PublicOnly {
    look_up: LookUp,
}

impl PublicOnly {
    /// By the system's own look-up.
    pub fn system() -> Self {
        Self::of(Arc::new(|name| {
            Box::pin(async move {
                let found = tokio::net::lookup_host((name, 0)).await?;
                Ok(found.collect())
            })
        }))
    }

    fn of(look_up: LookUp) -> Self {
        Self { look_up }
    }
}

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        let looking = (self.look_up)(name.as_str().to_owned());
        Box::pin(async move {
            let found = looking.await?;
            // One private address among public ones is no service of the public net either.
            if found.iter().any(|address| !is_public(address.ip())) {
                return Err(NotPublic.into());
            }
            let addresses: Addrs = Box::new(found.into_iter());
            Ok(addresses)
        })
    }
}

/// A name leads into a private network.
#[derive(Debug)]
pub struct NotPublic;

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the address is not a public one")
    }
}

impl std::error::Error for NotPublic {}

/// Whether somewhere in an error's chain a private address was refused.
pub fn is_not_public(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(one) = next {
        if one.is::<NotPublic>() {
            return true;
        }
        next = one.source();
    }
    false
}

/// Whether an address is one of the public net: no network of one's own, no machine of one's own, nothing reserved, and
/// not the address where a cloud keeps its credentials.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    // RFC 6890 and what it was amended by; the documentation's and the benchmarks' nets lead nowhere.
    !matches!(
        (a, b, c),
        (0 | 10 | 127 | 224..=255, _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    )
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // An IPv4 address in it: mapped, or by way of a translator.
    if let [0, 0, 0, 0, 0, 0xffff, high, low]
    | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
    | [0x2002, high, low, ..] = address.segments()
    {
        return is_public_v4(embedded(high, low));
    }
    match address.segments() {
        // Documentation, Teredo, benchmarks and the like.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, ..] => false,
        // Of the rest only this part is given out at all: no ::1, fc00::/7, fe80::/10, fec0::/10, ff00::/8.
        [first, ..] => (0x2000..=0x3fff).contains(&first),
    }
}

fn embedded(high: u16, low: u16) -> Ipv4Addr {
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    Ipv4Addr::new(a, b, c, d)
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn only_the_public_net_is_public() {
        for (address, right) in [
            ("8.8.8.8", true),
            ("1.1.1.1", true),
            ("9.255.255.255", true),
            ("10.0.0.0", false),
            ("10.255.255.255", false),
            ("11.0.0.0", true),
            ("0.0.0.0", false),
            ("127.0.0.1", false),
            ("127.255.255.255", false),
            ("100.63.255.255", true),
            ("100.64.0.0", false),
            ("100.127.255.255", false),
            ("100.128.0.0", true),
            ("169.253.255.255", true),
            ("169.254.169.254", false),
            ("169.254.170.2", false),
            ("172.15.255.255", true),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("172.32.0.0", true),
            ("192.0.0.1", false),
            ("192.0.2.1", false),
            ("192.88.99.1", false),
            ("192.168.0.1", false),
            ("192.169.0.1", true),
            ("198.18.0.1", false),
            ("198.19.255.255", false),
            ("198.51.100.1", false),
            ("203.0.113.1", false),
            ("224.0.0.1", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("2606:4700::1111", true),
            ("2a00:1450:4001::200e", true),
            ("::", false),
            ("::1", false),
            ("::7f00:1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:169.254.169.254", false),
            ("::ffff:8.8.8.8", true),
            ("64:ff9b::a00:1", false),
            ("64:ff9b::808:808", true),
            ("64:ff9b:1::1", false),
            ("2002:7f00:1::", false),
            ("2002:808:808::", true),
            ("2001::1", false),
            ("2001:db8::1", false),
            ("2001:4860:4860::8888", true),
            ("100::1", false),
            ("3fff::1", false),
            ("fc00::1", false),
            ("fd00:ec2::254", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
        ] {
            let parsed = IpAddr::from_str(address).unwrap();
            assert_eq!(is_public(parsed), right, "{address}");
        }
    }

    /// The attack by DNS: a public address for the one who checks, a private one for the one who connects.
    #[tokio::test]
    async fn a_name_is_looked_up_once_and_every_address_of_it_is_checked() {
        let looks = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&looks);
        let rebinding: LookUp = Arc::new(move |_| {
            let first = seen.fetch_add(1, Ordering::SeqCst) == 0;
            let address = if first { [8, 8, 8, 8] } else { [127, 0, 0, 1] };
            Box::pin(async move { Ok(vec![SocketAddr::from((address, 0))]) })
        });
        let resolver = PublicOnly::of(rebinding);
        let name = || Name::from_str("rebinding.example").unwrap();
        let addresses: Vec<_> = resolver.resolve(name()).await.unwrap().collect();
        assert_eq!(addresses, [SocketAddr::from(([8, 8, 8, 8], 0))]);
        assert_eq!(looks.load(Ordering::SeqCst), 1);
        let error = resolver.resolve(name()).await.err().unwrap();
        assert!(is_not_public(&*error));
        let mixed: LookUp = Arc::new(|_| {
            let found = [[8, 8, 8, 8], [10, 0, 0, 1]].map(|ip| SocketAddr::from((ip, 0)));
            Box::pin(async move { Ok(found.to_vec()) })
        });
        let error = PublicOnly::of(mixed).resolve(name()).await.err().unwrap();
        assert!(is_not_public(&*error), "one is enough");
    }
}
