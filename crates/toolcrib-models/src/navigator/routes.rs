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
const ROUTES: &[&str] = &["endpoint", "endpoints", "route", "routes", "url"];

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
    for route in &routes {
        looks.push(Look {
            tool: "symbol_neighbors",
            arguments: json!({ "name": route.name, "direction": "outgoing", "kinds": ["routes_to"] }),
        });
        let handled = handlers(notes, route.name).filter_map(|edge| edge.other.as_ref());
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
    let routes = matching(question, question.route.as_ref()?, notes);
    if routes.is_empty() {
        return None;
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
