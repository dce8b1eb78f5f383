//! Server-sent events out of bytes, cut anywhere.
//!
//! An own parser, because the frames of model servers are odd in ways that the
//! standard's text parsers resolve by losing data: bytes become text only when a
//! frame is complete, so a character cut in half cannot turn into a replacement
//! character; a frame has an upper size; and the last frame counts even without
//! its blank line. It does not reconnect and knows no ids: a paid request is
//! never repeated behind the caller's back.

/// The frame under way is larger than allowed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FrameTooLarge;

/// One complete frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    /// The event's name; empty when the server gave none.
    pub(crate) event: &'a [u8],
    /// All `data` lines, joined by line feeds.
    pub(crate) data: &'a [u8],
}

/// What a caller wants after a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The next frame.
    Go,
    /// No more frames.
    Stop,
}

/// The parser's state between two pieces of input.
#[derive(Debug)]
pub(crate) struct SseParser {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    event: Vec<u8>,
    after_cr: bool,
    first_line: bool,
    limit: usize,
}

const BOM: &[u8] = b"\xEF\xBB\xBF";

impl SseParser {
    /// A parser that holds at most about `limit` bytes of one frame.
    pub(crate) fn new(limit: usize) -> SseParser {
        SseParser {
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            event: Vec::new(),
            after_cr: false,
            first_line: true,
            limit,
        }
    }

    /// Takes the next piece and hands out each frame that is complete with it.
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        on_frame: &mut dyn FnMut(Frame<'_>) -> Flow,
    ) -> Result<Flow, FrameTooLarge> {
        while !bytes.is_empty() {
            if self.after_cr {
                self.after_cr = false;
                if let Some(rest) = bytes.strip_prefix(b"\n") {
                    bytes = rest;
                    continue;
                }
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                self.check(bytes.len())?;
                self.line.extend_from_slice(bytes);
                break;
            };
            self.check(end)?;
            self.after_cr = bytes[end] == b'\r';
            let flow = if self.line.is_empty() {
                self.take_line(&bytes[..end], on_frame)
            } else {
                self.line.extend_from_slice(&bytes[..end]);
                let line = std::mem::take(&mut self.line);
                let flow = self.take_line(&line, on_frame);
                self.line = line;
                self.line.clear();
                flow
            };
            if flow == Flow::Stop {
                return Ok(Flow::Stop);
            }
            bytes = &bytes[end + 1..];
        }
        Ok(Flow::Go)
    }

    /// The input has ended: a last line without its end and a last frame without
    /// its blank line still count.
    pub(crate) fn finish(&mut self, on_frame: &mut dyn FnMut(Frame<'_>) -> Flow) -> Flow {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() && self.take_line(&line, on_frame) == Flow::Stop {
            return Flow::Stop;
        }
        self.dispatch(on_frame)
    }

    fn check(&self, more: usize) -> Result<(), FrameTooLarge> {
        if self.data.len() + self.line.len() + more > self.limit {
            return Err(FrameTooLarge);
        }
        Ok(())
    }

