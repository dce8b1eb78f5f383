//! Which model answers, and why.

use std::path::PathBuf;
use std::sync::Arc;

use toolcrib_core::Model;
use toolcrib_models::{ModelSpec, Navigator, Profiles, hints};

use crate::config::{Config, Places};
use crate::exit::CliError;
use crate::terminal::say;

/// Largest table of models in bytes.
const MAX_FILE: u64 = 256 * 1024;

/// Reads an environment variable that is set to something.
pub(crate) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The user's own table of models, beside the user's configuration.
pub(crate) fn table_path(places: &Places) -> Option<PathBuf> {
    let config = places.user_config.as_ref()?;
    Some(config.with_file_name("models.toml"))
}

/// What is known of providers and models, the user's own table included.
pub(crate) fn profiles(places: &Places) -> Result<Profiles, CliError> {
    let Some(path) = table_path(places) else {
        return Ok(Profiles::shipped().clone());
    };
    let cannot = |error: &dyn std::fmt::Display| {
        CliError::usage(format!("cannot read {}: {error}", path.display()))
    };
    match std::fs::metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Profiles::shipped().clone());
        }
        Err(error) => return Err(cannot(&error)),
        Ok(meta) if !meta.is_file() => return Err(cannot(&"it is not a regular file")),
        Ok(meta) if meta.len() > MAX_FILE => {
            return Err(cannot(&format!("it is larger than {MAX_FILE} bytes")));
        }
        Ok(_) => {}
    }
    let text = std::fs::read_to_string(&path).map_err(|error| cannot(&error))?;
    Profiles::shipped()
        .with(&text, &path.display().to_string())
        .map_err(CliError::usage)
}

/// The model asked for, else the configured one, else the navigator, with a hint
/// on standard error when a key for a language model was seen.
pub(crate) fn choose(
    flag: Option<&str>,
    config: &Config,
    places: &Places,
    quiet: bool,
) -> Result<Arc<dyn Model>, CliError> {
    match flag.or(config.model.as_deref()) {
        Some(text) => build(text, places),
        None => {
            let seen = hints(&env);
            if let (Some(first), false) = (seen.first(), quiet) {
                say(&format!(
                    "toolcrib: the built-in navigator answers; {} is set, so --model {} asks a language model",
                    first.variable, first.form
                ));
            }
            Ok(Arc::new(Navigator::new()))
        }
    }
}

/// Makes the model of that name.
pub(crate) fn build(text: &str, places: &Places) -> Result<Arc<dyn Model>, CliError> {
    let profiles = profiles(places)?;
    let spec = ModelSpec::parse_with(text, &profiles).map_err(CliError::usage)?;
    #[cfg(feature = "acp")]
    if let ModelSpec::Acp(command) = &spec {
        return agent(command);
    }
    spec.build_with(&profiles, &env).map_err(CliError::usage)
}

/// An agent that ends with us even if we are killed.
#[cfg(feature = "acp")]
fn agent(command: &str) -> Result<Arc<dyn Model>, CliError> {
    let mut agent = toolcrib_models::AcpModel::new(command).map_err(CliError::usage)?;
    if let Some(guard) = crate::mcp_cmd::guard() {
        agent = agent.on_group(Arc::new(move |group, begins| match begins {
            true => guard.add(group),
            false => guard.remove(group),
        }));
    }
    Ok(Arc::new(toolcrib_models::TextTools::new(Arc::new(agent))))
}

/// A runtime for one command.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::failed(format!("cannot start: {error}")))
}
