//! Finding the right few tools among thousands.
//!
//! A caller turns its tools into [`ToolDoc`]s, builds a [`ToolIndex`] of them
//! once per registry generation, and searches it with a model's own words.
//!
//! ```
//! use toolcrib_surface::{ToolDoc, ToolIndex};
//!
//! let index = ToolIndex::build(&[
//!     ToolDoc::new("web_fetch", "Fetch a page by its address."),
//!     ToolDoc::new("weather", "Forecast for a town."),
//! ]);
//! let hits = index.rank("will it rain? forecasts please", 5).hits;
//! assert_eq!(&*index.docs()[hits[0].doc].name, "weather");
//! assert_eq!(index.rank("webfetch", 5).hits[0].doc, 0);
//! ```

mod bm25;
mod doc;
mod evidence;
mod index;
mod meaning;
mod names;
mod query;
mod rank;
mod schema_text;
mod score;
mod search;
mod sentence;
mod stem;
mod tokenize;
mod weights;

pub use doc::ToolDoc;
pub use evidence::Evidence;
pub use index::ToolIndex;
pub use rank::{Hit, Ranking};
pub use search::{Found, Search, UnknownName};
pub use tokenize::stemmed_words;
pub use weights::Weights;
