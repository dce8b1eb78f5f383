//! The function a tool is made of, checked and taken apart.

use proc_macro2::Span;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Expr, FnArg, GenericArgument, Ident, ItemFn, Pat, PatType, PathArguments,
    Signature, Token, Type, TypePath, TypeReference, parse_quote,
};

use crate::docs::Docs;
use crate::options::check_name;

/// What becomes of each argument of the function, in order.
pub(crate) enum Input {
    /// Given by the model.
    Argument(Box<Argument>),
    /// Given when the tool is made.
    State(Box<State>),
    /// The context of the call.
    Context,
}

/// An argument that the model gives.
pub(crate) struct Argument {
    /// Its name in the schema.
    pub(crate) name: Ident,
    /// The type it is read as.
    pub(crate) owned: Type,
    /// How the function takes it.
    pub(crate) form: Form,
    /// Attributes for serde and schemars.
    pub(crate) passed_on: Vec<Attribute>,
    /// Its value when it is left out.
    pub(crate) default: Option<Expr>,
    /// What the model reads about it.
    pub(crate) docs: Docs,
}

/// How a value that the tool owns is handed to the function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `T`
    Owned,
    /// `&T`
    Borrowed,
    /// `Option<&str>`
    OptionalStr,
}

/// A value captured when the tool is made.
pub(crate) struct State {
    /// Its name.
    pub(crate) name: Ident,
    /// The type the tool owns.
    pub(crate) owned: Type,
    /// Borrowed, or else cloned for each call.
    pub(crate) form: Form,
}

/// The first errors found, combined.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    /// Adds one.
    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            none => *none = Some(error),
        }
    }

    /// All of them, if there are any.
    pub(crate) fn into_error(self) -> Option<Error> {
        self.0
    }

    fn at(&mut self, place: impl ToTokens, message: impl std::fmt::Display) {
        self.push(Error::new_spanned(place, message));
    }
}

/// Reads the arguments and removes from the function what only `#[tool]` knows.
pub(crate) fn take(function: &mut ItemFn, named: bool, errors: &mut Errors) -> Vec<Input> {
    whole(&function.sig, named, errors);
    if Docs::of(&function.attrs).for_callers().is_empty() {
        errors.at(
            &function.sig.ident,
            format!(
                "tool `{}` needs a doc comment: it is what the model reads to decide when to call it",
                function.sig.ident
            ),
        );
    }
    let mut context = false;
    let mut inputs = Vec::new();
    for input in &mut function.sig.inputs {
        match input {
            FnArg::Receiver(receiver) => errors.at(
                receiver,
                "`#[tool]` is for free functions; take what `self` would hold as an argument \
                 marked `#[state]`",
            ),
            FnArg::Typed(typed) => {
                let Some(input) = argument(typed, errors) else {
                    continue;
                };
                if matches!(input, Input::Context) && std::mem::replace(&mut context, true) {
                    errors.at(&typed.ty, "the context of the call is already an argument");
                }
                inputs.push(input);
            }
        }
    }
    inputs
}

fn whole(signature: &Signature, named: bool, errors: &mut Errors) {
    if !named && let Err(error) = check_name(&plain(&signature.ident), signature.ident.span()) {
        errors.push(error);
    }
    if signature.asyncness.is_none() {
        errors.at(
            signature.fn_token,
            format!(
                "`#[tool]` needs an async function: write `async fn {}`",
                signature.ident
            ),
        );
    }
    let generics = &signature.generics;
    if !generics.params.is_empty() {
        errors.at(
            &generics.params,
            "a tool cannot be generic: its schema is made of concrete types",
        );
    }
    if let Some(clause) = &generics.where_clause {
        errors.at(
            clause,
            "a tool cannot be generic: remove the `where` clause",
        );
    }
    for (found, place, word) in [
        (
            signature.unsafety.is_some(),
            signature.unsafety.span(),
            "unsafe",
        ),
        (
            signature.constness.is_some(),
            signature.constness.span(),
            "const",
        ),
        (signature.abi.is_some(), signature.abi.span(), "extern"),
    ] {
        if found {
            errors.push(Error::new(place, format!("a tool cannot be `{word}`")));
        }
    }
}

