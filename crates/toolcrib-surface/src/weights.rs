//! The one set of numbers behind the ranking.

/// Weights of the ranking.
///
/// The defaults were fitted on one half of several collections together and
/// checked on the other; none belongs to a collection or a source.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// Saturation of repeated words.
    pub k1: f32,
    /// Field weights: name, title, description, arguments.
    pub field: [f32; 4],
    /// Length normalisation of the same fields, 0 to 1.
    pub length: [f32; 4],
    /// Longest description and longest argument text in words.
    pub cap: [usize; 2],
    /// Share by which a tool with all of the query's words is raised.
    pub all_terms: f32,
    /// Raise of a tool with every one of several words, as a share of their worth.
    pub every_term: f32,
    /// Raise by the share of a name's words that the query has.
    pub name_cover: f32,
    /// Weight of query words that are numbers.
    pub number: f32,
    /// Known words from which on a query is also read clause by clause.
    pub long: usize,
    /// Weight of the best clause's words beside those of the whole query.
    pub clause: f32,
    /// Weight of the best clause's meaning beside that of the whole query.
    pub clause_meaning: f32,
    /// Share of words, against meaning, in the blend.
    pub lexical: f32,
    /// How far words count less in a short query of which the best tool has few.
    pub certainty: f32,
    /// Share of the longer text, against name and first sentence, in a tool's vector.
    pub long_text: f32,
    /// Share of the source in a tool's vector.
    pub source_text: f32,
    /// Whether similarities are spread by their best (1) or their deviation (0).
    pub spread: f32,
    /// Raise of tools whose source is named in the query.
    pub source: f32,
    /// Share of the best score below which a tool is left out of an answer.
    pub cut: f32,
    /// Weights, beside the joint evidence, of covered and of known words.
    pub evidence: [f32; 2],
    /// Evidence below which nothing fits a query that is not long.
    pub refuse: f32,
    /// How much less evidence is enough in small collections, where the nearest tool is
    /// less often near by chance.
    pub refuse_small: f32,
    /// What is asked for in the smallest collection.
    pub refuse_least: f32,
    /// What is different where there is a sentence encoder.
    pub encoded: EncodedWeights,
}

/// Weights of a ranking with a sentence encoder.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedWeights {
    /// Share of words in the blend.
    pub lexical: f32,
    /// Share of the static table in the blend; the rest is the encoder's.
    pub table: f32,
    /// Weight of the best clause's meaning beside that of the whole query.
    pub clause: f32,
    /// Whether similarities are spread by their best (1) or their deviation (0).
    pub spread: f32,
    /// Share of the longer text in a tool's vector.
    pub long_text: f32,
    /// Share of the source in a tool's vector, where the source is described.
    pub source_text: f32,
    /// Raise of tools whose source is named in the query: less than without an encoder,
    /// which reads the source's name itself.
    pub source: f32,
    /// Raise by how well the tools of a source fit on the whole.
    pub fit_of_source: f32,
    /// Weights, beside the covered words, of a named source, of how far the nearest tool
    /// stands out and of a name that no tool mentions.
    pub evidence: [f32; 3],
    /// Evidence below which nothing fits a query that is not long.
    pub refuse: f32,
}

impl Default for Weights {
    fn default() -> Weights {
        Weights {
            k1: 0.75,
            field: [1.8, 1.0, 1.6, 0.4],
            length: [0.3, 0.3, 0.6, 0.6],
            cap: [256, 150],
            all_terms: 2.0,
            every_term: 0.8,
            name_cover: 0.5,
            number: 0.3,
            long: 7,
            clause: 0.5,
            clause_meaning: 2.0,
            lexical: 0.5,
            certainty: 0.7,
            long_text: 0.4,
            source_text: 0.35,
            spread: 0.5,
            source: 0.2,
            cut: 0.55,
            evidence: [0.9, 0.1],
            refuse: 0.58,
            refuse_small: 0.29,
            refuse_least: 0.25,
            encoded: EncodedWeights {
                lexical: 0.4,
                table: 0.15,
                clause: 2.0,
                spread: 0.5,
                long_text: 0.5,
                source_text: 0.2,
                source: 0.1,
                fit_of_source: 0.3,
                evidence: [1.1, 2.8, -0.15],
                refuse: 0.54,
            },
        }
    }
}
