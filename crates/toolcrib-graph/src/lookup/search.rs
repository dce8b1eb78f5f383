//! `search_symbols`: from a name or words to symbols.
//!
//! Results come in tiers: the first eight match by name or path, then the words
//! of comments and strings, then, for queries of several words, symbols whose
//! name, path and texts have all words between them, and last those that have
//! most of them. Within a tier the order is path, then line, so that a result
//! never moves because of another one.

use std::collections::HashSet;

use globset::GlobMatcher;
use serde::Serialize;

use super::cap::{MAX_CHARS, clip, one_line, page};
use super::facts::counted;
use super::files::glob_matcher;
use super::index::{ends_in_name, is_symbol, separators_unified};
use super::render::place;
use super::resolve::{Place, checked};
use super::words::{query_words, stem, words};
use super::{Answer, Lookup, LookupCall, LookupError, LookupResult, Rest, SearchSymbols};
use crate::model::{FileId, NodeId, NodeKind};

const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 50;
const MAX_TEXT_LINE: usize = 160;

/// How a result matched, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// The name, ignoring case.
    Name,
    /// The qualified name, or its end after a separator.
    QualifiedName,
    /// The name begins with the query.
    Prefix,
    /// All words of the query are words of the name.
    Words,
    /// All words of the query begin words of the name.
    WordPrefixes,
    /// All words of the query are words of the qualified name or path.
    QualifiedWords,
    /// The name contains the query.
    InName,
    /// The qualified name contains the query.
    InQualifiedName,
    /// The path contains the query.
    InPath,
    /// All words are in one comment, doc comment or string literal.
    Text,
    /// All words are in name, path and texts taken together.
    AllWords,
    /// At least half of the words are in name, path and texts.
    SomeWords,
}

/// One result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// The symbol; for a text match the one that the text belongs to.
    pub node: NodeId,
    /// How it matched.
    pub matched: Match,
    /// For a text match, the line to show.
    pub line: Option<u32>,
}

/// Data of `search_symbols`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SearchResults {
    /// How many results there are in all.
    pub total: usize,
    /// How many come before those shown.
    pub offset: usize,
    /// Those shown, best first.
    pub hits: Vec<Hit>,
    /// What comes after them.
    pub rest: Option<Rest>,
}

/// A result before its page is known: sorts by tier, words missing, place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    matched: Match,
    missing: u8,
    file: FileId,
    byte: u32,
    node: NodeId,
    text: Option<u32>,
}

/// Which nodes a search may return.
struct Filter {
    kind: Option<NodeKind>,
    path: PathFilter,
}

enum PathFilter {
    All,
    Files(HashSet<FileId>),
    Glob(GlobMatcher),
}

impl Lookup {
    /// Finds symbols by name, part of a name, words, path or text.
    pub fn search_symbols(
        &self,
        args: &SearchSymbols,
    ) -> Result<Answer<SearchResults>, LookupError> {
        let query = checked("query", &args.query, "a name or a few words")?;
        let filter = Filter {
            kind: args.kind.as_deref().map(node_kind).transpose()?,
            path: self.path_filter(args.path.as_deref())?,
        };
        let limit = args.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        let offset = args.offset.unwrap_or(0);
        let mut found = self.ranked(query);
        let unfiltered = found.len();
        found.retain(|f| self.admits(&filter, f.node));
        let total = found.len();
        let end = offset.saturating_add(limit);
        if end < total {
            found.select_nth_unstable(end);
            found.truncate(end);
        }
        found.sort_unstable();
        let hits: Vec<Hit> = found
            .iter()
            .skip(offset)
            .take(limit)
            .map(|f| self.hit(f, query))
            .collect();
        let mut records: Vec<String> = hits.iter().map(|h| self.hit_record(h, true)).collect();
        if records.iter().map(|r| r.chars().count() + 1).sum::<usize>() > MAX_CHARS - 500 {
            records = hits.iter().map(|h| self.hit_record(h, false)).collect();
        }
        let mut notes = self.tier_note(hits.iter().map(|h| self.graph.node(h.node).file).filter(
            |&f| {
                self.graph
                    .file(f)
                    .language
                    .is_some_and(|l| l.tier == crate::model::SymbolTier::Definitions)
            },
        ));
        if total == 0 {
            notes.push_str(&self.nothing_found(query, args, unfiltered));
        }
        let shown_query = serde_json::to_string(query).unwrap_or_default();
        let head = |shown: usize| match shown {
            0 => format!("{} for {shown_query}", counted(total, "result")),
            n => format!(
                "{} for {shown_query}; {}-{} shown:",
                counted(total, "result"),
                offset + 1,
                offset + n
            ),
        };
        let rest = |shown: usize, truncated: bool| {
            let left_out = total.saturating_sub(offset + shown);
            (left_out > 0 && shown > 0).then(|| Rest {
                left_out,
                truncated,
                next: LookupCall::SearchSymbols(SearchSymbols {
                    query: query.to_owned(),
                    offset: Some(offset + shown),
                    ..args.clone()
                }),
            })
        };
        let page = page(MAX_CHARS, &records, &notes, head, rest);
        Ok(Answer {
            data: SearchResults {
                total,
                offset,
                hits: hits.into_iter().take(page.shown).collect(),
                rest: page.rest,
            },
            text: page.text,
        })
    }

