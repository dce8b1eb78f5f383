//! Servers whose chat template lists no tools.

use toolcrib_core::{Finish, Model};
use toolcrib_models::ModelSpec;
use toolcrib_testkit::{Answer, ByteServer, Received};

use crate::support::*;

fn server(supports: Option<bool>) -> ByteServer {
    ByteServer::serve(move |request: &Received| {
        if request.method == "GET" {
            return match supports {
                Some(supports) => Answer::json(
                    200,
                    format!(r#"{{"chat_template_caps":{{"supports_tools":{supports}}}}}"#),
                ),
                None => Answer::json(404, "{}"),
            };
        }
        let call = r#"<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}</tool_call>"#;
        Answer::sse([
            delta(&format!(r#"{{"content":"{call}"}}"#)),
            end(r#""stop""#),
        ])
        .done()
    })
    .unwrap()
}

fn model(server: &ByteServer) -> std::sync::Arc<dyn Model> {
    let spec = ModelSpec::parse(&format!("{}#m", server.url("/v1"))).unwrap();
    spec.build(&|_| None).unwrap()
}

#[test]
fn p05_a_template_without_tools_gets_them_as_text() {
    let server = server(Some(false));
    let model = model(&server);
    for _ in 0..2 {
        let seen = ask(&*model);
        assert_eq!(seen.reply().finish, Finish::ToolCalls);
        assert_eq!(seen.events, ["call read"]);
    }
    let received = server.received();
    let gets = received.iter().filter(|r| r.method == "GET");
    assert_eq!(
        gets.map(|r| r.target.as_str()).collect::<Vec<_>>(),
        ["/props"]
    );
    let post = received.iter().find(|r| r.method == "POST").unwrap().json();
    assert!(post.get("tools").is_none() && post.get("tool_choice").is_none());
    let system = post["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("read: Does read."), "{system}");
}

#[test]
fn p05_p08_markup_in_text_is_no_call_where_the_template_has_tools() {
    for supports in [Some(true), None] {
        let server = server(supports);
        let seen = ask(&*model(&server));
        assert_eq!(seen.reply().finish, Finish::Stop);
        assert!(seen.text().starts_with("<tool_call>"));
        let received = server.received();
        assert!(
            received
                .iter()
                .any(|r| r.method == "POST" && r.json().get("tools").is_some())
        );
    }
}
