//! An HTTP server whose every byte a test decides.
//!
//! Mock frameworks answer whole bodies; faults of streams live between the bytes:
//! a character cut in half, a stall, a connection that closes early. So this one
//! speaks just enough HTTP/1.1 to read a request and then plays a list of steps.
//! It runs on plain threads, apart from any runtime, so that a test may pause its
//! clock. It is not for anything but loopback.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct Received {
    /// Such as `POST`.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Names in lower case, in the order sent.
    pub headers: Vec<(String, String)>,
    /// The body, complete.
    pub body: Vec<u8>,
    /// Which connection carried it, from 0 in order of arrival.
    pub connection: usize,
}

impl Received {
    /// The first header of that name, which must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body as text; bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; null where it is not.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

#[derive(Clone, Debug)]
enum Step {
    Raw(Vec<u8>),
    Chunk(Vec<u8>),
    Wait(Duration),
    Stall,
    Close,
}

/// What the server does with one request, step by step.
#[derive(Clone, Debug)]
pub struct Answer {
    status: Option<u16>,
    headers: Vec<(String, String)>,
    chunked: bool,
    steps: Vec<Step>,
}

impl Answer {
    /// A whole body with its length.
    pub fn whole(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Answer {
        let body = body.into();
        Answer {
            status: Some(status),
            headers: vec![
                ("content-type".into(), content_type.into()),
                ("content-length".into(), body.len().to_string()),
            ],
            chunked: false,
            steps: vec![Step::Raw(body)],
        }
    }

    /// A whole JSON body.
    pub fn json(status: u16, body: impl Into<Vec<u8>>) -> Answer {
        Answer::whole(status, "application/json", body)
    }

    /// A chunked body that begins empty; see [`Answer::bytes`].
    pub fn stream(status: u16, content_type: &str) -> Answer {
        Answer {
            status: Some(status),
            headers: vec![
                ("content-type".into(), content_type.into()),
                ("transfer-encoding".into(), "chunked".into()),
            ],
            chunked: true,
            steps: Vec::new(),
        }
    }

    /// A stream of events, one chunk for each piece of data, without `[DONE]`.
    pub fn sse<D: AsRef<str>>(data: impl IntoIterator<Item = D>) -> Answer {
        data.into_iter()
            .fold(Answer::stream(200, "text/event-stream"), |answer, data| {
                answer.event(data)
            })
    }

    /// These bytes and nothing else, then the connection closes.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Answer {
        Answer {
            status: None,
            headers: Vec::new(),
            chunked: false,
            steps: vec![Step::Raw(bytes.into()), Step::Close],
        }
    }

    /// Closes the connection without a byte.
    pub fn hang_up() -> Answer {
        Answer::raw(Vec::new())
    }

