//! The tree of modules that imports walk through.

use rustc_hash::FxHashMap;

use super::textual::Home;
use crate::facts::{DefIx, ExtIx, FileFacts};
use crate::scan::SourceFile;

/// Index of a module: a file, a directory, an inline module, a crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SpaceIx(pub(crate) u32);

/// One module.
#[derive(Debug)]
pub(crate) struct Space {
    pub(crate) parent: Option<SpaceIx>,
    /// The module at the top: a crate or a source root.
    pub(crate) top: SpaceIx,
    /// The crate or package: the outermost module below a root.
    pub(crate) krate: SpaceIx,
    is_root: bool,
    /// The qualified name of what is in it, without its own.
    pub(crate) prefix: String,
    pub(crate) children: FxHashMap<String, SpaceIx>,
    /// The name it gives itself, where that need not be the last of its path.
    pub(crate) own_name: String,
    /// Files whose top-level definitions are its members.
    pub(crate) files: Vec<u32>,
}

/// All modules of all languages.
#[derive(Debug, Default)]
pub(crate) struct Spaces {
    pub(crate) list: Vec<Space>,
    /// By language: modules whose children can be imported from anywhere.
    pub(crate) roots: Vec<Vec<SpaceIx>>,
    /// The directories that roots stand for, where they stand for one.
    pub(crate) root_dirs: FxHashMap<SpaceIx, String>,
    /// Where a file's source root ends in its path, where modules span roots.
    pub(crate) root_ends: FxHashMap<u32, usize>,
    /// The module of each file.
    pub(crate) of_file: Vec<Option<SpaceIx>>,
    /// The modules that definitions open: inline and declared ones.
    pub(crate) of_def: FxHashMap<(u32, DefIx), SpaceIx>,
    /// The one module of languages whose files are included as text.
    pub(crate) program: Option<SpaceIx>,
    /// By file: its includes and the files that they name.
    pub(crate) includes: FxHashMap<u32, Vec<(DefIx, u32)>>,
    /// By file: modules whose names it uses as its own.
    pub(crate) used: FxHashMap<u32, Vec<SpaceIx>>,
    /// Where what is defined outside of its class or module belongs.
    pub(crate) homes: FxHashMap<(u32, ExtIx), Home>,
}

impl Spaces {
    pub(crate) fn get(&self, ix: SpaceIx) -> &Space {
        &self.list[ix.0 as usize]
    }
}

/// What a language's rules place their files with.
pub(crate) struct Placement<'a> {
    pub(crate) files: &'a [SourceFile],
    pub(crate) facts: &'a [FileFacts],
    /// The files of the language being placed, in path order.
    pub(crate) own: &'a [u32],
    pub(crate) by_path: &'a FxHashMap<&'a str, u32>,
    pub(crate) spaces: &'a mut Spaces,
    pub(crate) language: usize,
    pub(crate) separator: &'static str,
}

impl Placement<'_> {
    /// A module outside the tree of imports.
    pub(crate) fn detached(&mut self, prefix: &str) -> SpaceIx {
        let ix = SpaceIx(self.spaces.list.len() as u32);
        self.spaces.list.push(Space {
            parent: None,
            top: ix,
            krate: ix,
            is_root: false,
            prefix: prefix.to_string(),
            children: FxHashMap::default(),
            own_name: String::new(),
            files: Vec::new(),
        });
        ix
    }

    /// A module whose children can be imported by their names.
    pub(crate) fn root(&mut self) -> SpaceIx {
        let ix = self.detached("");
        self.spaces.list[ix.0 as usize].is_root = true;
        self.spaces.roots[self.language].push(ix);
        ix
    }

    /// A root that stands for a directory.
    pub(crate) fn root_at(&mut self, dir: &str) -> SpaceIx {
        let root = self.root();
        self.spaces.root_dirs.insert(root, dir.to_string());
        root
    }

    /// Says that a detached module belongs to a root.
    pub(crate) fn belong(&mut self, space: SpaceIx, root: SpaceIx) {
        self.spaces.list[space.0 as usize].top = root;
    }

    /// Says where a file's source root ends in its path.
    pub(crate) fn root_ends(&mut self, file: u32, end: usize) {
        self.spaces.root_ends.insert(file, end);
    }

    /// The inner module of a name, made when it is new.
    pub(crate) fn child(&mut self, parent: SpaceIx, name: &str) -> SpaceIx {
        if let Some(child) = self.spaces.get(parent).children.get(name) {
            return *child;
        }
        let above = self.spaces.get(parent);
        let prefix = if above.prefix.is_empty() {
            name.to_string()
        } else {
            format!("{}{}{name}", above.prefix, self.separator)
        };
        let ix = SpaceIx(self.spaces.list.len() as u32);
        let top = above.top;
        let krate = if above.is_root { ix } else { above.krate };
        self.spaces.list.push(Space {
            parent: Some(parent),
            top,
            krate,
            is_root: false,
            prefix,
            children: FxHashMap::default(),
            own_name: String::new(),
            files: Vec::new(),
        });
        self.attach(parent, name, ix);
        ix
    }

    /// Makes a module importable under a name; the first one keeps it.
    pub(crate) fn attach(&mut self, parent: SpaceIx, name: &str, child: SpaceIx) {
        self.spaces.list[parent.0 as usize]
            .children
            .entry(name.to_string())
            .or_insert(child);
    }

    /// Says what a module calls itself.
    pub(crate) fn say_name(&mut self, space: SpaceIx, name: &str) {
        self.spaces.list[space.0 as usize].own_name = name.to_string();
    }

    /// Puts a module inside another without a name of its own in its members'.
    pub(crate) fn within(&mut self, parent: SpaceIx, name: &str, child: SpaceIx) {
        self.spaces.list[child.0 as usize].parent = Some(parent);
        self.attach(parent, name, child);
    }

    /// Says where a file's definitions belong.
    pub(crate) fn put(&mut self, file: u32, space: SpaceIx) {
        self.spaces.of_file[file as usize] = Some(space);
        self.spaces.list[space.0 as usize].files.push(file);
    }

    pub(crate) fn is_placed(&self, file: u32) -> bool {
        self.spaces.of_file[file as usize].is_some()
    }

    /// Says which module a definition opens.
    pub(crate) fn open(&mut self, file: u32, def: DefIx, space: SpaceIx) {
        self.spaces.of_def.insert((file, def), space);
    }
}
