//! What the lookups search in, built once beside a graph.
//!
//! Names are kept lower-cased three ways: sorted for prefixes, as words for
//! word-wise matches, and joined into one text for substrings, which one pass
//! of a vectorised search scans faster than any tree would be walked. Words of
//! comments and strings have an index of their own. Nothing here is needed to
//! read the graph; it only answers "which nodes" quickly.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use memchr::memmem;

use super::words::each_word;
use crate::graph::CodeGraph;
use crate::model::{EdgeKind, FileId, NodeId, NodeKind, Origin, SiteState};

/// Words to the numbers that hold them, each list ascending and without repeats.
#[derive(Default)]
pub(crate) struct WordIndex {
    words: Vec<Box<str>>,
    starts: Vec<u32>,
    postings: Vec<u32>,
}

impl WordIndex {
    fn build<'a>(texts: impl Iterator<Item = (u32, &'a str)>) -> WordIndex {
        let mut ids: HashMap<Box<str>, u32> = HashMap::new();
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (number, text) in texts {
            each_word(text, |word| {
                let next = ids.len() as u32;
                let id = match ids.get(word) {
                    Some(&id) => id,
                    None => *ids.entry(word.into()).or_insert(next),
                };
                pairs.push((id, number));
            });
        }
        let mut words: Vec<(Box<str>, u32)> = ids.into_iter().collect();
        words.sort_unstable();
        let mut place = vec![0u32; words.len()];
        for (sorted, (_, id)) in words.iter().enumerate() {
            place[*id as usize] = sorted as u32;
        }
        for pair in &mut pairs {
            pair.0 = place[pair.0 as usize];
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0u32; words.len() + 1];
        for &(word, _) in &pairs {
            starts[word as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        WordIndex {
            words: words.into_iter().map(|(w, _)| w).collect(),
            starts,
            postings: pairs.into_iter().map(|(_, n)| n).collect(),
        }
    }

    /// Calls `each` with what holds exactly `word`.
    pub(crate) fn exact(&self, word: &str, each: impl FnMut(u32)) {
        if let Ok(i) = self.words.binary_search_by(|w| (**w).cmp(word)) {
            self.range(i, i + 1).iter().copied().for_each(each);
        }
    }

    /// Calls `each` with what holds a word that begins with `prefix`; repeats occur.
    pub(crate) fn prefixed(&self, prefix: &str, each: impl FnMut(u32)) {
        let from = self.words.partition_point(|w| **w < *prefix);
        let to = from + self.words[from..].partition_point(|w| w.starts_with(prefix));
        self.range(from, to).iter().copied().for_each(each);
    }

    fn range(&self, from: usize, to: usize) -> &[u32] {
        if from >= to {
            return &[];
        }
        &self.postings[self.starts[from] as usize..self.starts[to] as usize]
    }
}

/// Lower-cased strings joined by newlines, searched as one.
#[derive(Default)]
struct Joined {
    text: String,
    starts: Vec<u32>,
}

impl Joined {
    fn push(&mut self, lower: &str) {
        self.starts.push(self.text.len() as u32);
        self.text.push_str(lower);
        self.text.push('\n');
    }

    /// Calls `each` once with the position of every string that holds `needle`.
    fn containing(&self, needle: &str, mut each: impl FnMut(usize)) {
        if needle.is_empty() || needle.contains('\n') {
            return;
        }
        let finder = memmem::Finder::new(needle);
        let (mut from, mut i) = (0, 0);
        while let Some(at) = finder.find(&self.text.as_bytes()[from..]) {
            let at = (from + at) as u32;
            i += self.starts[i..].iter().take_while(|&&s| s <= at).count() - 1;
            each(i);
            match self.starts.get(i + 1) {
                Some(&next) => from = next as usize,
                None => break,
            }
        }
    }
}

/// See the module head.
pub(crate) struct LookupIndex {
    /// Nodes that searches can find, ascending.
    searchable: Vec<NodeId>,
    /// (lower-cased name, node), sorted.
    names: Vec<(Box<str>, NodeId)>,
    /// [`letters`] of each name.
    letters: Vec<u64>,
    names_joined: Joined,
    qualified_joined: Joined,
    paths_joined: Joined,
    /// Which files a build wrote, its sources beside them.
    built: Vec<bool>,
    /// Words of the name.
    pub(crate) name_words: WordIndex,
    /// Words of the qualified name and of the path.
    pub(crate) wide_words: WordIndex,
    /// Words of texts, to positions in [`CodeGraph::texts`].
    pub(crate) text_words: WordIndex,
    /// Site numbers sorted by caller, and by what they may reach.
    by_caller: Grouped,
    by_target: Grouped,
    rank: OnceLock<Vec<f64>>,
}

/// Numbers grouped by node.
struct Grouped {
    pairs: Vec<(NodeId, u32)>,
}

impl Grouped {
    fn new(mut pairs: Vec<(NodeId, u32)>) -> Grouped {
        pairs.sort_unstable();
        pairs.dedup();
        Grouped { pairs }
    }

    fn of(&self, id: NodeId) -> impl Iterator<Item = u32> {
        let from = self.pairs.partition_point(|p| p.0 < id);
        self.pairs[from..]
            .iter()
            .take_while(move |p| p.0 == id)
            .map(|p| p.1)
    }
}

/// Whether searches and area listings show nodes of this kind as symbols.
pub(crate) fn is_symbol(kind: NodeKind) -> bool {
    !matches!(kind, NodeKind::File | NodeKind::Import)
}

/// Directories that a build writes, when a `src` stands beside them.
const OUTPUT: [&str; 3] = ["build", "dist", "out"];

/// Which of the paths are below such a directory.
fn built<'a>(paths: impl Iterator<Item = &'a str> + Clone) -> Vec<bool> {
    let sources: HashSet<&str> = paths
        .clone()
        .flat_map(directories)
        .filter_map(|(before, name)| (name == "src").then_some(before))
        .collect();
    let is_output =
        |(before, name): (&str, &str)| OUTPUT.contains(&name) && sources.contains(before);
    paths.map(|path| directories(path).any(is_output)).collect()
}

