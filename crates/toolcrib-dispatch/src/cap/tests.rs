use super::*;
use proptest::prelude::*;

fn texts(content: &[Content]) -> String {
    content.iter().map(as_text).collect()
}

proptest! {
    #[test]
    fn l16_any_text_is_cut_within_its_cap(
        pieces in proptest::collection::vec("([a-zé語]{0,40}\n?){0,12}", 1..4),
        form in prop::sample::select(vec![ResultForm::Lookup, ResultForm::Whole]),
        cap_at in 0_usize..120,
    ) {
        let limits = DispatchLimits { lookup_cap: cap_at, result_cap: cap_at, ..DispatchLimits::default() };
        let content: Vec<_> = pieces.iter().map(|piece| Content::text(piece.as_str())).collect();
        let all = pieces.concat();
        let size = match form {
            ResultForm::Lookup => all.chars().count(),
            _ => all.len(),
        };
        let (kept, cut) = cap(content.clone(), form, &limits, &|_| None);
        let Some(cut) = cut else {
            prop_assert!(size <= cap_at);
            prop_assert_eq!(kept, content);
            return Ok(());
        };
        prop_assert!(size > cap_at);
        prop_assert_eq!(cut.total_bytes as usize, all.len());
        let kept = texts(&kept);
        let (head, tail) = match form {
            ResultForm::Lookup => (kept.strip_suffix(TRUNCATED).unwrap(), ""),
            _ => {
                let at = kept.find("[cut: ").unwrap();
                (&kept[..at], kept[at..].split_once('\n').unwrap().1)
            }
        };
        // A line break may stand between a head without one and the marker.
        let head = if all.starts_with(head) && head.len() + tail.len() == cut.shown_bytes as usize {
            head
        } else {
            head.strip_suffix('\n').unwrap()
        };
        prop_assert!(all.starts_with(head) && all.ends_with(tail));
        prop_assert_eq!(head.len() + tail.len(), cut.shown_bytes as usize);
        let shown = match form {
            ResultForm::Lookup => head.chars().count(),
            _ => head.len() + tail.len(),
        };
        prop_assert!(shown <= cap_at);
    }
}
