//! Server-sent events, out of bytes in any chunks.

/// One event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) data: String,
}

/// Reads events within a bound on the size of each.
pub(crate) struct Parser {
    buffer: Vec<u8>,
    event: Event,
    has_data: bool,
    /// The wait before a reconnection that the server asked for, in milliseconds.
    pub(crate) retry: Option<u64>,
    max: usize,
}

/// An event larger than the bound.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

impl Parser {
    pub(crate) fn new(max: usize) -> Parser {
        Parser {
            buffer: Vec::new(),
            event: Event::default(),
            has_data: false,
            retry: None,
            max,
        }
    }

    /// Takes bytes in and hands out the events that they complete. An event without
    /// data is handed out for its id.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLarge> {
        let mut events = Vec::new();
        let old = self.buffer.len();
        self.buffer.extend_from_slice(bytes);
        let mut start = 0;
        let mut from = old;
        while let Some(end) = self.buffer[from..].iter().position(|b| *b == b'\n') {
            let end = from + end;
            let line = &self.buffer[start..end];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let line = String::from_utf8_lossy(line).into_owned();
            start = end + 1;
            from = start;
            if let Some(event) = self.line(&line) {
                events.push(event);
            }
            if self.event.data.len() > self.max {
                return Err(TooLarge);
            }
        }
        self.buffer.drain(..start);
        if self.buffer.len() > self.max {
            return Err(TooLarge);
        }
        Ok(events)
    }

    fn line(&mut self, line: &str) -> Option<Event> {
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        if line.is_empty() {
            let complete = self.has_data || self.event.id.is_some();
            self.has_data = false;
            let event = std::mem::take(&mut self.event);
            return complete.then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.has_data = true;
                self.event.data.push_str(value);
            }
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" => self.retry = value.parse().ok().or(self.retry),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = ": hello\r\nid: 1\r\ndata: a\r\ndata:b\r\n\r\nretry: 500\n\nevent: x\nid: 2\ndata\n\nid: 3\n\ndata: unfinished\n";

    fn all(chunks: &[&[u8]]) -> (Vec<Event>, Option<u64>) {
        let mut parser = Parser::new(100);
        let mut out = Vec::new();
        for chunk in chunks {
            out.extend(parser.push(chunk).unwrap());
        }
        (out, parser.retry)
    }

    #[test]
    fn events_are_read() {
        let (events, retry) = all(&[TEXT.as_bytes()]);
        let event = |id: &str, data: &str| Event {
            id: Some(id.to_owned()),
            data: data.to_owned(),
        };
        assert_eq!(events, [event("1", "a\nb"), event("2", ""), event("3", "")]);
        assert_eq!(retry, Some(500));
    }

    #[test]
    fn an_event_that_is_too_large_ends_it() {
        assert_eq!(Parser::new(10).push(b"data: 12345678901\n"), Err(TooLarge));
        let many = b"data: 1234\ndata: 1234\ndata: 1234\n";
        assert_eq!(Parser::new(10).push(many), Err(TooLarge));
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(cut in 0..TEXT.len(), more in 0..TEXT.len()) {
            let (low, high) = (cut.min(more), cut.max(more));
            let bytes = TEXT.as_bytes();
            let pieces = [&bytes[..low], &bytes[low..high], &bytes[high..]];
            prop_assert_eq!(all(&pieces), all(&[bytes]));
        }
    }
}
