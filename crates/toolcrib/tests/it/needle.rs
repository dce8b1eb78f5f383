//! A real model chooses among tools, over the whole loop. The interop suite starts its
//! server and names it in `TOOLCRIB_REAL`; without it this test is left out.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolcrib::models::{ChatModel, ChatOptions, Vendor};
use toolcrib::{Agent, Budget, Event, Registry, tool};

/// The weather of a city.
#[tool(effect = "read_only")]
async fn get_weather(city: String) -> String {
    // The call that comes first takes longer.
    let slow = u64::from(city.contains("Rome"));
    tokio::time::sleep(Duration::from_millis(200 * slow)).await;
    format!("{city}: 21 C")
}

/// Set a timer for a number of minutes.
#[tool(effect = "read_only")]
async fn set_timer(minutes: u32) -> String {
    format!("set for {minutes} minutes")
}

/// Send a text message to a person.
#[tool(effect = "read_only")]
async fn send_message(person: String, text: String) -> String {
    format!("sent to {person}: {text}")
}

/// Read a file.
#[tool(effect = "read_only")]
async fn read_file(path: String) -> Result<String, String> {
    Err(format!("{path} does not exist"))
}

const PROMPTS: [(&str, &[&str]); 7] = [
    (
        "What is the weather in Rome and in Oslo?",
        &["get_weather", "get_weather"],
    ),
    (
        "What is the weather in Lima, and set a timer for 5 minutes",
        &["get_weather", "set_timer"],
    ),
    ("Tell me a joke", &[]),
    ("What is the weather in Paris?", &["get_weather"]),
    ("Set a timer for 10 minutes", &["set_timer"]),
    ("Send Anna the message: dinner is ready", &["send_message"]),
    ("Read the file notes.txt", &["read_file"]),
];

/// The tools that it called for a question, in order of their names, and all of its
/// calls and words.
async fn chosen(question: &str) -> (Vec<String>, Vec<String>) {
    let base = std::env::var("TOOLCRIB_REAL").unwrap();
    let options = ChatOptions::new(Vendor::Generic, "needle-3").base_url(format!("{base}/v1"));
    let mut tools = Registry::new();
    for tool in [
        get_weather::tool(),
        set_timer::tool(),
        send_message::tool(),
        read_file::tool(),
    ] {
        tools.insert(tool).unwrap();
    }
    let seen = Arc::new(Mutex::new((Vec::new(), Vec::new())));
    let kept = Arc::clone(&seen);
    let sink = move |event: &Event| {
        let (names, said) = &mut *kept.lock().unwrap();
        match event {
            Event::ToolCallStarted {
                name, arguments, ..
            } => {
                names.push(name.to_string());
                said.push(format!("{name} {arguments}"));
            }
            Event::Text { text } => said.push(text.to_string()),
            _ => {}
        }
    };
    // The second round is asked for an answer without tools.
    let agent = Agent::builder(Arc::new(ChatModel::new(options).unwrap()))
        .tools(tools)
        .budget(Budget::rounds(2))
        .sink(Arc::new(sink))
        .build()
        .unwrap();
    let outcome = agent.run(question).await;
    let (mut names, mut said) = seen.lock().unwrap().clone();
    said.push(format!("{:?}", outcome.kind()));
    names.sort();
    (names, said)
}

#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a real server"]
async fn p02_real_needle_chooses_right_six_times_of_seven_and_alike_twice() {
    let mut right = 0;
    let mut wrong = Vec::new();
    for (question, wanted) in PROMPTS {
        let (names, said) = chosen(question).await;
        assert_eq!(chosen(question).await.1, said, "{question}");
        if names == wanted {
            right += 1;
        } else {
            wrong.push((question, names));
        }
    }
    assert!(right >= 6, "{wrong:?}");
}
