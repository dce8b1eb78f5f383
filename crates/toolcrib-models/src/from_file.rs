//! What a model out of a file is called.

use std::path::Path;

/// By which the same file is found from another directory, as when a session is
/// taken up again.
pub(crate) fn id(word: &str, file: &Path) -> String {
    let whole = std::path::absolute(file);
    let whole = whole.as_deref().unwrap_or(file);
    format!("{word}:{}", whole.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_names_the_file_from_everywhere() {
        let here = std::env::current_dir().unwrap();
        let id = id("script", Path::new("files/n 3.x"));
        let whole = here.join("files/n 3.x");
        assert_eq!(id, format!("script:{}", whole.display()));
        let spec = crate::ModelSpec::parse(&id).unwrap();
        assert_eq!(spec.to_string(), id);
        assert_eq!(super::id("script", &whole), id);
    }
}
