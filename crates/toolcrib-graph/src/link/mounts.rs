//! The whole paths of routes that are stated in parts.
//!
//! From a route up: the router it is on, that router's own prefix, what the
//! router is mounted on and under which prefix. A router that is mounted several
//! times serves its routes at several paths; where there are too many of them, or
//! no mount can be followed, composing stops: a path is never longer than what
//! the source says. Names of constants are filled with their texts.

use rustc_hash::FxHashMap;

use super::eval::{Cx, Eval};
use super::lookup::{Found, Lookup};
use super::relations::Relations;
use super::value::Ty;
use crate::facts::{BLANK, Blank, DefIx, Joins, Router, Term, TermId, filled, joined};
use crate::model::{NodeId, Str};

/// Mounts above a route that are followed.
const MAX_MOUNTS: usize = 16;
/// Paths of one route by the mounts above it.
const MAX_SERVED: usize = 8;
/// Longest path that is composed, in bytes.
const MAX_PATH: usize = 400;
/// Constants that are made of constants are followed this far.
const MAX_CONSTANTS: u32 = 6;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Node(NodeId),
    Local(u32, u32),
    Param(NodeId, u8),
}

type Titles = FxHashMap<NodeId, Str>;
type More = FxHashMap<NodeId, Vec<Str>>;

#[derive(Default)]
struct Said {
    own: Option<String>,
    /// Parent, prefix, and whether it takes the place of its own.
    mounts: Vec<(Option<Key>, String, bool)>,
    otherwise: Option<(Option<Key>, String)>,
}

/// Titles of routes under a prefix, by their nodes, and further ones of those whose
/// routers are mounted more than once.
pub(super) fn titles(lookup: &Lookup<'_>, relations: &Relations) -> (Titles, More) {
    let index = lookup.index;
    let mut eval = Eval::new(lookup, relations);
    let mut said: FxHashMap<Key, Said> = FxHashMap::default();
    for (file, facts) in (0u32..).zip(index.facts) {
        for mount in &facts.mounts {
            let Some(what) = key(&mut eval, file, mount.what) else {
                continue;
            };
            let on = mount.on.and_then(|on| key(&mut eval, file, on));
            let prefix = whole(lookup, file, &mount.prefix, 0);
            let entry = said.entry(what).or_default();
            match mount.joins {
                Joins::Own => entry.own = Some(prefix),
                Joins::Else => entry.otherwise = Some((on, prefix)),
                Joins::Mount => entry.mounts.push((on, prefix, false)),
                Joins::Instead => entry.mounts.push((on, prefix, true)),
            }
        }
    }
    for said in said.values_mut() {
        let mut seen = Vec::with_capacity(said.mounts.len());
        said.mounts.retain(|mount| {
            let is_new = !seen.contains(mount);
            if is_new {
                seen.push(mount.clone());
            }
            is_new
        });
    }
    let mut titles = FxHashMap::default();
    let mut more = FxHashMap::default();
    for (file, facts) in (0u32..).zip(index.facts) {
        for route in &facts.routes {
            let node = index.node(file, route.def);
            let title = facts.name(facts.def(route.def).name);
            let (verb, path) = title.split_once(' ').unwrap_or((title, ""));
            let mut composed = whole(lookup, file, path, 0);
            // A pattern that is a constant may begin with its method.
            let mut verb = verb;
            let stated = composed.clone();
            if let Some((own, rest)) = stated.split_once(' ')
                && verb == "ANY"
                && own.chars().all(|c| c.is_ascii_uppercase())
            {
                verb = own;
                composed = rest.trim_start().to_string();
            }
            let at = route.on.and_then(|on| key(&mut eval, file, on));
            let mut paths = composed_at(&said, composed, at).into_iter();
            let titled = |composed: &str| -> Str {
                crate::facts::one_line(&format!("{verb} {composed}"), MAX_PATH).into()
            };
            let first = paths.next().unwrap_or_default();
            if stated != path || first != path {
                titles.insert(node, titled(&first));
            }
            let others: Vec<Str> = paths.map(|path| titled(&path)).collect();
            if !others.is_empty() {
                more.insert(node, others);
            }
        }
    }
    (titles, more)
}

/// A path on its way up: what it is so far, the router it is on, those it came from.
struct Way {
    path: String,
    at: Option<Key>,
    from: Vec<Key>,
}