    fn nothing_found(&self, query: &str, args: &SearchSymbols, unfiltered: usize) -> String {
        if unfiltered > 0 {
            let open = LookupCall::SearchSymbols(SearchSymbols {
                query: query.to_owned(),
                ..SearchSymbols::default()
            });
            return match (&args.kind, &args.path) {
                (None, None) => String::new(),
                _ => format!("note: {unfiltered} without kind and path: {open}\n"),
            };
        }
        let near = self.near_symbols(query);
        if near.is_empty() {
            return "note: no name, path, comment or string has these words; try fewer or other words\n"
                .to_owned();
        }
        let mut note = "note: nearest names:\n".to_owned();
        for head in self.heads(&near) {
            note.push_str(&format!("  {head}\n"));
        }
        note
    }

    fn path_filter(&self, path: Option<&str>) -> LookupResult<PathFilter> {
        let Some(path) = path.map(str::trim).filter(|p| !p.is_empty()) else {
            return Ok(PathFilter::All);
        };
        let path = checked("path", path, "a directory or file")?;
        if path.contains(['*', '?', '[', '{']) && self.graph.by_path(path).is_none() {
            return glob_matcher(path).map(PathFilter::Glob);
        }
        Ok(match self.place_at(path)? {
            Place::File(file) => PathFilter::Files(HashSet::from([file])),
            Place::Directory(d) if d.is_empty() => PathFilter::All,
            Place::Directory(d) => PathFilter::Files(self.files_under(&d).into_iter().collect()),
        })
    }

    fn admits(&self, filter: &Filter, id: NodeId) -> bool {
        let node = self.graph.node(id);
        filter.kind.is_none_or(|k| node.kind == k)
            && match &filter.path {
                PathFilter::All => true,
                PathFilter::Files(files) => files.contains(&node.file),
                PathFilter::Glob(glob) => {
                    let path = &*self.graph.file(node.file).path;
                    glob.is_match(path)
                        || (!glob.glob().glob().contains('/')
                            && glob.is_match(path.rsplit('/').next().unwrap_or(path)))
                }
            }
    }

