//! Texts and files nobody would write.
use crate::table::{bytes, table};
use proptest::prelude::*;
use toolcrib_vectors::Table;

proptest! {
    #[test]
    fn any_text_has_a_vector(text in any::<String>()) {
        let vector = table().embed(&text);
        let alike = vector.similarity(&vector);
        let expected = if vector.is_zero() { 0.0 } else { 1.0 };
        prop_assert!((alike - expected).abs() < 1e-5, "{}", alike);
    }

    #[test]
    fn words_between_noise_are_found(noise in "[ .,:;!?/_\u{0301}\u{200b}\u{4e00}-\u{4e10}-]{0,20}") {
        let text = format!("{noise} close {noise} pull {noise}");
        prop_assert_eq!(table().embed(&text), table().embed("close pull"));
    }

    #[test]
    fn damaged_files_do_not_panic(at in 0usize..400, byte in any::<u8>(), cut in 0usize..2000) {
        let mut bytes = bytes(&[("close", 500), ("pull", 500), ("##s", 5)]);
        bytes.truncate(bytes.len() - cut.min(bytes.len()) * usize::from(cut > 1000));
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        if let Ok(table) = Table::from_bytes(bytes) {
            prop_assert_eq!(table.rows(), 3);
            table.embed("closes pulls");
        }
    }
}
