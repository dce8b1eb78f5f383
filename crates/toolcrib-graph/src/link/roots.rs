//! Which copy is meant where a tree holds the same names in several source roots.
//!
//! A flavour beside the main sources, two versions of a package or a fork repeat
//! qualified names. Whoever builds a file sees one of them: the one in the file's
//! own source root, else the one in the root that has strictly more leading
//! directories in common with the file, else the one whose path the others repeat
//! below further directories that the file is not in: `lib/src`, not
//! `flavour/lib/src`. What none of these decides stays ambiguous.
//! Definitions that share a name within one root are none of this: overloads and
//! conditional definitions stay together.

use super::lookup::{Found, Lookup};
use crate::facts::DefIx;
use crate::model::NodeId;

impl Lookup<'_> {
    /// Of copies in several source roots keeps those that a file means.
    pub(super) fn keep_own_copies(&self, file: u32, found: &mut Vec<Found>) {
        if found.len() < 2 {
            return;
        }
        let mut done = vec![false; found.len()];
        let mut keep = vec![true; found.len()];
        for i in 0..found.len() {
            if done[i] || self.root_of_found(found[i]).is_none() {
                continue;
            }
            let copies: Vec<(usize, &str)> = (i..found.len())
                .filter(|j| !done[*j] && self.same_name(found[i], found[*j]))
                .filter_map(|j| Some((j, self.root_of_found(found[j])?)))
                .collect();
            let roots: Vec<&str> = copies.iter().map(|(_, root)| *root).collect();
            let meant = self.meant_root(file, &roots);
            for (j, root) in copies {
                done[j] = true;
                keep[j] = meant.is_none_or(|meant| meant == root);
            }
        }
        let mut keep = keep.into_iter();
        found.retain(|_| keep.next().unwrap_or(true));
    }

    /// The root among some that a file's names are in; `None` when nothing says.
    pub(super) fn meant_root<'r>(&self, file: u32, roots: &[&'r str]) -> Option<&'r str> {
        let own = self.source_root(file);
        if let Some(root) = roots.iter().find(|root| Some(**root) == own) {
            return Some(root);
        }
        nearest(&self.index.files[file as usize].path, roots)
    }

    /// Whether two things are the same name in different source roots.
    pub(super) fn is_copy(&self, one: Found, other: Found) -> bool {
        match (self.root_of_found(one), self.root_of_found(other)) {
            (Some(a), Some(b)) => a != b && self.same_name(one, other),
            _ => false,
        }
    }

    /// The directory that a file's packages are laid out below.
    fn source_root(&self, file: u32) -> Option<&str> {
        let spaces = &self.index.spaces;
        if let Some(end) = spaces.root_ends.get(&file) {
            return self.index.files[file as usize].path.get(..*end);
        }
        let top = spaces.get(spaces.of_file[file as usize]?).top;
        spaces.root_dirs.get(&top).map(String::as_str)
    }

    fn root_of_found(&self, found: Found) -> Option<&str> {
        match found {
            Found::Node(node) => self.source_root(self.index.place_of(node).0),
            Found::Space(space) => {
                let spaces = &self.index.spaces;
                let top = spaces.get(space).top;
                spaces.root_dirs.get(&top).map(String::as_str)
            }
            Found::Ext { .. } => None,
        }
    }

    fn same_name(&self, one: Found, other: Found) -> bool {
        let spaces = &self.index.spaces;
        match (one, other) {
            (Found::Node(a), Found::Node(b)) => self.same_node_name(a, b),
            (Found::Space(a), Found::Space(b)) => spaces.get(a).prefix == spaces.get(b).prefix,
            _ => false,
        }
    }

    fn same_node_name(&self, one: NodeId, other: NodeId) -> bool {
        let index = self.index;
        let ((file, mut ix), (other_file, mut other_ix)) =
            (index.place_of(one), index.place_of(other));
        let (facts, others) = (
            &index.facts[file as usize],
            &index.facts[other_file as usize],
        );
        while ix != DefIx::ROOT && other_ix != DefIx::ROOT {
            let (def, other) = (facts.def(ix), others.def(other_ix));
            if facts.name(def.name) != others.name(other.name) {
                return false;
            }
            (ix, other_ix) = (def.parent, other.parent);
        }
        let prefix = |file: u32| {
            let space = index.spaces.of_file[file as usize];
            space.map(|space| &index.spaces.get(space).prefix)
        };
        ix == other_ix && prefix(file) == prefix(other_file)
    }
}

/// The root among some that is nearest to a file; `None` when none is.
fn nearest<'r>(path: &str, roots: &[&'r str]) -> Option<&'r str> {
    let most = roots.iter().map(|root| leading(path, root)).max()?;
    let mut tied: Vec<&'r str> = Vec::new();
    for &root in roots {
        if leading(path, root) == most && !tied.contains(&root) {
            tied.push(root);
        }
    }
    // What follows the directories that all have in common with the file.
    let rest = |root: &'r str| {
        let parts = root.split('/').filter(|part| !part.is_empty());
        parts.skip(most).collect::<Vec<_>>()
    };
    let plain = |root: &&'r str| {
        let own = rest(root);
        let mut others = tied.iter().filter(|other| *other != root);
        others.all(|other| rest(other).ends_with(&own))
    };
    tied.iter().copied().find(plain)
}

/// How many leading directories a file and a root have in common.
pub(crate) fn leading(path: &str, root: &str) -> usize {
    let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
    let parts = |text| str::split(text, '/').filter(|part: &&str| !part.is_empty());
    parts(dir)
        .zip(parts(root))
        .take_while(|(a, b)| a == b)
        .count()
}

#[cfg(test)]
mod tests {
    use super::{leading, nearest};

    #[test]
    fn the_plain_root_is_nearer_than_one_below_further_directories() {
        for (path, roots, meant) in [
            (
                "tests/T.java",
                &["lib/src", "flavour/lib/src"][..],
                Some("lib/src"),
            ),
            (
                "tests/T.java",
                &["flavour/lib/src", "lib/src"],
                Some("lib/src"),
            ),
            (
                "flavour/tests/T.java",
                &["lib/src", "flavour/lib/src"],
                Some("flavour/lib/src"),
            ),
            ("tests/t.py", &["v1/src", "v2/src"], None),
            ("tests/t.py", &["v1/src", "v2/lib/src"], None),
            ("a.py", &["", "third/copy"], Some("")),
            ("tests/t.py", &["lib"], Some("lib")),
            ("tests/t.py", &["a/lib", "lib", "b/lib"], Some("lib")),
            ("tests/t.py", &["mylib/src", "lib/src"], None),
            ("t.py", &[], None),
        ] {
            assert_eq!(nearest(path, roots), meant, "{path} {roots:?}");
        }
    }

    #[test]
    fn whole_directories_are_common_not_letters() {
        for (path, root, common) in [
            ("android/tests/T.java", "android/src", 1),
            ("android/tests/T.java", "and", 0),
            ("T.java", "T.java", 0),
            ("a/b/c/x.py", "a/b/c", 3),
            ("a/b/x.py", "", 0),
        ] {
            assert_eq!(leading(path, root), common, "{path} {root}");
        }
    }
}
