//! Call ids that are unique within a session.
//!
//! Some servers send no id, some the same in every turn. An id that meets an
//! earlier one would give a call two results.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use toolcrib_core::{History, Message, Str};

/// The ids in use; looked up by id alone, so that their order is never seen.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Ids(#[serde(with = "sorted")] HashSet<Str>);

impl Ids {
    /// The ids of a transcript.
    pub(crate) fn of(history: &History) -> Ids {
        let mut ids = HashSet::new();
        for message in history.messages() {
            match message {
                Message::Assistant(message) => ids.extend(message.calls().map(|c| c.id.clone())),
                Message::Tool(result) => _ = ids.insert(result.call_id.clone()),
                _ => {}
            }
        }
        Ids(ids)
    }

    /// The id itself when it is new, else one that is.
    pub(crate) fn unique(&mut self, id: &Str) -> Str {
        if !id.trim().is_empty() && self.0.insert(id.clone()) {
            return id.clone();
        }
        let mut n = self.0.len();
        loop {
            let fresh: Str = format!("call_{n}").into();
            if self.0.insert(fresh.clone()) {
                return fresh;
            }
            n += 1;
        }
    }
}

mod sorted {
    use std::collections::{BTreeSet, HashSet};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use toolcrib_core::Str;

    pub(super) fn serialize<S: Serializer>(
        ids: &HashSet<Str>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        ids.iter().collect::<BTreeSet<_>>().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<HashSet<Str>, D::Error> {
        HashSet::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_and_repeated_ids_get_new_ones() {
        let mut ids = Ids::default();
        let mut unique = |id: &str| ids.unique(&id.into()).to_string();
        let given = ["a", "call_1", "a", "", "call_2", " "].map(&mut unique);
        let distinct: HashSet<_> = given.iter().collect();
        assert_eq!(distinct.len(), given.len(), "{given:?}");
        assert_eq!(given[..2], ["a", "call_1"]);
    }
}
