//! What decides how much of the tools a model is shown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolcrib_core::{LoadRoute, Selector, ToolSpec};

use crate::SharedEncoder;

/// Whether the tools of one source are deferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Defer {
    /// Their definitions are always sent.
    Never,
    /// By the thresholds, where a tool may be deferred.
    #[default]
    Auto,
    /// Even when there are few of them.
    Always,
}

/// Thresholds, budgets and lists of a surface. Counts of tokens are estimates, four
/// bytes to a token.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfacePolicy {
    /// Fewest deferrable tools for which anything is deferred. 3; 0 is never.
    pub defer_threshold: u32,
    /// Share of the model's window, 0 to 1, above which their definitions are
    /// deferred however few they are. 0.10.
    pub defer_share: f64,
    /// Tools that are always sent, whatever else is said of them.
    pub always_load: Vec<Selector>,
    /// What is said of whole sources, by name.
    pub defer: BTreeMap<String, Defer>,
    /// Most tokens of the list of deferred tools. 400.
    pub catalogue_budget: usize,
    /// Most tokens of definitions that a reading loads beforehand. 1,500; 0 is none.
    pub preload_budget: usize,
    /// Whether prompts are read for what they need. When not, tools that are
    /// withheld only on account of a reading are always sent.
    pub reading: bool,
    /// Whether a deferred tool that is called unloaded is loaded instead of run.
    pub strict_loading: bool,
    /// Most tools of a search that names no limit. 5.
    pub search_limit: usize,
    /// Most tokens of a search's answer. 2,000.
    pub result_budget: usize,
    /// How loaded tools reach the model; as its profile says when absent.
    pub route: Option<LoadRoute>,
    /// A sentence encoder that ranks beside words and the static table.
    pub encoder: Option<SharedEncoder>,
}

impl Default for SurfacePolicy {
    fn default() -> SurfacePolicy {
        SurfacePolicy {
            defer_threshold: 3,
            defer_share: 0.10,
            always_load: Vec::new(),
            defer: BTreeMap::new(),
            catalogue_budget: 400,
            preload_budget: 1_500,
            reading: true,
            strict_loading: false,
            search_limit: 5,
            result_budget: 2_000,
            route: None,
            encoder: None,
        }
    }
}

impl SurfacePolicy {
    /// What is said of the tool's source.
    pub(crate) fn defer(&self, spec: &ToolSpec) -> Defer {
        let said = self.defer.get(&*spec.source.0);
        said.copied().unwrap_or_default()
    }

    pub(crate) fn pins(&self, spec: &ToolSpec) -> bool {
        self.always_load
            .iter()
            .any(|selector| selector.matches(spec))
    }
}

/// The same settings as a configuration writes them: each may be absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SurfaceSettings {
    /// See [`SurfacePolicy::defer_threshold`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defer_threshold: Option<i64>,
    /// See [`SurfacePolicy::defer_share`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defer_share: Option<f64>,
    /// See [`SurfacePolicy::always_load`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub always_load: Option<Vec<Selector>>,
    /// What is said of whole sources, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub defer: BTreeMap<String, Defer>,
    /// See [`SurfacePolicy::catalogue_budget`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalogue_budget: Option<i64>,
    /// See [`SurfacePolicy::preload_budget`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preload_budget: Option<i64>,
    /// See [`SurfacePolicy::reading`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<bool>,
    /// See [`SurfacePolicy::strict_loading`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict_loading: Option<bool>,
    /// See [`SurfacePolicy::search_limit`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_limit: Option<i64>,
    /// See [`SurfacePolicy::result_budget`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_budget: Option<i64>,
    /// See [`SurfacePolicy::route`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<LoadRoute>,
}

/// A setting with a value that it cannot have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("tools.{key} must be {wanted}, not {found}")]
pub struct PolicyError {
    /// The key within its table.
    pub key: &'static str,
    wanted: &'static str,
    found: String,
}

