//! What the lookups have said so far, read back from their texts.
//!
//! The navigator sees results as any model does, as text. Lines it cannot read
//! are passed over: a result that was cut, or a tool of that name that answers
//! otherwise, costs it knowledge and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolcrib_core::{Content, Message};

/// A place in one file; lines count from 1 and include both ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Place {
    /// Reads `path:12` and `path:12-40`.
    pub(super) fn read(text: &str) -> Option<Place> {
        let (path, lines) = text.trim().rsplit_once(':')?;
        let (start, end) = lines.split_once('-').unwrap_or((lines, lines));
        let (start, end) = (start.parse().ok()?, end.parse().ok()?);
        (!path.is_empty() && start > 0 && start <= end).then(|| Place {
            path: path.to_owned(),
            start,
            end,
        })
    }

    /// The place as a citation.
    pub(super) fn cite(&self) -> String {
        if self.end > self.start {
            format!("{}:{}-{}", self.path, self.start, self.end)
        } else {
            format!("{}:{}", self.path, self.start)
        }
    }
}

/// One symbol that a result showed.
#[derive(Clone, Debug, Default)]
pub(super) struct Symbol {
    /// Such as `function`; empty while only a text of it has been seen.
    pub(super) kind: String,
    pub(super) place: Option<Place>,
    pub(super) signature: String,
    pub(super) doc: String,
    /// Lines of its comments and strings that matched, by line.
    pub(super) texts: BTreeMap<u32, String>,
    /// The path those lines are in.
    pub(super) text_path: String,
}

/// One edge at a symbol.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) incoming: bool,
    pub(super) kind: String,
    pub(super) name: String,
    /// Where the relation is written.
    pub(super) at: Place,
    /// What the other end is, such as `method`.
    pub(super) other_kind: String,
    /// Where the other end is defined; a file has no place.
    pub(super) other: Option<Place>,
    /// Between how many definitions the call is left open, when it is.
    pub(super) ambiguous: Option<usize>,
    /// Whether run-time dispatch decides if the call gets there.
    pub(super) dynamic: bool,
}

/// What `symbol_neighbors` said about one symbol.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighborhood {
    /// The sentence with the counts of callers and of undecided sites.
    pub(super) tally: Option<String>,
    pub(super) edges: Vec<Edge>,
    /// How many more edges there are.
    pub(super) left_out: usize,
    /// The arguments that show them.
    pub(super) next: Option<Value>,
    /// What the graph does not know of this symbol's language.
    pub(super) limits: Option<String>,
}

/// One call on the way from one symbol to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    pub(super) from: String,
    pub(super) to: String,
    /// Where the call is written.
    pub(super) at: Place,
    /// Whether run-time dispatch decides.
    pub(super) dynamic: bool,
}

/// What `explore_area` said about the way from one symbol to another.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    /// Qualified names of both ends.
    pub(super) ends: Vec<String>,
    /// The shortest chains of calls; empty when there is none.
    pub(super) chains: Vec<Vec<Hop>>,
    /// Whether the chains lead the other way.
    pub(super) reversed: bool,
    /// How far the search for it came.
    pub(super) reach: Option<String>,
}

/// What `explore_area` said about a path.
#[derive(Clone, Debug, Default)]
pub(super) struct Area {
    /// Symbols and files under it.
    pub(super) total: usize,
    /// Files under it.
    pub(super) file_total: usize,
    /// The files shown, each with its number of lines.
    pub(super) files: Vec<(String, u32)>,
    /// Qualified names of the symbols shown, by path and line.
    pub(super) names: Vec<String>,
    /// The arguments that show more symbols.
    pub(super) next: Option<Value>,
}

