use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_mcp::{Fleet, McpError, RequestContext, Transport};
use toolcrib_testkit::fake_mcp::FakeMcp;

use crate::kit::{call, call_with, config, one, options, params, pids, runs, until};

#[tokio::test]
async fn m04_noise_on_standard_output_harms_nothing_and_is_counted() {
    let fake = FakeMcp::new()
        .with(
            "prelude",
            json!([
                "Server ready",
                "",
                "   ",
                r#"{"level":"info","msg":"up"}"#,
                "[1,2]"
            ]),
        )
        .with("long_line", 1_100_000);
    let fleet = one(&fake);
    assert_eq!(call(&fleet, "wrong_id", json!({})).await.unwrap(), "right");
    assert_eq!(
        call(&fleet, "junk", json!({"lines": 500})).await.unwrap(),
        "done"
    );
    let noise = fleet.status()[0].noise.clone();
    // The harness's own line, four of the prelude, three answers to nobody, the junk.
    assert_eq!(noise.count, 1 + 4 + 3 + 500);
    assert_eq!(noise.last.len(), 20);
    assert_eq!(noise.last[19], "junk line 499");
    fleet.shutdown().await;
}

#[tokio::test]
async fn m04_a_server_that_asks_for_what_we_do_not_offer_is_told_so() {
    let fleet = one(&FakeMcp::new());
    for method in ["log", "roots/list", "sampling/createMessage"] {
        let answer = call(&fleet, "ask", json!({"method": method}))
            .await
            .unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["error"]["code"], -32601, "{method}");
    }
    let answer = call(&fleet, "ask", json!({"method": "ping"}))
        .await
        .unwrap();
    assert!(answer.contains(r#""result":{}"#), "{answer}");
    fleet.shutdown().await;
}

#[tokio::test]
async fn m04_one_line_of_a_megabyte_is_an_answer_like_any_other() {
    let fleet = one(&FakeMcp::new());
    let text = call(&fleet, "big", json!({"bytes": 1_100_000}))
        .await
        .unwrap();
    assert_eq!(text.len(), 1_100_000);
    fleet.shutdown().await;
}

#[tokio::test]
async fn an_answer_over_the_bound_fails_its_own_request_alone() {
    let mut options = options();
    options.max_message = 100_000;
    let fleet = Fleet::new(vec![config("fake", &FakeMcp::new())], options);
    let error = call(&fleet, "big", json!({"bytes": 500_000}))
        .await
        .unwrap_err();
    assert!(
        matches!(error, McpError::TooLarge { limit: 100_000, .. }),
        "{error}"
    );
    assert_eq!(
        call(&fleet, "echo", json!({"text":"on"})).await.unwrap(),
        "on"
    );
    fleet.shutdown().await;
}

#[tokio::test]
async fn m06_what_ignores_the_end_of_input_is_gone_within_the_grace_with_its_children() {
    let dir = tempfile::tempdir().unwrap();
    for (eof, term) in [(true, false), (true, true)] {
        let starts = dir.path().join(format!("starts-{term}"));
        let fake = FakeMcp::new()
            .with("ignore_eof", eof)
            .with("ignore_term", term)
            .with("fork", true)
            .with("starts", starts.to_str().unwrap());
        let fleet = one(&fake);
        fleet.start("fake").await.unwrap();
        let started = pids(&starts);
        assert_eq!(started.len(), 2, "it and its child");
        assert!(started.iter().all(|pid| runs(*pid)));
        fleet.shutdown().await;
        until("both are gone", || !started.iter().any(|pid| runs(*pid))).await;
    }
}

#[tokio::test]
async fn m06_rounds_of_connecting_leave_no_process_and_no_descriptor() {
    let dir = tempfile::tempdir().unwrap();
    let starts = dir.path().join("starts");
    let fake = FakeMcp::new().with("starts", starts.to_str().unwrap());
    let fleet = one(&fake);
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    fleet.start("fake").await.unwrap();
    fleet.shutdown().await;
    let before = open();
    for _ in 0..100 {
        fleet.start("fake").await.unwrap();
        fleet.shutdown().await;
    }
    assert!(pids(&starts).iter().all(|pid| !runs(*pid)));
    // Other tests of this binary open and close their own meanwhile.
    until("descriptors are given back", || open() <= before + 12).await;
}

#[tokio::test]
async fn m07_progress_refreshes_the_idle_limit_of_its_own_call_alone() {
    let fleet = one(&FakeMcp::new());
    fleet.start("fake").await.unwrap();
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = seen.clone();
    // Far longer than a machine under load holds one message up.
    let idle = Some(Duration::from_millis(1_500));
    let talking = RequestContext {
        idle_timeout: idle,
        progress: Some(std::sync::Arc::new(move |params| {
            sink.lock().unwrap().push(params.get().to_owned());
        })),
        ..RequestContext::default()
    };
    let quiet = RequestContext {
        idle_timeout: idle,
        ..RequestContext::default()
    };
    let long = json!({"ms": 2_400, "every_ms": 100});
    let (told, silent) = tokio::join!(
        call_with(&fleet, "sleep", long.clone(), &talking),
        call_with(&fleet, "sleep", long, &quiet),
    );
    assert_eq!(told.unwrap()["content"][0]["text"], "slept");
    assert!(matches!(silent.unwrap_err(), McpError::Timeout { .. }));
    fleet.shutdown().await;
    let seen = seen.lock().unwrap();
    assert!(
        seen.len() >= 20 && seen[0].contains(r#""progress":100"#),
        "{seen:?}"
    );
}

#[tokio::test]
async fn m07_the_hard_cap_holds_whatever_the_progress_and_the_server_is_told() {
    let mut server = config("fake", &FakeMcp::new());
    server.call_cap = Duration::from_millis(500);
    let fleet = Fleet::new(vec![server], options());
    fleet.start("fake").await.unwrap();
    let noise = fleet.status()[0].noise.count;
    let cx = RequestContext {
        progress: Some(std::sync::Arc::new(|_| {})),
        ..RequestContext::default()
    };
    let slow = json!({"ms": 900, "every_ms": 50});
    let error = call_with(&fleet, "sleep", slow, &cx).await.unwrap_err();
    assert!(
        matches!(error, McpError::Timeout { after, .. } if after == Duration::from_millis(500))
    );
    let told = call(&fleet, "cancelled", json!({})).await.unwrap();
    assert_eq!(
        serde_json::from_str::<Vec<u64>>(&told).unwrap().len(),
        1,
        "{told}"
    );
    // The late answer meets nobody.
    until("the late answer came", || {
        fleet.status()[0].noise.count > noise
    })
    .await;
    assert_eq!(
        call(&fleet, "echo", json!({"text":"on"})).await.unwrap(),
        "on"
    );
    fleet.shutdown().await;
}

#[tokio::test]
async fn m07_a_caller_that_cancels_or_goes_away_takes_its_request_back() {
    let fleet = one(&FakeMcp::new());
    fleet.start("fake").await.unwrap();
    // Progress says that the server has the request: only then can it be taken back.
    let heard = std::sync::Arc::new(tokio::sync::Notify::new());
    let told = heard.clone();
    let cx = RequestContext {
        progress: Some(std::sync::Arc::new(move |_| told.notify_one())),
        ..RequestContext::default()
    };
    let slow = json!({"ms": 60_000, "every_ms": 20});
    let cancel = cx.cancel.clone();
    let (result, ()) = tokio::join!(call_with(&fleet, "sleep", slow.clone(), &cx), async {
        heard.notified().await;
        cancel.cancel();
    });
    assert!(matches!(result.unwrap_err(), McpError::Cancelled));
    let told = heard.clone();
    let cx = RequestContext {
        progress: Some(std::sync::Arc::new(move |_| told.notify_one())),
        ..RequestContext::default()
    };
    tokio::select! {
        _ = call_with(&fleet, "sleep", slow, &cx) => panic!("it slept for a minute"),
        () = heard.notified() => {}
    }
    let told = call(&fleet, "cancelled", json!({})).await.unwrap();
    assert_eq!(
        serde_json::from_str::<Vec<u64>>(&told).unwrap().len(),
        2,
        "{told}"
    );
    fleet.shutdown().await;
}

#[tokio::test]
async fn a_caller_cannot_pass_its_own_progress_token_through() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let fleet = one(&FakeMcp::new().with("log", log.to_str().unwrap()));
    let mut call = serde_json::from_str::<Value>(params("echo", json!({})).unwrap().get()).unwrap();
    call["_meta"] = json!({"progressToken": 1, "own": true});
    let params = crate::kit::raw(&call);
    let cx = RequestContext::default();
    fleet
        .request("fake", "tools/call", Some(params), &cx)
        .await
        .unwrap();
    let log = std::fs::read_to_string(&log).unwrap();
    let sent = log
        .lines()
        .find(|line| line.contains("tools/call"))
        .unwrap();
    assert!(
        sent.contains(r#""own":true"#) && !sent.contains("progressToken"),
        "{sent}"
    );
    fleet.shutdown().await;
}

#[tokio::test]
async fn a_server_gets_a_minimal_environment_and_what_its_entry_lists() {
    let mut server = config("fake", &FakeMcp::new());
    if let Transport::Stdio { env, .. } = &mut server.transport {
        env.insert("LISTED".into(), "${HOME}".into());
    }
    let fleet = Fleet::new(vec![server], options());
    let names = call(&fleet, "env", json!({})).await.unwrap();
    let foreign: Vec<&str> = names
        .split(' ')
        .filter(|name| {
            ![
                "HOME",
                "LANG",
                "LISTED",
                "LOGNAME",
                "PATH",
                "SHELL",
                "TERM",
                "TMPDIR",
                "TOOLCRIB_FAKE_MCP",
                "TZ",
                "USER",
            ]
            .contains(name)
        })
        .filter(|name| !name.starts_with("LC_"))
        .collect();
    assert_eq!(
        foreign, [""; 0],
        "the harness runs with CARGO_ variables, which must not be here"
    );
    assert!(names.contains("LISTED") && std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    fleet.shutdown().await;
}

#[tokio::test]
async fn results_and_errors_are_the_servers_own_bytes() {
    let fleet = one(&FakeMcp::new());
    let cx = RequestContext::default();
    let result = fleet
        .request("fake", "tools/call", params("structured", json!({})), &cx)
        .await
        .unwrap();
    assert_eq!(
        result.get(),
        r#"{"content":[],"structuredContent":{"n":1.5,"s":"x"},"_meta":{"k":"v"},"extra":true}"#
    );
    let error = fleet
        .request("fake", "prompts/get", None, &cx)
        .await
        .unwrap_err();
    let rpc = error.rpc().unwrap();
    assert_eq!(
        (rpc.code, rpc.message.as_str()),
        (-32601, "Method not found: prompts/get")
    );
    assert_eq!(rpc.data.as_ref().unwrap().get(), r#"{"n":1}"#);
    fleet.shutdown().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn m06_when_we_are_killed_the_server_ends_too() {
    let dir = tempfile::tempdir().unwrap();
    let starts = dir.path().join("starts");
    let mut holder = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["holder", "--exact", "--nocapture"])
        .env(crate::kit::HOLD, &starts)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    until("the server runs", || pids(&starts).len() == 1).await;
    let server = pids(&starts)[0];
    // It may be held up between its start and the promise that it ends with us.
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(runs(server));
    holder.kill().unwrap();
    holder.wait().unwrap();
    until("the server is gone", || !runs(server)).await;
}
