//! `#[argument]`: the derives that the type of a tool's argument needs.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::{Error, Fields, Item, Path, parse_quote};

/// Expands `#[argument]`.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut open = false;
    let mut root: Path = parse_quote!(::toolcrib);
    syn::meta::parser(|meta| {
        if meta.path.is_ident("open") {
            open = true;
        } else if meta.path.is_ident("crate") {
            root = meta.value()?.parse()?;
        } else {
            return Err(meta.error("the options of `#[argument]` are `open` and `crate`"));
        }
        Ok(())
    })
    .parse2(options)?;

    let item: Item = syn::parse2(item)?;
    let closed = match &item {
        Item::Struct(item) => !open && matches!(item.fields, Fields::Named(_)),
        Item::Enum(_) => !open,
        other => {
            return Err(Error::new_spanned(
                other,
                "`#[argument]` is for structs and enums",
            ));
        }
    };
    let deny = closed.then(|| quote!(#[serde(deny_unknown_fields)]));
    let path = |name: &str| {
        let root = quote!(#root).to_string().replace(' ', "");
        format!("{root}::__private::{name}")
    };
    let (serde, schemars) = (path("serde"), path("schemars"));
    Ok(quote! {
        #[derive(#root::__private::serde::Deserialize, #root::__private::schemars::JsonSchema)]
        #[serde(crate = #serde)]
        #[schemars(crate = #schemars)]
        #deny
        #item
    })
}
