//! What a file's name, or a script's first line, says about its language.
//!
//! A table of labels, nothing else: the rules of the languages that the graph
//! understands are in `lang`, and a language without rules is listed and
//! readable under its label.

use crate::scan::SourceFile;

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

/// The name of the language of a file, by its name or else its first line.
pub(crate) fn language_of_file(file: &SourceFile) -> Option<&'static str> {
    language_name(&file.path).or_else(|| script_language(&file.text))
}

/// The name of the language of a script that only its first line tells, by the
/// interpreter that it names.
fn script_language(text: &str) -> Option<&'static str> {
    let line = text.lines().next()?.strip_prefix("#!")?;
    let program = |word: &'_ str| word.rsplit('/').next().unwrap_or(word).to_string();
    let mut words = line.split_whitespace();
    let mut name = program(words.next()?);
    if name == "env" {
        // Its options and what it sets come before the interpreter.
        name = program(words.find(|word| !word.starts_with('-') && !word.contains('='))?);
    }
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    INTERPRETERS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, language)| *language)
}

const INTERPRETERS: &[(&str, &str)] = &[
    ("ash", "Shell"),
    ("bash", "Shell"),
    ("bats", "Shell"),
    ("bun", "TypeScript"),
    ("dash", "Shell"),
    ("deno", "TypeScript"),
    ("elixir", "Elixir"),
    ("escript", "Erlang"),
    ("fish", "Fish"),
    ("groovy", "Groovy"),
    ("ipython", "Python"),
    ("jruby", "Ruby"),
    ("julia", "Julia"),
    ("just", "Just"),
    ("kotlin", "Kotlin"),
    ("ksh", "Shell"),
    ("lua", "Lua"),
    ("luajit", "Lua"),
    ("make", "Makefile"),
    ("node", "JavaScript"),
    ("nodejs", "JavaScript"),
    ("osascript", "AppleScript"),
    ("perl", "Perl"),
    ("php", "PHP"),
    ("pwsh", "PowerShell"),
    ("pypy", "Python"),
    ("python", "Python"),
    ("pythonw", "Python"),
    ("Rscript", "R"),
    ("ruby", "Ruby"),
    ("runhaskell", "Haskell"),
    ("scala", "Scala"),
    ("sh", "Shell"),
    ("swift", "Swift"),
    ("tclsh", "Tcl"),
    ("ts-node", "TypeScript"),
    ("tsx", "TypeScript"),
    ("zsh", "Shell"),
];

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
    fn a_script_is_of_the_language_of_the_interpreter_it_names() {
        for (text, expected) in [
            ("#!/usr/bin/env python3\nx = 1\n", Some("Python")),
            ("#!/usr/bin/python3.12 -u\n", Some("Python")),
            ("#! /bin/sh\n", Some("Shell")),
            ("#!/usr/bin/env -S LC_ALL=C ruby -w\r\n", Some("Ruby")),
            (
                "#!/usr/bin/env -S deno run --allow-net\n",
                Some("TypeScript"),
            ),
            ("#!/usr/bin/lua5.4\n", Some("Lua")),
            ("#!/usr/bin/perl\n", Some("Perl")),
            ("#!/opt/own/tool\n", None),
            ("#!\n", None),
            ("#!/usr/bin/env\n", None),
            ("# !/bin/sh\n", None),
            ("", None),
        ] {
            assert_eq!(script_language(text), expected, "{text}");
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
