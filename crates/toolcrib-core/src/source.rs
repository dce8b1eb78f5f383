//! Where tools come from, and small decorators over it.
//!
//! Each decorator changes one thing of each tool's spec and leaves the call
//! alone, so that features of the surface need no flags in the registry.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{
    Arguments, BoxFuture, Exposure, Footprint, Forwarded, Permission, Preview, SourceId, Tool,
    ToolContext, ToolError, ToolName, ToolOutput, ToolSpec,
};

/// Something that provides tools.
pub trait ToolSource: Send + Sync {
    /// Its name in errors and listings.
    fn id(&self) -> &SourceId;
    /// Its tools as they are now.
    fn tools(&self) -> Vec<Arc<dyn Tool>>;
}

/// A tool under another spec.
struct Respec {
    inner: Arc<dyn Tool>,
    spec: Arc<ToolSpec>,
}

impl Tool for Respec {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }
    fn footprint(&self, args: &Arguments) -> Footprint {
        self.inner.footprint(args)
    }
    fn stands_for(&self, args: &Arguments) -> Result<Option<Forwarded>, ToolError> {
        self.inner.stands_for(args)
    }
    fn preview<'a>(
        &'a self,
        args: &'a Arguments,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Preview, ToolError>> {
        self.inner.preview(args, cx)
    }
    fn call<'a>(
        &'a self,
        args: &'a Arguments,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        self.inner.call(args, cx)
    }
}

fn respec(inner: Arc<dyn Tool>, change: impl FnOnce(&mut ToolSpec)) -> Arc<dyn Tool> {
    let mut spec = ToolSpec::clone(inner.spec());
    change(&mut spec);
    Arc::new(Respec {
        inner,
        spec: Arc::new(spec),
    })
}

/// Every name with a prefix and `__`, shortened where it grows too long.
pub struct Prefixed<S> {
    /// The source to rename.
    pub inner: S,
    /// Put before each name.
    pub prefix: String,
}

impl<S: ToolSource> ToolSource for Prefixed<S> {
    fn id(&self) -> &SourceId {
        self.inner.id()
    }
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let rename = |tool: Arc<dyn Tool>| {
            let name = ToolName::from_foreign(&format!("{}__{}", self.prefix, tool.spec().name));
            respec(tool, |spec| spec.name = name)
        };
        self.inner.tools().into_iter().map(rename).collect()
    }
}

/// Only the tools that `keep` accepts.
pub struct Filtered<S, F> {
    /// The source to filter.
    pub inner: S,
    /// Whether a tool stays.
    pub keep: F,
}

impl<S: ToolSource, F: Fn(&ToolSpec) -> bool + Send + Sync> ToolSource for Filtered<S, F> {
    fn id(&self) -> &SourceId {
        self.inner.id()
    }
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let mut tools = self.inner.tools();
        tools.retain(|tool| (self.keep)(tool.spec()));
        tools
    }
}

/// Some tools under other names.
pub struct Renamed<S> {
    /// The source to rename.
    pub inner: S,
    /// New names by old ones; the others stay.
    pub names: BTreeMap<ToolName, ToolName>,
}

impl<S: ToolSource> ToolSource for Renamed<S> {
    fn id(&self) -> &SourceId {
        self.inner.id()
    }
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let rename = |tool: Arc<dyn Tool>| match self.names.get(&tool.spec().name) {
            Some(name) => respec(tool, |spec| spec.name = name.clone()),
            None => tool,
        };
        self.inner.tools().into_iter().map(rename).collect()
    }
}

/// Every tool deferred: named to the model, its schema one search away.
pub struct Deferring<S>(
    /// The source to defer.
    pub S,
);

impl<S: ToolSource> ToolSource for Deferring<S> {
    fn id(&self) -> &SourceId {
        self.0.id()
    }
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let defer = |tool| {
            respec(tool, |spec: &mut ToolSpec| {
                spec.exposure = Exposure::Deferred
            })
        };
        self.0.tools().into_iter().map(defer).collect()
    }
}

/// Every tool asks before it runs; a denied one stays denied.
pub struct Confirming<S>(
    /// The source to confirm.
    pub S,
);

impl<S: ToolSource> ToolSource for Confirming<S> {
    fn id(&self) -> &SourceId {
        self.0.id()
    }
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let confirm = |tool| {
            respec(tool, |spec: &mut ToolSpec| {
                spec.permission = spec.permission.max(Permission::Ask)
            })
        };
        self.0.tools().into_iter().map(confirm).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Schema;

    struct Fixed(Arc<ToolSpec>);

    impl Tool for Fixed {
        fn spec(&self) -> &Arc<ToolSpec> {
            &self.0
        }
        fn call<'a>(
            &'a self,
            args: &'a Arguments,
            _: &'a ToolContext,
        ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
            Box::pin(async move { Ok(ToolOutput::text(args.as_str())) })
        }
    }

    pub(crate) struct Fixture(SourceId, Vec<String>);

    impl ToolSource for Fixture {
        fn id(&self) -> &SourceId {
            &self.0
        }
        fn tools(&self) -> Vec<Arc<dyn Tool>> {
            let tool = |name: &String| -> Arc<dyn Tool> {
                let spec =
                    ToolSpec::new(ToolName::parse(name).unwrap(), "Does it.", Schema::empty());
                Arc::new(Fixed(Arc::new(spec.source(self.0.clone()))))
            };
            self.1.iter().map(tool).collect()
        }
    }

    pub(crate) fn source<const N: usize>(id: &str, names: [&str; N]) -> Fixture {
        Fixture(SourceId::new(id), names.map(str::to_owned).to_vec())
    }

    pub(crate) fn fixed(name: &str) -> Arc<dyn Tool> {
        source("test", [name]).tools().remove(0)
    }

    fn names(source: &dyn ToolSource) -> Vec<String> {
        source
            .tools()
            .iter()
            .map(|tool| tool.spec().name.to_string())
            .collect()
    }

    #[test]
    fn decorators_compose_and_each_changes_one_thing() {
        let filtered = Filtered {
            inner: source("git", ["log", "push", "status"]),
            keep: |spec: &ToolSpec| spec.name.as_str() != "push",
        };
        let renamed = Renamed {
            inner: filtered,
            names: [(
                ToolName::parse("log").unwrap(),
                ToolName::parse("history").unwrap(),
            )]
            .into(),
        };
        let all = Confirming(Deferring(Prefixed {
            inner: renamed,
            prefix: "git".into(),
        }));
        assert_eq!(names(&all), ["git__history", "git__status"]);
        for tool in all.tools() {
            assert_eq!(tool.spec().exposure, Exposure::Deferred);
            assert_eq!(tool.spec().permission, Permission::Ask);
            assert_eq!(tool.spec().source, SourceId::new("git"));
        }
    }

    #[test]
    fn a_denied_tool_is_not_softened_to_ask() {
        struct Denied(Fixture);
        impl ToolSource for Denied {
            fn id(&self) -> &SourceId {
                self.0.id()
            }
            fn tools(&self) -> Vec<Arc<dyn Tool>> {
                let deny = |t| respec(t, |s: &mut ToolSpec| s.permission = Permission::Deny);
                self.0.tools().into_iter().map(deny).collect()
            }
        }
        let tools = Confirming(Denied(source("a", ["x"]))).tools();
        assert_eq!(tools[0].spec().permission, Permission::Deny);
    }
}