    /// Every result of a query, in no order.
    fn ranked(&self, query: &str) -> Vec<Found> {
        let unnamed = u8::MAX;
        let mut tiers = vec![unnamed; self.graph.nodes().len()];
        let mut mark = |id: NodeId, tier: Match| {
            let slot = &mut tiers[id.0 as usize];
            *slot = (*slot).min(tier as u8);
        };
        let bare_query = query.trim_matches('`').trim_end_matches("()");
        let lower = bare_query.to_lowercase();
        let unified = separators_unified(bare_query);
        let tail = unified.rsplit('.').next().unwrap_or("");
        let wanted = query_words(query);

        self.index
            .named(&lower)
            .for_each(|id| mark(id, Match::Name));
        if !tail.is_empty() {
            for id in self.index.named(tail) {
                let node = self.graph.node(id);
                if ends_in_name(&separators_unified(&node.qualified_name), &unified)
                    || separators_unified(&node.symbol) == unified
                {
                    mark(id, Match::QualifiedName);
                }
            }
        }
        if let Some(id) = self.graph.by_qualified_name(bare_query)
            && is_symbol(self.graph.node(id).kind)
        {
            mark(id, Match::QualifiedName);
        }
        if !lower.is_empty() {
            self.index
                .prefixed(&lower)
                .for_each(|id| mark(id, Match::Prefix));
        }
        let mut masks = Masks::new(self.graph.nodes().len());
        masks.all(&wanted, |w, each| self.index.name_words.exact(w, each));
        masks.complete(wanted.len(), |id| mark(NodeId(id), Match::Words));
        masks.all(&wanted, |w, each| {
            self.index.name_words.prefixed(stem(w), each)
        });
        masks.complete(wanted.len(), |id| mark(NodeId(id), Match::WordPrefixes));
        masks.all(&wanted, |w, each| self.index.wide_words.exact(w, each));
        masks.complete(wanted.len(), |id| mark(NodeId(id), Match::QualifiedWords));
        self.index
            .names_containing(&lower, |id| mark(id, Match::InName));
        self.index
            .qualified_containing(&unified, |id| mark(id, Match::InQualifiedName));
        let as_path = lower.trim_start_matches("./");
        self.index
            .paths_containing(&self.graph, as_path, |id| mark(id, Match::InPath));

        // From here on `masks` holds, per node, the words of its name and path;
        // those of its texts join them below.
        let mut texts = Masks::new(self.graph.texts().len());
        texts.all(&wanted, |w, each| {
            if w.chars().count() >= 4 {
                self.index.text_words.prefixed(stem(w), each);
            } else {
                self.index.text_words.exact(w, each);
            }
        });
        let mut found: Vec<Found> = Vec::new();
        let mut partial: Vec<(u32, u32)> = Vec::new();
        for &i in &texts.touched {
            let text = self.graph.texts()[i as usize];
            let mask = texts.bits[i as usize];
            masks.add(text.node.0, mask);
            if tiers[text.node.0 as usize] != unnamed && text.node.0 != u32::MAX {
                continue;
            }
            let entry = Found {
                matched: Match::Text,
                missing: 0,
                file: text.file,
                byte: text.span.start_byte,
                node: text.node,
                text: Some(i),
            };
            if mask.count_ones() as usize == wanted.len() {
                found.push(entry);
            } else {
                partial.push((i, mask));
            }
        }
        // A line is shown once, however many of its strings match.
        found.sort_unstable();
        let mut seen: HashSet<(FileId, u32)> = HashSet::new();
        found.retain(|f| self.first_of_line(f, &mut seen));
        let whole: HashSet<NodeId> = found.iter().map(|f| f.node).collect();
        let at_node = |id: u32, matched: Match, missing: u8| {
            let node = self.graph.node(NodeId(id));
            Found {
                matched,
                missing,
                file: node.file,
                byte: node.span.start_byte,
                node: NodeId(id),
                text: None,
            }
        };
        let tier_of = |tier: u8| TIERS[tier as usize];
        for (id, &tier) in tiers.iter().enumerate() {
            if tier != unnamed {
                found.push(at_node(id as u32, tier_of(tier), 0));
            }
        }
        // One identifier that was found is not looked for in pieces as well.
        let in_pieces = query.contains(char::is_whitespace) || found.is_empty();
        if wanted.len() > 1 && in_pieces {
            let symbols_only = |id: u32| is_symbol(self.graph.node(NodeId(id)).kind);
            let mut spread: HashSet<u32> = HashSet::new();
            for &id in &masks.touched {
                let have = masks.bits[id as usize].count_ones() as usize;
                if tiers[id as usize] != unnamed
                    || whole.contains(&NodeId(id))
                    || !symbols_only(id)
                    || have * 2 < wanted.len()
                {
                    continue;
                }
                let missing = (wanted.len() - have) as u8;
                let matched = if missing == 0 {
                    Match::AllWords
                } else {
                    Match::SomeWords
                };
                spread.insert(id);
                found.push(at_node(id, matched, missing));
            }
            let mut in_texts: Vec<Found> = Vec::new();
            for (i, mask) in partial {
                let text = self.graph.texts()[i as usize];
                let have = mask.count_ones() as usize;
                if spread.contains(&text.node.0)
                    || whole.contains(&text.node)
                    || have * 2 < wanted.len()
                {
                    continue;
                }
                in_texts.push(Found {
                    matched: Match::SomeWords,
                    missing: (wanted.len() - have) as u8,
                    file: text.file,
                    byte: text.span.start_byte,
                    node: text.node,
                    text: Some(i),
                });
            }
            in_texts.sort_unstable();
            in_texts.retain(|f| self.first_of_line(f, &mut seen));
            found.extend(in_texts);
        }
        found
    }

