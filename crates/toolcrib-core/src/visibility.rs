//! The one predicate that says whether a model may know of a tool.
//!
//! The same function serves counting, the catalogue, search and dispatch, so
//! that nothing is shown that would be refused, and nothing is refused that was
//! shown.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Effect, Exposure, Permission, ToolSpec};

/// How much a run may do without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mode {
    /// Read-only tools alone; the others are not even shown.
    Plan,
    /// Everything; what changes something asks first.
    #[default]
    Ask,
    /// Everything; only destructive tools ask.
    Auto,
    /// Everything, unasked.
    Yolo,
}

/// Names one or several tools in a filter: an exact name, a glob with `*` and
/// `?`, or `source:NAME` (a glob too).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Selector(pub String);

impl Selector {
    /// Whether a tool is meant.
    pub fn matches(&self, spec: &ToolSpec) -> bool {
        match self.0.strip_prefix("source:") {
            Some(source) => glob(source.as_bytes(), spec.source.0.as_bytes()),
            None => glob(self.0.as_bytes(), spec.name.as_str().as_bytes()),
        }
    }

    /// The tool name, when the selector is an exact one.
    pub fn exact_name(&self) -> Option<&str> {
        let exact = !self.0.starts_with("source:") && !self.0.contains(['*', '?']);
        exact.then_some(self.0.as_str())
    }
}

/// Linear-time wildcard match over bytes.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t, mut star, mut mark) = (0, 0, None, 0);
    while t < text.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            star = Some(p);
            mark = t;
            p += 1;
        } else if p < pattern.len() && (pattern[p] == b'?' || pattern[p] == text[t]) {
            p += 1;
            t += 1;
        } else if let Some(star) = star {
            p = star + 1;
            mark += 1;
            t = mark;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&b| b == b'*')
}

/// Filters and mode of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Visibility {
    /// How much may be done unasked.
    pub mode: Mode,
    /// When not empty, only these are visible.
    pub enabled: Vec<Selector>,
    /// These are not visible, whatever `enabled` says.
    pub disabled: Vec<Selector>,
}

/// Why a tool is not visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Hidden {
    /// Its own spec hides it from models.
    ByExposure,
    /// Its own spec denies it.
    ByPermission,
    /// The allow or deny list leaves it out.
    ByFilter,
    /// The mode does not permit its effect.
    ByMode,
}

impl fmt::Display for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Hidden::ByExposure => "hidden from models",
            Hidden::ByPermission => "denied",
            Hidden::ByFilter => "filtered out",
            Hidden::ByMode => "not permitted in this mode",
        })
    }
}

impl Visibility {
    /// Whether a model may know of the tool, and if not, why.
    ///
    /// # Errors
    /// [`Hidden`] names the first rule that hides it.
    pub fn check(&self, spec: &ToolSpec) -> Result<(), Hidden> {
        if spec.exposure == Exposure::Hidden {
            return Err(Hidden::ByExposure);
        }
        if spec.permission == Permission::Deny {
            return Err(Hidden::ByPermission);
        }
        let listed = |list: &[Selector]| list.iter().any(|selector| selector.matches(spec));
        // The loop's own tools are exempt from an allow list that forgot them.
        let allowed =
            self.enabled.is_empty() || spec.exposure == Exposure::Always || listed(&self.enabled);
        if !allowed || listed(&self.disabled) {
            return Err(Hidden::ByFilter);
        }
        if self.mode == Mode::Plan && spec.effect != Effect::ReadOnly {
            return Err(Hidden::ByMode);
        }
        Ok(())
    }

    /// [`Visibility::check`] as a yes or no.
    pub fn visible(&self, spec: &ToolSpec) -> bool {
        self.check(spec).is_ok()
    }

    /// What the mode and the spec say about running a visible tool.
    pub fn permission(&self, spec: &ToolSpec) -> Permission {
        let by_mode = match (self.mode, spec.effect) {
            (Mode::Yolo, _) | (_, Effect::ReadOnly) => Permission::Allow,
            (Mode::Auto, Effect::Write) => Permission::Allow,
            (Mode::Plan, _) => Permission::Deny,
            (Mode::Ask | Mode::Auto, _) => Permission::Ask,
        };
        match (self.mode, spec.permission) {
            (_, Permission::Deny) => Permission::Deny,
            (Mode::Yolo, Permission::Ask) => Permission::Allow,
            (_, own) => own.max(by_mode),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Schema, SourceId, ToolName};

    fn spec(name: &str) -> ToolSpec {
        ToolSpec::new(ToolName::parse(name).unwrap(), "", Schema::empty())
            .source(SourceId::new("git"))
    }

    fn selectors(list: &[&str]) -> Vec<Selector> {
        list.iter().map(|s| Selector((*s).to_owned())).collect()
    }

    #[test]
    fn filters_take_names_globs_and_sources() {
        let check = |enabled: &[&str], disabled: &[&str], name| {
            let v = Visibility {
                enabled: selectors(enabled),
                disabled: selectors(disabled),
                ..Visibility::default()
            };
            v.visible(&spec(name))
        };
        assert!(check(&[], &[], "log"));
        assert!(check(&["l*g"], &[], "log"));
        assert!(!check(&["l?"], &[], "log"));
        assert!(check(&["source:g*"], &[], "log"));
        assert!(!check(&["log"], &["source:git"], "log"));
        assert!(!check(&["push"], &[], "log"));
        assert!(!check(&[], &["*"], "log"));
    }

    #[test]
    fn mode_and_spec_decide_together() {
        let at = |mode, effect, own| {
            Visibility {
                mode,
                ..Visibility::default()
            }
            .permission(&spec("x").effect(effect).permission(own))
        };
        use {Effect::*, Permission::*};
        assert_eq!(at(Mode::Ask, ReadOnly, Allow), Allow);
        assert_eq!(at(Mode::Ask, Write, Allow), Ask);
        assert_eq!(at(Mode::Auto, Write, Allow), Allow);
        assert_eq!(at(Mode::Auto, Destructive, Allow), Ask);
        assert_eq!(at(Mode::Auto, ReadOnly, Ask), Ask);
        assert_eq!(at(Mode::Yolo, Destructive, Ask), Allow);
        assert_eq!(at(Mode::Yolo, ReadOnly, Deny), Deny);
        assert_eq!(at(Mode::Plan, Write, Allow), Deny);
    }

    #[test]
    fn plan_mode_hides_what_writes() {
        let plan = Visibility {
            mode: Mode::Plan,
            ..Visibility::default()
        };
        assert_eq!(
            plan.check(&spec("x").effect(Effect::Write)),
            Err(Hidden::ByMode)
        );
        assert!(plan.visible(&spec("x").effect(Effect::ReadOnly)));
    }
}
