//! The bytes of an answer, turned into chunks of a reply as they come.

use std::time::Duration;

use reqwest::Response;
use tokio::time::{Instant, timeout};
use toolcrib_core::ModelErrorKind;

use super::fault::Fault;
use super::{Assemble, Events};
use crate::sse::{Flow, Frame, SseParser};

/// Most bytes of one frame or of one whole answer.
const MOST_FRAME: usize = 16 << 20;
/// How long a server may keep a stream open after the reply's end was seen. Usage
/// comes after it; a server that never closes must not hold the reply back.
const GRACE: Duration = Duration::from_secs(5);
/// So many idle limits may pass without a piece of the reply while a server only shows
/// that it lives. Queues of routers are long; a run must end all the same.
const ALIVE: u32 = 4;
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

/// Reads the whole answer into `assembler`.
pub(super) async fn read(
    mut response: Response,
    idle: Duration,
    assembler: &mut impl Assemble,
    on_event: &mut Events<'_>,
) -> Result<(), ReadError> {
    let mut decoder = Decoder::default();
    let mut begun = false;
    let (mut heard, mut pieces) = (Instant::now(), 0);
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
            // A server that was at work may do better the next time.
            Err(_) if begun => return Err(Fault::stalled(idle).into()),
            Err(_) => return Err(Fault::idle(idle).into()),
            Ok(Err(error)) => return Err(ReadError::Transport(error)),
        };
        begun = true;
        if decoder.push(&bytes, assembler, on_event)? == Flow::Stop {
            let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
            let _ = timeout(DRAIN, rest).await;
            return Ok(());
        }
        if decoder.pieces > pieces {
            (heard, pieces) = (Instant::now(), decoder.pieces);
        } else if heard.elapsed() > idle * ALIVE && !assembler.ended() {
            return Err(Fault::idle(idle * ALIVE).into());
        }
    }
    Ok(decoder.finish(assembler, on_event)?)
}

/// What a body turned out to be, whatever its content type says.
enum Form {
    Unknown,
    Events(SseParser),
    Whole,
}

/// Bytes of an answer into pieces of a reply, without a connection.
pub(super) struct Decoder {
    form: Form,
    /// A whole body, or the beginning of one whose form is not known yet.
    body: Vec<u8>,
    /// Frames so far that were more than a sign of life.
    pieces: u64,
}

impl Default for Decoder {
    fn default() -> Decoder {
        Decoder {
            form: Form::Unknown,
            body: Vec::new(),
            pieces: 0,
        }
    }
}

const BOM: &[u8] = b"\xEF\xBB\xBF";

impl Decoder {
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        assembler: &mut impl Assemble,
        on_event: &mut Events<'_>,
    ) -> Result<Flow, Fault> {
        if let Form::Events(parser) = &mut self.form {
            return events(parser, bytes, &mut self.pieces, assembler, on_event);
        }
        if self.body.len() + bytes.len() > MOST_FRAME {
            return Err(Fault::malformed("sent a body of more than 16 MiB"));
        }
        self.body.extend_from_slice(bytes);
        if matches!(self.form, Form::Unknown) {
            self.form = recognise(&self.body)?;
            if let Form::Events(parser) = &mut self.form {
                let start = std::mem::take(&mut self.body);
                return events(parser, &start, &mut self.pieces, assembler, on_event);
            }
        }
        Ok(Flow::Go)
    }

    /// The body has ended.
    pub(super) fn finish(
        self,
        assembler: &mut impl Assemble,
        on_event: &mut Events<'_>,
    ) -> Result<(), Fault> {
        let mut parser = match self.form {
            Form::Unknown => return Err(Fault::not_the_wire("sent", &self.body)),
            Form::Whole => return whole(&self.body, assembler, on_event),
            Form::Events(parser) => parser,
        };
        let mut outcome = Ok(Flow::Go);
        parser.finish(&mut |frame| {
            outcome = frame_into(frame, assembler, on_event);
            Flow::Stop
        });
        match outcome {
            // Half a frame at the end of a stream is a stream cut short.
            Err(fault) if fault.kind == ModelErrorKind::Malformed && !assembler.ended() => {
                Err(Fault::broken_off())
            }
            Err(fault) if fault.kind != ModelErrorKind::Malformed => Err(fault),
            _ => Ok(()),
        }
    }
}