    fn first_of_line(&self, found: &Found, seen: &mut HashSet<(FileId, u32)>) -> bool {
        found.text.is_none_or(|i| {
            let line = self.graph.texts()[i as usize].span.start_line;
            seen.insert((found.file, line))
        })
    }

    fn hit(&self, found: &Found, query: &str) -> Hit {
        let line = found.text.map(|i| self.text_line(i, query));
        Hit {
            node: found.node,
            matched: found.matched,
            line,
        }
    }

    /// The line of a text that has most of the query's words.
    fn text_line(&self, text: u32, query: &str) -> u32 {
        let text = self.graph.texts()[text as usize];
        let wanted = query_words(query);
        let lines = self
            .graph
            .file(text.file)
            .lines(text.span.start_line, text.span.end_line);
        let mut best = (0, text.span.start_line);
        for (number, line) in lines {
            let theirs = words(line);
            let have = wanted
                .iter()
                .filter(|w| theirs.iter().any(|t| t.starts_with(stem(w))))
                .count();
            if have > best.0 {
                best = (have, number);
            }
        }
        best.1
    }

    fn hit_record(&self, hit: &Hit, with_doc: bool) -> String {
        let Some(number) = hit.line else {
            return if with_doc {
                self.symbol_lines(hit.node)
            } else {
                self.symbol_line(hit.node)
            };
        };
        let node = self.graph.node(hit.node);
        let file = self.graph.file(node.file);
        let line = file.line(number).unwrap_or("").trim();
        format!(
            "text {}  {}  {}",
            clip(&one_line(&node.qualified_name), 300),
            place(&file.path, number, number),
            clip(&one_line(line), MAX_TEXT_LINE)
        )
    }
}

/// [`Match`] by its discriminant.
const TIERS: [Match; 12] = [
    Match::Name,
    Match::QualifiedName,
    Match::Prefix,
    Match::Words,
    Match::WordPrefixes,
    Match::QualifiedWords,
    Match::InName,
    Match::InQualifiedName,
    Match::InPath,
    Match::Text,
    Match::AllWords,
    Match::SomeWords,
];

/// Which of the query's words each of many numbers has.
struct Masks {
    bits: Vec<u32>,
    touched: Vec<u32>,
}

impl Masks {
    fn new(count: usize) -> Masks {
        Masks {
            bits: vec![0; count],
            touched: Vec::new(),
        }
    }

    fn clear(&mut self) {
        for &i in &self.touched {
            self.bits[i as usize] = 0;
        }
        self.touched.clear();
    }

    fn add(&mut self, number: u32, mask: u32) {
        let bits = &mut self.bits[number as usize];
        if *bits == 0 && mask != 0 {
            self.touched.push(number);
        }
        *bits |= mask;
    }

    /// Starts over with what `lookup` finds for every word.
    fn all(&mut self, wanted: &[String], lookup: impl Fn(&str, &mut dyn FnMut(u32))) {
        self.clear();
        for (i, word) in wanted.iter().enumerate() {
            lookup(word, &mut |number| self.add(number, 1 << i));
        }
    }

    /// Calls `each` with those that have all of `count` words.
    fn complete(&self, count: usize, mut each: impl FnMut(u32)) {
        if count == 0 {
            return;
        }
        for &i in &self.touched {
            if self.bits[i as usize].count_ones() as usize == count {
                each(i);
            }
        }
    }
}

/// The kind that a word names, a few common synonyms included.
fn node_kind(word: &str) -> LookupResult<NodeKind> {
    let lower = word.trim().to_lowercase().replace(['-', ' '], "_");
    let meant = match lower.as_str() {
        "trait" | "protocol" => "interface",
        "fn" | "func" | "def" => "function",
        "const" => "constant",
        "mod" | "package" => "module",
        "var" | "static" => "variable",
        "type" => "type_alias",
        "variant" => "enum_member",
        other => other,
    };
    let allowed = || NodeKind::ALL.into_iter().filter(|&k| is_symbol(k));
    allowed()
        .find(|k| k.as_str() == meant)
        .ok_or_else(|| LookupError::UnknownWord {
            argument: "kind",
            word: word.to_owned(),
            allowed: allowed().map(NodeKind::as_str).collect(),
        })
}
