//! Everything by name: symbols of all files, their containers and members.

use rustc_hash::FxHashMap;

use super::spaces::{Placement, SpaceIx, Spaces};
use crate::facts::{Def, DefIx, ExtIx, FileFacts, Flags, Sym};
use crate::lang::{LanguageRules, RULES, Semantics};
use crate::model::{NodeId, NodeKind, Str};
use crate::scan::SourceFile;

/// A name in the table of all files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct GSym(pub(crate) u32);

/// Where a name is a member: a module or a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Container {
    Space(SpaceIx),
    Node(NodeId),
}

/// Members of containers by name, grouped for lookup.
#[derive(Default)]
pub(crate) struct Members {
    ranges: FxHashMap<(Container, GSym), (u32, u32)>,
    of: FxHashMap<Container, (u32, u32)>,
    nodes: Vec<NodeId>,
}

impl Members {
    pub(crate) fn new(mut all: Vec<(Container, GSym, NodeId)>) -> Self {
        all.sort_unstable();
        let mut members = Members::default();
        for (i, (container, name, node)) in all.into_iter().enumerate() {
            let i = i as u32;
            members.ranges.entry((container, name)).or_insert((i, i)).1 = i + 1;
            members.of.entry(container).or_insert((i, i)).1 = i + 1;
            members.nodes.push(node);
        }
        members
    }

    /// In node order.
    pub(crate) fn named(&self, container: Container, name: GSym) -> &[NodeId] {
        self.ranges
            .get(&(container, name))
            .map_or(&[], |(start, end)| {
                &self.nodes[*start as usize..*end as usize]
            })
    }

    /// By name.
    pub(crate) fn all(&self, container: Container) -> &[NodeId] {
        self.of.get(&container).map_or(&[], |(start, end)| {
            &self.nodes[*start as usize..*end as usize]
        })
    }
}

/// The names of all files.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) list: Vec<Str>,
    by_text: FxHashMap<Str, GSym>,
}

impl Names {
    pub(crate) fn intern(&mut self, text: &Str) -> GSym {
        if let Some(sym) = self.by_text.get(text) {
            return *sym;
        }
        let sym = GSym(self.list.len() as u32);
        self.list.push(text.clone());
        self.by_text.insert(text.clone(), sym);
        sym
    }

    pub(crate) fn find(&self, text: &str) -> Option<GSym> {
        self.by_text.get(text).copied()
    }

    pub(crate) fn text(&self, sym: GSym) -> &Str {
        &self.list[sym.0 as usize]
    }
}

/// Names that the linker itself looks for.
pub(crate) struct Words {
    pub(crate) krate: GSym,
    pub(crate) this: GSym,
    pub(crate) above: GSym,
    pub(crate) enter: GSym,
    pub(crate) enter_async: GSym,
    pub(crate) iter: GSym,
    pub(crate) iter_async: GSym,
    pub(crate) next: GSym,
    pub(crate) get_item: GSym,
    pub(crate) target: GSym,
    pub(crate) item: GSym,
    pub(crate) opaque: GSym,
    pub(crate) context: GSym,
    pub(crate) empty: GSym,
    pub(crate) prelude: Vec<GSym>,
}

impl Words {
    fn new(names: &mut Names) -> Self {
        let mut word = |text: &str| names.intern(&Str::from(text));
        Words {
            krate: word("crate"),
            this: word("self"),
            above: word("super"),
            enter: word("__enter__"),
            enter_async: word("__aenter__"),
            iter: word("__iter__"),
            iter_async: word("__aiter__"),
            next: word("__next__"),
            get_item: word("__getitem__"),
            target: word("Target"),
            item: word("Item"),
            opaque: word(crate::link::OPAQUE),
            context: word("ContextManager"),
            empty: word(""),
            prelude: RULES
                .iter()
                .map(|rules| word(rules.semantics().prelude))
                .collect(),
        }
    }
}

