//! The encoder: from texts to unit vectors.

use std::fmt;
use std::path::Path;

use rayon::prelude::*;

use crate::EncoderError;
use crate::config::Config;
use crate::kernels::Norm;
use crate::layer::{Layer, Scratch, norm};
use crate::weights::Weights;
use crate::wordpiece::Wordpiece;

/// Tokens of a text that count, its begin and end among them. A need or a tool in short is seldom longer, and what
/// follows would blur the vector of its beginning.
pub const MAX_TOKENS: usize = 128;

/// Tokens that are multiplied together: enough for the weights to be read seldom, few enough to stay near the processor.
const TOGETHER: usize = 192;

/// A sentence encoder with its weights in memory.
pub struct Encoder {
    tokens: Wordpiece,
    words: Vec<f32>,
    /// A row a position, that of the only segment added.
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
    config: Config,
    checksum: [u8; 32],
}

impl Encoder {
    /// Reads the model of a directory: `config.json`, `vocab.txt` (or `tokenizer.json`) and `model.safetensors`. The
    /// path of the last one stands for its directory.
    ///
    /// # Errors
    /// [`EncoderError`] names the file that is missing, damaged or of another kind of model.
    pub fn open(path: &Path) -> Result<Encoder, EncoderError> {
        let directory = match path.extension() {
            Some(extension) if extension == "safetensors" => path.parent().unwrap_or(path),
            _ => path,
        };
        let config = Config::load(&directory.join("config.json"))?;
        let tokens = Wordpiece::load(directory, config.vocab_size)?;
        let weights = Weights::load(&directory.join("model.safetensors"))?;
        let (checksum, loaded) = rayon::join(
            || weights.checksum(),
            || {
                let layers = 0..config.num_hidden_layers;
                layers
                    .into_par_iter()
                    .map(|number| Layer::load(&weights, &config, number))
                    .collect::<Vec<Result<Layer, EncoderError>>>()
            },
        );
        let hidden = config.hidden_size;
        let table = |name: &str, rows: usize| {
            weights.tensor(&format!("embeddings.{name}"), &[rows, hidden])
        };
        let mut positions = table("position_embeddings.weight", config.max_position_embeddings)?;
        let segment = table("token_type_embeddings.weight", 2)?;
        for row in positions.chunks_exact_mut(hidden) {
            for (value, segment) in row.iter_mut().zip(&segment) {
                *value += segment;
            }
        }
        Ok(Encoder {
            tokens,
            words: table("word_embeddings.weight", config.vocab_size)?,
            positions,
            norm: norm(&weights, &config, "embeddings.LayerNorm")?,
            // In order, so that of several things wrong the same is always told.
            layers: loaded.into_iter().collect::<Result<_, _>>()?,
            checksum,
            config,
        })
    }

    /// Components of a vector.
    pub fn dims(&self) -> usize {
        self.config.hidden_size
    }

    /// A checksum of the weights, which tells apart what their vectors must not be mixed with.
    pub fn checksum(&self) -> &[u8; 32] {
        &self.checksum
    }

    /// How the model cuts a text.
    pub fn tokens(&self) -> &Wordpiece {
        &self.tokens
    }

    /// The unit vector of each text, in order. A text's vector does not depend on the others.
    pub fn encode<S: AsRef<str> + Sync>(&self, texts: &[S]) -> Vec<Vec<f32>> {
        let most = MAX_TOKENS.min(self.config.max_position_embeddings);
        let ids: Vec<Vec<u32>> = texts
            .par_iter()
            .map(|text| self.tokens.ids(text.as_ref(), most))
            .collect();
        let mut groups: Vec<&[Vec<u32>]> = Vec::new();
        let mut rest = ids.as_slice();
        while !rest.is_empty() {
            let mut tokens = 0;
            let fits = rest.iter().take_while(|ids| {
                tokens += ids.len();
                tokens <= TOGETHER
            });
            let (group, after) = rest.split_at(fits.count().max(1));
            groups.push(group);
            rest = after;
        }
        let encoded: Vec<Vec<Vec<f32>>> = groups
            .par_iter()
            .map_init(Scratch::default, |scratch, group| {
                self.encode_ids(group, scratch)
            })
            .collect();
        encoded.into_iter().flatten().collect()
    }

    fn encode_ids(&self, texts: &[Vec<u32>], scratch: &mut Scratch) -> Vec<Vec<f32>> {
        let hidden = self.config.hidden_size;
        let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
        let mut rows = Vec::with_capacity(lengths.iter().sum::<usize>() * hidden);
        for ids in texts {
            for (id, position) in ids.iter().zip(self.positions.chunks_exact(hidden)) {
                let word = &self.words[*id as usize * hidden..][..hidden];
                rows.extend(word.iter().zip(position).map(|(word, at)| word + at));
            }
        }
        self.forward(&mut rows, &lengths, scratch);
        let mut rest = rows.as_slice();
        let pooled = lengths.iter().map(|length| {
            let (text, after) = rest.split_at(length * hidden);
            rest = after;
            let mut sum = vec![0f32; hidden];
            for row in text.chunks_exact(hidden) {
                for (sum, value) in sum.iter_mut().zip(row) {
                    *sum += value;
                }
            }
            let square: f32 = sum.iter().map(|value| value * value).sum();
            let scale = 1.0 / square.sqrt().max(f32::MIN_POSITIVE);
            for value in &mut sum {
                *value *= scale;
            }
            sum
        });
        pooled.collect()
    }

    /// Replaces the rows by the last layer's.
    #[allow(unsafe_code, reason = "instructions are chosen when the program runs")]
    fn forward(&self, rows: &mut [f32], lengths: &[usize], scratch: &mut Scratch) {
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor was just asked and has AVX-512.
                return unsafe { self.forward_avx512(rows, lengths, scratch) };
            }
            if std::arch::is_x86_feature_detected!("avx2")
                && std::arch::is_x86_feature_detected!("fma")
            {
                // SAFETY: the processor was just asked and has AVX2 and FMA.
                return unsafe { self.forward_avx2(rows, lengths, scratch) };
            }
            self.layers::<false, 4>(rows, lengths, scratch);
        }
        // Every other processor that this is built for multiplies and adds in one.
        #[cfg(not(target_arch = "x86_64"))]
        self.layers::<true, 6>(rows, lengths, scratch);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn forward_avx512(&self, rows: &mut [f32], lengths: &[usize], scratch: &mut Scratch) {
        self.layers::<true, 12>(rows, lengths, scratch);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn forward_avx2(&self, rows: &mut [f32], lengths: &[usize], scratch: &mut Scratch) {
        self.layers::<true, 6>(rows, lengths, scratch);
    }

    #[inline(always)]
    fn layers<const FUSED: bool, const ROWS: usize>(
        &self,
        rows: &mut [f32],
        lengths: &[usize],
        scratch: &mut Scratch,
    ) {
        for row in rows.chunks_exact_mut(self.config.hidden_size) {
            self.norm.apply(row);
        }
        for layer in &self.layers {
            layer.apply::<FUSED, ROWS>(rows, lengths, scratch);
        }
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder")
            .field("dims", &self.config.hidden_size)
            .field("layers", &self.layers.len())
            .finish_non_exhaustive()
    }
}
