//! Who answers a route of a web framework: `who handles GET /users`.
//!
//! Routes are looked up as such, by their path where the question writes one, else
//! by its words; what answers one is the other end of its edge. A question that no
//! route fits is answered as any other.

use std::fmt::Write as _;

use serde_json::json;

use super::answer::{quote, shown};
use super::notes::{Edge, Notes, Place, Symbol};
use super::plan::Look;
use super::question::{Question, Term};
use super::rank;
use super::words::{each_word, prefix};

/// Routes shown.
const TOP: usize = 5;
/// The share of a question's words that a route must have.
const ENOUGH: f64 = 0.7;
/// Lines quoted of each handler.
const QUOTED: u32 = 8;

/// What a question says of a route.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// Such as `GET`.
    method: Option<String>,
    /// As written, with its slash.
    path: Option<String>,
    /// Whether all routes are asked for, or all of one part.
    all: bool,
}

const METHODS: [&str; 9] = [
    "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "ANY", "TRACE",
];
/// Words that ask for a handler, beside a path or a word for routes.
const HANDLES: &[&str] = &[
    "answer",
    "answered",
    "answers",
    "declared",
    "defined",
    "handle",
    "handled",
    "handler",
    "handlers",
    "handles",
    "handling",
    "implemented",
    "implements",
    "respond",
    "responds",
    "serve",
    "served",
    "serves",
    "view",
];
const ROUTES: &[&str] = &["endpoint", "endpoints", "route", "routes", "url", "urls"];
/// Words of a question for all routes that tell none of them apart.
const LISTS: &[&str] = &[
    "api",
    "app",
    "application",
    "available",
    "code",
    "declare",
    "define",
    "exist",
    "expose",
    "give",
    "list",
    "many",
    "name",
    "offer",
    "program",
    "project",
    "provide",
    "regist",
    "registered",
    "repo",
    "repository",
    "server",
    "service",
    "show",
    "support",
    "supported",
    "web",
];
/// Routes listed when all are asked for; more are counted.
const LISTED: usize = 30;

/// What a text asks of routes; `None` when it does not ask for a handler.
pub(super) fn asked(text: &str) -> Option<Asked> {
    let mut asked = Asked::default();
    for token in text.split(|c: char| c.is_whitespace() || "`\"',;!".contains(c)) {
        let token = token.trim_end_matches(['?', '.']);
        if METHODS.contains(&token) {
            asked.method = Some(token.to_owned());
        } else if token.starts_with('/') && asked.path.is_none() {
            asked.path = Some(token.to_owned());
        }
    }
    let (mut handles, mut routes) = (false, false);
    each_word(text, |word| {
        handles |= HANDLES.contains(&word);
        routes |= ROUTES.contains(&word);
    });
    if asked.path.is_none() && asks_for_all(text) {
        asked.all = true;
        return Some(asked);
    }
    let wanted = match (&asked.method, &asked.path) {
        (Some(_), Some(_)) => true,
        (None, Some(path)) => (handles || routes) && path.len() > 1,
        (_, None) => {
            asked.method = None;
            handles && routes
        }
    };
    wanted.then_some(asked)
}

/// Whether a text asks which routes there are.
fn asks_for_all(text: &str) -> bool {
    let mut words: Vec<String> = Vec::new();
    each_word(text, |word| words.push(word.to_owned()));
    let opens = words.first().is_some_and(|first| {
        matches!(
            &**first,
            "what" | "which" | "list" | "show" | "enumerate" | "how" | "all"
        )
    });
    let plural = |word: &String| matches!(&**word, "routes" | "endpoints" | "urls");
    let Some(at) = words.iter().position(plural).filter(|_| opens) else {
        return false;
    };
    let between = &words[1..at.max(1)];
    let small = |word: &String| {
        matches!(
            &**word,
            "all"
                | "the"
                | "are"
                | "its"
                | "every"
                | "me"
                | "http"
                | "rest"
                | "api"
                | "web"
                | "url"
                | "of"
                | "many"
                | "get"
                | "post"
                | "put"
                | "patch"
                | "delete"
                | "different"
        )
    };
    // How many there are is asked, how they come about is not; nor what they are.
    let counted = words[0] != "how" || words.get(1).is_some_and(|word| word == "many");
    let defined = words[0] == "what" && between.len() == 1 && between[0] == "are";
    let used = words
        .iter()
        .any(|word| matches!(&**word, "call" | "calls" | "use" | "uses"));
    counted && !defined && !used && between.iter().all(small)
}

