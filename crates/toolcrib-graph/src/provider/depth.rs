//! A bound on nesting before a text is parsed.
//!
//! Parsers and queries over their trees take time with the square of the depth in
//! some grammars, so a file of nothing but brackets could hold up everything. What
//! is inside of too many is blanked in the text that is parsed, every place kept.
//! Brackets are counted by their bytes alone: strings and comments that hold many
//! unpaired ones are no reason to know each language's quotes here, as long as the
//! bound is far above what they come to.

/// Brackets around what is still read.
const MAX_DEPTH: usize = 5_000;

/// The text without what nests too deeply, of the same length; `None` where nothing
/// does. Brackets without their pair are blanked alone, so that what comes after
/// them is kept.
pub(super) fn bounded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out: Option<Vec<u8>> = None;
    let mut depth = 0usize;
    let mut from = 0;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => {
                depth += 1;
                if depth == MAX_DEPTH + 1 {
                    from = at;
                }
            }
            b')' | b']' | b'}' => {
                if depth == MAX_DEPTH + 1 {
                    blank(&mut out, bytes, from, at + 1, |byte| byte != b'\n');
                }
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    if depth > MAX_DEPTH {
        blank(&mut out, bytes, from, bytes.len(), |byte| {
            matches!(byte, b'(' | b'[' | b'{' | b')' | b']' | b'}')
        });
    }
    out.and_then(|bytes| String::from_utf8(bytes).ok())
}

fn blank(
    out: &mut Option<Vec<u8>>,
    bytes: &[u8],
    from: usize,
    until: usize,
    goes: impl Fn(u8) -> bool,
) {
    let out = out.get_or_insert_with(|| bytes.to_vec());
    for byte in &mut out[from..until] {
        if goes(*byte) {
            *byte = b' ';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_DEPTH, bounded};

    #[test]
    fn what_is_inside_of_too_many_brackets_is_blanked_in_place() {
        let open = "(".repeat(MAX_DEPTH);
        let close = ")".repeat(MAX_DEPTH);
        assert_eq!(bounded(&format!("{open}x{close}(y)")), None);
        let deep = format!("{open}a[é\n(b)]c{close}[d]");
        let kept = format!("{open}a   \n    c{close}[d]");
        assert_eq!(bounded(&deep), Some(kept));
        // Without its pair, a bracket is blanked alone.
        let unpaired = format!("{open}(\nfn after() {{}}\n");
        let kept = format!("{open} \nfn after     \n");
        assert_eq!(bounded(&unpaired), Some(kept));
        assert_eq!(bounded(")))"), None);
    }
}
