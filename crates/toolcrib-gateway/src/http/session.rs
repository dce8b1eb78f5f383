//! Sessions of clients with a handshake.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hyper::StatusCode;
use tokio::sync::mpsc::UnboundedReceiver;

use super::out::{self, Out};
use crate::client::{Client, Lane, lock};
use crate::gateway::{Gateway, secret_name};

/// Most sessions at a time, and how long one lives without a request.
const MOST: usize = 4096;
const IDLE: Duration = Duration::from_secs(3600);

struct Session {
    client: Arc<Client>,
    messages: Arc<tokio::sync::Mutex<UnboundedReceiver<String>>>,
    used: Instant,
}

/// See the module's head.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<String, Session>>);

impl Sessions {
    /// Begins a session and gives its name, which cannot be guessed.
    pub(super) fn begin(&self, gateway: &Gateway) -> String {
        let name = secret_name();
        let (lane, messages) = Lane::new();
        // Nobody listens yet.
        lane.set_open(false);
        let session = Session {
            client: gateway.connect(lane),
            messages: Arc::new(tokio::sync::Mutex::new(messages)),
            used: Instant::now(),
        };
        let mut sessions = lock(&self.0);
        let stale: Vec<String> = sessions
            .iter()
            .filter(|(_, s)| s.used.elapsed() > IDLE && !s.client.main.is_open())
            .map(|(name, _)| name.clone())
            .collect();
        for name in stale {
            if let Some(session) = sessions.remove(&name) {
                session.client.leave();
            }
        }
        if sessions.len() < MOST {
            sessions.insert(name.clone(), session);
        }
        name
    }

    pub(super) fn client(&self, name: &str) -> Option<Arc<Client>> {
        let mut sessions = lock(&self.0);
        let session = sessions.get_mut(name)?;
        session.used = Instant::now();
        Some(session.client.clone())
    }

    /// The stream of what belongs to no request; one at a time.
    pub(super) fn open_stream(&self, name: &str) -> Result<Out, StatusCode> {
        let mut sessions = lock(&self.0);
        let session = sessions.get_mut(name).ok_or(StatusCode::NOT_FOUND)?;
        session.used = Instant::now();
        let messages = session.messages.clone().try_lock_owned();
        let messages = messages.map_err(|_| StatusCode::CONFLICT)?;
        let main = session.client.main.clone();
        main.set_open(true);
        Ok(out::standing(messages, move || main.set_open(false)))
    }

    pub(super) fn end(&self, name: &str) -> bool {
        match lock(&self.0).remove(name) {
            Some(session) => {
                session.client.leave();
                true
            }
            None => false,
        }
    }
}
