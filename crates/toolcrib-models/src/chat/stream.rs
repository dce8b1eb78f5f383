//! The bytes of an answer, turned into chunks of a reply as they come.

use std::time::Duration;

use bytes::Bytes;
use reqwest::Response;
use tokio::time::timeout;
use toolcrib_core::ReplyEvent;

use super::fault::Fault;
use super::reply::Assembler;
use crate::sse::{Flow, Frame, SseParser};

type Events<'a> = dyn FnMut(ReplyEvent<'_>) + Send + 'a;

/// Most bytes of one frame or of one whole answer.
const MOST_FRAME: usize = 16 << 20;
/// Most bytes that are read of an error's body.
const MOST_ERROR: usize = 64 << 10;
/// How long a server may keep a stream open after the reply's end was seen. Usage
/// comes after it; a server that never closes must not hold the reply back.
const GRACE: Duration = Duration::from_secs(5);
/// How long to wait for the end of the body after `[DONE]`, so that the connection
/// can be used again.
const DRAIN: Duration = Duration::from_millis(50);

/// Why reading stopped.
pub(super) enum ReadError {
    Fault(Fault),
    Transport(reqwest::Error),
}

impl From<Fault> for ReadError {
    fn from(fault: Fault) -> ReadError {
        ReadError::Fault(fault)
    }
}

/// What a body turned out to be, whatever its content type says.
enum Form {
    Unknown(Vec<u8>),
    Events(SseParser),
    Whole(Vec<u8>),
}

/// Reads the whole answer into `assembler`.
pub(super) async fn read(
    mut response: Response,
    idle: Duration,
    assembler: &mut Assembler,
    on_event: &mut Events<'_>,
) -> Result<(), ReadError> {
    let mut form = Form::Unknown(Vec::new());
    loop {
        let limit = if assembler.ended() {
            idle.min(GRACE)
        } else {
            idle
        };
        let bytes = match timeout(limit, response.chunk()).await {
            Ok(Ok(Some(bytes))) => bytes,
            Ok(Ok(None)) => break,
            // The reply's end was seen, so nothing of it is missing.
            Err(_) | Ok(Err(_)) if assembler.ended() => break,
            Err(_) => return Err(Fault::idle(idle).into()),
            Ok(Err(error)) => return Err(ReadError::Transport(error)),
        };
        if take(&mut form, &bytes, assembler, on_event)? == Flow::Stop {
            let _ = timeout(DRAIN, async {
                while let Ok(Some(_)) = response.chunk().await {}
            })
            .await;
            return Ok(());
        }
    }
    match form {
        Form::Unknown(body) => Err(Fault::not_the_wire("sent", &body).into()),
        Form::Events(mut parser) => {
            let mut outcome = Ok(());
            parser.finish(&mut |frame| {
                outcome = frame_into(frame, assembler, on_event).map(drop);
                Flow::Go
            });
            // Half a frame at the end of a stream is a stream cut short.
            outcome.map_err(|fault| match fault.kind {
                toolcrib_core::ModelErrorKind::Malformed => Fault::broken_off().into(),
                _ => fault.into(),
            })
        }
        Form::Whole(body) => whole(&body, assembler, on_event).map_err(ReadError::from),
    }
}

fn take(
    form: &mut Form,
    bytes: &Bytes,
    assembler: &mut Assembler,
    on_event: &mut Events<'_>,
) -> Result<Flow, Fault> {
    if let Form::Unknown(start) = form {
        start.extend_from_slice(bytes);
        let Some(known) = recognise(start)? else {
            return Ok(Flow::Go);
        };
        let start = std::mem::replace(form, known);
        let Form::Unknown(start) = start else {
            return Ok(Flow::Go);
        };
        return take(form, &start.into(), assembler, on_event);
    }
    match form {
        Form::Events(parser) => events(parser, bytes, assembler, on_event),
        Form::Whole(body) | Form::Unknown(body) => {
            if body.len() + bytes.len() > MOST_FRAME {
                return Err(Fault::malformed("sent a body of more than 16 MiB"));
            }
            body.extend_from_slice(bytes);
            Ok(Flow::Go)
        }
    }
}

/// Looks at the first bytes: some servers ignore that a stream was asked for, and
/// some call a stream JSON or JSON a stream.
fn recognise(start: &[u8]) -> Result<Option<Form>, Fault> {
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let text = text.trim_ascii_start();
    let fields: [&[u8]; 5] = [b"data", b"event", b"id", b"retry", b":"];
    if fields.iter().any(|field| text.starts_with(field)) {
        return Ok(Some(Form::Events(SseParser::new(MOST_FRAME))));
    }
    match text.first() {
        Some(b'{' | b'[' | b'<') => Ok(Some(Form::Whole(Vec::new()))),
        _ if text.len() < 8 || b"\xEF\xBB\xBF".starts_with(start) => Ok(None),
        _ => Err(Fault::not_the_wire("sent", start)),
    }
}

fn events(
    parser: &mut SseParser,
    bytes: &[u8],
    assembler: &mut Assembler,
    on_event: &mut Events<'_>,
) -> Result<Flow, Fault> {
    let mut outcome = Ok(Flow::Go);
    let pushed = parser.push(bytes, &mut |frame| {
        outcome = frame_into(frame, assembler, on_event);
        match outcome {
            Ok(flow) => flow,
            Err(_) => Flow::Stop,
        }
    });
    let flow = outcome?;
    pushed.map_err(|_| Fault::malformed("sent a frame of more than 16 MiB"))?;
    Ok(flow)
}

fn frame_into(
    frame: Frame<'_>,
    assembler: &mut Assembler,
    on_event: &mut Events<'_>,
) -> Result<Flow, Fault> {
    let data = frame.data.trim_ascii();
    if data == b"[DONE]" {
        return Ok(Flow::Stop);
    }
    if frame.event == b"error" {
        return Err(Fault::in_reply(&String::from_utf8_lossy(data)));
    }
    if !data.is_empty() {
        assembler.push(data, on_event)?;
    }
    Ok(Flow::Go)
}

fn whole(body: &[u8], assembler: &mut Assembler, on_event: &mut Events<'_>) -> Result<(), Fault> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    assembler.push(body, on_event)?;
    if assembler.ended() {
        Ok(())
    } else {
        Err(Fault::not_the_wire("sent", body))
    }
}

/// The beginning of an error's body, as far as it comes.
pub(super) async fn error_body(mut response: Response, idle: Duration) -> Vec<u8> {
    let mut body = Vec::new();
    let limit = idle.min(GRACE);
    while let Ok(Ok(Some(bytes))) = timeout(limit, response.chunk()).await {
        body.extend_from_slice(&bytes);
        if body.len() > MOST_ERROR {
            break;
        }
    }
    body
}