    /// Never answers; the connection stays open until the server goes.
    pub fn silence() -> Answer {
        let mut answer = Answer::raw(Vec::new());
        answer.steps = vec![Step::Stall];
        answer
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Answer {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sends these bytes as one chunk of a stream, which a client sees as one piece.
    pub fn bytes(mut self, bytes: impl Into<Vec<u8>>) -> Answer {
        self.steps.push(Step::Chunk(bytes.into()));
        self
    }

    /// Sends `data: …` and a blank line as one chunk.
    pub fn event(self, data: impl AsRef<str>) -> Answer {
        self.bytes(format!("data: {}\n\n", data.as_ref()))
    }

    /// Sends `data: [DONE]`.
    pub fn done(self) -> Answer {
        self.event("[DONE]")
    }

    /// Waits before the next step.
    pub fn wait(mut self, time: Duration) -> Answer {
        self.steps.push(Step::Wait(time));
        self
    }

    /// Sends nothing more but keeps the connection open until the server goes.
    pub fn stall(mut self) -> Answer {
        self.steps.push(Step::Stall);
        self
    }

    /// Closes the connection here, without the end of the stream.
    pub fn close(mut self) -> Answer {
        self.steps.push(Step::Close);
        self
    }
}

type Handler = Box<dyn FnMut(&Received) -> Answer + Send>;

struct Shared {
    received: Mutex<Vec<Received>>,
    handler: Mutex<Handler>,
    connections: Mutex<Vec<TcpStream>>,
    count: AtomicUsize,
    stopped: AtomicBool,
    stop: (Mutex<()>, Condvar),
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A server on a free loopback port; it goes when it is dropped, and closes all
/// connections with it.
pub struct ByteServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl ByteServer {
    /// Answers requests in order of arrival; after the last answer each further
    /// request gets status 500. A GET, which asks about the server and not for a
    /// reply, takes none of the answers and gets status 404.
    ///
    /// # Errors
    /// When no loopback port can be had.
    pub fn start(answers: impl IntoIterator<Item = Answer>) -> io::Result<ByteServer> {
        let mut answers: VecDeque<Answer> = answers.into_iter().collect();
        ByteServer::serve(move |request| {
            if request.method == "GET" {
                return Answer::json(404, r#"{"error":{"message":"there is no such page"}}"#);
            }
            answers.pop_front().unwrap_or_else(|| {
                Answer::json(
                    500,
                    r#"{"error":{"message":"the test gave no more answers"}}"#,
                )
            })
        })
    }

    /// Asks `handler` for the answer to each request.
    ///
    /// # Errors
    /// When no loopback port can be had.
    pub fn serve(
        handler: impl FnMut(&Received) -> Answer + Send + 'static,
    ) -> io::Result<ByteServer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            received: Mutex::default(),
            handler: Mutex::new(Box::new(handler)),
            connections: Mutex::default(),
            count: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            stop: Default::default(),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.stopped.load(Ordering::SeqCst) {
                    break;
                }
                if let Ok(stream) = stream {
                    accepting.accept(stream);
                }
            }
        });
        Ok(ByteServer { address, shared })
    }

