use std::time::Duration;

use serde_json::json;
use toolcrib_mcp::RequestContext;
use toolcrib_testkit::fake_mcp::FakeMcp;

use crate::kit::{call, call_with, one, until};

#[tokio::test]
async fn a_flood_on_standard_error_is_read_and_its_end_is_kept() {
    let fake = FakeMcp::new().with("stderr_flood", 4 * 1024 * 1024);
    let fleet = one(&fake);
    assert_eq!(
        call(&fleet, "echo", json!({"text":"a"})).await.unwrap(),
        "a"
    );
    let kept = fleet.status()[0].stderr.len();
    assert!(kept <= 8 * 1024, "{kept}");
    fleet.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_are_cancelled_at_random_leave_right_answers_to_the_rest() {
    let fleet = one(&FakeMcp::new());
    fleet.start("fake").await.unwrap();
    let mut clients = Vec::new();
    for client in 0..16_u64 {
        let fleet = fleet.clone();
        clients.push(tokio::spawn(async move {
            for round in 0..30_u64 {
                let text = format!("{client}-{round}");
                if (client * 31 + round * 17) % 3 == 0 {
                    let cx = RequestContext::default();
                    let cancel = cx.cancel.clone();
                    let wait = Duration::from_millis((client + round) % 5);
                    tokio::spawn(async move {
                        tokio::time::sleep(wait).await;
                        cancel.cancel();
                    });
                    let slow = json!({"ms": 20});
                    let _ = call_with(&fleet, "sleep", slow, &cx).await;
                } else {
                    let said = call(&fleet, "echo", json!({"text": text})).await.unwrap();
                    assert_eq!(said, text);
                }
            }
        }));
    }
    for client in clients {
        client.await.unwrap();
    }
    fleet.shutdown().await;
}

#[tokio::test]
async fn a_server_that_dies_again_and_again_leaves_no_task_behind() {
    let fleet = one(&FakeMcp::new());
    let tasks = || {
        let runtime = tokio::runtime::Handle::current();
        runtime.metrics().num_alive_tasks()
    };
    call(&fleet, "echo", json!({"text": "up"})).await.unwrap();
    until("the list is known", || fleet.manifest("fake").is_some()).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let before = tasks();
    for _ in 0..5 {
        call(&fleet, "die", json!({})).await.unwrap_err();
        while call(&fleet, "echo", json!({"text": "up"})).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    until("its tasks have ended", || tasks() <= before).await;
    fleet.shutdown().await;
    until("nothing runs on", || tasks() == 0).await;
}
