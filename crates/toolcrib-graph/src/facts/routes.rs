//! Routes of web frameworks: what they are under, and who answers them.
//!
//! A route's path is often stated in parts: by the router it is added to and by
//! whoever mounts that router, maybe in another file. Rules write down each part
//! where it stands; the linker composes them where exactly one way is stated.
//! A part that is the name of a constant is left [blank](Blank), since its text may
//! be in another file.

use serde::{Deserialize, Serialize};

use super::{DefIx, TermId};
use crate::model::Str;

/// What routes are added to, or what is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Router {
    /// A definition of this file: a function that builds routes, or a handler.
    Def(DefIx),
    /// What a path of names leads to from a scope.
    Named(DefIx, TermId),
    /// What a path of names from outside leads to, whatever is in scope.
    Absolute(TermId),
    /// A variable inside a function, by a number of the rules' own.
    Local(u32),
    /// A parameter of a function, by its place.
    Param(DefIx, u8),
    /// What the function that a term leads to takes at a place.
    Given(DefIx, TermId, u8),
}

/// A part of a path that is written as an expression.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Blank {
    pub(crate) scope: DefIx,
    pub(crate) term: TermId,
    /// As it is written.
    pub(crate) shown: Str,
}

/// Around the number of a blank in the text of a path: no source has them there.
pub(crate) const BLANK: [char; 2] = ['\u{1}', '\u{2}'];

/// One route's own part.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct RouteFact {
    pub(crate) def: DefIx,
    pub(crate) on: Option<Router>,
}

/// A route that is none if what it is added to turns out to be no router.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Doubt {
    pub(crate) route: DefIx,
    pub(crate) scope: DefIx,
    /// What its method is called on.
    pub(crate) receiver: TermId,
}

/// How a prefix joins others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Joins {
    /// The router's own, after those of its mounts.
    Own,
    /// Said where it is mounted.
    Mount,
    /// Said where it is mounted, in place of its own.
    Instead,
    /// Holds unless it is mounted elsewhere.
    Else,
}

/// A prefix of everything on a router.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Mount {
    pub(crate) on: Option<Router>,
    pub(crate) what: Router,
    pub(crate) prefix: Str,
    pub(crate) joins: Joins,
}

/// A path with its blanks filled by `value`; what has none is shown as `${it}`.
pub(crate) fn filled(
    path: &str,
    blanks: &[Blank],
    value: &mut dyn FnMut(&Blank) -> Option<String>,
) -> String {
    let mut out = String::with_capacity(path.len());
    for (i, piece) in path.split(BLANK[0]).enumerate() {
        let rest = match piece.split_once(BLANK[1]) {
            Some((number, rest)) if i > 0 => {
                let blank = number.parse().ok().and_then(|n: usize| blanks.get(n));
                if let Some(blank) = blank {
                    match value(blank) {
                        Some(text) => push_part(&mut out, &text),
                        None => {
                            out.push_str("${");
                            out.push_str(&blank.shown);
                            out.push('}');
                        }
                    }
                }
                rest
            }
            // A title that was cut inside of a blank.
            _ if i > 0 => "",
            _ => piece,
        };
        push_part(&mut out, rest);
    }
    out
}

fn push_part(out: &mut String, part: &str) {
    let part = match part.strip_prefix('/') {
        Some(rest) if out.ends_with('/') => rest,
        _ => part,
    };
    out.push_str(part);
}

/// One slash between two parts, and the anchor of a pattern only at the start.
pub(crate) fn joined(prefix: &str, path: &str) -> String {
    if prefix.is_empty() {
        return path.to_string();
    }
    let path = path.trim_start_matches('^');
    match path.strip_prefix('/') {
        Some("") => prefix.to_string(),
        Some(rest) => format!("{}/{rest}", prefix.trim_end_matches('/')),
        None if path.is_empty() => prefix.to_string(),
        None => format!("{}/{path}", prefix.trim_end_matches('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::{Blank, filled, joined};
    use crate::facts::{DefIx, TermId};

    #[test]
    fn blanks_are_filled_or_shown() {
        let blanks = ["api", "other"].map(|shown| Blank {
            scope: DefIx::ROOT,
            term: TermId::UNKNOWN,
            shown: shown.into(),
        });
        let mut value = |blank: &Blank| (&*blank.shown == "api").then(|| "/api/".to_string());
        for (path, expected) in [
            ("/x", "/x"),
            ("\u{1}0\u{2}/x", "/api/x"),
            ("/\u{1}0\u{2}", "/api/"),
            ("\u{1}0\u{2}\u{1}1\u{2}/y", "/api/${other}/y"),
            ("/z\u{1}9\u{2}", "/z"),
            ("/z\u{1}", "/z"),
        ] {
            assert_eq!(filled(path, &blanks, &mut value), expected);
        }
    }

    #[test]
    fn parts_of_a_path_have_one_slash_between_them() {
        for (prefix, path, expected) in [
            ("", "/x", "/x"),
            ("/api", "/x", "/api/x"),
            ("/api/", "/x", "/api/x"),
            ("/api", "/", "/api"),
            ("/api/", "x/", "/api/x/"),
            ("/api/", "^x/$", "/api/x/$"),
            ("/api", "", "/api"),
        ] {
            assert_eq!(joined(prefix, path), expected);
        }
    }
}
