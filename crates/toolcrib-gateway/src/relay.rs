//! What servers ask of their client while a call is under way.
//!
//! A server is told the capabilities of the client behind the call and no others.
//! Its question goes to that client: as a request where the client's revision has
//! such requests, else as an input that the call's answer asks for. A question that
//! belongs to no call goes to the only client there is, or is refused.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use toolcrib_core::{BoxFuture, Str};
use toolcrib_mcp::{Reverse, RpcError};

use crate::client::{Client, Lane, can, lock};
use crate::wire;

/// A question of a server, for a client that has no requests from servers.
pub(crate) struct Question {
    pub(crate) method: String,
    pub(crate) params: Option<Box<RawValue>>,
    pub(crate) reply: oneshot::Sender<Result<Box<RawValue>, RpcError>>,
}

/// Where the questions of one call go.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) client: Arc<Client>,
    pub(crate) lane: Lane,
    /// Set where the client has no requests from servers.
    pub(crate) questions: Option<mpsc::UnboundedSender<Question>>,
}

/// See the module's head. One for all clients of the same capabilities.
pub(crate) struct Relay {
    capabilities: Arc<RawValue>,
    sites: Mutex<HashMap<Str, Site>>,
    clients: Mutex<Vec<Weak<Client>>>,
}

impl Relay {
    pub(crate) fn new(capabilities: Arc<RawValue>) -> Arc<Relay> {
        Arc::new(Relay {
            capabilities,
            sites: Mutex::default(),
            clients: Mutex::default(),
        })
    }

    /// Takes note of a client that questions of no call may go to.
    pub(crate) fn join(&self, client: &Arc<Client>) {
        let mut clients = lock(&self.clients);
        clients.retain(|known| known.strong_count() > 0);
        let same = |known: &Weak<Client>| known.ptr_eq(&Arc::downgrade(client));
        if !clients.iter().any(same) {
            clients.push(Arc::downgrade(client));
        }
    }

    /// Opens a call's site; it is closed when the guard is dropped.
    pub(crate) fn open(self: &Arc<Self>, tag: Str, site: Site) -> Open {
        lock(&self.sites).insert(tag.clone(), site);
        Open {
            relay: self.clone(),
            tag,
        }
    }

    fn site(&self, tag: Option<&str>) -> Option<Site> {
        if let Some(tag) = tag {
            return lock(&self.sites).get(tag).cloned();
        }
        let clients: Vec<Arc<Client>> = {
            let known = lock(&self.clients);
            known.iter().filter_map(Weak::upgrade).collect()
        };
        match &clients[..] {
            [client] => Some(Site {
                lane: client.main.clone(),
                client: client.clone(),
                questions: None,
            }),
            _ => None,
        }
    }
}

/// An open site.
pub(crate) struct Open {
    relay: Arc<Relay>,
    tag: Str,
}

impl Drop for Open {
    fn drop(&mut self) {
        lock(&self.relay.sites).remove(&self.tag);
    }
}

impl Reverse for Relay {
    fn capabilities(&self, _: &str) -> Box<RawValue> {
        (*self.capabilities).to_owned()
    }

    fn serves(&self, _: &str, method: &str) -> bool {
        can(self.capabilities.get(), method)
    }

    fn call<'a>(
        &'a self,
        server: &'a str,
        tag: Option<&'a str>,
        method: &'a str,
        params: Option<Box<RawValue>>,
    ) -> BoxFuture<'a, Result<Box<RawValue>, RpcError>> {
        Box::pin(async move {
            let Some(site) = self.site(tag) else {
                let text =
                    format!("no client of this gateway waits for {server}, so nobody can be asked");
                return Err(RpcError::new(wire::INTERNAL, text));
            };
            match site.questions {
                Some(questions) => {
                    let (reply, answer) = oneshot::channel();
                    let question = Question {
                        method: method.to_owned(),
                        params,
                        reply,
                    };
                    let gone = || RpcError::new(wire::INTERNAL, "the call is over");
                    questions.send(question).map_err(|_| gone())?;
                    answer.await.unwrap_or_else(|_| Err(gone()))
                }
                None => {
                    let params = params.as_ref().map(|raw| raw.get());
                    site.client.ask(&site.lane, method, params).await
                }
            }
        })
    }
}