/// The words that tell the routes of one part from the others, when all are asked for.
fn part(question: &Question) -> impl Iterator<Item = &Term> {
    telling(question).filter(|term| !LISTS.contains(&&*term.word) && !LISTS.contains(&&*term.stem))
}

/// Whether a route's own words, or those of where it is declared, are of that part.
fn in_part(question: &Question, route: &Route<'_>) -> bool {
    let path = route.symbol.place.as_ref().map_or("", |place| &place.path);
    let said = format!("{path} {}", route.name).to_lowercase();
    part(question).all(|term| said.contains(prefix(&term.stem)))
}

/// The words of a question that tell one route from another.
fn telling(question: &Question) -> impl Iterator<Item = &Term> {
    question.terms.iter().filter(|term| {
        !HANDLES.contains(&&*term.word)
            && !ROUTES.contains(&&*term.word)
            && !METHODS.contains(&&*term.word.to_uppercase())
            && !matches!(
                &*term.word,
                "request" | "requests" | "http" | "function" | "method"
            )
    })
}

/// The calls to make for a route.
pub(super) fn looks(question: &Question, notes: &Notes) -> Vec<Look> {
    let Some(asked) = &question.route else {
        return Vec::new();
    };
    if notes.rounds == 0 {
        let mut queries: Vec<String> = asked.path.iter().cloned().collect();
        if asked.all {
            let words: Vec<&str> = part(question).map(|term| prefix(&term.stem)).collect();
            queries.push(match words.as_slice() {
                [] => "/".to_owned(),
                words => words.concat(),
            });
        }
        queries.extend(telling(question).map(|term| prefix(&term.stem).to_owned()));
        queries.dedup();
        return queries
            .into_iter()
            .map(|query| Look {
                tool: "search_symbols",
                arguments: json!({ "query": query, "kind": "route", "limit": 50 }),
            })
            .collect();
    }
    let routes = matching(question, asked, notes);
    let mut looks: Vec<Look> = Vec::new();
    for route in routes.iter().take(LISTED) {
        looks.push(Look {
            tool: "symbol_neighbors",
            arguments: json!({ "name": route.name, "direction": "outgoing", "kinds": ["routes_to"] }),
        });
        let handled = handlers(notes, route.name).filter_map(|edge| edge.other.as_ref());
        if asked.all {
            continue;
        }
        let declared = route.symbol.place.as_ref();
        let answered = notes.neighborhoods.contains_key(route.name);
        let none = answered && handlers(notes, route.name).next().is_none();
        let places = handled.chain(declared.filter(|_| none));
        looks.extend(places.map(|place| Look {
            tool: "read_source",
            arguments: json!({
                "path": place.path,
                "start": place.start,
                "end": place.end.min(place.start + QUOTED - 1),
            }),
        }));
    }
    looks
}

struct Route<'n> {
    name: &'n str,
    symbol: &'n Symbol,
    method: &'n str,
    path: &'n str,
    /// How well it fits, above 0.
    fits: f64,
}

impl Route<'_> {
    fn title(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// The routes that fit best, those that fit as well as each other by name.
fn matching<'n>(question: &Question, asked: &Asked, notes: &'n Notes) -> Vec<Route<'n>> {
    let routes = notes.symbols.iter().filter_map(|(name, symbol)| {
        let (head, path) = rank::plain(name).split_once(' ')?;
        let method = head.rsplit(['.', ':']).next()?;
        let mut route = Route {
            name,
            symbol,
            method,
            path,
            fits: 0.0,
        };
        let is_route = symbol.kind == "route" && symbol.place.is_some();
        route.fits = if is_route {
            fits(question, asked, &route)
        } else {
            0.0
        };
        (route.fits > 0.0).then_some(route)
    });
    let mut routes: Vec<Route<'n>> = routes.collect();
    routes.sort_by(|a, b| {
        let by_fit = b.fits.total_cmp(&a.fits);
        by_fit.then_with(|| a.name.cmp(b.name))
    });
    if asked.all {
        let place = |route: &Route<'n>| route.symbol.place.clone();
        routes.sort_by(|a, b| {
            let by_fit = b.fits.total_cmp(&a.fits);
            by_fit.then_with(|| place(a).cmp(&place(b)))
        });
        // Those of the product's own sources, where it has any.
        let best = routes.first().map_or(0.0, |route| route.fits);
        routes.retain(|route| route.fits >= best - 1e-9);
        return routes;
    }
    let best = routes.first().map_or(0.0, |route| route.fits);
    routes.retain(|route| route.fits >= best - 1e-9);
    routes.truncate(TOP);
    routes
}

