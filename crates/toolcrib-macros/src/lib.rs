//! The `#[tool]` attribute: a documented async function becomes a tool.
//!
//! A tool's name, description and argument schema say again what its function
//! already says; written twice they drift apart. The attribute reads them off the
//! function and leaves the function itself callable as before. Everything that
//! need not be generated lives in the `toolcrib` crate, which the generated code
//! names; use the attributes through it. Not for tools whose definition is known
//! only at run time: those implement the trait by hand.

use proc_macro::TokenStream;

mod argument;
mod docs;
mod expand;
mod options;
mod signature;

/// Turns a documented async function into a tool.
///
/// The function stays as it is. Beside it appears a type of the same name with one
/// constructor, `tool`, that gives an `Arc<dyn Tool>` ready to be registered; it
/// takes the function's `#[state]` arguments, in order.
///
/// # What the model is told
/// The name is the function's; the description its doc comment, up to the first
/// heading `# Errors`, `# Panics`, `# Safety` or `# Examples`, which are for
/// readers of the code. Arguments are described by doc comments of their own.
/// A function without a doc comment does not compile.
///
/// # Arguments
/// - Any owned type that implements `serde::Deserialize` and
///   `schemars::JsonSchema`; `#[argument]` derives both for a type of yours.
///   `&str` works too, as does `Option<&str>`.
/// - `Option<T>` may be left out by the model. `#[default(value)]` gives any other
///   argument a value when it is left out. `#[serde(..)]` and `#[schemars(..)]`
///   attributes are passed on.
/// - `&ToolContext`, at most once and anywhere, receives the context of the call.
/// - `#[state] db: Arc<Db>` is not the model's: the value given to `tool(db)` is
///   cloned for each call. `#[state] db: &Db` borrows it instead.
///
/// # Results
/// Whatever implements `IntoToolOutput`: text, `()`, numbers, `ToolOutput`,
/// `Json<T>`, or a `Result` of those whose error can be displayed. A `ToolError`
/// is passed on as it is.
///
/// # Options
/// All are optional: `#[tool(name = "find", effect = "read_only")]`.
///
/// | option | meaning | otherwise |
/// |---|---|---|
/// | `name = ".."` | the tool's name | the function's |
/// | `title = ".."` | a title for people | none |
/// | `effect = ".."` | `read_only`, `write` or `destructive` | `write` |
/// | `permission = ".."` | `allow`, `ask` or `deny` | `allow` |
/// | `exposure = ".."` | `direct`, `deferred`, `presentation`, `hidden` or `always` | `direct` |
/// | `result = ".."` | how a long result is cut: `lookup` or `whole` | `whole` |
/// | `timeout_secs = 30` | longest run of one call | the dispatcher's |
/// | `source = ".."` | where the tool comes from | `builtin` |
/// | `domains("..", "..")` | what it is about | nothing |
/// | `activates` | its results may name tools to be shown | no |
/// | `crate = path` | where `toolcrib` is | `::toolcrib` |
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::tool(options.into(), item.into()).into()
}

/// Derives what the type of a tool's argument needs: `Deserialize` and
/// `JsonSchema`, with paths that need no dependency but `toolcrib`.
///
/// Doc comments of the type, its fields and its variants become descriptions in
/// the schema. Unknown fields are refused, so that the model hears of
/// a wrong name instead of having it dropped; `#[argument(open)]` accepts them.
/// `#[serde(..)]` and `#[schemars(..)]` attributes work as with the derives.
#[proc_macro_attribute]
pub fn argument(options: TokenStream, item: TokenStream) -> TokenStream {
    argument::expand(options.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
