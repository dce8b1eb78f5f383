//! Names of sessions: they sort by time, and two processes started at once get
//! two different ones.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A session's name: the time in UTC to the millisecond and fifty random bits,
/// such as `20261130T134924123-k3f9x2m7qd`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

/// Why a text is not a session's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a session id; it has 1 to 64 of a-z, A-Z, 0-9, `-` and `_`")]
pub struct IdError(pub String);

impl SessionId {
    /// A new name for a session that begins now.
    pub fn generate() -> SessionId {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        SessionId::at(now.unwrap_or_default())
    }

    /// A new name for a session that began `since_1970`.
    pub(crate) fn at(since_1970: Duration) -> SessionId {
        const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        let mut bits = random();
        let mut suffix = String::with_capacity(10);
        for _ in 0..10 {
            suffix.push(char::from(ALPHABET[(bits & 31) as usize]));
            bits >>= 5;
        }
        SessionId(format!("{}-{suffix}", timestamp(since_1970)))
    }

    /// Accepts a name given by a person or a file. It can be used as a file name.
    ///
    /// # Errors
    /// [`IdError`] with the rule.
    pub fn parse(text: &str) -> Result<SessionId, IdError> {
        let fine = (1..=64).contains(&text.len())
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if fine {
            Ok(SessionId(text.to_owned()))
        } else {
            Err(IdError(text.to_owned()))
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of its file within the directory of sessions.
    pub fn file_name(&self) -> String {
        format!("{}.jsonl", self.0)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for SessionId {
    type Error = IdError;
    fn try_from(text: String) -> Result<SessionId, IdError> {
        SessionId::parse(&text)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> String {
        id.0
    }
}

/// Bits that no other process has: the standard library's hash keys come from
/// the system's random source, and each state has its own.
fn random() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

/// `20261130T134924123`, by the civil calendar in UTC.
fn timestamp(since_1970: Duration) -> String {
    let seconds = since_1970.as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March here, so that the leap day is the last of its year.
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}{month:02}{day:02}T{:02}{:02}{:02}{:03}",
        rest / 3_600,
        rest / 60 % 60,
        rest % 60,
        since_1970.subsec_millis()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_time_is_civil_utc() {
        let at = |ms| timestamp(Duration::from_millis(ms));
        assert_eq!(at(0), "19700101T000000000");
        assert_eq!(at(951_782_400_000), "20000229T000000000");
        assert_eq!(at(1_709_164_799_999), "20240228T235959999");
        assert_eq!(at(1_735_689_599_000), "20241231T235959000");
        assert_eq!(at(4_107_542_400_000), "21000301T000000000");
    }

    #[test]
    fn a_name_is_never_a_path() {
        for bad in ["", ".", "..", "a/b", "a.jsonl", "ü", &"a".repeat(65)] {
            assert!(SessionId::parse(bad).is_err(), "{bad}");
        }
        let id = SessionId::generate();
        assert_eq!(SessionId::parse(id.as_str()), Ok(id));
    }

    #[test]
    fn many_names_of_one_moment_differ() {
        let now = Duration::from_secs(1);
        let ids: std::collections::HashSet<_> = (0..10_000).map(|_| SessionId::at(now)).collect();
        assert_eq!(ids.len(), 10_000);
    }

    proptest! {
        #[test]
        fn names_sort_by_time(a in 0u64..4_000_000_000_000, b in 0u64..4_000_000_000_000) {
            prop_assume!(a != b);
            let id = |ms| SessionId::at(Duration::from_millis(ms));
            prop_assert_eq!(a < b, id(a) < id(b));
        }
    }
}