/// What stands before each directory of a path, and its name.
fn directories(path: &str) -> impl Iterator<Item = (&str, &str)> {
    path.match_indices('/').map(|(end, _)| {
        let start = path[..end].rfind('/').map_or(0, |slash| slash + 1);
        (&path[..start], &path[start..end])
    })
}

impl LookupIndex {
    /// Whether a build wrote the file and its sources are here too.
    pub(crate) fn is_built(&self, file: FileId) -> bool {
        self.built.get(file.0 as usize).is_some_and(|&built| built)
    }

    pub(crate) fn build(graph: &CodeGraph) -> LookupIndex {
        let ids = (0u32..).map(NodeId);
        let searchable: Vec<NodeId> = graph
            .nodes()
            .iter()
            .zip(ids)
            .filter(|(n, _)| is_symbol(n.kind))
            .map(|(_, id)| id)
            .collect();
        let mut names = Vec::with_capacity(searchable.len());
        let (mut names_joined, mut qualified_joined) = (Joined::default(), Joined::default());
        for &id in &searchable {
            let node = graph.node(id);
            let lower = node.name.to_lowercase();
            names_joined.push(&lower);
            names.push((lower.into_boxed_str(), id));
            qualified_joined.push(&separators_unified(&node.qualified_name));
        }
        names.sort_unstable();
        let mut paths_joined = Joined::default();
        for file in graph.files() {
            paths_joined.push(&file.path.to_lowercase());
        }
        let names_of = || {
            let names = searchable.iter().map(|&id| (id.0, &*graph.node(id).name));
            WordIndex::build(names)
        };
        let wide = || {
            WordIndex::build(searchable.iter().flat_map(|&id| {
                let node = graph.node(id);
                [
                    (id.0, &*node.qualified_name),
                    (id.0, &*graph.file(node.file).path),
                ]
            }))
        };
        let texts = || {
            WordIndex::build((0u32..).zip(graph.texts()).filter_map(|(i, t)| {
                let text = &graph.file(t.file).text;
                let part = text.get(t.span.start_byte as usize..t.span.end_byte as usize)?;
                Some((i, part))
            }))
        };
        let ((name_words, wide_words), text_words) = rayon::join(|| (names_of(), wide()), texts);
        let (mut by_caller, mut by_target) = (Vec::new(), Vec::new());
        for (site, i) in graph.sites().iter().zip(0u32..) {
            by_caller.push((site.caller, i));
            match &site.state {
                SiteState::Resolved { target, .. } => by_target.push((*target, i)),
                SiteState::Ambiguous { candidates } => {
                    by_target.extend(candidates.iter().map(|&c| (c, i)));
                }
                SiteState::Dynamic {
                    declared,
                    implementations,
                } => {
                    by_target.push((*declared, i));
                    by_target.extend(implementations.iter().map(|&c| (c, i)));
                }
                SiteState::External { .. } | SiteState::Unresolved => {}
            }
        }
        LookupIndex {
            searchable,
            letters: names.iter().map(|(name, _)| letters(name)).collect(),
            names,
            names_joined,
            qualified_joined,
            paths_joined,
            built: built(graph.files().iter().map(|file| &*file.path)),
            name_words,
            wide_words,
            text_words,
            by_caller: Grouped::new(by_caller),
            by_target: Grouped::new(by_target),
            rank: OnceLock::new(),
        }
    }

