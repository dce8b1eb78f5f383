//! Whether a header that either language could own is C++.

use crate::language::language_name;

/// Whether a tree has C++ sources and no C ones, so that its `.h` are C++.
pub(crate) fn only_cpp<'p>(paths: impl Iterator<Item = &'p str>) -> bool {
    let mut any = false;
    for path in paths {
        match language_name(path) {
            Some("C++" | "CUDA") => any = true,
            Some("C") if !path.to_ascii_lowercase().ends_with(".h") => return false,
            _ => {}
        }
    }
    any
}

/// Whether the text of a header has what only C++ has. What `__cplusplus`
/// guards says nothing: headers of C have it for the sake of C++.
pub(crate) fn is_cpp_header(text: &str) -> bool {
    let mut guarded = 0u32;
    let mut in_comment = false;
    for line in text.lines() {
        let line = line.trim_start();
        if in_comment {
            in_comment = !line.contains("*/");
            continue;
        }
        if line.starts_with("/*") {
            in_comment = !line.contains("*/");
            continue;
        }
        if line.starts_with("//") {
            continue;
        }
        if let Some(rest) = line.strip_prefix('#') {
            let rest = rest.trim_start();
            if rest.starts_with("if") {
                if guarded > 0 || rest.contains("__cplusplus") {
                    guarded += 1;
                }
            } else if rest.starts_with("endif") {
                guarded = guarded.saturating_sub(1);
            } else if guarded == 1 && rest.starts_with("el") {
                guarded = 0;
            } else if guarded == 0
                && let Some(path) = rest.strip_prefix("include")
                && let Some(path) = path.trim_start().strip_prefix('<')
                && let Some((path, _)) = path.split_once('>')
                && !path.contains('.')
                && !path.contains('/')
            {
                return true;
            }
            continue;
        }
        if guarded > 0 {
            continue;
        }
        let starts = [
            "class ",
            "namespace ",
            "template <",
            "template<",
            "public:",
            "private:",
            "protected:",
            "virtual ",
            "using ",
            "constexpr ",
            "explicit ",
            "friend ",
        ];
        if starts.iter().any(|word| line.starts_with(word)) && !line.starts_with("class =") {
            return true;
        }
        if line.contains("std::") || line.contains(" operator==(") || line.contains("nullptr") {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_told_by_what_only_one_language_has() {
        assert!(is_cpp_header("namespace a {\n}\n"));
        assert!(is_cpp_header("#include <vector>\n"));
        assert!(is_cpp_header("  struct A {\n  virtual ~A();\n};\n"));
        assert!(!is_cpp_header(
            "#include <stdio.h>\nstruct a { int class_; };\n"
        ));
        assert!(!is_cpp_header(
            "#ifdef __cplusplus\nnamespace x {\nextern \"C\" {\n#endif\nint f(void);\n"
        ));
        assert!(!is_cpp_header(
            "/* class A\n class B */\n// using x\nint f();\n"
        ));
    }

    #[test]
    fn a_tree_of_cpp_alone_has_cpp_headers() {
        assert!(only_cpp(["a.cc", "a.h", "x.py"].into_iter()));
        assert!(!only_cpp(["a.cc", "b.c", "a.h"].into_iter()));
        assert!(!only_cpp(["a.h"].into_iter()));
    }
}
