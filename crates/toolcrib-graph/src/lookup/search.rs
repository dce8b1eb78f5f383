//! `search_symbols`: from a name or words to symbols.
//!
//! Which results there are, and in which order, is [`super::rank`]'s; this
//! filters, pages and prints them.

use std::collections::HashSet;

use globset::GlobMatcher;
use serde::Serialize;

use super::cap::{MAX_CHARS, clip, one_line, page};
use super::facts::counted;
use super::files::glob_matcher;
use super::index::is_symbol;
use super::rank::{Found, Match};
use super::render::place;
use super::resolve::{Place, checked};
use super::words::{query_words, stem, words};
use super::{Answer, Lookup, LookupCall, LookupError, LookupResult, Rest, SearchSymbols};
use crate::model::{FileId, NodeId, NodeKind};

const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 50;
const MAX_TEXT_LINE: usize = 160;

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
        let asked = args.limit.unwrap_or(DEFAULT_LIMIT);
        let limit = asked.clamp(1, MAX_LIMIT);
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
        if limit != asked {
            notes.push_str(&format!(
                "note: limit takes 1 to {MAX_LIMIT}, so {asked} is read as {limit}\n"
            ));
        }
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
        let page = page(&self.voice, MAX_CHARS, &records, &notes, head, rest);
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
                _ => format!(
                    "note: {unfiltered} without kind and path: {}\n",
                    self.voice.call(&open)
                ),
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
                PathFilter::Files(files) => {
                    files.contains(&node.file)
                        || node.declared.iter().any(|(file, _)| files.contains(file))
                }
                PathFilter::Glob(glob) => {
                    let path = &*self.graph.file(node.file).path;
                    glob.is_match(path)
                        || (!glob.glob().glob().contains('/')
                            && glob.is_match(path.rsplit('/').next().unwrap_or(path)))
                }
            }
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
