//! Names of servers' tools towards models.

use toolcrib_core::ToolName;

/// The name that a server's tool gets: `server__tool`, within what every model
/// provider accepts. It depends on nothing but the two, and no two tools share one:
/// a server whose own name would make the border unclear gets a hash of both names
/// at the end, like everything that has to be shortened or cleaned.
pub fn exported_name(server: &str, tool: &str) -> ToolName {
    let clear = !server.is_empty() && !server.contains("__") && !server.ends_with('_');
    if clear {
        ToolName::from_foreign(&format!("{server}__{tool}"))
    } else {
        // The border is a character that no provider accepts, so that a hash is
        // added and the border is part of it.
        ToolName::from_foreign(&format!("{server}\u{1f}{tool}"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_names_stay_readable() {
        assert_eq!(exported_name("git", "status").as_str(), "git__status");
        assert_eq!(
            exported_name("neon", "__node_version").as_str(),
            "neon____node_version"
        );
        insta::assert_snapshot!(exported_name("a_", "b"), @"a__b_d6017883");
        insta::assert_snapshot!(exported_name("my server", "fs.read"), @"my_server__fs_read_e42d29ff");
    }

    #[test]
    fn m10_s59_long_names_keep_the_end_that_tells_them_apart() {
        let server = "mcp__twilio";
        let long = |end: &str| format!("TwilioApiV2010--FetchUserDefinedMessageSubscription{end}");
        let (a, b) = (
            exported_name(server, &long("Create")),
            exported_name(server, &long("Delete")),
        );
        assert!(
            a.as_str().contains("Create") && b.as_str().contains("Delete"),
            "{a} {b}"
        );
        assert!(a.as_str().len() <= 64 && a != b);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn m10_s59_no_two_tools_share_a_name(pairs in prop::collection::vec(("[a_.]{1,4}", "[a_.]{1,4}"), 2..40)) {
            let mut seen: HashMap<ToolName, (String, String)> = HashMap::new();
            for (server, tool) in pairs {
                let name = exported_name(&server, &tool);
                prop_assert!(ToolName::parse(name.as_str()).is_ok());
                if let Some(known) = seen.insert(name, (server.clone(), tool.clone())) {
                    prop_assert_eq!(known, (server, tool));
                }
            }
        }
    }
}
