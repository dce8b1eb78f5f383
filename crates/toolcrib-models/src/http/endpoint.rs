//! Where requests go, what may be said about it, and the client that sends them.

use std::error::Error as _;
use std::net::IpAddr;
use std::sync::Once;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url, redirect};
use toolcrib_core::{ModelError, ModelErrorKind as Kind};

use super::fault::{self, Fault, excerpt};
use super::proxy::{self, NO_PROXY_ADDRESS};
use super::secret::Key;

/// Shorter texts are no secrets; ordinary words would be struck out.
const LEAST_SECRET: usize = 4;
/// Least length of an encoded form that is struck out.
const LEAST_ENCODED: usize = 8;

/// How a key is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Auth {
    /// As a bearer token.
    Bearer,
    /// As the value of this header.
    Header(&'static str),
}

/// What a wire adds to a base address.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// Ends of a base path that are dropped, the longest first: what people copy
    /// out of documentation.
    pub(crate) drops: &'static [&'static str],
    /// Follows the base path.
    pub(crate) path: String,
    /// A query member that the wire needs.
    pub(crate) query: Option<(&'static str, &'static str)>,
    pub(crate) auth: Auth,
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// What a base address looks like, for advice.
    pub(crate) example: &'static str,
    /// What to do when the answer is of no wire at all.
    pub(crate) advice: &'static str,
}

/// One endpoint. Its errors never hold a key, a password or a query.
pub(crate) struct Endpoint {
    url: Url,
    shown: String,
    advice: &'static str,
    headers: HeaderMap,
    secrets: Vec<String>,
    local: bool,
}

impl Endpoint {
    pub(crate) fn new(
        base: &str,
        key: Option<&Key>,
        route: &Route,
    ) -> Result<Endpoint, ModelError> {
        let unusable = |why: &str| {
            // The text may hold a password, so it is not repeated.
            let message = format!("unusable base URL: {why}; write it like {}", route.example);
            ModelError::new(Kind::Unsupported, message)
        };
        let mut url = Url::parse(base).map_err(|error| unusable(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(unusable("it must begin with http:// or https://"));
        }
        url.set_fragment(None);
        let path = url.path().trim_end_matches('/').to_owned();
        let dropped = route.drops.iter().find_map(|end| path.strip_suffix(end));
        let path = dropped.unwrap_or(&path);
        url.set_path(&format!("{path}{}", route.path));

        let mut secrets: Vec<String> = url.query_pairs().map(|(_, value)| value.into()).collect();
        if let Some((name, value)) = route.query {
            url.query_pairs_mut().append_pair(name, value);
        }
        secrets.push(url.username().to_owned());
        if let Some(password) = url.password() {
            secrets.push(password.to_owned());
            // As the header of a password holds both.
            secrets.extend(encoded(&format!("{}:{password}", url.username())));
        }
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let accept = HeaderValue::from_static("text/event-stream, application/json");
        headers.insert(ACCEPT, accept);
        for (name, value) in route.headers {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        if let Some(key) = key {
            let (name, text) = match route.auth {
                Auth::Bearer => (AUTHORIZATION, format!("Bearer {}", key.reveal())),
                Auth::Header(name) => (HeaderName::from_static(name), key.reveal().to_owned()),
            };
            let value = HeaderValue::from_str(&text);
            let mut value = value.map_err(|_| {
                let message = "the API key holds characters that no key has; check for line breaks";
                ModelError::new(Kind::Auth, message)
            })?;
            value.set_sensitive(true);
            headers.insert(name, value);
            secrets.push(key.reveal().to_owned());
            secrets.extend(encoded(key.reveal()));
            let _ = url.set_username("");
            let _ = url.set_password(None);
        }
        secrets.retain(|secret| secret.len() >= LEAST_SECRET);
        // The longest first, so that one secret inside another leaves nothing over.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));

        let host = url.host_str().unwrap_or_default();
        let shown = show(&url, path);
        let ip = host.trim_matches(['[', ']']).parse::<IpAddr>();
        let local = host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback());
        Ok(Endpoint {
            shown,
            advice: route.advice,
            local,
            url,
            headers,
            secrets,
        })
    }

    /// Scheme, host, port and path.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    pub(crate) fn client(&self, connect: Duration) -> Result<Client, ModelError> {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            // Fails only where the program has already chosen one, which then holds.
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let mut builder = Client::builder()
            .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(connect)
            .default_headers(self.headers.clone())
            // A redirect would carry prompt and key to a place nobody named.
            .redirect(redirect::Policy::none());
        if self.url.scheme() == "http" {
            // Reading the system's certificates takes longer than a local answer.
            builder = builder.http1_only();
            if self.local || !proxied_by_tls() {
                builder = builder.tls_certs_only([]);
            }
        }
        if self.local {
            builder = builder.no_proxy();
        } else if let Some(name) = proxy::unusable(
            self.url.scheme(),
            self.url.host_str().unwrap_or_default(),
            &|name| std::env::var(name).ok(),
        ) {
            let what = format!("was not asked: {name} {NO_PROXY_ADDRESS}");
            return Err(self.error(Fault::new(Kind::Unsupported, what, "")));
        }
        builder.build().map_err(|error| {
            self.error(Fault::new(
                Kind::Connect,
                format!("cannot be reached: {}", innermost(&error)),
                "check the system's certificates",
            ))
        })
    }

