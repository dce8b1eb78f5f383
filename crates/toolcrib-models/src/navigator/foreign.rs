//! Question words of a few languages beside English.
//!
//! Identifiers are the same in every language, and so are most of the words that
//! code is written in. A question in German, French, Spanish or Chinese needs no
//! translation for them to be found: only its own small words must not be looked
//! for, and what it asks must be told.

use super::question::Intent;

/// One language's small words.
struct Tongue {
    /// Words that begin a question, and that English code hardly has.
    opens: &'static [&'static str],
    /// Words that say nothing about code.
    small: &'static [&'static str],
    /// Words of "who calls it" and "where is it called".
    calls: &'static [&'static str],
    /// Words of "how".
    how: &'static [&'static str],
    /// Beginnings of "what is".
    what: &'static [&'static str],
}

const TONGUES: &[Tongue] = &[
    Tongue {
        opens: &[
            "wo", "wie", "wer", "was", "wann", "warum", "wieso", "welche", "welcher", "welches",
            "woher", "wohin",
        ],
        small: &[
            "am",
            "an",
            "auf",
            "aus",
            "bei",
            "bestimmt",
            "das",
            "datei",
            "dem",
            "den",
            "der",
            "des",
            "die",
            "durch",
            "ein",
            "eine",
            "einem",
            "einen",
            "einer",
            "eines",
            "er",
            "es",
            "festgelegt",
            "funktion",
            "funktionen",
            "für",
            "gemacht",
            "geschieht",
            "im",
            "in",
            "ist",
            "klasse",
            "man",
            "methode",
            "mit",
            "nach",
            "oder",
            "passiert",
            "sich",
            "sie",
            "sind",
            "steht",
            "und",
            "vom",
            "von",
            "welchem",
            "welchen",
            "wenn",
            "werden",
            "wird",
            "wurde",
            "zu",
            "zum",
            "zur",
            "über",
        ],
        calls: &[
            "ruft",
            "rufen",
            "aufgerufen",
            "benutzt",
            "verwendet",
            "nutzt",
            "genutzt",
        ],
        how: &["wie"],
        what: &["was ist", "was macht", "was tut"],
    },
    Tongue {
        opens: &[
            "où", "qui", "que", "quel", "quelle", "quels", "quelles", "comment", "pourquoi",
        ],
        small: &[
            "au",
            "aux",
            "avec",
            "c",
            "ce",
            "cette",
            "classe",
            "d",
            "dans",
            "de",
            "des",
            "du",
            "défini",
            "définie",
            "elle",
            "en",
            "est",
            "et",
            "faite",
            "fait",
            "fichier",
            "fonction",
            "fonctions",
            "il",
            "l",
            "la",
            "le",
            "les",
            "méthode",
            "ou",
            "par",
            "pour",
            "qu",
            "quoi",
            "s",
            "se",
            "son",
            "sont",
            "sur",
            "un",
            "une",
            "à",
        ],
        calls: &[
            "appelle",
            "appellent",
            "appelé",
            "appelée",
            "utilise",
            "utilisent",
            "utilisé",
            "utilisée",
        ],
        how: &["comment"],
        what: &["qu est", "que fait", "c est quoi"],
    },
    Tongue {
        opens: &[
            "dónde", "donde", "cómo", "quién", "quien", "qué", "cuál", "cual", "porqué",
        ],
        small: &[
            "al",
            "archivo",
            "clase",
            "con",
            "de",
            "definida",
            "definido",
            "del",
            "el",
            "en",
            "es",
            "está",
            "función",
            "funciones",
            "hace",
            "la",
            "las",
            "los",
            "método",
            "para",
            "por",
            "que",
            "se",
            "son",
            "un",
            "una",
            "y",
        ],
        calls: &[
            "llama", "llaman", "llamado", "llamada", "usa", "usan", "utiliza",
        ],
        how: &["cómo"],
        what: &["qué es", "qué hace"],
    },
];

/// What a question in another language asks, and which of its words to leave out.
pub(super) struct Foreign {
    pub(super) intent: Intent,
    tongue: Option<&'static Tongue>,
}

impl Foreign {
    /// `None` for a question in English, or one whose language is not known.
    pub(super) fn read(text: &str) -> Option<Foreign> {
        if text.chars().any(is_han) {
            let has = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
            let intent = if has(&["调用", "谁", "使用"]) {
                Intent::Callers
            } else if has(&["如何", "怎么", "怎样"]) {
                Intent::How
            } else if has(&["什么是", "是什么"]) {
                Intent::What
            } else {
                Intent::Where
            };
            return Some(Foreign {
                intent,
                tongue: None,
            });
        }
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let first = *words.first()?;
        let tongue = TONGUES.iter().find(|tongue| {
            let small = words[1..].iter().filter(|w| tongue.small.contains(w));
            let calls = words[1..].iter().filter(|w| tongue.calls.contains(w));
            // A word alone may be an English one, as `comment` and `was` are.
            tongue.opens.contains(&first) && small.chain(calls).next().is_some()
        })?;
        let spaced = words.join(" ");
        let intent = if words.iter().any(|word| tongue.calls.contains(word)) {
            Intent::Callers
        } else if tongue.how.contains(&first) {
            Intent::How
        } else if tongue.what.iter().any(|what| spaced.starts_with(what)) {
            Intent::What
        } else {
            Intent::Where
        };
        Some(Foreign {
            intent,
            tongue: Some(tongue),
        })
    }

    /// Whether a lower-case word of the question only asks.
    pub(super) fn asks(&self, word: &str) -> bool {
        match self.tongue {
            Some(tongue) => [tongue.opens, tongue.small, tongue.calls]
                .iter()
                .any(|words| words.contains(&word)),
            None => word.chars().any(is_han),
        }
    }
}

/// Whether a character is written without spaces around its words.
pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_is_told_in_other_languages() {
        for (text, intent) in [
            ("Wo wird ClientIP bestimmt?", Some(Intent::Where)),
            ("Wer ruft create_cache auf?", Some(Intent::Callers)),
            ("Wie werden Cookies gelesen?", Some(Intent::How)),
            ("Was ist ein Blueprint?", Some(Intent::What)),
            ("Qui appelle create_cache ?", Some(Intent::Callers)),
            ("Comment est calculé le retry ?", Some(Intent::How)),
            ("¿Dónde se define la sesión?", Some(Intent::Where)),
            ("request_seen 在哪里被调用?", Some(Intent::Callers)),
            ("Session 是什么", Some(Intent::What)),
            ("comment parsing", None),
            ("was ClientIP renamed", None),
            ("Where is it?", None),
        ] {
            assert_eq!(Foreign::read(text).map(|f| f.intent), intent, "{text}");
        }
    }
}