fn fits(question: &Question, asked: &Asked, route: &Route<'_>) -> f64 {
    if let Some(method) = &asked.method
        && method != route.method
        && route.method != "ANY"
    {
        return 0.0;
    }
    if asked.all {
        let path = route.symbol.place.as_ref().map_or("", |place| &place.path);
        let own = rank::path_prior(question, path, "");
        return if in_part(question, route) { own } else { 0.0 };
    }
    // A route of that very method is meant before one of all methods.
    let exact = asked.method.as_deref() == Some(route.method);
    let bonus = if exact { 0.1 } else { 0.0 };
    if let Some(path) = &asked.path {
        return same_path(path, route.path).map_or(0.0, |fits| fits + bonus);
    }
    let (title, wide) = (rank::stems(&route.title()), rank::stems(route.name));
    let (mut has, mut all, mut titled) = (0.0, 0.0, 0.0_f64);
    for term in telling(question) {
        let in_title = rank::met(term, &title);
        titled = titled.max(in_title);
        all += term.weight;
        has += term.weight * in_title.max(0.8 * rank::met(term, &wide));
    }
    // Nearly all of it has to be there, and something in the path itself.
    if titled < 0.8 || has < ENOUGH * all {
        return 0.0;
    }
    let path = route.symbol.place.as_ref().map_or("", |place| &place.path);
    has / all * rank::path_prior(question, path, "")
}

/// How well the path of a request fits that of a route, 0 to 1; `None` when it does
/// not. Parts that a route leaves open fit anything, but less than the part itself.
/// A route may be declared without what it is mounted under.
fn same_path(asked: &str, route: &str) -> Option<f64> {
    const MOUNTED: f64 = 0.4;
    fn parts(path: &str) -> Vec<&str> {
        let path = path.trim_start_matches('^').trim_end_matches('$');
        path.split('/').filter(|part| !part.is_empty()).collect()
    }
    let open =
        |part: &str| part.starts_with([':', '{', '<', '*', '(', '[']) || part.contains("(?P");
    let (asked, route) = (parts(asked), parts(route));
    let above = asked.len().checked_sub(route.len())?;
    if above > 0 && !route.iter().any(|part| !open(part)) {
        return None;
    }
    let asked = &asked[above..];
    let mut sum = 0.0;
    for (one, other) in asked.iter().zip(&route) {
        sum += match (one == other, open(one) || open(other)) {
            (true, _) => 1.0,
            (false, true) => 0.5,
            (false, false) => return None,
        };
    }
    #[allow(clippy::cast_precision_loss)]
    let whole = if asked.is_empty() {
        1.0
    } else {
        sum / asked.len() as f64
    };
    Some(if above > 0 { MOUNTED * whole } else { whole })
}

fn handlers<'n>(notes: &'n Notes, route: &str) -> impl Iterator<Item = &'n Edge> {
    let around = notes.neighborhoods.get(route);
    let edges = around.into_iter().flat_map(|around| &around.edges);
    edges.filter(|edge| !edge.incoming && edge.kind == "routes_to")
}

/// The routes and what answers each; `None` when none fits.
pub(super) fn write(question: &Question, notes: &Notes) -> Option<String> {
    let asked = question.route.as_ref()?;
    let routes = matching(question, asked, notes);
    if routes.is_empty() {
        return None;
    }
    if asked.all {
        return Some(listed(notes, &routes));
    }
    let mut text = String::new();
    let mut quoted: Vec<(&str, &Place)> = Vec::new();
    for (i, route) in routes.iter().enumerate() {
        let declared = route.symbol.place.as_ref()?.cite();
        let title = route.title();
        let found: Vec<&Edge> = handlers(notes, route.name).collect();
        if found.is_empty() {
            let _ = writeln!(
                text,
                "{}. {declared} declares {title}; no definition of a name of its own could be told \
                 to answer it",
                i + 1
            );
            quoted.extend(route.symbol.place.as_ref().map(|place| ("", place)));
        }
        for edge in found {
            let place = edge.other.as_ref().unwrap_or(&edge.at);
            let _ = writeln!(
                text,
                "{}. `{}` on {} handles {title}, declared on {declared}",
                i + 1,
                shown(&edge.name),
                place.cite()
            );
            quoted.push((&edge.name, place));
        }
    }
    for (name, place) in quoted {
        let lines: Vec<u32> = notes.lines_in(place).map(|(number, _)| number).collect();
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
            continue;
        };
        let lines = Place {
            path: place.path.clone(),
            start: *first,
            end: (*last).min(first + QUOTED - 1),
        };
        let _ = match name {
            "" => write!(text, "\nThe declaration"),
            name => write!(text, "\n`{}`", shown(name)),
        };
        quote(notes, place, &lines, &mut text);
    }
    Some(text)
}

