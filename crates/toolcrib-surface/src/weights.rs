//! The one set of numbers behind the ranking.

/// Weights of the ranking; the defaults were fitted on one half of several
/// collections and checked on the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// Saturation of repeated words.
    pub k1: f32,
    /// Field weights: name, title, description, arguments.
    pub field: [f32; 4],
    /// Length normalisation of the same fields.
    pub length: [f32; 4],
    /// Longest description and longest argument text in words.
    pub cap: [usize; 2],
    /// Share by which a tool with all of the query's words is raised.
    pub all_terms: f32,
    /// Raise by the share of a name's words that the query has.
    pub name_cover: f32,
    /// Weight of query words that are numbers.
    pub number: f32,
    /// Raise of tools whose source is named in the query.
    pub source: f32,
    /// Weight of the best clause of the query beside the whole of it.
    pub clause: f32,
    /// Known words from which on a query is looked at clause by clause.
    pub long: usize,
    /// X
    pub x: [f32; 8],
    /// Share of words, against meaning, in the blend.
    pub lexical: f32,
    /// Share of the longer text, against name and first sentence, in meaning.
    pub long_text: f32,
    /// Weight of the best clause's meaning beside that of the whole query.
    pub clause_meaning: f32,
}

impl Default for Weights {
    fn default() -> Weights {
        Weights {
            k1: 1.2,
            field: [3.0, 1.0, 1.0, 0.3],
            length: [0.3, 0.3, 0.6, 0.6],
            cap: [160, 96],
            all_terms: 0.5,
            name_cover: 0.3,
            number: 0.3,
            source: 0.1,
            clause: 0.5,
            long: 12,
            x: [0.0; 8],
            lexical: 0.4,
            long_text: 0.5,
            clause_meaning: 0.0,
        }
    }
}
