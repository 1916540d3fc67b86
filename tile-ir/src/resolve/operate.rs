//! Whether an operation exists for its operands' type.
//!
//! | operation | types |
//! | --- | --- |
//! | `+ - * / %`, `< <= > >=`, `min`, `max`, `abs`, `rem_euclid` | numbers and `index` |
//! | `==`, `!=` | all |
//! | `& \| ^` | integers, `index`, `bool` |
//! | `<< >>` | integers, `index` |
//! | prefix `-` | numbers but concrete unsigned types, `index` |
//! | prefix `!` | integers, `bool` |
//! | `reduce_sum`, `scan_sum` and the like | numbers |
//! | `any`, `all`, `ballot` and the like | `bool` |
//! | `shuffle` and the like | all but `index` |
//! | `sqrt`, `exp`, `pow`, `is_nan`, … | floating-point types |
//! | `div_euclid` | integers, `index` |
//! | `count_ones` and the like | integers |
//! | `signum` | numbers |
//! | `as` | as in Rust: numbers into each other and `index`, `bool` into integers |
//!
//! What stands in a position is an index all through, but for the operand of `!`, which is
//! inverted in its own type: `a[l & !j]`.
//!
//! A type parameter has what every type that its bound admits has.

use super::Resolver;
use super::convert::as_operand;
use super::types::{Class, Ty};
use crate::diag::{Code, Diagnostic};
use crate::dtype::{Bound, DType};
use crate::exchange::ExchangeOp;
use crate::kernel::{ElemType, ExprId, Type};
use crate::op::{AtomicOp, BinaryOp, CompareOp, MathFn, UnaryOp};
use crate::span::SpanId;

/// An operation whose types are known only at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Obligation {
    /// What is done.
    pub(super) operation: Operation,
    /// The operands' type.
    pub(super) ty: Ty,
    /// What to blame.
    pub(super) span: SpanId,
}

/// What is done to operands of one type.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    /// A prefix operator.
    Unary(UnaryOp),
    /// An operator between two operands, `min` or `max`.
    Binary(BinaryOp),
    /// A comparison.
    Compare(CompareOp),
    /// A function.
    Math(MathFn),
    /// A function that is made of operators, by its name: of floats.
    OfFloats(&'static str),
    /// Another one: of integers and indices.
    OfIntegers(&'static str),
    /// An atomic update of an element.
    Atomic(AtomicOp),
    /// An exchange of values.
    Exchange(ExchangeOp),
    /// A call of a function, whose bound the type has to satisfy.
    Satisfies {
        /// The function.
        function: usize,
        /// Its type parameter.
        param: usize,
    },
    /// `operand as target`.
    Cast {
        /// What is converted.
        operand: ExprId,
        /// To which type.
        target: Ty,
    },
}

/// Reports every operation that does not exist.
pub(super) fn discharge(cx: &mut Resolver) {
    for obligation in std::mem::take(&mut cx.obligations) {
        let Some(ty) = cx.infer.settle(obligation.ty) else { continue };
        let class = Class::of(&cx.kernel, ty);
        match obligation.operation {
            Operation::Cast { operand, target } => {
                check_cast(cx, operand, (ty, class), target, obligation.span);
            }
            Operation::Atomic(op) => check_atomic(cx, op, ty, obligation.span),
            Operation::Satisfies { function, param } => {
                check_bound(cx, (function, param), ty, obligation.span);
            }
            operation @ (Operation::Unary(_)
            | Operation::Binary(_)
            | Operation::Compare(_)
            | Operation::Exchange(_)
            | Operation::OfFloats(_)
            | Operation::OfIntegers(_)
            | Operation::Math(_)) => {
                let (needed, text) = requirement(operation);
                if !needed.includes(class) || is_negated_unsigned(operation, ty) {
                    report_missing(cx, &text, needed, ty, obligation.span);
                }
            }
        }
    }
}

/// A set of types that an operation exists for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needed {
    All,
    Number,
    /// Numbers, `index` excepted: what memory can hold.
    Value,
    /// All but `index`.
    Scalar,
    Float,
    /// Integers, `index` and `bool`.
    Bits,
    /// Integers and `index`.
    Shiftable,
    /// Integers alone.
    Integer,
    /// Integers and `bool`.
    Invertible,
}

impl Needed {
    fn includes(self, class: Class) -> bool {
        match self {
            Self::All => true,
            Self::Number => class.is_number(),
            Self::Value => class.is_number() && class != Class::Index,
            Self::Scalar => class != Class::Index,
            Self::Float => class == Class::Float,
            Self::Bits => matches!(class, Class::Integer | Class::Index | Class::Bool),
            Self::Shiftable => matches!(class, Class::Integer | Class::Index),
            Self::Integer => class == Class::Integer,
            Self::Invertible => matches!(class, Class::Integer | Class::Bool),
        }
    }

