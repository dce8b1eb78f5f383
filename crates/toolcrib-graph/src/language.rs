//! What a file's name says about its language.
//!
//! A table of labels, nothing else: the rules of the languages that the graph
//! understands are in `lang`, and a language without rules is listed and
//! readable under its label.

/// The name of the language of a file, by its last path part.
pub(crate) fn language_name(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if let Some((_, language)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some(language);
    }
    if name.starts_with("Dockerfile.") {
        return Some("Dockerfile");
    }
    let (stem, extension) = name.rsplit_once('.')?;
    if stem.is_empty() && !extension.is_empty() {
        return None;
    }
    let extension = extension.to_ascii_lowercase();
    EXTENSIONS
        .binary_search_by(|(known, _)| (*known).cmp(extension.as_str()))
        .ok()
        .map(|i| EXTENSIONS[i].1)
}

const NAMES: &[(&str, &str)] = &[
    ("BUILD", "Starlark"),
    ("BUILD.bazel", "Starlark"),
    ("CMakeLists.txt", "CMake"),
    ("Containerfile", "Dockerfile"),
    ("Dockerfile", "Dockerfile"),
    ("GNUmakefile", "Makefile"),
    ("Gemfile", "Ruby"),
    ("Jenkinsfile", "Groovy"),
    ("Justfile", "Just"),
    ("Makefile", "Makefile"),
    ("Pipfile", "TOML"),
    ("Rakefile", "Ruby"),
    ("SConstruct", "Python"),
    ("WORKSPACE", "Starlark"),
    ("go.mod", "Go module"),
    ("justfile", "Just"),
    ("makefile", "Makefile"),
];

/// Sorted by extension for the search above.
const EXTENSIONS: &[(&str, &str)] = &[
    ("adoc", "AsciiDoc"),
    ("asm", "Assembly"),
    ("bash", "Shell"),
    ("bat", "Batch"),
    ("bats", "Shell"),
    ("bzl", "Starlark"),
    ("c", "C"),
    ("cc", "C++"),
    ("cfg", "INI"),
    ("cjs", "JavaScript"),
    ("clj", "Clojure"),
    ("cljs", "Clojure"),
    ("cmake", "CMake"),
    ("cpp", "C++"),
    ("cppm", "C++"),
    ("cs", "C#"),
    ("css", "CSS"),
    ("csv", "CSV"),
    ("cts", "TypeScript"),
    ("cu", "CUDA"),
    ("cuh", "CUDA"),
    ("cxx", "C++"),
    ("d", "D"),
    ("dart", "Dart"),
    ("el", "Emacs Lisp"),
    ("elm", "Elm"),
    ("erl", "Erlang"),
    ("ex", "Elixir"),
    ("exs", "Elixir"),
    ("f90", "Fortran"),
    ("fish", "Fish"),
    ("fs", "F#"),
    ("gemspec", "Ruby"),
    ("go", "Go"),
    ("gradle", "Groovy"),
    ("graphql", "GraphQL"),
    ("groovy", "Groovy"),
    ("h", "C"),
    ("hcl", "HCL"),
    ("hh", "C++"),
    ("hpp", "C++"),
    ("hs", "Haskell"),
    ("htm", "HTML"),
    ("html", "HTML"),
    ("hxx", "C++"),
    ("ini", "INI"),
    ("inl", "C++"),
    ("ipp", "C++"),
    ("ipynb", "Jupyter notebook"),
    ("ixx", "C++"),
    ("java", "Java"),
    ("jl", "Julia"),
    ("js", "JavaScript"),
    ("json", "JSON"),
    ("json5", "JSON"),
    ("jsonc", "JSON"),
    ("jsonl", "JSON"),
    ("jsx", "JavaScript"),
    ("ksh", "Shell"),
    ("kt", "Kotlin"),
    ("kts", "Kotlin"),
    ("less", "CSS"),
    ("lua", "Lua"),
    ("m", "Objective-C"),
    ("markdown", "Markdown"),
    ("md", "Markdown"),
    ("mdx", "Markdown"),
    ("mjs", "JavaScript"),
    ("ml", "OCaml"),
    ("mli", "OCaml"),
    ("mm", "Objective-C"),
    ("mts", "TypeScript"),
    ("nim", "Nim"),
    ("nix", "Nix"),
    ("php", "PHP"),
    ("phtml", "PHP"),
    ("pl", "Perl"),
    ("pm", "Perl"),
    ("proto", "Protocol Buffers"),
    ("ps1", "PowerShell"),
    ("py", "Python"),
    ("pyi", "Python"),
    ("pyx", "Cython"),
    ("r", "R"),
    ("rake", "Ruby"),
    ("rb", "Ruby"),
    ("rs", "Rust"),
    ("rst", "reStructuredText"),
    ("sass", "CSS"),
    ("sc", "Scala"),
    ("scala", "Scala"),
    ("scss", "CSS"),
    ("sh", "Shell"),
    ("sol", "Solidity"),
    ("sql", "SQL"),
    ("svelte", "Svelte"),
    ("svg", "SVG"),
    ("swift", "Swift"),
    ("tcl", "Tcl"),
    ("tex", "TeX"),
    ("tf", "HCL"),
    ("toml", "TOML"),
    ("tpp", "C++"),
    ("ts", "TypeScript"),
    ("tsv", "CSV"),
    ("tsx", "TypeScript"),
    ("txt", "Text"),
    ("vb", "Visual Basic"),
    ("vim", "Vim script"),
    ("vue", "Vue"),
    ("wgsl", "WGSL"),
    ("xml", "XML"),
    ("yaml", "YAML"),
    ("yml", "YAML"),
    ("zig", "Zig"),
    ("zsh", "Shell"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_are_sorted_so_that_every_one_is_found() {
        assert!(EXTENSIONS.is_sorted_by(|a, b| a.0 < b.0));
        for (extension, language) in EXTENSIONS {
            assert_eq!(
                language_name(&format!("dir/name.{extension}")),
                Some(*language)
            );
        }
    }

    #[test]
    fn names_win_and_the_unknown_has_no_language() {
        for (path, expected) in [
            ("CMakeLists.txt", Some("CMake")),
            ("a/Dockerfile.dev", Some("Dockerfile")),
            ("LICENSE", None),
            (".gitignore", None),
            ("x.RS", Some("Rust")),
            ("", None),
        ] {
            assert_eq!(language_name(path), expected, "{path}");
        }
    }
}