impl SurfaceSettings {
    /// These settings where they say something, else those of `base`. An explicit 0
    /// says something. What is said of sources is joined.
    pub fn over(self, base: SurfaceSettings) -> SurfaceSettings {
        let mut defer = base.defer;
        defer.extend(self.defer);
        SurfaceSettings {
            defer_threshold: self.defer_threshold.or(base.defer_threshold),
            defer_share: self.defer_share.or(base.defer_share),
            always_load: self.always_load.or(base.always_load),
            defer,
            catalogue_budget: self.catalogue_budget.or(base.catalogue_budget),
            preload_budget: self.preload_budget.or(base.preload_budget),
            reading: self.reading.or(base.reading),
            strict_loading: self.strict_loading.or(base.strict_loading),
            search_limit: self.search_limit.or(base.search_limit),
            result_budget: self.result_budget.or(base.result_budget),
            route: self.route.or(base.route),
        }
    }

    /// The policy that they make with the defaults.
    ///
    /// # Errors
    /// [`PolicyError`] names the key whose value is out of range.
    pub fn resolve(&self) -> Result<SurfacePolicy, PolicyError> {
        let base = SurfacePolicy::default();
        let share = self.defer_share.unwrap_or(base.defer_share);
        if !(0.0..=1.0).contains(&share) {
            return Err(PolicyError {
                key: "defer_share",
                wanted: "between 0 and 1",
                found: share.to_string(),
            });
        }
        let search_limit = count("search_limit", self.search_limit, base.search_limit)?;
        if !(1..=MOST_RESULTS).contains(&search_limit) {
            return Err(PolicyError {
                key: "search_limit",
                wanted: "between 1 and 20",
                found: search_limit.to_string(),
            });
        }
        Ok(SurfacePolicy {
            defer_threshold: count(
                "defer_threshold",
                self.defer_threshold,
                base.defer_threshold,
            )?,
            defer_share: share,
            always_load: self.always_load.clone().unwrap_or(base.always_load),
            defer: self.defer.clone(),
            catalogue_budget: count(
                "catalogue_budget",
                self.catalogue_budget,
                base.catalogue_budget,
            )?,
            preload_budget: count("preload_budget", self.preload_budget, base.preload_budget)?,
            reading: self.reading.unwrap_or(base.reading),
            strict_loading: self.strict_loading.unwrap_or(base.strict_loading),
            search_limit,
            result_budget: count("result_budget", self.result_budget, base.result_budget)?,
            route: self.route.or(base.route),
            encoder: base.encoder,
        })
    }
}

/// Most tools that one search may return.
pub(crate) const MOST_RESULTS: usize = 20;

fn count<T: TryFrom<i64>>(
    key: &'static str,
    value: Option<i64>,
    default: T,
) -> Result<T, PolicyError> {
    let Some(value) = value else {
        return Ok(default);
    };
    T::try_from(value).map_err(|_| PolicyError {
        key,
        wanted: "a whole number from 0 on",
        found: value.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(json: &str) -> SurfaceSettings {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn s03_a_negative_threshold_names_its_key_and_none_is_three() {
        let error = settings(r#"{"defer_threshold":-1}"#).resolve().unwrap_err();
        insta::assert_snapshot!(error, @"tools.defer_threshold must be a whole number from 0 on, not -1");
        assert_eq!(settings("{}").resolve().unwrap().defer_threshold, 3);
        assert_eq!(settings("{}").resolve().unwrap(), SurfacePolicy::default());
        let error = settings(r#"{"defer_share":1.5}"#).resolve().unwrap_err();
        insta::assert_snapshot!(error, @"tools.defer_share must be between 0 and 1, not 1.5");
        let error = settings(r#"{"search_limit":21}"#).resolve().unwrap_err();
        insta::assert_snapshot!(error, @"tools.search_limit must be between 1 and 20, not 21");
    }

    #[test]
    fn s04_an_explicit_zero_survives_merging_and_saving() {
        let own = settings(r#"{"defer_threshold":0,"preload_budget":0,"defer":{"a":"never"}}"#);
        let base = settings(r#"{"defer_threshold":9,"defer":{"a":"always","b":"always"}}"#);
        let merged = own.over(base);
        let saved = serde_json::to_string(&merged).unwrap();
        let policy = settings(&saved).resolve().unwrap();
        assert_eq!((policy.defer_threshold, policy.preload_budget), (0, 0));
        assert_eq!(policy.defer["a"], Defer::Never);
        assert_eq!(policy.defer["b"], Defer::Always);
        // And from the other side: what says nothing overrides nothing.
        let merged = settings("{}").over(settings(r#"{"defer_threshold":0}"#));
        assert_eq!(merged.resolve().unwrap().defer_threshold, 0);
    }
}