    /// Symbols whose lower-cased name is `lower`, in node order.
    pub(crate) fn named(&self, lower: &str) -> impl Iterator<Item = NodeId> {
        self.names_from(lower)
            .take_while(move |(name, _)| **name == *lower)
            .map(|(_, id)| *id)
    }

    /// Symbols whose lower-cased name begins with `lower`.
    pub(crate) fn prefixed(&self, lower: &str) -> impl Iterator<Item = NodeId> {
        self.names_from(lower)
            .take_while(move |(name, _)| name.starts_with(lower))
            .map(|(_, id)| *id)
    }

    fn names_from(&self, lower: &str) -> impl Iterator<Item = &(Box<str>, NodeId)> {
        let from = self.names.partition_point(|(name, _)| **name < *lower);
        self.names[from..].iter()
    }

    /// Every (lower-cased name, symbol, its [`letters`]), sorted.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, NodeId, u64)> {
        let names = self.names.iter().map(|(name, id)| (&**name, *id));
        names.zip(&self.letters).map(|((n, id), l)| (n, id, *l))
    }

    pub(crate) fn names_containing(&self, lower: &str, mut each: impl FnMut(NodeId)) {
        self.names_joined
            .containing(lower, |i| each(self.searchable[i]));
    }

    /// `unified` as [`separators_unified`] writes it.
    pub(crate) fn qualified_containing(&self, unified: &str, mut each: impl FnMut(NodeId)) {
        self.qualified_joined
            .containing(unified, |i| each(self.searchable[i]));
    }

    /// Symbols in files whose path contains `lower`.
    pub(crate) fn paths_containing(
        &self,
        graph: &CodeGraph,
        lower: &str,
        mut each: impl FnMut(NodeId),
    ) {
        self.paths_joined.containing(lower, |file| {
            let file = file as u32;
            let from = self
                .searchable
                .partition_point(|&id| graph.node(id).file.0 < file);
            self.searchable[from..]
                .iter()
                .take_while(|&&id| graph.node(id).file.0 == file)
                .for_each(|&id| each(id));
        });
    }

    /// Call expressions inside this node itself, by position.
    pub(crate) fn sites_in(&self, caller: NodeId) -> impl Iterator<Item = u32> {
        self.by_caller.of(caller)
    }

    /// Call expressions that reach or may reach this node, by position.
    pub(crate) fn sites_reaching(&self, target: NodeId) -> impl Iterator<Item = u32> {
        self.by_target.of(target)
    }

    /// The share of a random walk along proven calls and references that ends
    /// at each node; sums to 1 over the graph. Computed on first use.
    pub(crate) fn rank(&self, graph: &CodeGraph) -> &[f64] {
        self.rank.get_or_init(|| page_rank(graph))
    }
}

/// Which characters a text has, one bit for several: texts that differ in many
/// bits are many edits apart.
pub(crate) fn letters(text: &str) -> u64 {
    text.chars().fold(0, |bits, c| bits | 1 << (c as u32 % 64))
}