/// All that is known since the question.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    /// By qualified name.
    pub(super) symbols: BTreeMap<String, Symbol>,
    /// Number of results by search query.
    pub(super) totals: BTreeMap<String, usize>,
    /// Lines read, by path and number.
    pub(super) lines: BTreeMap<String, BTreeMap<u32, String>>,
    /// Whether a search for routes left some out.
    pub(super) routes_left: bool,
    /// By the qualified name asked for.
    pub(super) neighborhoods: BTreeMap<String, Neighborhood>,
    /// By `A -> B` as asked.
    pub(super) ways: BTreeMap<String, Way>,
    /// By path.
    pub(super) areas: BTreeMap<String, Area>,
    /// Paths near to one that is not there.
    pub(super) near_paths: BTreeMap<String, Vec<String>>,
    /// Names near to a query that nothing was found for.
    pub(super) near: BTreeMap<String, Vec<String>>,
    /// Paths that listings of files showed.
    pub(super) files: BTreeSet<String>,
    /// Tool name and argument text of every call made.
    pub(super) made: BTreeSet<(String, String)>,
    /// Batches of calls so far.
    pub(super) rounds: usize,
}

const KINDS: [&str; 16] = [
    "module",
    "function",
    "method",
    "struct",
    "class",
    "enum",
    "enum_member",
    "interface",
    "type_alias",
    "constant",
    "variable",
    "field",
    "macro",
    "route",
    "test",
    "import",
];