    /// The loosest bound of a type parameter that has the operation.
    const fn bound(self) -> Bound {
        match self {
            Self::All | Self::Scalar => Bound::Element,
            Self::Number | Self::Value => Bound::Number,
            Self::Float => Bound::Float,
            Self::Bits | Self::Shiftable | Self::Integer | Self::Invertible => Bound::Integer,
        }
    }
}

/// What an operation needs, and its name in messages.
fn requirement(operation: Operation) -> (Needed, String) {
    match operation {
        Operation::Unary(UnaryOp::Neg) => (Needed::Number, "`-`".to_owned()),
        Operation::Unary(UnaryOp::Not) => (Needed::Invertible, "`!`".to_owned()),
        Operation::Binary(op) => (binary_requirement(op), format!("`{op}`")),
        Operation::Compare(op @ (CompareOp::Eq | CompareOp::Ne)) => {
            (Needed::All, format!("`{op}`"))
        }
        Operation::Compare(op) => (Needed::Number, format!("`{op}`")),
        Operation::Math(math) => {
            let needed = match math {
                _ if math.is_float_only() => Needed::Float,
                _ if math.is_integer_only() => Needed::Integer,
                _ if math.is_of_indices() => Needed::Number,
                _ => Needed::Value,
            };
            (needed, format!("`{}`", math.name()))
        }
        Operation::Exchange(op) => {
            let needed = match op.binary() {
                _ if op.is_of_conditions() => Needed::Bits,
                Some(_) => Needed::Value,
                None => Needed::Scalar,
            };
            (needed, format!("`{}`", op.name()))
        }
        Operation::OfFloats(name) => (Needed::Float, format!("`{name}`")),
        Operation::OfIntegers(name) => (Needed::Shiftable, format!("`{name}`")),
        Operation::Cast { .. } => (Needed::All, "`as`".to_owned()),
        Operation::Satisfies { .. } => (Needed::All, "the call".to_owned()),
        Operation::Atomic(op) => (Needed::Number, format!("`{op}`")),
    }
}

const fn binary_requirement(op: BinaryOp) -> Needed {
    match op {
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Min
        | BinaryOp::Max => Needed::Number,
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => Needed::Bits,
        BinaryOp::Shl | BinaryOp::Shr => Needed::Shiftable,
        BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot | BinaryOp::Copysign => Needed::Float,
    }
}

fn is_negated_unsigned(operation: Operation, ty: Type) -> bool {
    let Type::Scalar(ElemType::Concrete(dtype)) = ty else { return false };
    matches!(operation, Operation::Unary(UnaryOp::Neg))
        && dtype.is_integer()
        && !dtype.is_signed_integer()
}

fn report_missing(cx: &mut Resolver, text: &str, needed: Needed, ty: Type, span: SpanId) {
    let diagnostic = match ty {
        Type::Scalar(ElemType::Param(param) | ElemType::Acc(param)) => {
            let (name, bound) =
                (&cx.kernel.type_params[param].name, cx.kernel.type_params[param].bound);
            let message = format!("`{name}: {bound}` need not have {text}");
            Diagnostic::error(Code::UnsupportedOperation, span, message)
                .help(format!("bound it: `{name}: {}`", needed.bound()))
        }
        Type::Index | Type::Scalar(ElemType::Concrete(_)) => {
            let message = format!("`{}` has no {text}", cx.kernel.type_name(ty));
            let diagnostic = Diagnostic::error(Code::UnsupportedOperation, span, message);
            match needed {
                Needed::Float if ty != Type::BOOL => {
                    diagnostic.help("convert to a floating-point type with `as` first")
                }
                Needed::Value | Needed::Scalar | Needed::Integer if ty == Type::Index => {
                    diagnostic.help("convert to an integer type with `as` first")
                }
                Needed::Invertible if ty == Type::Index => diagnostic.help(
                    "an index has no last bit: give the integer a name before, `let low = t as u32 & !63;`, or write `t - t % 64`",
                ),
                Needed::All
                | Needed::Number
                | Needed::Value
                | Needed::Scalar
                | Needed::Float
                | Needed::Bits
                | Needed::Shiftable
                | Needed::Integer
                | Needed::Invertible => diagnostic,
            }
        }
    };
    cx.diags.push(diagnostic);
}

