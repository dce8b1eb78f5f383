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
//!
//! What a model is shown in a turn is a [`Surface`]: it follows from an
//! [`Inventory`] (registry, visibility and policy, taken stock of once for each
//! generation) and a session's [`SurfaceState`] (what was loaded), and renders a
//! plan. [`ToolSearch`] is the tool by which a model loads what is not shown.

mod bm25;
mod bridge;
mod catalogue;
mod check;
mod doc;
mod encoded;
mod endings;
mod evidence;
mod index;
mod inventory;
mod language;
mod meaning;
mod names;
mod planner;
mod policy;
mod query;
mod rank;
mod reading;
mod report;
mod schema_text;
mod score;
mod search;
mod sentence;
mod shelf;
mod signature;
mod spelling;
mod state;
mod stem;
mod surface;
mod texts;
mod tokenize;
mod tokens;
mod tool_search;
mod weights;

pub use bridge::{CALL_TOOL, CallTool};
pub use catalogue::{Catalogue, CatalogueStep};
pub use check::check_unseen;
pub use doc::ToolDoc;
pub use encoded::{SentenceEncoder, SharedEncoder};
pub use evidence::Evidence;
pub use index::ToolIndex;
pub use inventory::{Inactive, Inventory};
pub use planner::Planner;
pub use policy::{Defer, PolicyError, SurfacePolicy, SurfaceSettings};
pub use rank::{Hit, Ranking};
pub use reading::{Domains, Reading, domain_word};
pub use report::{SourceReport, SurfaceReport};
pub use search::{Found, Search, SharedName, UnknownName};
pub use shelf::Shelf;
pub use state::{Loading, Misreads, SurfaceState};
pub use surface::Surface;
pub use tokenize::stemmed_words;
pub use tokens::definition_tokens;
pub use tool_search::{TOOL_SEARCH, ToolSearch};
pub use weights::{EncodedWeights, Weights};
