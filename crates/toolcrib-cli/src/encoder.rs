//! The optional sentence encoder of the tool search: the one place that opens it.

use std::path::{Path, PathBuf};

use toolcrib_surface::{SharedEncoder, SurfacePolicy};

use crate::args::{AskArgs, EncoderArgs};
use crate::config::Places;
use crate::exit::CliError;
use crate::place::Workspace;

/// The encoder that the flag or variable names, else the configured one; none where
/// neither does, or the flag is empty.
pub(crate) fn open(
    args: &EncoderArgs,
    configured: Option<&Path>,
    places: &Places,
) -> Result<Option<SharedEncoder>, CliError> {
    match args.encoder.as_deref().or(configured) {
        Some(path) if !path.as_os_str().is_empty() => load(path, places).map(Some),
        _ => Ok(None),
    }
}

/// The encoder of a question or a chat: none where no tools are there to be searched.
pub(crate) fn of_ask(
    args: &AskArgs,
    workspace: &Workspace,
) -> Result<Option<SharedEncoder>, CliError> {
    if args.tools.is_empty() {
        return Ok(None);
    }
    let configured = workspace.config.encoder.as_deref();
    open(&args.encoder, configured, &workspace.places)
}

/// The surface's defaults with this encoder.
pub(crate) fn policy(encoder: Option<&SharedEncoder>) -> SurfacePolicy {
    SurfacePolicy {
        encoder: encoder.cloned(),
        ..SurfacePolicy::default()
    }
}

#[cfg(feature = "encoder")]
fn load(path: &Path, places: &Places) -> Result<SharedEncoder, CliError> {
    let encoder = toolcrib_encoder::Encoder::open(path).map_err(CliError::usage)?;
    let kept: Option<PathBuf> = places.cache.as_ref().map(|cache| cache.join("vectors"));
    let cache = toolcrib_encoder::VectorCache::new(encoder, kept.as_deref());
    Ok(SharedEncoder::new(Told(cache)))
}

#[cfg(not(feature = "encoder"))]
fn load(path: &Path, _: &Places) -> Result<SharedEncoder, CliError> {
    Err(CliError::usage(format!(
        "this toolcrib was built without the sentence encoder, so {} cannot be used: build it with `cargo build \
         --release -p toolcrib-cli --features encoder`, or leave out --encoder, TOOLCRIB_ENCODER and the \
         configuration's `encoder`",
        PathBuf::from(path).display()
    )))
}

/// Says once where vectors cannot be kept.
#[cfg(feature = "encoder")]
#[derive(Debug)]
struct Told(toolcrib_encoder::VectorCache);

#[cfg(feature = "encoder")]
impl toolcrib_surface::SentenceEncoder for Told {
    fn encode_tools(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let before = self.0.problem();
        let vectors = self.0.encode(texts);
        if let (None, Some(problem)) = (before, self.0.problem()) {
            tracing::warn!("{problem}");
        }
        vectors
    }

    fn encode_query(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        self.0.encoder().encode(texts)
    }
}
