//! Where the files of C and C++ belong, and what their includes name.
//!
//! All files are one module, and each namespace is one across files; which of
//! the names in it a file sees is a question of its includes. A quoted include
//! is looked for beside the file, then below every directory of the tree, the
//! nearest first; one in angle brackets only below the latter. What is found
//! nowhere is of the system.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::facts::{Def, DefIx, ExtIx, FileFacts, Flags, Term, TermId};
use crate::link::{Home, Placement, SpaceIx};
use crate::model::NodeKind;

pub(in crate::lang) fn place(p: &mut Placement<'_>) {
    if p.own.is_empty() {
        return;
    }
    let program = p.program();
    for &file in p.own {
        p.put(file, program);
    }
    let by_name = by_name(p);
    for &file in p.own {
        includes(p, file, &by_name);
    }
    for &file in p.own {
        namespaces(p, file, program);
    }
    for &file in p.own {
        directives(p, file, program);
    }
    homes(p, program);
}

/// Files of the tree by their last name.
fn by_name(p: &Placement<'_>) -> FxHashMap<String, Vec<u32>> {
    let mut all: FxHashMap<String, Vec<u32>> = FxHashMap::default();
    for (path, file) in p.by_path {
        let name = path.rsplit('/').next().unwrap_or(path);
        all.entry(name.to_string()).or_default().push(*file);
    }
    for files in all.values_mut() {
        files.sort_unstable();
    }
    all
}

fn includes(p: &mut Placement<'_>, file: u32, by_name: &FxHashMap<String, Vec<u32>>) {
    let facts: &FileFacts = &p.facts[file as usize];
    let path = &*p.files[file as usize].path;
    let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
    let mut found = Vec::new();
    for import in &facts.imports {
        let Some(name) = import.path.first() else {
            continue;
        };
        let wanted = facts.name(*name);
        let target = find(p, dir, wanted, import.level > 0, by_name);
        if let Some(target) = target.filter(|target| *target != file) {
            found.push((import.def, target));
        }
    }
    p.say_includes(file, found);
}

fn find(
    p: &Placement<'_>,
    dir: &str,
    wanted: &str,
    quoted: bool,
    by_name: &FxHashMap<String, Vec<u32>>,
) -> Option<u32> {
    if wanted.starts_with('/') {
        return None;
    }
    if quoted
        && let Some(beside) = joined(dir, wanted)
        && let Some(file) = p.by_path.get(beside.as_str())
    {
        return Some(*file);
    }
    let rest = wanted.trim_start_matches("./");
    let mut rest = rest;
    while let Some(below) = rest.strip_prefix("../") {
        rest = below;
    }
    let name = rest.rsplit('/').next().unwrap_or(rest);
    let candidates = by_name.get(name)?;
    let nested = rest.contains('/');
    let mut best: Option<(usize, u32)> = None;
    for &file in candidates {
        let path = &*p.files[file as usize].path;
        let Some(root) = path.strip_suffix(rest) else {
            continue;
        };
        if !root.is_empty() && !root.ends_with('/') {
            continue;
        }
        // `<stdio.h>` is the system's unless it lies in a directory of headers.
        let last = root.trim_end_matches('/').rsplit('/').next().unwrap_or("");
        let is_root = matches!(last, "include" | "inc" | "src" | "lib" | "");
        if !quoted && !nested && !is_root && is_system(rest) {
            continue;
        }
        let near = shared(root, dir);
        if best.is_none_or(|(most, _)| near > most) {
            best = Some((near, file));
        }
    }
    best.map(|(_, file)| file)
}

/// Headers of the standards that projects have names like.
fn is_system(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "alloca",
        "assert",
        "complex",
        "ctype",
        "dirent",
        "dlfcn",
        "endian",
        "errno",
        "fcntl",
        "fenv",
        "float",
        "getopt",
        "glob",
        "grp",
        "inttypes",
        "iso646",
        "libgen",
        "limits",
        "locale",
        "malloc",
        "math",
        "memory",
        "mman",
        "netdb",
        "poll",
        "pthread",
        "pwd",
        "regex",
        "sched",
        "search",
        "semaphore",
        "setjmp",
        "signal",
        "socket",
        "stat",
        "stdalign",
        "stdarg",
        "stdatomic",
        "stdbool",
        "stddef",
        "stdint",
        "stdio",
        "stdlib",
        "string",
        "strings",
        "syslog",
        "termios",
        "threads",
        "time",
        "types",
        "unistd",
        "utime",
        "wchar",
        "wctype",
        "windows",
    ];
    match name.strip_suffix(".h") {
        Some(stem) => NAMES.binary_search(&stem).is_ok(),
        None => true,
    }
}

