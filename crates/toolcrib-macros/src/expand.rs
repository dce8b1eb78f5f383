//! The code that `#[tool]` writes.
//!
//! The function keeps its name among values and the type beside it takes the same
//! name among types, so one import brings both and neither hides the other. All
//! else sits in an unnamed constant: it sees what the function sees, even inside
//! another function's body, and adds no names of its own.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, ItemFn, Lit, LitStr, ReturnType};

use crate::docs::Docs;
use crate::options::Options;
use crate::signature::{Argument, Errors, Form, Input, State, plain, take};

/// Expands `#[tool]`.
pub(crate) fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    let (options, error) = Options::parse(options);
    let mut errors = Errors::default();
    if let Some(error) = error {
        errors.push(error);
    }
    let mut function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let at = after_attributes(item).unwrap_or_else(|| error.span());
            let error = syn::Error::new(at, "`#[tool]` is for async functions with a body")
                .into_compile_error();
            return quote!(#error);
        }
    };
    let inputs = take(&mut function, options.name.is_some(), &mut errors);
    if let Some(error) = errors.into_error() {
        // The function itself is kept, so that its callers add no errors of their own.
        let error = error.into_compile_error();
        return quote!(#function #error);
    }
    expand(&options, &function, &inputs)
}

/// Where an item begins whose attributes are not what is wrong with it.
fn after_attributes(item: TokenStream) -> Option<Span> {
    let mut tokens = item.into_iter();
    loop {
        match tokens.next()? {
            TokenTree::Punct(punct) if punct.as_char() == '#' => tokens.next(),
            token => return Some(token.span()),
        };
    }
}

fn expand(options: &Options, function: &ItemFn, inputs: &[Input]) -> TokenStream {
    let root = &options.root;
    let ident = &function.sig.ident;
    let visibility = &function.vis;
    let arguments: Vec<&Argument> = inputs
        .iter()
        .filter_map(|input| match input {
            Input::Argument(argument) => Some(&**argument),
            _ => None,
        })
        .collect();
    let states: Vec<&State> = inputs
        .iter()
        .filter_map(|input| match input {
            Input::State(state) => Some(&**state),
            _ => None,
        })
        .collect();

    let state_names: Vec<_> = states.iter().map(|state| &state.name).collect();
    let state_types = states.iter().map(|state| &state.owned);
    let state_fields = states.iter().map(|state| {
        let field = field(state);
        let ty = &state.owned;
        quote!(#field: #ty)
    });
    let state_values = states.iter().map(|state| {
        let field = field(state);
        let name = &state.name;
        quote!(#field: #name)
    });
    let name = match &options.name {
        Some(name) => name.clone(),
        None => LitStr::new(&plain(ident), ident.span()),
    };
    let description = Docs::of(&function.attrs).for_callers().text();
    let changes = &options.changes;
    let (arguments_type, schema, read) = arguments_code(root, &arguments);
    let passed = inputs.iter().map(passed);
    let output = match &function.sig.output {
        ReturnType::Default => ident.span(),
        ReturnType::Type(_, ty) => ty.span(),
    };
    let call = quote_spanned! {output=>
        __private::IntoToolOutput::into_tool_output(returned)
    };
    let about = format!(
        "The tool made of the function [`{name}`](fn@{ident}).",
        name = plain(ident)
    );
    let constructor = match states.is_empty() {
        true => "The tool, ready to be registered.",
        false => "The tool with its state, ready to be registered.",
    };

    quote! {
        #function

        #[doc = #about]
        #[allow(non_camel_case_types)]
        #visibility struct #ident {
            __spec: ::std::sync::Arc<#root::__private::ToolSpec>,
            #(#state_fields,)*
        }

        const _: () = {
            use #root::__private;

            #arguments_type

            impl #ident {
                #[doc = #constructor]
                #visibility fn tool(#(#state_names: #state_types),*) -> ::std::sync::Arc<dyn __private::Tool> {
                    let spec = __private::spec(#name, #description, #schema) #(#changes)*;
                    ::std::sync::Arc::new(#ident {
                        __spec: ::std::sync::Arc::new(spec),
                        #(#state_values,)*
                    })
                }
            }

            impl __private::Tool for #ident {
                fn spec(&self) -> &::std::sync::Arc<__private::ToolSpec> {
                    &self.__spec
                }

                fn call<'a>(
                    &'a self,
                    __arguments: &'a __private::Arguments,
                    __context: &'a __private::ToolContext,
                ) -> __private::BoxFuture<
                    'a,
                    ::core::result::Result<__private::ToolOutput, __private::ToolError>,
                > {
                    ::std::boxed::Box::pin(async move {
                        #read
                        let returned = #ident(#(#passed),*).await;
                        #call
                    })
                }
            }
        };
    }
}