impl Notes {
    /// Reads the messages since the question.
    pub(super) fn read(messages: &[&Message]) -> Notes {
        let mut notes = Notes::default();
        let mut calls: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
        for message in messages {
            match message {
                Message::Assistant(reply) => {
                    notes.rounds += usize::from(reply.calls().next().is_some());
                    for call in reply.calls() {
                        calls.insert(&call.id, (&call.name, &call.arguments));
                        notes
                            .made
                            .insert((call.name.to_string(), call.arguments.to_string()));
                    }
                }
                Message::Tool(result) => {
                    let Some(&(tool, arguments)) = calls.get(&*result.call_id) else {
                        continue;
                    };
                    for piece in &result.content {
                        match piece {
                            Content::Text(text) if result.is_error => {
                                notes.take_error(tool, arguments, text);
                            }
                            Content::Text(text) => notes.take(tool, arguments, text),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        notes
    }

    fn take(&mut self, tool: &str, arguments: &str, text: &str) {
        match tool {
            "search_symbols" => self.take_search(arguments, text),
            "read_source" => self.take_source(text),
            "symbol_neighbors" => self.take_neighbors(arguments, text),
            "explore_area" => self.take_way(arguments, text),
            "list_files" => self.take_files(text),
            _ => {}
        }
    }

    /// Reads which paths are near to one that is not there.
    fn take_error(&mut self, tool: &str, arguments: &str, text: &str) {
        let Some((_, near)) = text.split_once("near paths:\n") else {
            return;
        };
        if tool == "explore_area" {
            let paths = near.lines().map_while(|line| line.strip_prefix("  "));
            self.near_paths.insert(
                argument(arguments, "query"),
                paths.map(str::to_owned).collect(),
            );
        }
    }

    fn take_search(&mut self, arguments: &str, text: &str) {
        let mut lines = text.lines();
        let total = lines
            .next()
            .and_then(|head| head.split(' ').next()?.parse().ok());
        // How rare a word is counts in the whole repository, not in one file or kind.
        let whole = ["path", "kind"].map(|name| argument(arguments, name));
        if let Some(total) = total.filter(|_| whole.iter().all(String::is_empty)) {
            self.totals.insert(argument(arguments, "query"), total);
        }
        let mut last = None;
        let mut nearest = false;
        let of_routes = argument(arguments, "kind") == "route";
        for line in lines {
            if of_routes && line.contains(" more; next: ") {
                self.routes_left = true;
            }
            if line == "note: nearest names:" {
                nearest = true;
            } else if nearest {
                if let Some(name) = self.take_symbol(line.trim_start()) {
                    let near = self.near.entry(argument(arguments, "query")).or_default();
                    near.push(name);
                }
            } else if let Some(found) = line.strip_prefix("text ") {
                last = None;
                let mut fields = found.splitn(3, "  ");
                let (Some(owner), Some(place), Some(shown)) = (
                    fields.next(),
                    fields.next().and_then(Place::read),
                    fields.next(),
                ) else {
                    continue;
                };
                let symbol = self.symbols.entry(owner.to_owned()).or_default();
                symbol.text_path = place.path;
                symbol.texts.insert(place.start, shown.to_owned());
            } else if let Some(doc) = line.strip_prefix("    ") {
                if let Some(symbol) = last.as_ref().and_then(|name| self.symbols.get_mut(name)) {
                    symbol.doc = doc.trim().to_owned();
                }
            } else {
                last = self.take_symbol(line);
            }
        }
    }

    /// Reads `KIND QUALIFIED  PLACE  SIGNATURE` and returns the name.
    fn take_symbol(&mut self, line: &str) -> Option<String> {
        let (kind, rest) = line.split_once(' ')?;
        if !KINDS.contains(&kind) {
            return None;
        }
        let mut fields = rest.splitn(3, "  ");
        let name = fields.next()?;
        let place = Place::read(fields.next()?)?;
        let symbol = self.symbols.entry(name.to_owned()).or_default();
        symbol.kind = kind.to_owned();
        symbol.place = Some(place);
        symbol.signature = fields.next().unwrap_or("").to_owned();
        Some(name.to_owned())
    }

    fn take_source(&mut self, text: &str) {
        let mut lines = text.lines();
        let path = lines
            .next()
            .and_then(|head| Place::read(head.split(" of ").next()?));
        let Some(Place { path, .. }) = path else {
            return;
        };
        let file = self.lines.entry(path).or_default();
        for line in lines {
            if let Some((number, code)) = line.split_once('\t')
                && let Ok(number) = number.trim().parse()
            {
                file.insert(number, code.to_owned());
            }
        }
    }

    fn take_neighbors(&mut self, arguments: &str, text: &str) {
        let mut lines = text.lines();
        let Some(name) = lines.next().and_then(|head| self.take_symbol(head)) else {
            return;
        };
        let goes_on = parsed(arguments)["offset"].as_u64().unwrap_or(0) > 0;
        let mut around = match self.neighborhoods.remove(&name) {
            Some(known) if goes_on => known,
            _ => Neighborhood::default(),
        };
        (around.left_out, around.next) = (0, None);
        for line in lines {
            if let Some(doc) = line.strip_prefix("    ") {
                if let Some(symbol) = self.symbols.get_mut(&name) {
                    symbol.doc = doc.trim().to_owned();
                }
            } else if let Some(edge) = edge(line) {
                around.edges.push(edge);
            } else if let Some((count, next)) = line.split_once(" more; next: ") {
                let count = count.trim_start_matches("(truncated) ");
                around.left_out = count.parse().unwrap_or(0);
                let call = next.split_once(' ').map(|(_, arguments)| parsed(arguments));
                around.next = call.filter(Value::is_object);
            } else if let Some(limits) = line.strip_prefix("note: ")
                && limits.contains(" is read for definitions only")
            {
                around.limits = Some(limits.to_owned());
            } else if line.contains(" caller") && around.tally.is_none() {
                around.tally = Some(line.to_owned());
            }
        }
        self.neighborhoods.insert(name, around);
    }

    /// Reads both ends, then `path N:` and a line for each call.
    fn take_way(&mut self, arguments: &str, text: &str) {
        let query = argument(arguments, "query");
        if !query.contains("->") {
            self.take_area(query, text);
            return;
        }
        let mut lines = text.lines();
        let head = lines.next().unwrap_or("");
        let mut way = Way {
            reversed: head.contains(" the other way"),
            ..Way::default()
        };
        for line in lines {
            if line.starts_with("path ") {
                way.chains.push(Vec::new());
            } else if let Some(hop) = hop(line) {
                if let Some(chain) = way.chains.last_mut() {
                    chain.push(hop);
                }
            } else if let Some(reach) = line.strip_prefix("note: ") {
                way.reach = Some(reach.to_owned());
            } else if let Some(name) = self.take_symbol(line) {
                way.ends.push(name);
            }
        }
        way.chains.retain(|chain| !chain.is_empty());
        if way.ends.len() == 2 {
            self.ways.insert(query, way);
        }
    }

    /// Reads `area PATH: N nodes in M files; …`, the symbols, and what comes after.
    fn take_area(&mut self, query: String, text: &str) {
        let mut lines = text.lines();
        let head = lines.next().unwrap_or("");
        let Some((nodes, files)) = head
            .strip_prefix("area ")
            .and_then(|head| head.rsplit_once(": ")?.1.split_once(" in "))
        else {
            return;
        };
        let number = |text: &str| text.split(' ').next().and_then(|n| n.parse().ok());
        let mut area = self.areas.remove(&query).unwrap_or_default();
        area.total = number(nodes).unwrap_or(0);
        area.file_total = number(files).unwrap_or(0);
        area.next = None;
        for line in lines {
            if let Some(file) = super::places::listed_file(line) {
                area.files.push(file);
            } else if let Some((_, next)) = line.split_once(" more; next: ") {
                if area.next.is_none() {
                    let call = next.split_once(' ').map(|(_, arguments)| parsed(arguments));
                    area.next = call.filter(Value::is_object);
                }
            } else if line.ends_with(" shown:") {
                // What follows are edges, which have listings of their own.
                break;
            } else if let Some(name) = self.take_symbol(line) {
                area.names.push(name);
            }
        }
        self.areas.insert(query, area);
    }

    fn take_files(&mut self, text: &str) {
        for line in text.lines().skip(1) {
            let mut fields = line.split("  ");
            let path = fields.next().unwrap_or("");
            if fields.nth(1).is_some_and(|size| size.ends_with(" bytes")) {
                self.files.insert(path.to_owned());
            }
        }
    }

    /// Lines read within a place, in order.
    pub(super) fn lines_in(&self, place: &Place) -> impl Iterator<Item = (u32, &str)> {
        let file = self.lines.get(&place.path);
        let range = place.start..=place.end;
        file.into_iter().flat_map(move |lines| {
            lines
                .range(range.clone())
                .map(|(number, line)| (*number, line.as_str()))
        })
    }
}

/// Reads `<- calls function a::b  PLACE  at PLACE …`, with the mark of a call that
/// is left open at its end.
fn edge(line: &str) -> Option<Edge> {
    let (incoming, rest) = match line.strip_prefix("<- ") {
        Some(rest) => (true, rest),
        None => (false, line.strip_prefix("-> ")?),
    };
    let mut fields = rest.split("  ");
    let mut words = fields.next()?.splitn(3, ' ');
    let (kind, other_kind, name) = (words.next()?, words.next()?, words.next()?);
    let first = fields.next()?;
    // A file has no lines of its own: what follows it is where the edge is written.
    let written = if first.starts_with("at ") {
        Some(first)
    } else {
        fields.next()
    };
    let ambiguous = line
        .rsplit_once("ambiguous: one of ")
        .and_then(|(_, count)| count.trim_end_matches(']').parse().ok());
    let at = match written {
        Some(at) => Place::read(at.strip_prefix("at ")?.split(" (also").next()?)?,
        // What contains is written where what is contained is.
        None => Place::read(first)?,
    };
    Some(Edge {
        incoming,
        kind: kind.to_owned(),
        name: name.to_owned(),
        at,
        other_kind: other_kind.to_owned(),
        other: Place::read(first),
        ambiguous,
        dynamic: line
            .rsplit_once("  [")
            .is_some_and(|(_, mark)| mark.contains("dynamic")),
    })
}

/// Reads `a::b -calls-> c::d  PLACE`.
fn hop(line: &str) -> Option<Hop> {
    let mut fields = line.split("  ");
    let (from, to) = fields.next()?.split_once(" -calls-> ")?;
    Some(Hop {
        from: from.to_owned(),
        to: to.to_owned(),
        at: Place::read(fields.next()?)?,
        dynamic: fields.next().is_some_and(|mark| mark == "[dynamic]"),
    })
}

fn parsed(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or_default()
}

/// A text argument of a call, empty when absent.
pub(super) fn argument(arguments: &str, name: &str) -> String {
    parsed(arguments)[name].as_str().unwrap_or("").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(tool: &str, arguments: &str, text: &str) -> Notes {
        let mut notes = Notes::default();
        notes.take(tool, arguments, text);
        notes
    }

    #[test]
    fn search_results_are_read_back() {
        let notes = notes(
            "search_symbols",
            r#"{"query":"cap"}"#,
            "12 results for \"cap\"; 1-3 shown:\n\
             function a::cap  src/a.rs:3-9  pub fn cap(text: &str) -> Cut\n    Cuts a text to size.\n\
             method <A as B>::cap  src/b.rs:4\n\
             text a::run  src/a.rs:20  // the cap is in characters\n\
             (truncated) 9 more; next: search_symbols {\"query\":\"cap\",\"offset\":3}\n",
        );
        assert_eq!(notes.totals["cap"], 12);
        let cap = &notes.symbols["a::cap"];
        assert_eq!(
            (cap.kind.as_str(), cap.doc.as_str()),
            ("function", "Cuts a text to size.")
        );
        assert_eq!(cap.place.as_ref().unwrap().cite(), "src/a.rs:3-9");
        assert_eq!(
            notes.symbols["<A as B>::cap"]
                .place
                .as_ref()
                .unwrap()
                .cite(),
            "src/b.rs:4"
        );
        assert_eq!(
            notes.symbols["a::run"].texts[&20],
            "// the cap is in characters"
        );
    }

    #[test]
    fn neighbors_and_source_are_read_back() {
        let mut all = notes(
            "symbol_neighbors",
            "{}",
            "function a::cap  src/a.rs:3-9  pub fn cap()\n    Cuts.\n\
             2 callers; 3 more sites use this name on receivers that could not be typed\n\
             3 edges; 1-2 shown:\n\
             <- calls method b::B::run  src/b.rs:1-30  at src/b.rs:12 (also 14)\n\
             -> calls function a::len  src/a.rs:40-44  at src/a.rs:5\n\
             <- imports file src/c.rs  at src/c.rs:2\n\
             1 more; next: symbol_neighbors {\"name\":\"a::cap\",\"offset\":2}\n",
        );
        let around = &all.neighborhoods["a::cap"];
        assert!(
            around
                .tally
                .as_ref()
                .unwrap()
                .starts_with("2 callers; 3 more")
        );
        assert_eq!(around.edges.len(), 3);
        assert_eq!(around.edges[2].at.cite(), "src/c.rs:2");
        assert_eq!(
            (
                around.edges[0].name.as_str(),
                around.edges[0].at.cite().as_str()
            ),
            ("b::B::run", "src/b.rs:12")
        );
        assert_eq!(around.left_out, 1);
        all.take(
            "read_source",
            "{}",
            "src/a.rs:3-4 of 50 lines (Rust)\n   3\tpub fn cap() {\n   4\t\tx\n",
        );
        let place = Place {
            path: "src/a.rs".into(),
            start: 3,
            end: 9,
        };
        assert_eq!(
            all.lines_in(&place).collect::<Vec<_>>(),
            [(3, "pub fn cap() {"), (4, "\tx")]
        );
    }

    #[test]
    fn foreign_text_is_passed_over() {
        for text in [
            "",
            "\n\n",
            "error: no",
            "x  y  z",
            "<- \n-> a b c",
            "function \n  :\n",
            "9999999999999999999999 results",
        ] {
            for tool in ["search_symbols", "read_source", "symbol_neighbors", "other"] {
                let notes = notes(tool, "not json", text);
                assert!(notes.neighborhoods.is_empty() && notes.lines.is_empty());
            }
        }
    }
}
