//! Bodies: whole, or a stream of events.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::Response;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::client::Client;

/// A stream says that it is alive this often.
const ALIVE: Duration = Duration::from_secs(15);

/// See the module's head.
pub(crate) enum Out {
    Whole(Option<Bytes>),
    Stream(mpsc::UnboundedReceiver<Bytes>),
}

impl Out {
    pub(crate) fn whole(bytes: Bytes) -> Out {
        Out::Whole(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }
}

impl Body for Out {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match self.get_mut() {
            Out::Whole(bytes) => Poll::Ready(bytes.take().map(|b| Ok(Frame::data(b)))),
            Out::Stream(events) => events.poll_recv(cx).map(|e| e.map(|b| Ok(Frame::data(b)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Out::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Out::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |b| b.len() as u64)),
            Out::Stream(_) => SizeHint::default(),
        }
    }
}

/// Takes everything of a client back when it goes out of scope.
pub(crate) struct Leaving(pub(crate) Option<Arc<Client>>);

impl Drop for Leaving {
    fn drop(&mut self) {
        if let Some(client) = &self.0 {
            client.leave();
        }
    }
}

pub(crate) fn stream(out: Out) -> Response<Out> {
    let mut response = Response::new(out);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

pub(crate) fn event(message: &str) -> Bytes {
    Bytes::from(format!(
        "event: message\ndata: {}\n\n",
        on_one_line(message)
    ))
}

/// Raw JSON may hold line ends between its tokens; in an event they would end it.
fn on_one_line(message: &str) -> String {
    match message.contains(['\n', '\r']) {
        true => message.replace(['\n', '\r'], " "),
        false => message.to_owned(),
    }
}

/// A stream of what is all there already.
pub(crate) fn ready(
    first: String,
    mut messages: mpsc::UnboundedReceiver<String>,
    answers: Vec<String>,
) -> Out {
    let (sender, receiver) = mpsc::unbounded_channel();
    let _ = sender.send(event(&first));
    while let Ok(message) = messages.try_recv() {
        let _ = sender.send(event(&message));
    }
    for answer in answers {
        let _ = sender.send(event(&answer));
    }
    Out::Stream(receiver)
}

/// A stream of messages that ends with the answers.
pub(crate) fn pump(
    first: String,
    mut messages: mpsc::UnboundedReceiver<String>,
    mut task: JoinHandle<Vec<String>>,
    leaving: Leaving,
) -> Out {
    let (sender, receiver) = mpsc::unbounded_channel();
    let _ = sender.send(event(&first));
    tokio::spawn(async move {
        let leaving = leaving;
        let mut alive = tokio::time::interval(ALIVE);
        alive.tick().await;
        let answers = loop {
            tokio::select! {
                biased;
                Some(message) = messages.recv() => {
                    let _ = sender.send(event(&message));
                }
                answers = &mut task => break answers.unwrap_or_default(),
                () = sender.closed(), if leaving.0.is_some() => return,
                _ = alive.tick() => {
                    let _ = sender.send(Bytes::from_static(b": alive\n\n"));
                }
            }
        };
        while let Ok(message) = messages.try_recv() {
            let _ = sender.send(event(&message));
        }
        for answer in answers {
            let _ = sender.send(event(&answer));
        }
        drop(leaving);
    });
    Out::Stream(receiver)
}

/// A stream of messages that ends when the client goes; `done` runs then.
pub(crate) fn standing(
    messages: tokio::sync::OwnedMutexGuard<mpsc::UnboundedReceiver<String>>,
    done: impl FnOnce() + Send + 'static,
) -> Out {
    let (sender, receiver) = mpsc::unbounded_channel();
    let _ = sender.send(Bytes::from_static(b": open\n\n"));
    tokio::spawn(async move {
        let mut messages = messages;
        let mut alive = tokio::time::interval(ALIVE);
        alive.tick().await;
        loop {
            tokio::select! {
                message = messages.recv() => match message {
                    Some(message) => {
                        let _ = sender.send(event(&message));
                    }
                    None => break,
                },
                () = sender.closed() => break,
                _ = alive.tick() => {
                    let _ = sender.send(Bytes::from_static(b": alive\n\n"));
                }
            }
        }
        done();
    });
    Out::Stream(receiver)
}