/// Whether a function's bound admits the type of an argument; reports it if not.
pub(super) fn check_bound(
    cx: &mut Resolver,
    (function, param): (usize, usize),
    ty: Type,
    span: SpanId,
) -> bool {
    let library = cx.library.clone();
    let function = &library.functions[function];
    let wanted = &function.type_params[param];
    let dtypes = DType::ALL.into_iter();
    let admitted = match ty {
        Type::Index => false,
        Type::Scalar(ElemType::Concrete(dtype)) => wanted.bound.admits(dtype),
        Type::Scalar(ElemType::Param(id) | ElemType::Acc(id)) => {
            let bound = cx.kernel.type_params[id].bound;
            dtypes.filter(|dtype| bound.admits(*dtype)).all(|dtype| wanted.bound.admits(dtype))
        }
    };
    if admitted {
        return true;
    }
    let (name, ty_name) = (&function.name.text, cx.kernel.type_name(ty));
    let (bound, param) = (wanted.bound, &wanted.name.text);
    let message = match ty {
        Type::Scalar(ElemType::Param(id) | ElemType::Acc(id)) => {
            let found = cx.kernel.type_params[id].bound;
            format!("`{name}` asks that `{param}` is a `{bound}`, and `{ty_name}` is any `{found}`")
        }
        Type::Index | Type::Scalar(ElemType::Concrete(_)) => {
            format!("`{name}` asks that `{param}` is a `{bound}`, and `{ty_name}` is none")
        }
    };
    let diagnostic = Diagnostic::error(Code::UnsupportedOperation, span, message)
        .label(wanted.name.span, "it is asked for here");
    cx.diags.push(match ty {
        Type::Scalar(ElemType::Param(_)) => {
            diagnostic.help(format!("bound it: `{ty_name}: {bound}`"))
        }
        Type::Index => diagnostic.help("a function of positions takes `i: index`"),
        Type::Scalar(ElemType::Concrete(_) | ElemType::Acc(_)) => diagnostic,
    });
    false
}

/// Reports an atomic update of a type that has none.
fn check_atomic(cx: &mut Resolver, op: AtomicOp, ty: Type, span: SpanId) {
    let Type::Scalar(elem) = ty else { return };
    if cx.kernel.has_atomic(op, elem) {
        return;
    }
    let message = match elem {
        ElemType::Concrete(_) => format!("`{}` has no `{op}`", cx.kernel.type_name(ty)),
        ElemType::Param(param) | ElemType::Acc(param) => {
            let param = &cx.kernel.type_params[param];
            let ty = cx.kernel.type_name(ty);
            format!("`{ty}` with `{}: {}` need not have `{op}`", param.name, param.bound)
        }
    };
    let types = DType::ALL.into_iter().filter(|dtype| op.exists_for(*dtype));
    let types: Vec<String> = types.map(|dtype| format!("`{dtype}`")).collect();
    cx.diags.push(
        Diagnostic::error(Code::UnsupportedOperation, span, message)
            .help(format!("the types that have it are {}", types.join(", "))),
    );
}

/// Reports a conversion that Rust's `as` does not have either.
fn check_cast(
    cx: &mut Resolver,
    operand: ExprId,
    (from, from_class): (Type, Class),
    target: Ty,
    span: SpanId,
) {
    let Some(to) = cx.infer.settle(target) else { return };
    let to_class = Class::of(&cx.kernel, to);
    let exists = from == to
        || (from_class.is_number() && to_class.is_number())
        || (from_class == Class::Bool && matches!(to_class, Class::Integer | Class::Index));
    if exists {
        return;
    }
    let text = as_operand(&cx.kernel, operand);
    let (from_name, to_name) = (cx.kernel.type_name(from), cx.kernel.type_name(to));
    let message = format!("`{from_name}` cannot be converted to `{to_name}`");
    let diagnostic = Diagnostic::error(Code::UnsupportedOperation, span, message);
    let open = [from, to].into_iter().find_map(|ty| match ty {
        Type::Scalar(ElemType::Param(param)) if Class::of(&cx.kernel, ty) == Class::Element => {
            Some(&cx.kernel.type_params[param].name)
        }
        Type::Scalar(_) | Type::Index => None,
    });
    cx.diags.push(if let Some(name) = open {
        diagnostic
            .note(format!("`{name}: Element` may be `bool`"))
            .help(format!("bound it: `{name}: Number`"))
    } else if to_class == Class::Bool {
        diagnostic.help(format!("compare: `{text} != 0`"))
    } else {
        diagnostic.help(format!("choose: `if {text} {{ 1 }} else {{ 0 }}`"))
    });
}