/// Looks at the first bytes: some servers ignore that a stream was asked for, and
/// some call a stream JSON or JSON a stream.
fn recognise(start: &[u8]) -> Result<Form, Fault> {
    let text = start.strip_prefix(BOM).unwrap_or(start).trim_ascii_start();
    let fields: [&[u8]; 5] = [b"data", b"event", b"id", b"retry", b":"];
    if fields.iter().any(|field| text.starts_with(field)) {
        return Ok(Form::Events(SseParser::new(MOST_FRAME)));
    }
    let begins = |field: &&[u8]| field.starts_with(text);
    match text.first() {
        Some(b'{' | b'[' | b'<') => Ok(Form::Whole),
        _ if fields.iter().any(begins) || BOM.starts_with(start) => Ok(Form::Unknown),
        _ => Err(Fault::not_the_wire("sent", start)),
    }
}

fn events(
    parser: &mut SseParser,
    bytes: &[u8],
    pieces: &mut u64,
    assembler: &mut impl Assemble,
    on_event: &mut Events<'_>,
) -> Result<Flow, Fault> {
    let mut outcome = Ok(Flow::Go);
    let pushed = parser.push(bytes, &mut |frame| {
        *pieces += u64::from(!alive(&frame));
        outcome = frame_into(frame, assembler, on_event);
        *outcome.as_ref().unwrap_or(&Flow::Stop)
    });
    let flow = outcome?;
    pushed.map_err(|_| Fault::malformed("sent a frame of more than 16 MiB"))?;
    Ok(flow)
}

/// Whether a frame says no more than that the server lives.
fn alive(frame: &Frame<'_>) -> bool {
    let ping = [&b"ping"[..], b"keepalive", b"keep-alive", b"heartbeat"];
    frame.data.trim_ascii().is_empty() || ping.contains(&frame.event)
}

fn frame_into(
    frame: Frame<'_>,
    assembler: &mut impl Assemble,
    on_event: &mut Events<'_>,
) -> Result<Flow, Fault> {
    let data = frame.data.trim_ascii();
    if data == b"[DONE]" {
        return Ok(Flow::Stop);
    }
    if frame.event == b"error" {
        return Err(Fault::in_reply(&String::from_utf8_lossy(data)));
    }
    if !alive(&frame) {
        // One broken frame between good ones is an accident of this stream; a body
        // that is no stream at all would be the same next time.
        let accident = |fault: Fault| Fault {
            retryable: fault.retryable || fault.kind == ModelErrorKind::Malformed,
            ..fault
        };
        return assembler.push(data, on_event).map_err(accident);
    }
    Ok(Flow::Go)
}

fn whole(
    body: &[u8],
    assembler: &mut impl Assemble,
    on_event: &mut Events<'_>,
) -> Result<(), Fault> {
    assembler.push(body.strip_prefix(BOM).unwrap_or(body), on_event)?;
    if assembler.ended() {
        Ok(())
    } else {
        Err(Fault::not_the_wire("sent", body))
    }
}

/// The beginning of a body, as far as it comes, about `most` bytes.
pub(crate) async fn body(mut response: Response, idle: Duration, most: usize) -> Vec<u8> {
    let mut body = Vec::new();
    let limit = idle.min(GRACE);
    while let Ok(Ok(Some(bytes))) = timeout(limit, response.chunk()).await {
        body.extend_from_slice(&bytes);
        if body.len() > most {
            break;
        }
    }
    body
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
