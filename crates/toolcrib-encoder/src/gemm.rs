//! Rows times a weight matrix, the weights laid out once for the way they are read.
//!
//! A product's component is the sum over inputs in their order, one accumulator each: how many rows are multiplied
//! together, and with which instructions, does not change it.

use crate::kernels::fma;

/// Outputs that are computed together: one or two vector registers.
const COLUMNS: usize = 16;

/// A linear layer's weights and bias.
pub(crate) struct Matrix {
    /// For every sixteen outputs their weights, input by input.
    panels: Vec<[f32; COLUMNS]>,
    bias: Vec<[f32; COLUMNS]>,
    inputs: usize,
}

impl Matrix {
    /// `weights` holds a row of inputs for each output, of which there is a multiple of sixteen.
    pub(crate) fn new(weights: &[f32], bias: &[f32], inputs: usize) -> Matrix {
        let mut panels = Vec::with_capacity(weights.len() / COLUMNS);
        for block in weights.chunks_exact(inputs * COLUMNS) {
            panels.extend(
                (0..inputs).map(|at| std::array::from_fn(|column| block[column * inputs + at])),
            );
        }
        Matrix {
            panels,
            bias: bias.as_chunks().0.to_vec(),
            inputs,
        }
    }

    pub(crate) fn outputs(&self) -> usize {
        self.bias.len() * COLUMNS
    }

    /// Replaces `out` by the product of each of `rows`, `ROWS` at a time.
    #[inline(always)]
    pub(crate) fn apply<const FUSED: bool, const ROWS: usize>(
        &self,
        rows: &[f32],
        out: &mut [f32],
    ) {
        let count = rows.len() / self.inputs;
        let stride = self.outputs();
        let panels = self.panels.chunks_exact(self.inputs);
        for (block, (panel, bias)) in panels.zip(&self.bias).enumerate() {
            let mut done = 0;
            while done < count {
                let rows = &rows[done * self.inputs..];
                let out = &mut out[done * stride + block * COLUMNS..];
                let left = count - done;
                done += if left >= ROWS {
                    tile::<FUSED, ROWS>(panel, bias, rows, out, stride)
                } else if left >= 4 {
                    tile::<FUSED, 4>(panel, bias, rows, out, stride)
                } else if left >= 2 {
                    tile::<FUSED, 2>(panel, bias, rows, out, stride)
                } else {
                    tile::<FUSED, 1>(panel, bias, rows, out, stride)
                };
            }
        }
    }
}

/// The product of the first `ROWS` of `rows` with one panel; returns `ROWS`.
#[inline(always)]
fn tile<const FUSED: bool, const ROWS: usize>(
    panel: &[[f32; COLUMNS]],
    bias: &[f32; COLUMNS],
    rows: &[f32],
    out: &mut [f32],
    stride: usize,
) -> usize {
    let inputs = panel.len();
    let mut lines: [&[f32]; ROWS] = [&[]; ROWS];
    for (line, row) in lines.iter_mut().zip(rows.chunks_exact(inputs)) {
        *line = &row[..inputs];
    }
    let mut sums = [[0f32; COLUMNS]; ROWS];
    for (at, weights) in panel.iter().enumerate() {
        for row in 0..ROWS {
            let input = lines[row][at];
            for column in 0..COLUMNS {
                sums[row][column] = fma::<FUSED>(input, weights[column], sums[row][column]);
            }
        }
    }
    for (row, sums) in sums.iter().enumerate() {
        let out = &mut out[row * stride..][..COLUMNS];
        for column in 0..COLUMNS {
            out[column] = sums[column] + bias[column];
        }
    }
    ROWS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without a pattern, the same each time.
    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn it_is_the_plain_product_whatever_stands_beside_a_row() {
        let (inputs, outputs) = (48, 32);
        let weights = numbers(inputs * outputs, 1);
        let bias = numbers(outputs, 2);
        let matrix = Matrix::new(&weights, &bias, inputs);
        assert_eq!(matrix.outputs(), outputs);
        for count in [1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 31] {
            let rows = numbers(inputs * count, 3);
            let mut out = vec![f32::NAN; count * outputs];
            matrix.apply::<true, 6>(&rows, &mut out);
            for (row, out) in rows.chunks(inputs).zip(out.chunks(outputs)) {
                for (at, found) in out.iter().enumerate() {
                    let line = &weights[at * inputs..][..inputs];
                    let sum = row
                        .iter()
                        .zip(line)
                        .fold(0f32, |sum, (a, b)| a.mul_add(*b, sum));
                    assert_eq!(*found, sum + bias[at]);
                }
            }
            let mut wide = vec![f32::NAN; count * outputs];
            matrix.apply::<true, 12>(&rows, &mut wide);
            assert_eq!(out, wide);
            let mut plain = vec![f32::NAN; count * outputs];
            matrix.apply::<false, 6>(&rows, &mut plain);
            assert!(out.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-5));
        }
    }
}