/// How many directories two paths share.
fn shared(root: &str, dir: &str) -> usize {
    root.split('/')
        .zip(dir.split('/'))
        .take_while(|(a, b)| a == b && !a.is_empty())
        .count()
}

fn joined(dir: &str, wanted: &str) -> Option<String> {
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in wanted.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn namespaces(p: &mut Placement<'_>, file: u32, program: SpaceIx) {
    let facts: &FileFacts = &p.facts[file as usize];
    let mut open: FxHashMap<DefIx, SpaceIx> = FxHashMap::default();
    for (i, def) in (0u32..).zip(&facts.defs) {
        if def.kind != NodeKind::Module {
            continue;
        }
        let around = if def.parent == DefIx::ROOT {
            program
        } else {
            match open.get(&def.parent) {
                Some(space) => *space,
                None => continue,
            }
        };
        let name = facts.name(def.name);
        let space = if def.flags.has(Flags::LEAKS) {
            // An inline namespace can be named, but need not be.
            if !name.starts_with('{') {
                p.attach(around, name, around);
            }
            around
        } else if &**name == "std" && around == program {
            // What a project adds to the library does not make it the project's.
            p.detached("std")
        } else {
            name.split("::")
                .filter(|part| !part.is_empty())
                .fold(around, |space, part| p.child(space, part))
        };
        open.insert(DefIx(i), space);
        p.open(file, DefIx(i), space);
    }
}

/// Namespaces around a definition, outermost last.
fn spaces_around(p: &Placement<'_>, file: u32, def: DefIx, program: SpaceIx) -> Vec<SpaceIx> {
    let facts: &FileFacts = &p.facts[file as usize];
    let mut ix = def;
    let mut all = Vec::new();
    loop {
        if let Some(space) = p.opened(file, ix) {
            let mut at = Some(space);
            while let Some(space) = at {
                all.push(space);
                at = p.parent(space);
            }
            if all.last() != Some(&program) {
                all.push(program);
            }
            return all;
        }
        if ix == DefIx::ROOT {
            all.push(program);
            return all;
        }
        ix = facts.def(ix).parent;
    }
}

/// The names of a path without arguments; `None` when it is none.
fn path_names(facts: &FileFacts, term: TermId) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut term = term;
    loop {
        match facts.terms[term.0 as usize] {
            Term::Apply(base, _) => term = base,
            Term::Member(base, name) => {
                names.push(&**facts.name(name));
                term = base;
            }
            Term::Name(name, _) => {
                names.push(&**facts.name(name));
                names.reverse();
                return Some(names);
            }
            _ => return None,
        }
    }
}

fn space_of(p: &Placement<'_>, from: &[SpaceIx], names: &[&str]) -> Option<SpaceIx> {
    let (from, names) = match names.split_first() {
        Some((&"::", rest)) => (from.last().map(std::slice::from_ref)?, rest),
        _ => (from, names),
    };
    from.iter().find_map(|space| {
        names
            .iter()
            .try_fold(*space, |space, name| p.inner(space, name))
    })
}

/// `using namespace …` of a file, wherever it stands.
fn directives(p: &mut Placement<'_>, file: u32, program: SpaceIx) {
    let facts: &FileFacts = &p.facts[file as usize];
    let mut used = Vec::new();
    for import in facts.imports.iter().filter(|i| i.glob && i.path.is_empty()) {
        let def = facts.def(import.def);
        let Some(names) = path_names(facts, def.ty) else {
            continue;
        };
        let around = spaces_around(p, file, def.parent, program);
        if let Some(space) = space_of(p, &around, &names)
            && !used.contains(&space)
        {
            used.push(space);
        }
    }
    p.say_used(file, used);
}

/// Classes by their full names.
type Classes = FxHashMap<String, Vec<(u32, DefIx)>>;