    /// A loopback address on which nothing listens.
    ///
    /// # Errors
    /// When no loopback port can be had.
    pub fn unused_address() -> io::Result<SocketAddr> {
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT` followed by `path`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All requests so far, in order of arrival.
    pub fn received(&self) -> Vec<Received> {
        lock(&self.shared.received).clone()
    }

    /// How many connections were opened so far.
    pub fn connections(&self) -> usize {
        self.shared.count.load(Ordering::SeqCst)
    }
}

impl Drop for ByteServer {
    fn drop(&mut self) {
        {
            let _guard = lock(&self.shared.stop.0);
            self.shared.stopped.store(true, Ordering::SeqCst);
            self.shared.stop.1.notify_all();
        }
        for stream in lock(&self.shared.connections).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn accept(self: &Arc<Shared>, stream: TcpStream) {
        let connection = self.count.fetch_add(1, Ordering::SeqCst);
        let _ = stream.set_nodelay(true);
        if let Ok(copy) = stream.try_clone() {
            lock(&self.connections).push(copy);
        }
        let shared = Arc::clone(self);
        std::thread::spawn(move || {
            let _ = shared.converse(&stream, connection);
            let _ = stream.shutdown(Shutdown::Both);
        });
    }

    fn converse(&self, stream: &TcpStream, connection: usize) -> io::Result<()> {
        let mut buffer = Vec::new();
        while let Some(request) = read_request(stream, &mut buffer, connection)? {
            lock(&self.received).push(request.clone());
            let answer = (lock(&self.handler))(&request);
            if !self.play(stream, &answer)? {
                break;
            }
        }
        Ok(())
    }

    /// Returns whether the connection can carry another request.
    fn play(&self, mut stream: &TcpStream, answer: &Answer) -> io::Result<bool> {
        if let Some(status) = answer.status {
            let mut head = format!("HTTP/1.1 {status} Scripted\r\n");
            for (name, value) in &answer.headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            head.push_str("\r\n");
            stream.write_all(head.as_bytes())?;
        }
        for step in &answer.steps {
            match step {
                Step::Raw(bytes) => stream.write_all(bytes)?,
                Step::Chunk(bytes) if bytes.is_empty() => {}
                Step::Chunk(bytes) => {
                    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                    chunk.extend_from_slice(bytes);
                    chunk.extend_from_slice(b"\r\n");
                    stream.write_all(&chunk)?;
                }
                Step::Wait(time) => {
                    if self.wait(Some(*time)) {
                        return Ok(false);
                    }
                }
                Step::Stall => {
                    self.wait(None);
                    return Ok(false);
                }
                Step::Close => return Ok(false),
            }
        }
        if answer.chunked {
            stream.write_all(b"0\r\n\r\n")?;
        }
        Ok(true)
    }

    /// Returns whether the server is going.
    fn wait(&self, time: Option<Duration>) -> bool {
        let (mutex, condition) = &self.stop;
        let guard = lock(mutex);
        let stopped = || self.stopped.load(Ordering::SeqCst);
        match time {
            Some(time) => drop(condition.wait_timeout_while(guard, time, |()| !stopped())),
            None => drop(condition.wait_while(guard, |()| !stopped())),
        }
        stopped()
    }
}

fn read_request(
    mut stream: &TcpStream,
    buffer: &mut Vec<u8>,
    connection: usize,
) -> io::Result<Option<Received>> {
    let mut piece = [0; 16 * 1024];
    let end = loop {
        if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        match stream.read(&mut piece)? {
            0 => return Ok(None),
            n => buffer.extend_from_slice(&piece[..n]),
        }
    };
    let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let mut received = Received {
        method: first.next().unwrap_or_default().to_owned(),
        target: first.next().unwrap_or_default().to_owned(),
        headers: lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect(),
        body: Vec::new(),
        connection,
    };
    let length = received
        .header("content-length")
        .and_then(|text| text.parse::<usize>().ok())
        .unwrap_or(0);
    let total = end + 4 + length;
    while buffer.len() < total {
        match stream.read(&mut piece)? {
            0 => return Ok(None),
            n => buffer.extend_from_slice(&piece[..n]),
        }
    }
    received.body = buffer[end + 4..total].to_vec();
    buffer.drain(..total);
    Ok(Some(received))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(stream: &mut TcpStream, request: &str, until: &str) -> String {
        stream.write_all(request.as_bytes()).unwrap();
        let mut seen = Vec::new();
        let mut byte = [0];
        while !seen.ends_with(until.as_bytes()) && stream.read(&mut byte).unwrap() == 1 {
            seen.push(byte[0]);
        }
        String::from_utf8(seen).unwrap()
    }

    const POST: &str = "POST /x?y HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n{ }";

    #[test]
    fn one_connection_carries_several_answers_byte_for_byte() {
        let answers = [
            Answer::json(201, "{}").header("x-a", "b"),
            Answer::sse(["one"]).wait(Duration::from_millis(1)).done(),
            Answer::stream(200, "text/plain").bytes("half").close(),
        ];
        let server = ByteServer::start(answers).unwrap();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        assert_eq!(
            exchange(&mut stream, POST, "{}"),
            "HTTP/1.1 201 Scripted\r\ncontent-type: application/json\r\ncontent-length: 2\r\nx-a: b\r\n\r\n{}"
        );
        assert_eq!(
            exchange(&mut stream, POST, "0\r\n\r\n"),
            "HTTP/1.1 200 Scripted\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\nb\r\ndata: one\n\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
        );
        assert!(exchange(&mut stream, POST, "never").ends_with("4\r\nhalf\r\n"));
        let mut other = TcpStream::connect(server.address()).unwrap();
        assert!(exchange(&mut other, POST, "answers\"}}").starts_with("HTTP/1.1 500 "));
        let received = server.received();
        assert_eq!((received.len(), server.connections()), (4, 2));
        assert_eq!(
            (received[0].target.as_str(), received[0].text().as_str()),
            ("/x?y", "{ }")
        );
        assert_eq!(received[0].header("host"), Some("h"));
        assert_eq!(received[3].connection, 1);
    }

    #[test]
    fn a_server_that_goes_ends_stalled_connections() {
        let server = ByteServer::start([Answer::sse(["one"]).stall()]).unwrap();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        exchange(&mut stream, POST, "one\n\n\r\n");
        drop(server);
        // Ended, in whichever way the system reports it.
        assert!(!matches!(stream.read(&mut [0]), Ok(1..)));
    }
}
