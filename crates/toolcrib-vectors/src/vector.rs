//! One text's vector: 256 bytes and the inverse of their length.
//!
//! Kept quantised because that is what is compared: a vector made from a text and one read back from a cache are the
//! same bytes.

use crate::dot;

/// Components of a vector.
pub const DIMS: usize = 256;

/// The meaning of a text as a direction: integer components within ±127, the largest of them ±127 unless all are zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    components: [i8; DIMS],
    inverse_length: f32,
}

impl Vector {
    /// The vector of a text the table knows no word of; similar to nothing, itself included.
    pub const ZERO: Self = Self {
        components: [0; DIMS],
        inverse_length: 0.0,
    };

    /// Scales `sums` so that the largest component is ±127, rounding halves away from zero.
    pub(crate) fn from_sums(sums: &[i32; DIMS]) -> Self {
        let largest = sums
            .iter()
            .map(|sum| sum.unsigned_abs())
            .max()
            .map_or(0, i64::from);
        if largest == 0 {
            return Self::ZERO;
        }
        let components = sums.map(|sum| {
            let doubled = i64::from(sum) * 254;
            let rounded = (doubled.abs() + largest) / (2 * largest) * doubled.signum();
            // At most 127 in magnitude, as no sum is larger than the largest.
            rounded as i8
        });
        Self::from_components(components)
    }

    /// A vector of these components, for instance read back from a cache. -128 is taken as -127.
    pub fn from_components(components: [i8; DIMS]) -> Self {
        let components = components.map(|c| c.max(-127));
        let square: i32 = components
            .iter()
            .map(|&c| i32::from(c) * i32::from(c))
            .sum();
        let inverse_length = if square == 0 {
            0.0
        } else {
            1.0 / (square as f32).sqrt()
        };
        Self {
            components,
            inverse_length,
        }
    }

    /// The integer components.
    pub fn components(&self) -> &[i8; DIMS] {
        &self.components
    }

    /// Whether the text had no word the table knows.
    pub fn is_zero(&self) -> bool {
        self.inverse_length == 0.0
    }

    /// Cosine of the angle between two vectors, within rounding of -1..=1; 0 if either is zero.
    pub fn similarity(&self, other: &Self) -> f32 {
        dot::dot(&dot::widen(&self.components), &other.components) as f32
            * self.inverse_length
            * other.inverse_length
    }

    pub(crate) fn inverse_length(&self) -> f32 {
        self.inverse_length
    }
}

impl Default for Vector {
    fn default() -> Self {
        Self::ZERO
    }
}
