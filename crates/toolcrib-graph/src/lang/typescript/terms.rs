//! Expressions as terms.

use tree_sitter::Node;

use super::{K, Kinds};
use crate::facts::{Builder, ListRange, Term, TermId};
use crate::lang::terms::{Memo, Remembers};

pub(super) use crate::lang::terms::{builtin, builtin_value, collection, either};

/// Arguments beyond these are not looked at.
const MAX_ARGUMENTS: usize = 4;

/// Builds terms and remembers them by node, so that a chain costs its length.
pub(super) struct Terms {
    pub(super) kinds: Kinds,
    memo: Memo,
    /// Functions around the walk that have a `this` of their own: where they
    /// end and whether nothing declares it.
    own_this: Vec<(usize, bool)>,
}

impl Remembers for Terms {
    fn memo(&mut self) -> &mut Memo {
        &mut self.memo
    }
}

impl Terms {
    pub(super) fn new(kinds: Kinds) -> Self {
        Terms {
            kinds,
            memo: Memo::default(),
            own_this: Vec::new(),
        }
    }

    /// The walk goes into a function with a `this` of its own, of which nothing
    /// is known when it is `detached` from any class.
    pub(super) fn enter_function(&mut self, node: Node<'_>, detached: bool) {
        self.own_this.push((node.end_byte(), detached));
    }

    /// The walk has passed `start`.
    pub(super) fn leave(&mut self, start: usize) {
        while self.own_this.last().is_some_and(|(end, _)| *end <= start) {
            self.own_this.pop();
        }
    }