    fn take_line(&mut self, line: &[u8], on_frame: &mut dyn FnMut(Frame<'_>) -> Flow) -> Flow {
        let line = if std::mem::take(&mut self.first_line) {
            line.strip_prefix(BOM).unwrap_or(line)
        } else {
            line
        };
        if line.is_empty() {
            return self.dispatch(on_frame);
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"event" => {
                self.event.clear();
                self.event.extend_from_slice(value);
            }
            // Comments (an empty field name), ids, retry times and unknown fields.
            _ => {}
        }
        Flow::Go
    }

    fn dispatch(&mut self, on_frame: &mut dyn FnMut(Frame<'_>) -> Flow) -> Flow {
        let flow = if self.has_data {
            on_frame(Frame {
                event: &self.event,
                data: &self.data,
            })
        } else {
            Flow::Go
        };
        self.has_data = false;
        self.data.clear();
        self.event.clear();
        flow
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frames<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<(String, String)> {
        let mut parser = SseParser::new(1 << 20);
        let mut frames = Vec::new();
        let mut take = |frame: Frame<'_>| {
            frames.push((
                String::from_utf8(frame.event.to_vec()).unwrap(),
                String::from_utf8(frame.data.to_vec()).unwrap(),
            ));
            Flow::Go
        };
        for piece in pieces {
            parser.push(piece, &mut take).unwrap();
        }
        parser.finish(&mut take);
        frames
    }

    fn data<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        frames(pieces).into_iter().map(|(_, data)| data).collect()
    }

    #[test]
    fn p18_forms_of_lines_comments_and_frames() {
        let check = |input: &str, expected: &[&str]| {
            assert_eq!(data([input.as_bytes()]), expected, "{input:?}");
        };
        check("data: a\n\ndata: b\n\n", &["a", "b"]);
        check("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
        check("data: a\r\rdata: b\r\r", &["a", "b"]);
        check("data: a\r\n\rdata: b\n\r\n", &["a", "b"]);
        check("data:a\n\ndata:  b\n\n", &["a", " b"]);
        check(": OPENROUTER PROCESSING\n\n:\n\ndata: a\n\n", &["a"]);
        check("data: a\n: between\ndata: b\n\n", &["a\nb"]);
        check("\u{feff}data: a\n\n", &["a"]);
        check("\n\n\ndata: a\n\n\n\n", &["a"]);
        check("data: a", &["a"]);
        check("data: a\n", &["a"]);
        check("data\n\n", &[""]);
        check("data: a\n\ndata: b", &["a", "b"]);
        check("id: 7\nretry: 10\nother: x\ndata: a\n\n", &["a"]);
        check("datax: no\n\n{\"data\": 1}\n\n", &[]);
        check("", &[]);
        // The mark is one only at the very start.
        check("data: a\n\n\u{feff}data: b\n\n", &["a"]);
    }

    #[test]
    fn p18_an_event_name_belongs_to_its_frame_alone() {
        let input = b"event: error\ndata: a\n\ndata: b\n\nevent: lost\n\ndata: c\n\n";
        let names: Vec<_> = frames([&input[..]]).into_iter().map(|(e, _)| e).collect();
        assert_eq!(names, ["error", "", ""]);
    }

    #[test]
    fn p18_a_frame_has_an_upper_size() {
        let mut parser = SseParser::new(64);
        let mut ignore = |_: Frame<'_>| Flow::Go;
        let mut outcome = Ok(Flow::Go);
        for _ in 0..100 {
            outcome = parser.push(b"data: 0123456789", &mut ignore);
            if outcome.is_err() {
                break;
            }
        }
        assert_eq!(outcome, Err(FrameTooLarge));
        assert!(parser.line.capacity() <= 128);

        let mut parser = SseParser::new(64);
        let lines = (0..100).map(|_| parser.push(b"data: 0123456789\n", &mut ignore));
        assert!(lines.into_iter().any(|outcome| outcome.is_err()));
    }

    #[test]
    fn p18_five_megabytes_in_one_frame_arrive_whole() {
        let text = "語".repeat(5 * 1024 * 1024 / 3);
        let input = format!("data: {text}\n\n");
        let mut parser = SseParser::new(8 << 20);
        let mut sizes = Vec::new();
        for piece in input.as_bytes().chunks(65_521) {
            parser
                .push(piece, &mut |frame| {
                    assert_eq!(frame.data, text.as_bytes());
                    sizes.push(frame.data.len());
                    Flow::Go
                })
                .unwrap();
        }
        assert_eq!(sizes, [text.len()]);
    }

    const RECORDED: &str = "\u{feff}: hello\r\ndata: {\"t\":\"héllo 👩‍👩‍👧 世界\"}\r\n\r\nevent: x\rdata:語\rdata: 🎉\r\rdata: [DONE]\n\n";

    #[test]
    fn p18_every_split_in_two_gives_the_same_frames() {
        let bytes = RECORDED.as_bytes();
        let whole = frames([bytes]);
        assert_eq!(whole.len(), 3);
        for at in 0..=bytes.len() {
            assert_eq!(frames([&bytes[..at], &bytes[at..]]), whole, "split at {at}");
        }
        assert_eq!(frames(bytes.chunks(1)), whole);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn p18_any_splits_give_the_same_frames(
            input in "(data|event|id|)(:| |\r|\n|\r\n|é|👧|\u{feff}|a){0,40}",
            cuts in proptest::collection::vec(0usize..200, 0..8),
        ) {
            let bytes = input.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|w| &bytes[w[0]..w[1]]);
            prop_assert_eq!(frames(pieces), frames([bytes]));
        }
    }
}
