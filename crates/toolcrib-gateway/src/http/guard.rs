//! Who may talk to the gateway.

use std::net::{IpAddr, SocketAddr};

use hyper::header::HeaderMap;
use sha2::{Digest as _, Sha256};

use super::text;

/// How HTTP is served.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct HttpOptions {
    /// What clients must show as their bearer token. Needed wherever others than this
    /// machine can connect.
    pub token: Option<String>,
    /// Origins besides this machine's own pages whose requests are taken, such as
    /// `https://app.example.com`.
    pub origins: Vec<String>,
    /// Names besides this machine's own under which the gateway is reached.
    pub hosts: Vec<String>,
    pub(super) local: Option<SocketAddr>,
}

impl std::fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpOptions")
            .field("token", &self.token.as_ref().map(|_| "[redacted]"))
            .field("origins", &self.origins)
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

/// Why HTTP is not served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpRefused {
    /// The listener failed.
    #[error("cannot listen: {0}")]
    Io(std::io::Error),
    /// Others could connect, and nothing would tell them from the user.
    #[error("{0} can be reached from other machines: set a token, or listen on 127.0.0.1")]
    NeedsToken(SocketAddr),
    /// A token that cannot stand in a header, or that can be guessed.
    #[error("a token has at least 16 visible characters and no spaces")]
    BadToken,
}

impl HttpOptions {
    /// Whether it is safe to listen there.
    ///
    /// # Errors
    /// When others could connect and no token tells them from the user, or when the
    /// token is none.
    pub fn check(&self, address: SocketAddr) -> Result<(), HttpRefused> {
        match &self.token {
            Some(token) if token.len() < 16 || !token.bytes().all(|b| b.is_ascii_graphic()) => {
                Err(HttpRefused::BadToken)
            }
            None if !address.ip().is_loopback() => Err(HttpRefused::NeedsToken(address)),
            _ => Ok(()),
        }
    }

    /// Whether the request was meant for here, and by whom it may be.
    pub(super) fn admits(&self, headers: &HeaderMap) -> Result<(), &'static str> {
        let host = text(headers, "host").unwrap_or("");
        if !self.is_own_host(host) {
            return Err("this host is not served here; see --allow-host");
        }
        match headers.get("origin") {
            None => Ok(()),
            Some(origin) => {
                let origin = origin.to_str().unwrap_or("");
                let listed = self
                    .origins
                    .iter()
                    .any(|known| known.trim_end_matches('/') == origin);
                let local = origin
                    .strip_prefix("http://")
                    .or_else(|| origin.strip_prefix("https://"))
                    .is_some_and(is_local_host);
                match listed || local {
                    true => Ok(()),
                    false => Err("this origin is not allowed; see --allow-origin"),
                }
            }
        }
    }

    fn is_own_host(&self, host: &str) -> bool {
        if is_local_host(host) {
            return true;
        }
        let name = without_port(host);
        let address = self.local.map(|local| local.ip());
        let own = |ip: IpAddr| address.is_some_and(|own| own == ip || own.is_unspecified());
        self.hosts
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name) || known == host)
            || name.trim_matches(['[', ']']).parse().is_ok_and(own)
    }

    /// Whether the request shows the token, compared in constant time.
    pub(super) fn knows(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else {
            return true;
        };
        let shown = text(headers, "authorization").and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        let shown = Sha256::digest(shown.unwrap_or("").as_bytes());
        let known = Sha256::digest(token.as_bytes());
        let differing = shown
            .iter()
            .zip(known)
            .fold(0u8, |all, (a, b)| all | (a ^ b));
        differing == 0
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.is_empty() => name,
        _ => host,
    }
}

/// Whether a name can only mean this machine.
fn is_local_host(host: &str) -> bool {
    let name = without_port(host).trim_matches(['[', ']']);
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// A header's text; what headers cannot hold comes in base64.
pub(super) fn decoded(text: &str) -> Option<String> {
    let Some(coded) = text
        .strip_prefix("=?base64?")
        .and_then(|t| t.strip_suffix("?="))
    else {
        return Some(text.to_owned());
    };
    let padding = coded.len() - coded.trim_end_matches('=').len();
    if coded.len() % 4 != 0 || padding > 2 {
        return None;
    }
    let mut bits = 0u32;
    let mut count = 0;
    let mut bytes = Vec::with_capacity(coded.len());
    for b in coded.trim_end_matches('=').bytes() {
        let six = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).unwrap_or(0));
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (
                    hyper::header::HeaderName::from_static(name),
                    value.parse().unwrap(),
                )
            })
            .collect()
    }

    #[test]
    fn m27_foreign_hosts_and_origins_are_refused() {
        let options = HttpOptions {
            origins: vec!["https://app.example.com".to_owned()],
            hosts: vec!["gate.internal".to_owned()],
            local: Some("127.0.0.1:8080".parse().unwrap()),
            ..HttpOptions::default()
        };
        let admits = |pairs: &[(&'static str, &str)]| options.admits(&headers(pairs)).is_ok();
        for host in [
            "localhost:8080",
            "127.0.0.1",
            "[::1]:8080",
            "gate.internal",
            "gate.internal:80",
        ] {
            assert!(admits(&[("host", host)]), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "",
            "127.0.0.1.evil.example:80",
            "10.0.0.1",
        ] {
            assert!(!admits(&[("host", host)]), "{host}");
        }
        let with = |origin: &str| admits(&[("host", "localhost"), ("origin", origin)]);
        for origin in [
            "http://localhost:3000",
            "https://app.example.com",
            "http://[::1]:1",
        ] {
            assert!(with(origin), "{origin}");
        }
        for origin in [
            "https://evil.example",
            "null",
            "",
            "http://localhost.evil.example",
            "file://",
        ] {
            assert!(!with(origin), "{origin}");
        }
    }

    #[test]
    fn m27_an_address_for_others_needs_a_token() {
        let mut options = HttpOptions::default();
        let all = "0.0.0.0:80".parse().unwrap();
        assert!(options.check("127.0.0.1:80".parse().unwrap()).is_ok());
        assert!(options.check("[::1]:80".parse().unwrap()).is_ok());
        assert!(matches!(
            options.check(all),
            Err(HttpRefused::NeedsToken(_))
        ));
        options.token = Some("short".to_owned());
        assert!(matches!(options.check(all), Err(HttpRefused::BadToken)));
        options.token = Some("0123456789abcdef".to_owned());
        assert!(options.check(all).is_ok());
        assert!(options.knows(&headers(&[("authorization", "bearer 0123456789abcdef")])));
        for wrong in [
            "Bearer 0123456789abcdeg",
            "Basic 0123456789abcdef",
            "",
            "Bearer",
        ] {
            assert!(
                !options.knows(&headers(&[("authorization", wrong)])),
                "{wrong}"
            );
        }
        assert!(!format!("{options:?}").contains("0123456789abcdef"));
    }

    #[test]
    fn names_outside_ascii_are_decoded() {
        assert_eq!(decoded("plain").as_deref(), Some("plain"));
        assert_eq!(decoded("=?base64?w6TDtsO8?=").as_deref(), Some("äöü"));
        assert_eq!(decoded("=?base64?!?="), None);
    }
}
