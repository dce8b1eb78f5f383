//! Which model answers.

use std::sync::Arc;

use toolcrib_core::Model;
use toolcrib_models::{ModelSpec, Navigator, hints};

use crate::config::Config;
use crate::exit::CliError;
use crate::terminal::say;

/// The model asked for, else the configured one, else the navigator, with a hint
/// on standard error when a key for a language model was seen.
pub(crate) fn choose(
    flag: Option<&str>,
    config: &Config,
    quiet: bool,
) -> Result<Arc<dyn Model>, CliError> {
    let env = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let spec = match flag.or(config.model.as_deref()) {
        Some(text) => ModelSpec::parse(text).map_err(CliError::usage)?,
        None => {
            let seen = hints(&env);
            if let (Some(first), false) = (seen.first(), quiet) {
                say(&format!(
                    "toolcrib: the built-in navigator answers; {} is set, so --model {} asks a language model",
                    first.variable, first.form
                ));
            }
            return Ok(Arc::new(Navigator::new()));
        }
    };
    spec.build(&env).map_err(CliError::usage)
}