fn argument(typed: &mut PatType, errors: &mut Errors) -> Option<Input> {
    let docs = Docs::of(&typed.attrs);
    let taken = attributes(typed, errors);
    let name = match &*typed.pat {
        Pat::Ident(pattern) if pattern.subpat.is_none() && pattern.by_ref.is_none() => {
            pattern.ident.clone()
        }
        Pat::Wild(wild) => {
            errors.at(
                wild,
                "an argument needs a name: the model passes it by name; leave it out if the \
                 function does not use it",
            );
            return None;
        }
        pattern => {
            errors.at(
                pattern,
                "an argument needs a plain name, since the model passes it by name; take it \
                 apart in the body",
            );
            return None;
        }
    };
    if let Some(place) = opaque(&typed.ty) {
        errors.push(Error::new(
            place,
            format!("the type of `{name}` must be a concrete one: the schema is made of it"),
        ));
        return None;
    }
    if is_context(&typed.ty) {
        return Some(Input::Context);
    }
    let (owned, form) = match owned(&typed.ty, taken.state) {
        Ok(owned) => owned,
        Err(message) => {
            errors.at(&typed.ty, message.replace("{name}", &name.to_string()));
            return None;
        }
    };
    if taken.state {
        return Some(Input::State(Box::new(State { name, owned, form })));
    }
    Some(Input::Argument(Box::new(Argument {
        name,
        owned,
        form,
        passed_on: taken.passed_on,
        default: taken.default,
        docs,
    })))
}

/// What an argument's attributes ask for.
#[derive(Default)]
struct Taken {
    state: bool,
    default: Option<Expr>,
    passed_on: Vec<Attribute>,
}

/// Takes the attributes that mean something to `#[tool]` and leaves the others.
fn attributes(typed: &mut PatType, errors: &mut Errors) -> Taken {
    let mut taken = Taken::default();
    for attribute in std::mem::take(&mut typed.attrs) {
        let path = attribute.path();
        if path.is_ident("doc") {
            continue;
        } else if path.is_ident("state") {
            taken.state = true;
            if let Err(error) = attribute.meta.require_path_only() {
                errors.push(error);
            }
        } else if path.is_ident("default") {
            let value = match &attribute.meta {
                syn::Meta::List(_) => attribute.parse_args::<Expr>(),
                _ => Err(Error::new_spanned(
                    &attribute,
                    "write the value in parentheses: `#[default(10)]`",
                )),
            };
            match value {
                Ok(value) => taken.default = Some(value),
                Err(error) => errors.push(error),
            }
        } else if path.is_ident("serde") || path.is_ident("schemars") {
            taken.passed_on.push(attribute);
        } else {
            typed.attrs.push(attribute);
        }
    }
    if taken.state && (taken.default.is_some() || !taken.passed_on.is_empty()) {
        errors.at(
            &typed.pat,
            "state is not the model's to give: it takes no `default`, `serde` or `schemars`",
        );
    }
    taken
}

fn opaque(ty: &Type) -> Option<Span> {
    match ty {
        Type::ImplTrait(opaque) => Some(opaque.span()),
        Type::Infer(hole) => Some(hole.span()),
        Type::Reference(reference) => opaque(&reference.elem),
        _ => None,
    }
}

fn is_context(ty: &Type) -> bool {
    matches!(ty, Type::Reference(TypeReference { mutability: None, elem, .. })
        if last(elem).is_some_and(|name| name == "ToolContext"))
}

/// The last segment of a path without arguments.
fn last(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(TypePath { path, .. }) => path
            .segments
            .last()
            .filter(|segment| segment.arguments.is_empty())
            .map(|segment| &segment.ident),
        _ => None,
    }
}

/// The type to keep for an argument, and how to hand it on.
fn owned(ty: &Type, state: bool) -> Result<(Type, Form), String> {
    if last(ty).is_some_and(|name| name == "ToolContext") {
        return Err("take the context by reference: `&ToolContext`".into());
    }
    let Type::Reference(reference) = ty else {
        if !state && optional_str(ty) {
            return Ok((
                parse_quote!(::core::option::Option<::std::string::String>),
                Form::OptionalStr,
            ));
        }
        return Ok((ty.clone(), Form::Owned));
    };
    if reference.mutability.is_some() {
        return Err(if state {
            "calls may run side by side: put `{name}` behind a lock and take it by `&`".into()
        } else {
            "take `{name}` by value: the model gives a new one with each call".into()
        });
    }
    if is_str(&reference.elem) {
        return Ok((parse_quote!(::std::string::String), Form::Borrowed));
    }
    if state {
        return Ok(((*reference.elem).clone(), Form::Borrowed));
    }
    Err(
        "an argument is `&str`, `&ToolContext` or an owned type: take `{name}` by value, or mark \
         it `#[state]` if it is given when the tool is made"
            .into(),
    )
}

fn is_str(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("str"))
}

fn optional_str(ty: &Type) -> bool {
    let Type::Path(TypePath { path, .. }) = ty else {
        return false;
    };
    let Some(segment) = path.segments.last().filter(|last| last.ident == "Option") else {
        return false;
    };
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return false;
    };
    let arguments: &Punctuated<GenericArgument, Token![,]> = &arguments.args;
    matches!(arguments.first(), Some(GenericArgument::Type(Type::Reference(inner)))
        if inner.mutability.is_none() && is_str(&inner.elem))
}

/// An identifier without `r#`.
pub(crate) fn plain(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").unwrap_or(&text).to_owned()
}