/// One project, indexed.
pub(crate) struct Index<'a> {
    pub(crate) files: &'a [SourceFile],
    pub(crate) facts: &'a [FileFacts],
    /// Index into the rules of each file's language.
    pub(crate) language: Vec<Option<usize>>,
    pub(crate) names: Names,
    pub(crate) words: Words,
    /// Local to global names, by file.
    pub(crate) global: Vec<Vec<GSym>>,
    /// First node of each file; one more entry for the end.
    pub(crate) base: Vec<u32>,
    /// File of each node.
    pub(crate) file_of: Vec<u32>,
    pub(crate) spaces: Spaces,
    /// Members by name, extensions' members apart.
    pub(crate) members: Members,
    /// Imports by file: their definitions, sorted, with the import's index.
    pub(crate) import_of: Vec<FxHashMap<DefIx, u32>>,
    /// Glob imports by container.
    pub(crate) globs: FxHashMap<Container, Vec<NodeId>>,
}

impl<'a> Index<'a> {
    pub(crate) fn new(
        files: &'a [SourceFile],
        facts: &'a [FileFacts],
        language: Vec<Option<usize>>,
    ) -> Self {
        let mut names = Names::default();
        let mut global = Vec::with_capacity(files.len());
        let mut base = Vec::with_capacity(files.len() + 1);
        let mut file_of = Vec::new();
        let mut next = 0u32;
        for (i, facts) in facts.iter().enumerate() {
            global.push(facts.names.iter().map(|name| names.intern(name)).collect());
            base.push(next);
            next += facts.defs.len() as u32;
            file_of.resize(next as usize, i as u32);
        }
        base.push(next);
        for word in RULES.iter().flat_map(|rules| rules.library().words()) {
            names.intern(&Str::from(*word));
        }
        let words = Words::new(&mut names);
        for member in RULES
            .iter()
            .filter_map(|rules| rules.semantics().call_member)
        {
            names.intern(&Str::from(member));
        }
        let spaces = place(files, facts, &language);
        let mut index = Index {
            files,
            facts,
            language,
            names,
            words,
            global,
            base,
            file_of,
            spaces,
            members: Members::default(),
            import_of: Vec::new(),
            globs: FxHashMap::default(),
        };
        index.import_of = facts
            .iter()
            .map(|facts| {
                (0u32..)
                    .zip(&facts.imports)
                    .map(|(i, import)| (import.def, i))
                    .collect()
            })
            .collect();
        index.collect_members();
        index
    }

    fn collect_members(&mut self) {
        let mut all = Vec::new();
        let mut globs: FxHashMap<Container, Vec<NodeId>> = FxHashMap::default();
        for file in 0..self.files.len() as u32 {
            let facts = &self.facts[file as usize];
            let by_file = self.rules(file).is_some_and(|r| r.imports_by_file());
            for (i, def) in facts.defs.iter().enumerate().skip(1) {
                if def.flags.has(Flags::UNNAMED) {
                    continue;
                }
                let ix = DefIx(i as u32);
                let node = self.node(file, ix);
                if let Some(ext) = def.ext {
                    // What is defined outside of its class or namespace.
                    if let Some(home) = self.home(file, ext) {
                        all.push((home, self.global_name(file, def.name), node));
                    }
                    continue;
                }
                let around = facts.def(def.parent);
                if around.flags.has(Flags::LEAKS)
                    && def.kind == NodeKind::EnumMember
                    && let Some(outer) = self.container(file, around.parent)
                {
                    all.push((outer, self.global_name(file, def.name), node));
                }
                let container = if def.kind == NodeKind::Import && by_file {
                    Some(self.own_imports(file))
                } else {
                    self.container(file, def.parent)
                };
                let Some(container) = container else {
                    continue;
                };
                if def.kind == NodeKind::Import && self.import(node).is_some_and(|i| i.glob) {
                    globs.entry(container).or_default().push(node);
                    continue;
                }
                all.push((container, self.global_name(file, def.name), node));
            }
        }
        self.members = Members::new(all);
        self.globs = globs;
    }

    pub(crate) fn node_count(&self) -> usize {
        self.file_of.len()
    }

    pub(crate) fn node(&self, file: u32, def: DefIx) -> NodeId {
        NodeId(self.base[file as usize] + def.0)
    }

    pub(crate) fn place_of(&self, node: NodeId) -> (u32, DefIx) {
        let file = self.file_of[node.0 as usize];
        (file, DefIx(node.0 - self.base[file as usize]))
    }