fn page_rank(graph: &CodeGraph) -> Vec<f64> {
    const DAMPING: f64 = 0.85;
    let n = graph.nodes().len();
    if n == 0 {
        return Vec::new();
    }
    let followed = |kind: EdgeKind, origin: Origin| {
        origin != Origin::Guess && !matches!(kind, EdgeKind::Contains | EdgeKind::Imports)
    };
    let mut out = vec![0u32; n];
    for e in graph.edges() {
        if followed(e.kind, e.origin) {
            out[e.from.0 as usize] += 1;
        }
    }
    let mut rank = vec![1.0 / n as f64; n];
    for _ in 0..30 {
        let dangling: f64 = rank
            .iter()
            .zip(&out)
            .filter(|(_, o)| **o == 0)
            .map(|(r, _)| r)
            .sum();
        let base = (1.0 - DAMPING + DAMPING * dangling) / n as f64;
        let mut next = vec![base; n];
        for e in graph.edges() {
            if followed(e.kind, e.origin) {
                let from = e.from.0 as usize;
                next[e.to.0 as usize] += DAMPING * rank[from] / f64::from(out[from]);
            }
        }
        rank = next;
    }
    rank
}

/// Lower case with every language's separators written as `.`, so that
/// `Cut::apply`, `cut.apply` and `pkg/cut.Apply` compare. An `impl` part counts
/// as its type: `<Cut<T> as Show>::show` is `cut.show`.
pub(crate) fn separators_unified(name: &str) -> String {
    let lower = name.to_lowercase();
    let mut unified = String::with_capacity(lower.len());
    let mut rest = lower.as_str();
    while let Some(c) = rest.chars().next() {
        let at_start = unified.is_empty() || unified.ends_with('.');
        if at_start
            && c == '<'
            && let Some((part, after)) = impl_part(rest)
        {
            unified.push_str(part);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("::") {
            unified.push('.');
            rest = after;
        } else {
            unified.push(if matches!(c, '/' | '#' | ':' | '\\') {
                '.'
            } else {
                c
            });
            rest = &rest[c.len_utf8()..];
        }
    }
    unified
}

/// The type of a leading `<Type<…> as Trait>` without its path and arguments,
/// and what follows the closing `>`.
fn impl_part(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    let close = text.char_indices().find(|&(i, c)| {
        match c {
            '<' => depth += 1,
            '>' if !text[..i].ends_with('-') => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let (inner, after) = (text.get(1..close?.0)?, &text[close?.0 + 1..]);
    let part = inner.split(" as ").next().unwrap_or(inner);
    let part = part.split('<').next().unwrap_or(part);
    let part = part.rsplit([':', ' ', '&']).next().unwrap_or(part);
    Some((part, after))
}

/// A name without the number that tells it from its namesakes.
pub(crate) fn without_number(name: &str) -> &str {
    match name.rsplit_once('~') {
        Some((plain, n)) if !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()) => plain,
        _ => name,
    }
}

/// Whether `unified` is `tail` or ends in it after a separator, with or without the
/// number that tells it from its namesakes.
pub(crate) fn ends_in_name(unified: &str, tail: &str) -> bool {
    [unified, without_number(unified)].iter().any(|name| {
        name.strip_suffix(tail)
            .is_some_and(|head| head.is_empty() || head.ends_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::{ends_in_name, separators_unified};

    #[test]
    fn namesakes_end_alike() {
        for (unified, tail, ends) in [
            ("a.b.c", "b.c", true),
            ("a.b.c~2", "b.c", true),
            ("a.b.c~2", "c~2", true),
            ("a.b.c~2", "c~3", false),
            ("a.xb.c", "b.c", false),
            ("a.~pool", "pool", false),
        ] {
            assert_eq!(ends_in_name(unified, tail), ends, "{unified} {tail}");
        }
    }

    #[test]
    fn an_impl_part_counts_as_its_type() {
        for (name, unified) in [
            ("a::B::c", "a.b.c"),
            ("a::<B>::c", "a.b.c"),
            ("a::<B<T> as fmt::Show<U>>::c", "a.b.c"),
            ("<&x::B as Fn(u8) -> u8>::call", "b.call"),
            ("pkg/dir.T.M", "pkg.dir.t.m"),
            ("a < b", "a < b"),
            ("<open", "<open"),
            ("a::<", "a.<"),
        ] {
            assert_eq!(separators_unified(name), unified, "{name}");
        }
    }
}
