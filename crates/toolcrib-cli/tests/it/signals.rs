//! Ctrl-C: the run ends with 130, the session stays whole.
#![cfg(unix)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use toolcrib_testkit::{Answer, ByteServer};

use crate::world::{World, json_lines, ran};

fn interrupt(pid: u32, signal: &str) {
    let status = Command::new("kill")
        .args([&format!("-{signal}"), &pid.to_string()])
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn an_interrupt_ends_the_run_and_keeps_the_session() {
    for signal in ["INT", "TERM"] {
        let world = World::sample();
        let server = ByteServer::start([Answer::sse([
            r#"{"choices":[{"index":0,"delta":{"content":"It"}}]}"#,
        ])
        .wait(Duration::from_secs(600))])
        .unwrap();
        let model = format!("{}#m", server.url("/v1"));
        let child = world
            .command()
            .args(["ask", "--model", &model, "Where are results truncated?"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while server.received().is_empty() {
            assert!(Instant::now() < deadline, "the request never came");
            std::thread::sleep(Duration::from_millis(10));
        }
        interrupt(child.id(), signal);
        let ran = ran(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(130), "{signal}: {}", ran.stderr);
        assert_eq!(ran.stdout, "");
        let [session] = &world.sessions()[..] else {
            panic!("one session")
        };
        let rows = json_lines(session);
        assert_eq!(rows.last().unwrap()["row"], "finished");
        assert_eq!(rows.last().unwrap()["outcome"], "cancelled");
    }
}