    pub(crate) fn def(&self, node: NodeId) -> &'a Def {
        let (file, ix) = self.place_of(node);
        self.facts[file as usize].def(ix)
    }

    pub(crate) fn global_name(&self, file: u32, sym: Sym) -> GSym {
        self.global[file as usize][sym.0 as usize]
    }

    pub(crate) fn name_of(&self, node: NodeId) -> &'a Str {
        let (file, ix) = self.place_of(node);
        let facts = &self.facts[file as usize];
        facts.name(facts.def(ix).name)
    }

    pub(crate) fn semantics(&self, file: u32) -> Option<&'static Semantics> {
        self.language[file as usize].map(|i| RULES[i].semantics())
    }

    pub(crate) fn rules(&self, file: u32) -> Option<&'static dyn LanguageRules> {
        self.language[file as usize].map(|i| RULES[i])
    }

    /// What a definition is, once it is known where it belongs.
    pub(crate) fn kind_of(&self, node: NodeId) -> NodeKind {
        let def = self.def(node);
        let (file, _) = self.place_of(node);
        match def.ext.and_then(|ext| self.home(file, ext)) {
            Some(Container::Space(_)) if def.kind == NodeKind::Method => NodeKind::Function,
            _ => def.kind,
        }
    }

    /// Whether a file's names are those of what it includes.
    pub(crate) fn textual(&self, file: u32) -> bool {
        self.rules(file).is_some_and(|rules| rules.textual())
    }

    /// Where what is defined outside of it belongs.
    pub(crate) fn home(&self, file: u32, ext: ExtIx) -> Option<Container> {
        self.spaces.homes.get(&(file, ext)).map(|home| match home {
            super::Home::Node(file, def) => Container::Node(self.node(*file, *def)),
            super::Home::Space(space) => Container::Space(*space),
        })
    }

    /// Where the imports of a file are members when they are its own.
    pub(crate) fn own_imports(&self, file: u32) -> Container {
        Container::Node(self.node(file, DefIx::ROOT))
    }

    pub(crate) fn import(&self, node: NodeId) -> Option<&'a crate::facts::Import> {
        let (file, ix) = self.place_of(node);
        let i = if self.import_of.is_empty() {
            // Only while members are collected, before the index is complete.
            return self.facts[file as usize]
                .imports
                .iter()
                .find(|import| import.def == ix);
        } else {
            *self.import_of[file as usize].get(&ix)?
        };
        self.facts[file as usize].imports.get(i as usize)
    }

    /// The module or definition whose members are what is inside a definition.
    pub(crate) fn container(&self, file: u32, def: DefIx) -> Option<Container> {
        if def == DefIx::ROOT {
            return self.spaces.of_file[file as usize].map(Container::Space);
        }
        if let Some(space) = self.spaces.of_def.get(&(file, def)) {
            return Some(Container::Space(*space));
        }
        Some(Container::Node(self.node(file, def)))
    }

    /// The module that a definition is in.
    pub(crate) fn space_around(&self, file: u32, def: DefIx) -> Option<SpaceIx> {
        let facts = &self.facts[file as usize];
        let mut ix = def;
        loop {
            if ix == DefIx::ROOT {
                return self.spaces.of_file[file as usize];
            }
            if let Some(space) = self.spaces.of_def.get(&(file, ix)) {
                return Some(*space);
            }
            ix = facts.def(ix).parent;
        }
    }
}

fn place(files: &[SourceFile], facts: &[FileFacts], language: &[Option<usize>]) -> Spaces {
    let by_path: FxHashMap<&str, u32> = files.iter().map(|f| &*f.path).zip(0u32..).collect();
    let mut spaces = Spaces {
        roots: vec![Vec::new(); RULES.len()],
        of_file: vec![None; files.len()],
        ..Spaces::default()
    };
    for (i, rules) in RULES.iter().enumerate() {
        let own: Vec<u32> = (0u32..)
            .zip(language)
            .filter(|(_, language)| **language == Some(i))
            .map(|(file, _)| file)
            .collect();
        rules.place(&mut Placement {
            files,
            facts,
            own: &own,
            by_path: &by_path,
            spaces: &mut spaces,
            language: i,
            separator: rules.semantics().separator,
        });
    }
    spaces
}
