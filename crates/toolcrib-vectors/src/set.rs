//! Many vectors in one block of memory, compared with a query in one pass.
//!
//! A plain scan and no index structure: five thousand vectors take a tenth of a millisecond, and every score is wanted
//! because it is blended with others.

use crate::dot;
use crate::vector::{DIMS, Vector};

/// Vectors in the order they were pushed.
#[derive(Clone, Debug, Default)]
pub struct VectorSet {
    rows: Vec<[i8; DIMS]>,
    inverse_lengths: Vec<f32>,
}

impl VectorSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty set with room for `count` vectors.
    pub fn with_capacity(count: usize) -> Self {
        Self {
            rows: Vec::with_capacity(count),
            inverse_lengths: Vec::with_capacity(count),
        }
    }

    /// Appends a vector; its place is the length before.
    pub fn push(&mut self, vector: &Vector) {
        self.rows.push(*vector.components());
        self.inverse_lengths.push(vector.inverse_length());
    }

    /// How many vectors there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The vector at `place`.
    pub fn get(&self, place: usize) -> Option<Vector> {
        self.rows
            .get(place)
            .map(|row| Vector::from_components(*row))
    }

    /// Replaces the contents of `scores` by the similarity of `query` to each vector, in push order; equal to
    /// [`Vector::similarity`] to the last bit.
    pub fn scores(&self, query: &Vector, scores: &mut Vec<f32>) {
        scores.clear();
        let wide = dot::widen(query.components());
        let scale = query.inverse_length();
        let inverse_lengths = &self.inverse_lengths;
        let mut place = 0;
        scores.reserve(self.rows.len());
        dot::scan(&wide, &self.rows, |product| {
            scores.push(product as f32 * scale * inverse_lengths[place]);
            place += 1;
        });
    }
}
