//! Reading a file of the snapshot by line.
//!
//! Every lookup and citation goes through these, so that all of them agree on
//! what line n is: 1-based, without its line ending, and a final newline opens
//! no further line.

use crate::model::FileInfo;

impl FileInfo {
    /// How many lines the text has; 0 for an empty file.
    pub fn line_count(&self) -> u32 {
        if self.text.is_empty() {
            return 0;
        }
        let open_ended = self
            .line_starts
            .last()
            .is_some_and(|&s| s as usize >= self.text.len());
        self.line_starts.len() as u32 - u32::from(open_ended && self.line_starts.len() > 1)
    }

    /// One line without its ending, `None` when there is no such line.
    pub fn line(&self, number: u32) -> Option<&str> {
        if number == 0 || number > self.line_count() {
            return None;
        }
        let i = number as usize - 1;
        let start = self.line_starts[i] as usize;
        let end = self
            .line_starts
            .get(i + 1)
            .map_or(self.text.len(), |&e| e as usize);
        let line = self.text.get(start..end)?;
        let line = line.strip_suffix('\n').unwrap_or(line);
        Some(line.strip_suffix('\r').unwrap_or(line))
    }

    /// The lines of a range that exist, with their numbers.
    pub fn lines(&self, start: u32, end: u32) -> impl Iterator<Item = (u32, &str)> {
        (start.max(1)..=end.min(self.line_count())).filter_map(|n| Some((n, self.line(n)?)))
    }

    /// The line that holds a byte of the text.
    pub fn line_at(&self, byte: u32) -> u32 {
        self.line_starts.partition_point(|&s| s <= byte).max(1) as u32
    }
}