/// A line for each route, and how many there are.
fn listed(notes: &Notes, routes: &[Route<'_>]) -> String {
    let seen = routes.len();
    // A search that came to its end has shown all of them.
    let unseen = notes.routes_left;
    let mut text = match (seen, unseen) {
        (1, false) => "1 route:\n".to_owned(),
        (n, false) => format!("{n} routes:\n"),
        (n, true) => format!("More than {n} routes; the first ones:\n"),
    };
    for route in routes.iter().take(LISTED) {
        let Some(declared) = route.symbol.place.as_ref().map(Place::cite) else {
            continue;
        };
        let title = route.title();
        let mut found = handlers(notes, route.name).peekable();
        if found.peek().is_none() {
            let _ = writeln!(text, "- {title}, declared on {declared}");
        }
        for edge in found {
            let place = edge.other.as_ref().unwrap_or(&edge.at);
            let _ = writeln!(
                text,
                "- {title}, handled by `{}` on {}, declared on {declared}",
                shown(&edge.name),
                place.cite()
            );
        }
    }
    if seen > LISTED {
        let _ = writeln!(text, "- and {} more", seen - LISTED);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_for_a_handler_is_told_from_what_does_not() {
        for (text, method, path) in [
            ("Who handles GET /users?", Some("GET"), Some("/users")),
            (
                "What is behind `POST /a/{id}`",
                Some("POST"),
                Some("/a/{id}"),
            ),
            ("Which function serves /health", None, Some("/health")),
            ("Where is the login route handled?", None, None),
        ] {
            let asked = asked(text).unwrap();
            assert_eq!(
                (asked.method.as_deref(), asked.path.as_deref()),
                (method, path),
                "{text}"
            );
        }
        for text in [
            "Where is /etc/passwd read?",
            "Where are routes registered?",
            "How are errors handled?",
            "Who calls GET?",
        ] {
            assert_eq!(asked(text), None, "{text}");
        }
    }

    #[test]
    fn what_asks_for_all_routes_is_told_from_what_asks_for_one() {
        for text in [
            "what routes are there?",
            "list all endpoints",
            "Which routes exist?",
            "What URLs does it serve?",
            "what routes does the admin docs app have?",
            "How many endpoints are there?",
        ] {
            assert!(asked(text).is_some_and(|asked| asked.all), "{text}");
        }
        for text in [
            "What are routes?",
            "How are routes registered?",
            "Where are URLs resolved?",
            "Which functions build URLs?",
            "Who handles the login route?",
        ] {
            assert!(!asked(text).is_some_and(|asked| asked.all), "{text}");
        }
        let question = Question::read("what routes does the admin docs app have?");
        let words: Vec<&str> = part(&question).map(|term| &*term.word).collect();
        assert_eq!(words, ["admin", "docs"]);
        for text in [
            "Which routes exist?",
            "What URLs does it serve?",
            "list all endpoints",
        ] {
            assert_eq!(part(&Question::read(text)).count(), 0, "{text}");
        }
    }

    #[test]
    fn open_parts_of_a_path_fit_less_than_the_part_itself() {
        assert_eq!(same_path("/users", "/users/"), Some(1.0));
        assert_eq!(same_path("/users/42", "/users/{id}"), Some(0.75));
        assert_eq!(
            same_path("/users/:id", "^users/(?P<pk>[0-9]+)$"),
            Some(0.75)
        );
        assert_eq!(same_path("/", "/"), Some(1.0));
        assert_eq!(same_path("/users", "/users/{id}"), None);
        assert_eq!(same_path("/users", "/user"), None);
        assert_eq!(same_path("/api/v1/users/4", "/users/:id"), Some(0.4 * 0.75));
        assert_eq!(same_path("/api/v1", "/:id"), None);
        assert_eq!(same_path("/users", "/"), None);
    }
}
