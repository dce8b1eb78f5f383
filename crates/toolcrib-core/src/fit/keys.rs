//! Property names that an API refuses, and the names that stand for them.
//!
//! A new name depends on the old one alone, so it is the same in whatever object
//! the property ends up; the hash keeps `a<` and `a>` apart after both lost what
//! the API does not take.

use sha2::{Digest, Sha256};

use crate::dialect::PropertyNames;

const MOST: usize = 64;
/// Hexadecimal digits of the old name's hash.
const HASH: usize = 6;

/// The name that stands for `name`; `None` where it can stay.
pub(super) fn renamed(name: &str, rule: PropertyNames) -> Option<String> {
    let allowed = |c: char| match rule {
        PropertyNames::Any => true,
        PropertyNames::Keys => c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'),
        PropertyNames::Identifiers => c.is_ascii_alphanumeric() || c == '_',
    };
    let begins =
        rule != PropertyNames::Identifiers || !name.starts_with(|c: char| c.is_ascii_digit());
    let fits = !name.is_empty() && name.len() <= MOST && begins && name.chars().all(allowed);
    if fits || rule == PropertyNames::Any {
        return None;
    }
    let mut clean = String::with_capacity(name.len() + 2);
    if !begins {
        clean.push('_');
    }
    for c in name.chars() {
        match c {
            '<' => clean.push_str("_lt"),
            '>' => clean.push_str("_gt"),
            c if allowed(c) => clean.push(c),
            _ => clean.push('_'),
        }
    }
    let room = MOST - HASH - 1;
    if clean.len() > room {
        // Generated names differ at their end.
        let (head, tail) = (room / 2 - 1, room - room / 2);
        clean = format!("{}_{}", &clean[..head], &clean[clean.len() - tail..]);
    }
    let digest = Sha256::digest(name.as_bytes());
    let hash: String = digest[..HASH / 2]
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    Some(format!("{clean}_{hash}"))
}

/// Whether `name` may stand for `property` in any dialect.
pub(super) fn stands_for(name: &str, property: &str) -> bool {
    [PropertyNames::Keys, PropertyNames::Identifiers]
        .iter()
        .any(|rule| renamed(property, *rule).is_some_and(|renamed| renamed == name))
}

/// Whether `text` may hold a name of ours; cheap, and true too often.
pub(super) fn may_hold(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.windows(HASH + 2).any(|window| {
        window[0] == b'_'
            && window[HASH + 1] == b'"'
            && window[1..=HASH].iter().all(u8::is_ascii_hexdigit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn comparisons_stay_readable_and_apart() {
        let keys = |name| renamed(name, PropertyNames::Keys);
        assert_eq!(keys("StartTime"), None);
        assert_eq!(keys("x-api.key"), None);
        let (before, after) = (keys("StartTime<").unwrap(), keys("StartTime>").unwrap());
        assert!(before.starts_with("StartTime_lt_"), "{before}");
        assert!(after.starts_with("StartTime_gt_"), "{after}");
        let identifiers = |name| renamed(name, PropertyNames::Identifiers);
        assert!(identifiers("x-api-key").unwrap().starts_with("x_api_key_"));
        assert!(identifiers("3d").unwrap().starts_with("_3d_"));
        assert_eq!(renamed("$filter[0]", PropertyNames::Any), None);
    }

    proptest! {
        #[test]
        fn a_new_name_is_valid_and_stands_for_the_old_one(name in "\\PC{0,90}") {
            for rule in [PropertyNames::Keys, PropertyNames::Identifiers] {
                if let Some(new) = renamed(&name, rule) {
                    prop_assert_eq!(renamed(&new, rule), None);
                    prop_assert!(stands_for(&new, &name));
                    let text = format!("{{\"{new}\":1}}");
                    prop_assert!(may_hold(&text));
                }
            }
        }
    }
}