    /// The value of an expression.
    pub(super) fn expr<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        self.remembered(b, node, Self::expr_inner)
    }

    fn expr_inner<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        match self.kinds.of(node) {
            K::Identifier | K::Shorthand | K::TypeName => self.name(b, node),
            K::This => {
                if self.own_this.last().is_some_and(|(_, detached)| *detached) {
                    return TermId::UNKNOWN;
                }
                b.term(Term::This)
            }
            K::Super => b.term(Term::Super),
            K::Member | K::NestedName => {
                let object = node
                    .child_by_field_name("object")
                    .or_else(|| node.named_child(0));
                let (Some(object), Some(name)) = (
                    object,
                    node.child_by_field_name("property")
                        .or_else(|| node.named_child(1)),
                ) else {
                    return TermId::UNKNOWN;
                };
                let base = self.expr(b, object);
                let name = b.node_name(name);
                b.term(Term::Member(base, name))
            }
            K::Subscript => self.subscript(b, node),
            K::Call => self.call(b, node),
            K::New => self.construction(b, node),
            K::Await => {
                let inner = self.first(b, node);
                b.term(Term::Await(inner))
            }
            K::Parenthesized | K::NonNull | K::Satisfies | K::Statement | K::Instantiation => {
                self.first(b, node)
            }
            K::Sequence => self.last(b, node),
            K::As => {
                let (Some(value), Some(ty)) = (node.named_child(0), node.named_child(1)) else {
                    // `as const` has no second node.
                    return self.first(b, node);
                };
                let ty = self.ty(b, ty);
                if ty.is_known() {
                    b.term(Term::Inst(ty))
                } else {
                    // `as any` says nothing against what the value is.
                    self.expr(b, value)
                }
            }
            K::TypeAssertion => {
                let ty = node
                    .named_child(0)
                    .and_then(|args| args.named_child(0))
                    .map_or(TermId::UNKNOWN, |ty| self.ty(b, ty));
                b.term(Term::Inst(ty))
            }
            K::Ternary => self.sides(b, node, &["consequence", "alternative"]),
            K::Binary => self.binary(b, node),
            K::Assignment => match node.child_by_field_name("right") {
                Some(right) => self.expr(b, right),
                None => TermId::UNKNOWN,
            },
            K::Arrow | K::FunctionExpression | K::GeneratorFunction => self.function(b, node),
            K::Array => {
                let mut elements = Vec::new();
                let mut cursor = node.walk();
                for element in node.named_children(&mut cursor).take(MAX_ARGUMENTS) {
                    let term = match self.kinds.of(element) {
                        K::Spread => {
                            let inner = self.first(b, element);
                            b.term(Term::Each(inner))
                        }
                        K::Comment => continue,
                        _ => self.expr(b, element),
                    };
                    if term.is_known() {
                        elements.push(term);
                    }
                }
                let element = either(b, &elements);
                collection(b, "Array", &[element])
            }
            K::String | K::Template => builtin_value(b, "String"),
            K::Number => builtin_value(b, "Number"),
            K::True | K::False => builtin_value(b, "Boolean"),
            K::Regex => builtin_value(b, "RegExp"),
            K::Object => builtin_value(b, "Object"),
            K::ImportKeyword => builtin_value(b, "import"),
            _ => TermId::UNKNOWN,
        }
    }

    fn subscript<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let (Some(object), Some(index)) = (
            node.child_by_field_name("object"),
            node.child_by_field_name("index"),
        ) else {
            return TermId::UNKNOWN;
        };
        let base = self.expr(b, object);
        if self.kinds.of(index) == K::String {
            let name = b.text(index).trim_matches(['"', '\'']);
            let name = b.name(name);
            let member = b.term(Term::Member(base, name));
            let indexed = b.term(Term::Index(base));
            return either(b, &[member, indexed]);
        }
        b.term(Term::Index(base))
    }

    fn binary<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let operator = node
            .child_by_field_name("operator")
            .map_or("", |operator| operator.kind());
        match operator {
            "||" | "??" | "&&" => self.sides(b, node, &["left", "right"]),
            "+" => {
                let is_text = ["left", "right"].iter().any(|side| {
                    node.child_by_field_name(side)
                        .is_some_and(|side| matches!(self.kinds.of(side), K::String | K::Template))
                });
                if is_text {
                    builtin_value(b, "String")
                } else {
                    TermId::UNKNOWN
                }
            }
            "-" | "*" | "/" | "%" | "**" => builtin_value(b, "Number"),
            "===" | "==" | "!==" | "!=" | "<" | ">" | "<=" | ">=" | "in" | "instanceof" => {
                builtin_value(b, "Boolean")
            }
            _ => TermId::UNKNOWN,
        }
    }

    fn sides<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>, fields: &[&str]) -> TermId {
        let mut terms = Vec::new();
        for field in fields {
            if let Some(side) = node.child_by_field_name(field) {
                let term = self.expr(b, side);
                if term.is_known() {
                    terms.push(term);
                }
            }
        }
        either(b, &terms)
    }

    fn call<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let Some(function) = node.child_by_field_name("function") else {
            return TermId::UNKNOWN;
        };
        let mut callee = self.expr(b, function);
        let types = self.type_arguments(b, node);
        if types.iter().any(|ty| ty.is_known()) {
            let list = b.list(&types);
            callee = b.term(Term::Apply(callee, list));
        }
        let args = self.arguments(b, node);
        b.term(Term::Call(callee, args))
    }

    fn construction<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let Some(class) = node.child_by_field_name("constructor") else {
            return TermId::UNKNOWN;
        };
        let class = self.expr(b, class);
        let types = self.type_arguments(b, node);
        if types.is_empty() {
            let args = self.arguments(b, node);
            return b.term(Term::Call(class, args));
        }
        let list = b.list(&types);
        let ty = b.term(Term::Apply(class, list));
        b.term(Term::Inst(ty))
    }

    fn arguments<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> ListRange {
        let mut args = Vec::new();
        if let Some(arguments) = node.child_by_field_name("arguments")
            && self.kinds.of(arguments) == K::Arguments
        {
            let mut cursor = arguments.walk();
            for argument in arguments.named_children(&mut cursor) {
                if self.kinds.of(argument) == K::Comment {
                    continue;
                }
                if args.len() >= MAX_ARGUMENTS {
                    break;
                }
                args.push(self.expr(b, argument));
            }
        }
        b.list(&args)
    }

    /// What calling a function gives: its declared result, else the value of its
    /// one expression.
    fn function<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let declared = self.declared(b, node, "return_type");
        if declared.is_known() {
            return b.term(Term::FnType(declared));
        }
        let result = match node.child_by_field_name("body") {
            Some(body) if self.kinds.of(body) != K::Block => self.expr(b, body),
            Some(body) => match self.only_return(body) {
                Some(value) => self.expr(b, value),
                None => TermId::UNKNOWN,
            },
            None => TermId::UNKNOWN,
        };
        b.term(Term::Closure(result))
    }

    /// The value of a body's last statement when that returns one.
    fn only_return<'t>(&self, body: Node<'t>) -> Option<Node<'t>> {
        let last = body.named_child(
            u32::try_from(body.named_child_count())
                .ok()?
                .checked_sub(1)?,
        )?;
        if self.kinds.of(last) == K::Return {
            last.named_child(0)
        } else {
            None
        }
    }

    pub(super) fn name<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let sym = b.node_name(node);
        b.term(Term::Name(sym, node.start_byte() as u32))
    }

    fn first<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let mut cursor = node.walk();
        let first = node
            .named_children(&mut cursor)
            .find(|child| self.kinds.of(*child) != K::Comment);
        match first {
            Some(inner) => self.expr(b, inner),
            None => TermId::UNKNOWN,
        }
    }

    fn last<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        match node.child_by_field_name("right") {
            Some(inner) => self.expr(b, inner),
            None => TermId::UNKNOWN,
        }
    }
}
