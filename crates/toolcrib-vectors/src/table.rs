//! The table file and the embedding of a text by it.
//!
//! Layout, little-endian: `TCVEC1\0\0`, then as 32-bit numbers the dimensions, the rows and the bytes of the pieces' list,
//! and four zero bytes; a signed 16-bit scale a row; the pieces, each ended by a newline, in row order; the rows, a byte a
//! component. A component's value is its byte times its row's scale, so that a text's sum is exact in integers.
//!
//! What a text's words weigh (an article next to nothing, a rare noun much) is in the length of their rows: it was learnt
//! together with their direction, and there is no other weighting.

use crate::tokenize;
use crate::vector::{DIMS, Vector};
use crate::vocabulary::Vocabulary;
use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

/// Tokens of a text that count, from its start; what follows does not change its vector. A tool's text is rarely longer,
/// and so many rows of greatest length and scale still sum within 32 bits.
pub const MAX_TOKENS: usize = 256;

const BYTES: &[u8] = include_bytes!("../data/table.bin");

const MAGIC: &[u8; 8] = b"TCVEC1\0\0";
const HEADER: usize = 24;

/// Why bytes are no table.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
    /// The file does not begin as a table does.
    #[error(
        "not an embedding table: it does not begin with TCVEC1; regenerate it with distill/distill.py"
    )]
    Magic,
    /// The table was made for vectors of another size.
    #[error(
        "the embedding table has {0} dimensions, not 256; regenerate it with distill/distill.py"
    )]
    Dimensions(u32),
    /// The file's length is not what its header promises.
    #[error(
        "the embedding table has {found} bytes where its header promises {expected}; copy it again"
    )]
    Length {
        /// Bytes by the header.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// The list of pieces is not as many newline-terminated pieces as there are rows.
    #[error(
        "the embedding table's list of word pieces does not fit its {0} rows; regenerate it with distill/distill.py"
    )]
    Pieces(u32),
}

/// Rows by word piece.
#[derive(Clone, Default)]
pub struct Table {
    bytes: Cow<'static, [u8]>,
    vocabulary: Vocabulary,
    pieces: (usize, usize),
}

impl Table {
    /// The table compiled into this crate, read when first asked for.
    pub fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<Table> = OnceLock::new();
        // A damaged file fails this crate's tests; the empty table, which knows no word, is the type's other value.
        BUILTIN.get_or_init(|| Self::from_bytes(BYTES).unwrap_or_default())
    }

    /// Reads a table; borrowed bytes are not copied. Takes about a millisecond, for the index of its pieces.
    pub fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self, TableError> {
        let bytes = bytes.into();
        if bytes.len() < HEADER || !bytes.starts_with(MAGIC) {
            return Err(TableError::Magic);
        }
        let number = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let (dims, rows, pieces) = (number(8), number(12), number(16));
        if dims as usize != DIMS {
            return Err(TableError::Dimensions(dims));
        }
        let expected = HEADER as u64 + u64::from(rows) * (2 + DIMS as u64) + u64::from(pieces);
        let found = bytes.len() as u64;
        if expected != found {
            return Err(TableError::Length { expected, found });
        }
        let start = HEADER + rows as usize * 2;
        let end = start + pieces as usize;
        let vocabulary = Vocabulary::new(&bytes[start..end])
            .filter(|vocabulary| vocabulary.len() == rows as usize)
            .ok_or(TableError::Pieces(rows))?;
        Ok(Self {
            bytes,
            vocabulary,
            pieces: (start, end),
        })
    }

    /// Rows, and so word pieces, of the table.
    pub fn rows(&self) -> usize {
        self.vocabulary.len()
    }

    /// The meaning of a text: names, sentences or both. [`Vector::ZERO`] if it has no word the table knows.
    pub fn embed(&self, text: &str) -> Vector {
        self.begin().read(text).vector()
    }

    /// A text that is read piece by piece; nothing is read yet.
    pub fn begin(&self) -> Reader<'_> {
        Reader {
            table: self,
            sums: [0; DIMS],
            left: MAX_TOKENS,
        }
    }

    /// The word pieces a text is cut into, in order, `None` for each word the table does not know. For telling whether it
    /// knows a word as a whole and for seeing why two texts are or are not alike; [`embed`](Self::embed) is what ranks.
    pub fn pieces_of(&self, text: &str) -> Vec<Option<String>> {
        let mut found = Vec::new();
        tokenize::tokens(&self.vocabulary, self.pieces(), text, |row| {
            found.push(row.map(|row| {
                String::from_utf8_lossy(self.vocabulary.piece(self.pieces(), row)).into_owned()
            }));
            true
        });
        found
    }

    fn pieces(&self) -> &[u8] {
        &self.bytes[self.pieces.0..self.pieces.1]
    }

    fn add(&self, row: usize, sums: &mut [i32; DIMS]) {
        let at = HEADER + row * 2;
        let scale = i16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]);
        let start = self.pieces.1 + row * DIMS;
        for (sum, byte) in sums.iter_mut().zip(&self.bytes[start..start + DIMS]) {
            *sum += i32::from(i16::from(byte.cast_signed())) * i32::from(scale);
        }
    }
}

/// A text under way: its vector so far can be taken, and copies can go on differently, so that texts that begin alike are
/// read once. Pieces that end and begin between words add up to the vector of the whole.
#[derive(Clone)]
pub struct Reader<'a> {
    table: &'a Table,
    sums: [i32; DIMS],
    left: usize,
}

impl Reader<'_> {
    /// Reads on. A word does not go on from one piece into the next.
    pub fn read(mut self, text: &str) -> Self {
        let (table, sums, left) = (self.table, &mut self.sums, &mut self.left);
        if *left > 0 {
            tokenize::tokens(&table.vocabulary, table.pieces(), text, |row| {
                if let Some(row) = row {
                    table.add(row, sums);
                    *left -= 1;
                }
                *left > 0
            });
        }
        self
    }

    /// The meaning of what was read.
    pub fn vector(&self) -> Vector {
        Vector::from_sums(&self.sums)
    }
}

impl fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("rows", &self.rows())
            .finish_non_exhaustive()
    }
}
