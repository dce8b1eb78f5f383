//! The functions of single rows: exponential, GELU, softmax, layer normalisation.
//!
//! Written with additions, products and divisions alone, since libraries' own exponentials differ between systems. Sums
//! run in sixteen lanes that are added in a fixed order, which is what compilers can make vectors of.

const LANES: usize = 16;

/// `a * b + c`, rounded once where the processor can.
#[inline(always)]
pub(crate) fn fma<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// e to the `x`, within two units of the last place; 0 far below and large but finite far above.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Adding and taking away 1.5 * 2^23 rounds to an integer, which then stands in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 88.0);
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let whole = rounded - ROUND;
    let rest = (x - whole * LN_2_HIGH) - whole * LN_2_LOW;
    let mut sum = 1.987_569_2e-4;
    for next in [
        1.398_2e-3,
        8.333_452e-3,
        4.166_579_6e-2,
        1.666_666_5e-1,
        5e-1,
    ] {
        sum = sum * rest + next;
    }
    let mantissa = sum * rest * rest + rest + 1.0;
    mantissa * f32::from_bits((rounded.to_bits() << 23).wrapping_add(0x3f80_0000))
}

/// `x` times the share of a normal distribution below it, by the error function of Abramowitz and Stegun 7.1.26, whose
/// error is below 1.5e-7.
#[inline(always)]
pub(crate) fn gelu(x: f32) -> f32 {
    let at = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * at);
    let mut sum = 1.061_405_4;
    for next in [-1.453_152_1, 1.421_413_8, -0.284_496_72, 0.254_829_6] {
        sum = sum * t + next;
    }
    let erf = 1.0 - sum * t * exp(-at * at);
    0.5 * x * (1.0 + if x < 0.0 { -erf } else { erf })
}

#[inline(always)]
fn total(lanes: [f32; LANES]) -> f32 {
    let mut sum = 0.0;
    for lane in lanes {
        sum += lane;
    }
    sum
}

/// Replaces scores by shares that add up to 1.
#[inline(always)]
pub(crate) fn softmax(scores: &mut [f32]) {
    let mut most = f32::MIN;
    for score in &*scores {
        most = most.max(*score);
    }
    let mut sum = 0.0;
    for score in &mut *scores {
        *score = exp(*score - most);
    }
    for score in &*scores {
        sum += score;
    }
    let scale = 1.0 / sum;
    for score in scores {
        *score *= scale;
    }
}

/// A layer normalisation's learnt numbers.
pub(crate) struct Norm {
    pub(crate) scale: Vec<f32>,
    pub(crate) shift: Vec<f32>,
    pub(crate) epsilon: f32,
}

impl Norm {
    /// Adds `more` to `row` and brings the sum to the learnt mean and deviation. A row is a multiple of sixteen long.
    #[inline(always)]
    pub(crate) fn add(&self, row: &mut [f32], more: &[f32]) {
        for (value, more) in row.iter_mut().zip(more) {
            *value += more;
        }
        self.apply(row);
    }

    #[inline(always)]
    pub(crate) fn apply(&self, row: &mut [f32]) {
        let count = row.len() as f32;
        let mut lanes = [0f32; LANES];
        for block in row.as_chunks::<LANES>().0 {
            for at in 0..LANES {
                lanes[at] += block[at];
            }
        }
        let mean = total(lanes) / count;
        let mut lanes = [0f32; LANES];
        for block in row.as_chunks::<LANES>().0 {
            for at in 0..LANES {
                let off = block[at] - mean;
                lanes[at] += off * off;
            }
        }
        let scale = 1.0 / (total(lanes) / count + self.epsilon).sqrt();
        let learnt = self.scale.iter().zip(&self.shift);
        for (value, (by, shift)) in row.iter_mut().zip(learnt) {
            *value = (*value - mean) * scale * by + shift;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_and_gelu_are_close_to_exact() {
        for step in -8_600..8_700 {
            let x = step as f32 / 100.0;
            let exact = f64::from(x).exp();
            assert!(
                (f64::from(exp(x)) / exact - 1.0).abs() < 4e-7,
                "exp({x}) = {}",
                exp(x)
            );
        }
        assert!(exp(-1e9) < 1e-37 && exp(f32::MIN) >= 0.0 && exp(1e9).is_finite());
        // From tables of the normal distribution.
        for (x, share) in [
            (0.0, 0.5),
            (1.0, 0.841_344_75),
            (-1.0, 0.158_655_25),
            (2.5, 0.993_790_33),
            (-4.0, 3.167e-5),
        ] {
            assert!(
                (gelu(x) - x * share).abs() < 5e-7,
                "gelu({x}) = {}",
                gelu(x)
            );
        }
        assert_eq!(gelu(30.0), 30.0);
        assert_eq!(gelu(-30.0), 0.0);
    }

    #[test]
    fn shares_add_up_and_rows_are_normal() {
        let mut scores: Vec<f32> = (0..37).map(|n| (n as f32 * 0.7).sin() * 20.0).collect();
        softmax(&mut scores);
        assert!((scores.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        let norm = Norm {
            scale: vec![2.0; 32],
            shift: vec![0.5; 32],
            epsilon: 1e-12,
        };
        let mut row: Vec<f32> = (0..32).map(|n| n as f32 * 3.0 - 7.0).collect();
        norm.apply(&mut row);
        let mean = row.iter().sum::<f32>() / 32.0;
        let spread = row.iter().map(|v| (v - mean) * (v - mean)).sum::<f32>() / 32.0;
        assert!((mean - 0.5).abs() < 1e-5 && (spread - 4.0).abs() < 1e-4);
    }
}