fn is_class(def: &Def) -> bool {
    matches!(def.kind, NodeKind::Class | NodeKind::Struct)
}

/// Finds the classes and namespaces that definitions outside of them belong to.
fn homes(p: &mut Placement<'_>, program: SpaceIx) {
    let any = p
        .own
        .iter()
        .any(|file| !p.facts[*file as usize].extensions.is_empty());
    if !any {
        return;
    }
    let mut classes: Classes = FxHashMap::default();
    let all = p.program_files().to_vec();
    for &file in &all {
        let facts: &FileFacts = &p.facts[file as usize];
        for (i, def) in (0u32..).zip(&facts.defs) {
            if is_class(def)
                && def.ext.is_none()
                && let Some(name) = full_name(p, file, DefIx(i))
            {
                classes.entry(name).or_default().push((file, DefIx(i)));
            }
        }
    }
    let mut found: BTreeMap<(u32, ExtIx), Home> = BTreeMap::new();
    // Classes that are themselves defined elsewhere come first.
    for for_classes in [true, false] {
        for &file in p.own {
            let facts: &FileFacts = &p.facts[file as usize];
            for (i, def) in (0u32..).zip(&facts.defs) {
                let Some(ext) = def.ext else { continue };
                if is_class(def) != for_classes || found.contains_key(&(file, ext)) {
                    continue;
                }
                let Some((home, name)) = home_of(p, file, ext, program, &classes) else {
                    continue;
                };
                found.insert((file, ext), home);
                if for_classes {
                    let own = format!("{name}::{}", facts.name(def.name));
                    classes.entry(own).or_default().push((file, DefIx(i)));
                }
            }
        }
    }
    for ((file, ext), home) in found {
        p.say_home(file, ext, home);
    }
}

/// A class's name with the namespaces and classes around it; `None` inside functions.
fn full_name(p: &Placement<'_>, file: u32, def: DefIx) -> Option<String> {
    let facts: &FileFacts = &p.facts[file as usize];
    let mut names = vec![&**facts.name(facts.def(def).name)];
    let mut ix = facts.def(def).parent;
    for _ in 0..64 {
        if ix == DefIx::ROOT {
            names.reverse();
            return Some(names.join("::"));
        }
        if let Some(space) = p.opened(file, ix) {
            names.reverse();
            let prefix = p.prefix(space);
            let own = names.join("::");
            return Some(if prefix.is_empty() {
                own
            } else {
                format!("{prefix}::{own}")
            });
        }
        let around = facts.def(ix);
        if !is_class(around) || around.ext.is_some() {
            return None;
        }
        names.push(facts.name(around.name));
        ix = around.parent;
    }
    None
}

fn home_of(
    p: &Placement<'_>,
    file: u32,
    ext: ExtIx,
    program: SpaceIx,
    classes: &Classes,
) -> Option<(Home, String)> {
    let facts: &FileFacts = &p.facts[file as usize];
    let extension = &facts.extensions[ext.0 as usize];
    let names = path_names(facts, extension.self_ty)?;
    let mut around = spaces_around(p, file, extension.parent, program);
    around.extend(p.used(file));
    let names: &[&str] = match names.split_first() {
        Some((&"::", rest)) => {
            around = vec![program];
            rest
        }
        _ => &names,
    };
    let path = names.join("::");
    for space in &around {
        let prefix = p.prefix(*space);
        let full = if prefix.is_empty() {
            path.clone()
        } else {
            format!("{prefix}::{path}")
        };
        if let Some(candidates) = classes.get(&full)
            && let Some((at, def)) = nearest(p, file, candidates)
        {
            return Some((Home::Node(at, def), full));
        }
        if let Some(space) = space_of(p, std::slice::from_ref(space), names) {
            return Some((Home::Space(space), full));
        }
    }
    None
}

/// Of several classes of one name the one in the file or in what it includes.
fn nearest(p: &Placement<'_>, file: u32, all: &[(u32, DefIx)]) -> Option<(u32, DefIx)> {
    if let [one] = all {
        return Some(*one);
    }
    let own = all.iter().find(|(at, _)| *at == file);
    own.or_else(|| {
        let seen = p.seen_from(file);
        all.iter().find(|(at, _)| seen.contains(at))
    })
    .copied()
}