/// The type the arguments are read into, the expression of its schema and the
/// statement that reads it.
fn arguments_code(
    root: &syn::Path,
    arguments: &[&Argument],
) -> (TokenStream, TokenStream, TokenStream) {
    let serde = quote!(#root::__private::serde).to_string().replace(' ', "");
    let schemars = quote!(#root::__private::schemars)
        .to_string()
        .replace(' ', "");
    if arguments.is_empty() {
        let read = quote!(__arguments.read::<__private::NoArguments>()?;);
        return (TokenStream::new(), quote!(__private::Schema::empty()), read);
    }
    let (fields, defaults): (Vec<_>, Vec<_>) = arguments.iter().map(|a| field_code(a)).unzip();
    let ty = quote! {
        #[derive(__private::serde::Deserialize, __private::schemars::JsonSchema)]
        #[serde(crate = #serde, deny_unknown_fields)]
        #[schemars(crate = #schemars)]
        struct __Arguments {
            #(#fields,)*
        }
        #(#defaults)*
    };
    let names = arguments.iter().map(|argument| &argument.name);
    let values = arguments.iter().map(|argument| value(&argument.name));
    let read = quote! {
        let __Arguments { #(#names: #values),* } = __arguments.read()?;
    };
    (ty, quote!(__private::schema::<__Arguments>()), read)
}

fn field_code(argument: &Argument) -> (TokenStream, TokenStream) {
    let Argument {
        name,
        owned,
        passed_on,
        default,
        docs,
        ..
    } = argument;
    let description = (!docs.is_empty()).then(|| {
        let text = docs.text();
        quote!(#[schemars(description = #text)])
    });
    let (attribute, function) = match default {
        None => (TokenStream::new(), TokenStream::new()),
        Some(default) => {
            let function = format_ident!("__default_{}", plain(name));
            let path = function.to_string();
            let body = match default {
                Expr::Lit(ExprLit {
                    lit: Lit::Str(text),
                    ..
                }) => {
                    quote_spanned!(text.span()=> ::core::convert::Into::into(#text))
                }
                other => quote!(#other),
            };
            (
                quote!(#[serde(default = #path)]),
                quote!(fn #function() -> #owned { #body }),
            )
        }
    };
    let field = quote! {
        #description
        #(#passed_on)*
        #attribute
        #name: #owned
    };
    (field, function)
}

/// How one argument is handed to the function.
fn passed(input: &Input) -> TokenStream {
    match input {
        Input::Context => quote!(__context),
        Input::Argument(argument) => {
            let value = value(&argument.name);
            match argument.form {
                Form::Owned => quote!(#value),
                Form::Borrowed => quote!(&#value),
                Form::OptionalStr => quote!(#value.as_deref()),
            }
        }
        Input::State(state) => {
            let field = field(state);
            match state.form {
                Form::Borrowed => quote!(&self.#field),
                _ => quote_spanned!(state.owned.span()=> ::core::clone::Clone::clone(&self.#field)),
            }
        }
    }
}

/// A name that cannot meet the function's own or a keyword.
fn value(name: &syn::Ident) -> syn::Ident {
    format_ident!("__value_{}", plain(name))
}

fn field(state: &State) -> syn::Ident {
    format_ident!("__state_{}", plain(&state.name))
}
