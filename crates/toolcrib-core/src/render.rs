//! A place for bytes that a wire made from an immutable value.
//!
//! Rendering a tool definition or an old message costs the same every round and
//! gives the same bytes, so the value carries them along. Each wire brings its
//! own key; a clone starts empty, because a clone is about to be changed.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

type Rendered = (&'static str, Arc<[u8]>);

/// Rendered bytes by wire. Few wires meet one value, hence a list.
#[derive(Default)]
pub struct RenderCache(Mutex<Vec<Rendered>>);

impl RenderCache {
    /// The bytes under `wire`, made by `render` at the first call only.
    ///
    /// `wire` must name everything the bytes depend on besides the value itself.
    pub fn get_or_render(&self, wire: &'static str, render: impl FnOnce() -> Vec<u8>) -> Arc<[u8]> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bytes)) = slots.iter().find(|(key, _)| *key == wire) {
            return bytes.clone();
        }
        let bytes: Arc<[u8]> = render().into();
        slots.push((wire, bytes.clone()));
        bytes
    }
}

impl Clone for RenderCache {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for RenderCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RenderCache")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_once_a_wire_and_starts_empty_in_a_clone() {
        let cache = RenderCache::default();
        let mut renders = 0;
        for _ in 0..3 {
            cache.get_or_render("chat", || {
                renders += 1;
                b"{}".to_vec()
            });
        }
        assert_eq!(renders, 1);
        assert_eq!(&*cache.get_or_render("messages", || b"[]".to_vec()), b"[]");
        assert_eq!(
            &*cache.clone().get_or_render("chat", || b"new".to_vec()),
            b"new"
        );
    }
}
