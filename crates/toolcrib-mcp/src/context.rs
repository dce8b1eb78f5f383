//! What a caller of a server may say and give beside the request itself.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use toolcrib_core::{BoxFuture, CancellationToken, Str};

use crate::RpcError;

/// Takes the params of a progress notification, as received.
pub(crate) type ProgressFn = dyn Fn(&RawValue) + Send + Sync;

/// The circumstances of one request.
#[derive(Clone, Default)]
pub struct RequestContext {
    /// Fires when the caller does not want the answer any more; the server is told.
    pub cancel: CancellationToken,
    /// Takes the params of each progress notification, raw; asking for progress at
    /// all costs the server a message, so none is asked for without it. Must not
    /// block.
    pub progress: Option<Arc<ProgressFn>>,
    /// When the answer is of no use any more.
    pub deadline: Option<Instant>,
    /// Longest silence, in place of the server's own setting.
    pub idle_timeout: Option<Duration>,
    /// The request changes nothing, or not more than once: it may be sent again
    /// when a session is lost. Lists, reads and completions always are.
    pub repeatable: bool,
    /// The client capabilities to claim for this request, a JSON object, where the
    /// protocol says them with each request; the fleet's own otherwise.
    pub capabilities: Option<Arc<RawValue>>,
    /// Who asks, in the caller's own words: given to [`Reverse`] with requests that
    /// the server makes meanwhile.
    pub tag: Option<Str>,
    /// For a tool call: the [fingerprint](crate::ManifestTool::fingerprint) of the
    /// definition it was made for. The server is asked for its tools before, unless
    /// it was since it started and last told of a change, and the call is not sent
    /// when the tool is another by now.
    pub expects: Option<Str>,
}

/// Answers what servers ask of their client: sampling, elicitation, roots.
pub trait Reverse: Send + Sync {
    /// The client capabilities to claim towards this server, a JSON object.
    fn capabilities(&self, server: &str) -> Box<RawValue>;

    /// Whether such requests of this server are answered; others get "method not
    /// found".
    fn serves(&self, server: &str, method: &str) -> bool;

    /// Answers one request. `tag` is that of the request it belongs to, where that
    /// is known.
    fn call<'a>(
        &'a self,
        server: &'a str,
        tag: Option<&'a str>,
        method: &'a str,
        params: Option<Box<RawValue>>,
    ) -> BoxFuture<'a, Result<Box<RawValue>, RpcError>>;
}
