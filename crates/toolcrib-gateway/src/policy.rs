//! Which calls run, which ask first, which never do.
//!
//! The effect of a tool is what its annotations say, with the protocol's own
//! defaults: a tool that says nothing counts as destructive, since it may be.

use toolcrib_core::{Permission, Selector, ToolSpec};
use toolcrib_mcp::Annotations;

use crate::settings::PolicySettings;

/// What running a tool can change, as far as its server says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    ReadOnly,
    Write,
    Destructive,
}

impl Class {
    /// By the annotations, absent ones as the protocol reads them.
    pub(crate) fn of(annotations: &Annotations) -> Class {
        match (annotations.read_only, annotations.destructive) {
            (Some(true), _) => Class::ReadOnly,
            (_, Some(false)) => Class::Write,
            _ => Class::Destructive,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Class::ReadOnly => "read-only",
            Class::Write => "write",
            Class::Destructive => "destructive",
        }
    }
}

/// The settings, made ready.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policy {
    /// Strictest first.
    rules: Vec<(Permission, Vec<String>)>,
}

impl Policy {
    pub(crate) fn new(settings: &PolicySettings) -> Policy {
        let rules = [
            (Permission::Deny, &settings.deny),
            (Permission::Ask, &settings.ask),
            (Permission::Allow, &settings.allow),
        ];
        Policy {
            rules: rules.map(|(p, words)| (p, words.clone())).into(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.iter().all(|(_, words)| words.is_empty())
    }

    /// What holds for a tool; what nothing fits runs.
    pub(crate) fn check(&self, spec: &ToolSpec, class: Class) -> Permission {
        let exact = |word: &String| word == spec.name.as_str();
        let fits = |word: &String| match word.as_str() {
            "read-only" | "write" | "destructive" => word == class.word(),
            _ => Selector(word.clone()).matches(spec),
        };
        let by = |rule: &dyn Fn(&String) -> bool| {
            let found = self.rules.iter().find(|(_, words)| words.iter().any(rule));
            found.map(|(permission, _)| *permission)
        };
        by(&exact)
            .or_else(|| by(&fits))
            .unwrap_or(Permission::Allow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolcrib_core::{Schema, SourceId, ToolName};

    fn check(settings: &PolicySettings, name: &str, class: Class) -> Permission {
        let source = name.split("__").next().unwrap();
        let spec = ToolSpec::new(ToolName::parse(name).unwrap(), "", Schema::empty())
            .source(SourceId::new(source));
        Policy::new(settings).check(&spec, class)
    }

    #[test]
    fn m25_rules_go_by_name_pattern_server_and_effect() {
        let list = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
        let settings = PolicySettings {
            allow: list(&["read-only", "db__drop_cache"]),
            ask: list(&["destructive", "mail__*"]),
            deny: list(&["source:secret", "db__drop_*"]),
        };
        use Permission::{Allow, Ask, Deny};
        for (name, class, want) in [
            ("db__read", Class::ReadOnly, Allow),
            ("db__insert", Class::Write, Allow),
            ("db__delete", Class::Destructive, Ask),
            ("db__drop_table", Class::Destructive, Deny),
            ("db__drop_cache", Class::Destructive, Allow),
            ("mail__list", Class::ReadOnly, Ask),
            ("secret__read", Class::ReadOnly, Deny),
        ] {
            assert_eq!(check(&settings, name, class), want, "{name}");
        }
    }

    #[test]
    fn m25_a_tool_without_annotations_counts_as_destructive() {
        assert_eq!(Class::of(&Annotations::default()), Class::Destructive);
    }
}