    pub(crate) fn url(&self) -> Url {
        self.url.clone()
    }

    /// Another path of the same server.
    pub(crate) fn sibling(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(path);
        url.set_query(None);
        url
    }

    /// A fault as an error of this endpoint, on one line and without its secrets.
    pub(crate) fn error(&self, fault: Fault) -> ModelError {
        let mut message = format!("{} {}", self.shown, fault.what);
        let next = match &*fault.next {
            fault::CHECK_URL => self.advice,
            next => next,
        };
        if !next.is_empty() {
            message = format!("{}; {next}", message.trim_end_matches('.'));
        }
        for secret in &self.secrets {
            message = message.replace(secret.as_str(), "[secret]");
            message = without_cut(&message, secret);
        }
        ModelError::new(fault.kind, message)
            .retryable(fault.retryable)
            .retry_after(fault.retry_after)
    }

    /// What the transport says when a request gets no answer, or an answer breaks off.
    pub(crate) fn transport(&self, error: &reqwest::Error, answered: bool) -> Fault {
        let cause = excerpt(&innermost(error));
        if answered {
            let mut fault = Fault::broken_off();
            fault.what = format!("broke off before the reply was complete: {cause}");
            return fault;
        }
        if error.is_connect() || error.is_timeout() {
            let next = if of_tls(error) {
                "write http:// where the server speaks no TLS, else check its certificate and the clock"
            } else if self.local {
                "is the server running?"
            } else {
                "check the address, the network and the proxy"
            };
            return Fault::new(Kind::Connect, format!("cannot be reached: {cause}"), next);
        }
        let mut fault = Fault::broken_off();
        fault.what = format!("closed the connection without an answer: {cause}");
        fault
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown)
    }
}

fn show(url: &Url, path: &str) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}"));
    format!(
        "{}://{host}{}{path}",
        url.scheme(),
        port.unwrap_or_default()
    )
}

/// A message in which a secret that was cut off at the end of an excerpt is gone too.
fn without_cut(message: &str, secret: &str) -> String {
    let mut parts = message.split('…').peekable();
    let mut out = String::new();
    while let Some(part) = parts.next() {
        let cut = parts.peek().is_some();
        let starts = (LEAST_SECRET..secret.len()).rev();
        let mut starts = starts.filter_map(|end| secret.get(..end));
        match starts.find(|start| cut && part.ends_with(start)) {
            Some(start) => {
                out.push_str(&part[..part.len() - start.len()]);
                out.push_str("[secret]");
            }
            None => out.push_str(part),
        }
        if cut {
            out.push('…');
        }
    }
    out
}

/// What of a secret is the same in base64 wherever it stands in the bytes encoded.
fn encoded(secret: &str) -> Vec<String> {
    let forms = (0..3).flat_map(|before| {
        let bytes = [&vec![0; before], secret.as_bytes()].concat();
        let start = (before * 8).div_ceil(6);
        let end = bytes.len() * 8 / 6;
        [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD].map(|engine| {
            let text = engine.encode(&bytes);
            text.get(start..end).unwrap_or_default().to_owned()
        })
    });
    // Of a short one too little is left to be told from other text.
    forms.filter(|form| form.len() >= LEAST_ENCODED).collect()
}

/// An address without its secrets.
pub(crate) fn shown_url(url: &str) -> String {
    match Url::parse(url) {
        Ok(url) => show(&url, url.path().trim_end_matches('/')),
        Err(_) => "[unusable address]".to_owned(),
    }
}

fn proxied_by_tls() -> bool {
    ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .any(|proxy| {
            proxy
                .trim_start()
                .to_ascii_lowercase()
                .starts_with("https:")
        })
}

/// Whether a connection came about and TLS on it did not.
fn of_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    // An error of input and output hides what it wraps from `source`.
    let wrapped = error.downcast_ref::<std::io::Error>();
    if let Some(inner) = wrapped.and_then(std::io::Error::get_ref) {
        return of_tls(inner);
    }
    error.is::<rustls::Error>() || error.source().is_some_and(of_tls)
}

/// The cause at the bottom; the texts above it repeat the URL, secrets included.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: Option<&dyn std::error::Error> = error.source();
    if error.is_timeout() {
        return "timed out".to_owned();
    }
    let mut text = String::from("no cause given");
    while let Some(error) = cause {
        text = error.to_string();
        cause = error.source();
    }
    text
}
