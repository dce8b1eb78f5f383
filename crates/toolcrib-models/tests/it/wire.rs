use toolcrib_core::Finish;

use crate::support::*;

#[test]
fn a_reply_streams_and_the_connection_is_kept() {
    let (seen, server) = against([good()]);
    assert_eq!(seen.text(), "fine");
    assert_eq!(seen.reply().finish, Finish::Stop);
    assert_eq!(seen.events, ["text fine"]);
    let request = &server.received()[0];
    assert_eq!(request.target, "/v1/chat/completions");
    assert_eq!(request.json()["stream"], true);
}
