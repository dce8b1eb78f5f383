//! Java's packages.
//!
//! A package is what its files declare, whatever their directories, so that
//! sources and tests share one. Files that declare none are a package by
//! directory that nothing can import.

use std::collections::BTreeMap;

use crate::facts::DefIx;
use crate::link::Placement;

pub(super) fn place(p: &mut Placement<'_>) {
    if p.own.is_empty() {
        return;
    }
    let root = p.root();
    let mut packages = BTreeMap::new();
    for &file in p.own {
        let name = p.facts[file as usize]
            .def(DefIx::ROOT)
            .signature
            .as_deref()
            .and_then(|text| text.strip_prefix("package "))
            .unwrap_or_default()
            .to_string();
        let path = &p.files[file as usize].path;
        let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
        let key = if name.is_empty() {
            (name, dir.to_string())
        } else {
            (name, String::new())
        };
        packages.entry(key).or_insert_with(Vec::new).push(file);
    }
    for ((name, _), files) in packages {
        let space = p.detached(&name);
        if !name.is_empty() {
            p.attach(root, &name, space);
        }
        let below = name.replace('.', "/");
        for file in files {
            let path = &p.files[file as usize].path;
            let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
            // What is not laid out by its package is a root of its own.
            let end = match dir.strip_suffix(&*below) {
                Some(root) if !below.is_empty() && (root.is_empty() || root.ends_with('/')) => {
                    root.len().saturating_sub(1)
                }
                _ => dir.len(),
            };
            p.root_ends(file, end);
            p.put(file, space);
        }
    }
}
