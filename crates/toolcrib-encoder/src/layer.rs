//! One layer of the encoder over several texts at once, which lie behind one another without padding.

use crate::EncoderError;
use crate::config::Config;
use crate::gemm::Matrix;
use crate::kernels::{Norm, fma, gelu, softmax};
use crate::weights::Weights;

pub(crate) struct Layer {
    /// Queries, keys and values in one product.
    attend: Matrix,
    attended: Matrix,
    first: Norm,
    widen: Matrix,
    narrow: Matrix,
    second: Norm,
    head: usize,
}

/// Room for what a layer computes between its input and its output.
#[derive(Default)]
pub(crate) struct Scratch {
    attend: Vec<f32>,
    context: Vec<f32>,
    wide: Vec<f32>,
    narrow: Vec<f32>,
    keys: Vec<f32>,
    shares: Vec<f32>,
}

impl Layer {
    pub(crate) fn load(
        weights: &Weights,
        config: &Config,
        number: usize,
    ) -> Result<Layer, EncoderError> {
        let (hidden, wide) = (config.hidden_size, config.intermediate_size);
        let matrix = |names: &[&str], inputs: usize, outputs: usize| {
            let (mut all, mut bias) = (Vec::new(), Vec::new());
            for name in names {
                let name = format!("encoder.layer.{number}.{name}");
                all.extend(weights.tensor(&format!("{name}.weight"), &[outputs, inputs])?);
                bias.extend(weights.tensor(&format!("{name}.bias"), &[outputs])?);
            }
            Ok(Matrix::new(&all, &bias, inputs))
        };
        let attention = [
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
        ];
        let under = |name: &str| format!("encoder.layer.{number}.{name}");
        Ok(Layer {
            attend: matrix(&attention, hidden, hidden)?,
            attended: matrix(&["attention.output.dense"], hidden, hidden)?,
            first: norm(weights, config, &under("attention.output.LayerNorm"))?,
            widen: matrix(&["intermediate.dense"], hidden, wide)?,
            narrow: matrix(&["output.dense"], wide, hidden)?,
            second: norm(weights, config, &under("output.LayerNorm"))?,
            head: config.head(),
        })
    }

    /// Replaces `rows`, one a token, by the layer's output; `lengths` are the texts' tokens.
    #[inline(always)]
    pub(crate) fn apply<const FUSED: bool, const ROWS: usize>(
        &self,
        rows: &mut [f32],
        lengths: &[usize],
        scratch: &mut Scratch,
    ) {
        let hidden = self.narrow.outputs();
        let count = rows.len() / hidden;
        scratch.attend.resize(count * self.attend.outputs(), 0.0);
        scratch.context.resize(count * hidden, 0.0);
        scratch.narrow.resize(count * hidden, 0.0);
        scratch.wide.resize(count * self.widen.outputs(), 0.0);

        self.attend.apply::<FUSED, ROWS>(rows, &mut scratch.attend);
        let mut from = 0;
        for &length in lengths {
            self.attention::<FUSED>(from, length, scratch);
            from += length;
        }
        self.attended
            .apply::<FUSED, ROWS>(&scratch.context, &mut scratch.narrow);
        let added = scratch.narrow.chunks_exact(hidden);
        for (row, more) in rows.chunks_exact_mut(hidden).zip(added) {
            self.first.add(row, more);
        }
        self.widen.apply::<FUSED, ROWS>(rows, &mut scratch.wide);
        for value in &mut scratch.wide {
            *value = gelu(*value);
        }
        self.narrow
            .apply::<FUSED, ROWS>(&scratch.wide, &mut scratch.narrow);
        let added = scratch.narrow.chunks_exact(hidden);
        for (row, more) in rows.chunks_exact_mut(hidden).zip(added) {
            self.second.add(row, more);
        }
    }

    /// Attention within the text of `length` tokens that begins at row `from`.
    #[inline(always)]
    fn attention<const FUSED: bool>(&self, from: usize, length: usize, scratch: &mut Scratch) {
        let hidden = self.narrow.outputs();
        let (wide, head) = (self.attend.outputs(), self.head);
        let scale = 1.0 / (head as f32).sqrt();
        let text = &scratch.attend[from * wide..(from + length) * wide];
        scratch.keys.resize(head * length, 0.0);
        scratch.shares.resize(length, 0.0);
        for start in (0..hidden).step_by(head) {
            for (token, row) in text.chunks_exact(wide).enumerate() {
                for at in 0..head {
                    scratch.keys[at * length + token] = row[hidden + start + at];
                }
            }
            for (token, row) in text.chunks_exact(wide).enumerate() {
                let shares = &mut scratch.shares[..length];
                shares.fill(0.0);
                let query = &row[start..start + head];
                for (query, keys) in query.iter().zip(scratch.keys.chunks_exact(length)) {
                    for (share, key) in shares.iter_mut().zip(keys) {
                        *share = fma::<FUSED>(*query, *key, *share);
                    }
                }
                for share in &mut *shares {
                    *share *= scale;
                }
                softmax(shares);
                let context = &mut scratch.context[(from + token) * hidden + start..][..head];
                context.fill(0.0);
                for (share, row) in shares.iter().zip(text.chunks_exact(wide)) {
                    let values = &row[2 * hidden + start..][..head];
                    for (sum, value) in context.iter_mut().zip(values) {
                        *sum = fma::<FUSED>(*share, *value, *sum);
                    }
                }
            }
        }
    }
}

pub(crate) fn norm(weights: &Weights, config: &Config, name: &str) -> Result<Norm, EncoderError> {
    let shape = [config.hidden_size];
    Ok(Norm {
        scale: weights.tensor(&format!("{name}.weight"), &shape)?,
        shift: weights.tensor(&format!("{name}.bias"), &shape)?,
        epsilon: config.layer_norm_eps,
    })
}
