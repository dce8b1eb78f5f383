//! The sizes of a model, from its `config.json`.

use std::path::Path;

use serde::Deserialize;

use crate::EncoderError;
use crate::error::read;

/// Largest sizes that are believed; a foreign file must not make us reserve memory.
const MOST: usize = 1 << 20;

/// What the forward pass needs to know. Names are those of the file.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Config {
    model_type: String,
    hidden_act: String,
    pub(crate) hidden_size: usize,
    pub(crate) intermediate_size: usize,
    pub(crate) num_attention_heads: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) max_position_embeddings: usize,
    pub(crate) vocab_size: usize,
    pub(crate) layer_norm_eps: f32,
    #[serde(default)]
    position_embedding_type: Option<String>,
}

impl Config {
    pub(crate) fn load(path: &Path) -> Result<Config, EncoderError> {
        let bytes = read(path)?;
        let config: Config = serde_json::from_slice(&bytes).map_err(|error| {
            EncoderError::file(
                path,
                format!("not the configuration of a BERT encoder: {error}"),
            )
        })?;
        config
            .check()
            .map_err(|problem| EncoderError::file(path, problem))?;
        Ok(config)
    }

    fn check(&self) -> Result<(), String> {
        let is = |key: &str, value: &str, wanted: &str| {
            if value == wanted {
                return Ok(());
            }
            Err(format!(
                "its {key} is {value:?} where only {wanted:?} is known; use a BERT-class sentence encoder such as \
                 all-MiniLM-L6-v2"
            ))
        };
        is("model_type", &self.model_type, "bert")?;
        is("hidden_act", &self.hidden_act, "gelu")?;
        let positions = self.position_embedding_type.as_deref();
        is(
            "position_embedding_type",
            positions.unwrap_or("absolute"),
            "absolute",
        )?;
        for (key, value, step) in [
            ("hidden_size", self.hidden_size, 16),
            ("intermediate_size", self.intermediate_size, 16),
            ("num_attention_heads", self.num_attention_heads, 1),
            ("num_hidden_layers", self.num_hidden_layers, 1),
            ("max_position_embeddings", self.max_position_embeddings, 1),
            ("vocab_size", self.vocab_size, 1),
        ] {
            if value == 0 || value > MOST || value % step != 0 {
                return Err(format!(
                    "its {key} is {value}, which must be a multiple of {step} and at most {MOST}"
                ));
            }
        }
        if !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            return Err(format!(
                "its hidden_size of {} cannot be shared among {} attention heads",
                self.hidden_size, self.num_attention_heads
            ));
        }
        Ok(())
    }

    /// Components of one attention head.
    pub(crate) fn head(&self) -> usize {
        self.hidden_size / self.num_attention_heads
    }
}
