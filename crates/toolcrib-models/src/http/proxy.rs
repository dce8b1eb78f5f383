//! What the environment says of proxies, told before a request is made.
//!
//! The HTTP library passes over an address that it cannot read: the request would then
//! go out directly, past a proxy that somebody meant it to take. Which hosts are spared
//! is read as far as names and their parents go; ranges of addresses are not.

/// What is said of a variable that holds no address of a proxy.
pub const NO_PROXY_ADDRESS: &str =
    "is no address of a proxy; write it like http://HOST:PORT or unset it";

/// Whether a value can be the address of a proxy, such as `http://HOST:PORT`.
pub fn is_proxy(value: &str) -> bool {
    let (scheme, rest) = value.split_once("://").unwrap_or(("http", value));
    let known = ["http", "https", "socks5", "socks5h"];
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (_, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (place, None),
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_host = bare.len() < host.len() || !host.contains(':');
    known.iter().any(|word| word.eq_ignore_ascii_case(scheme))
        && is_host
        && !bare.is_empty()
        && !bare.contains(char::is_whitespace)
        && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

/// The variable that should name the proxy of requests to a host and does not.
pub(super) fn unusable(
    scheme: &str,
    host: &str,
    env: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let both = |name: &str| {
        let lower = name.to_ascii_lowercase();
        let found = [name.to_owned(), lower].into_iter();
        let mut found = found.filter_map(|name| Some((env(&name)?, name)));
        found.find(|(value, _)| !value.trim().is_empty())
    };
    let (value, name) =
        both(&format!("{}_PROXY", scheme.to_ascii_uppercase())).or_else(|| both("ALL_PROXY"))?;
    let spared = both("NO_PROXY").is_some_and(|(list, _)| {
        list.split(',')
            .map(|entry| entry.trim().trim_start_matches('.'))
            .any(|entry| {
                entry == "*"
                    || entry.eq_ignore_ascii_case(host)
                    || (!entry.is_empty() && host.ends_with(&format!(".{entry}")))
            })
    });
    (!spared && !is_proxy(value.trim())).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_that_is_none_is_named_where_it_would_be_used() {
        let told = |set: &[(&str, &str)], scheme: &str| {
            unusable(scheme, "api.example.com", &|name: &str| {
                let found = set.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        let bad = ("HTTPS_PROXY", "::bad::");
        assert_eq!(told(&[bad], "https").as_deref(), Some("HTTPS_PROXY"));
        assert_eq!(told(&[bad], "http"), None);
        let lower = [("https_proxy", "nonsense://x")];
        assert_eq!(told(&lower, "https").as_deref(), Some("https_proxy"));
        let all = [("HTTP_PROXY", ""), ("all_proxy", "http://h:99999")];
        assert_eq!(told(&all, "http").as_deref(), Some("all_proxy"));
        for spares in ["*", "x, example.com", ".example.com", "API.example.com"] {
            assert_eq!(
                told(&[bad, ("NO_PROXY", spares)], "https"),
                None,
                "{spares}"
            );
        }
        for spares in ["ample.com", "other", ","] {
            assert!(
                told(&[bad, ("no_proxy", spares)], "https").is_some(),
                "{spares}"
            );
        }
        assert_eq!(told(&[("HTTPS_PROXY", "http://u:p@h:80/")], "https"), None);
        assert_eq!(told(&[], "https"), None);
    }
}
