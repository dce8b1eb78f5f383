//! Routes of web frameworks: what they are under, and who answers them.
//!
//! A route's path is often stated in parts: by the router it is added to and by
//! whoever mounts that router, maybe in another file. Rules write down each part
//! where it stands; the linker composes them where exactly one way is stated.

use super::{DefIx, TermId};
use crate::model::Str;

/// What routes are added to, or what is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Router {
    /// A definition of this file: a function that builds routes, or a handler.
    Def(DefIx),
    /// What a path of names leads to from a scope.
    Named(DefIx, TermId),
    /// What a path of names from outside leads to, whatever is in scope.
    Absolute(TermId),
    /// A variable inside a function, by a number of the rules' own.
    Local(u32),
}

/// One route's own part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RouteFact {
    pub(crate) def: DefIx,
    pub(crate) on: Option<Router>,
}

/// How a prefix joins others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug)]
pub(crate) struct Mount {
    pub(crate) on: Option<Router>,
    pub(crate) what: Router,
    pub(crate) prefix: Str,
    pub(crate) joins: Joins,
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
    use super::joined;

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