/// The whole paths of a route on a router, in the order of its mounts; at least one.
fn composed_at(said: &FxHashMap<Key, Said>, own: String, at: Option<Key>) -> Vec<String> {
    let mut ways = vec![Way {
        path: own,
        at,
        from: Vec::new(),
    }];
    for _ in 0..MAX_MOUNTS {
        let of = |way: &Way| way.at.and_then(|at| said.get(&at));
        if ways.iter().all(|way| of(way).is_none()) {
            break;
        }
        let count: usize = ways
            .iter()
            .map(|way| of(way).map_or(1, |said| said.mounts.len().max(1)))
            .sum();
        let mut next = Vec::new();
        for way in ways {
            let (Some(said), Some(at)) = (of(&way), way.at) else {
                next.push(way);
                continue;
            };
            let several = said.mounts.len() > 1;
            // A function that hands its router to itself adds no path that ends.
            let new = said.mounts.iter().filter(|(above, ..)| {
                !several || above.is_none_or(|above| above != at && !way.from.contains(&above))
            });
            let mut above: Vec<(Option<Key>, &str, bool)> = new
                .filter(|_| !several || count <= MAX_SERVED)
                .map(|(on, prefix, instead)| (*on, prefix.as_str(), *instead))
                .collect();
            if above.is_empty() {
                let otherwise = said.otherwise.as_ref().filter(|_| !several);
                above.push(match otherwise {
                    Some((on, prefix)) => (*on, prefix, false),
                    None => (None, "", false),
                });
            }
            for (above, prefix, instead) in above {
                let mut path = way.path.clone();
                if !instead {
                    path = joined(said.own.as_deref().unwrap_or(""), &path);
                }
                path = joined(prefix, &path);
                let mut from = way.from.clone();
                from.push(at);
                let above = above.filter(|_| path.len() <= MAX_PATH);
                next.push(Way {
                    path,
                    at: above,
                    from,
                });
            }
        }
        ways = next;
    }
    let mut paths: Vec<String> = Vec::with_capacity(ways.len());
    for way in ways {
        if !paths.contains(&way.path) {
            paths.push(way.path);
        }
    }
    paths
}

/// A path with the constants that it names.
fn whole(lookup: &Lookup<'_>, file: u32, path: &str, depth: u32) -> String {
    if !path.contains(BLANK[0]) {
        return path.to_string();
    }
    let index = lookup.index;
    filled(
        path,
        &index.facts[file as usize].blanks,
        &mut |blank: &Blank| {
            if !blank.term.is_known() || depth >= MAX_CONSTANTS {
                return None;
            }
            let mut found = lookup
                .static_path(file, blank.scope, blank.term)
                .into_iter();
            let (Some(Found::Node(node)), None) = (found.next(), found.next()) else {
                return None;
            };
            let (at, def) = index.place_of(node);
            let text = index.facts[at as usize].constant(def)?;
            Some(whole(lookup, at, text, depth + 1))
        },
    )
}

fn key(eval: &mut Eval<'_>, file: u32, router: Router) -> Option<Key> {
    let lookup = eval.lookup;
    match router {
        Router::Def(def) => Some(Key::Node(lookup.index.node(file, def))),
        Router::Local(number) => Some(Key::Local(file, number)),
        Router::Named(scope, term) => named(eval, file, scope, term).map(Key::Node),
        Router::Param(def, place) => Some(Key::Param(lookup.index.node(file, def), place)),
        Router::Given(scope, term, place) => {
            named(eval, file, scope, term).map(|node| Key::Param(node, place))
        }
        Router::Absolute(term) => {
            let index = lookup.index;
            let facts = &index.facts[file as usize];
            let mut names = Vec::new();
            let mut term = term;
            while let Term::Member(base, name) = facts.terms[term.0 as usize] {
                names.push(index.global_name(file, name));
                term = base;
            }
            let Term::Name(first, _) = facts.terms[term.0 as usize] else {
                return None;
            };
            let language = index.language[file as usize]?;
            let from = index.spaces.of_file[file as usize]?;
            let first = index.global_name(file, first);
            super::lookup::refill();
            let mut found = lookup.in_roots(language, from, first);
            while let Some(name) = names.pop() {
                found = found
                    .iter()
                    .flat_map(|from| lookup.member(*from, name, None, 0))
                    .collect();
            }
            one(lookup, &found).map(Key::Node)
        }
    }
}

/// What a term leads to: by its names alone, else as the method of a value.
fn named(eval: &mut Eval<'_>, file: u32, scope: DefIx, term: TermId) -> Option<NodeId> {
    let lookup = eval.lookup;
    let found = lookup.static_path(file, scope, term);
    if !found.is_empty() {
        return one(lookup, &found);
    }
    let facts = &lookup.index.facts[file as usize];
    if !matches!(
        facts.terms[term.0 as usize],
        Term::Member(..) | Term::Method(..)
    ) {
        return None;
    }
    eval.begin();
    let ty = eval.eval(Cx { file, scope }, term);
    let mut nodes = ty.each().iter().filter_map(|ty| match ty {
        Ty::Def(node, _) | Ty::Bound(node, _) => Some(*node),
        _ => None,
    });
    match (nodes.next(), nodes.next()) {
        (Some(node), None) => Some(node),
        _ => None,
    }
}

/// The only definition found; a module's file stands for it where it has no
/// value of its own.
fn one(lookup: &Lookup<'_>, found: &[Found]) -> Option<NodeId> {
    let mut nodes = found.iter().filter_map(|found| match found {
        Found::Node(node) => Some(*node),
        _ => None,
    });
    match (nodes.next(), nodes.next()) {
        (Some(node), None) => return Some(node),
        (Some(_), Some(_)) => return None,
        _ => {}
    }
    let mut spaces = found.iter().filter_map(|found| match found {
        Found::Space(space) => Some(*space),
        _ => None,
    });
    let (Some(space), None) = (spaces.next(), spaces.next()) else {
        return None;
    };
    let file = *lookup.index.spaces.get(space).files.first()?;
    Some(lookup.index.node(file, DefIx::ROOT))
}
