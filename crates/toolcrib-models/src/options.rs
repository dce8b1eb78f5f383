//! What the options of all endpoints have in common, defined once.

/// The builders and the form for logs of an options type with the members
/// `base_url`, `model` and `key`; `kind` is the member that says how it is spoken to.
macro_rules! endpoint_options {
    ($options:ident, $kind:ident) => {
        impl $options {
            /// The same options with another address.
            pub fn base_url(mut self, url: impl Into<String>) -> $options {
                self.base_url = url.into();
                self
            }

            /// The same options with a key.
            pub fn key(mut self, key: $crate::http::Key) -> $options {
                self.key = Some(key);
                self
            }
        }

        /// Shows no key and none of the address but scheme, host, port and path.
        impl std::fmt::Debug for $options {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($options))
                    .field(stringify!($kind), &self.$kind)
                    .field("base_url", &$crate::http::shown_url(&self.base_url))
                    .field("model", &self.model)
                    .field("key", &self.key)
                    .finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use endpoint_options;
