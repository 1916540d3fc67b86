//! Expressions in C++.

use super::Writer;
use super::types::{is_half, literal, type_name, wrapping_type};
use crate::dtype::DType;
use crate::op::{BinaryOp, UnaryOp};
use crate::program::{ExprId, ExprKind, Literal, Ty};

/// How tightly a text binds: an operand of lower strength is put in parentheses.
///
/// Choices, bit operators and shifts are all loose: their places among the
/// others are what readers get wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    Loose,
    Logic,
    Compare,
    Sum,
    Product,
    Unary,
    Atom,
}

impl Writer<'_> {
    /// An expression where nothing binds to it.
    pub(super) fn whole(&self, id: ExprId) -> String {
        self.strength_and_text(id).1
    }

    /// An expression as a term of a sum or a side of a comparison.
    pub(super) fn sum(&self, id: ExprId) -> String {
        self.operand(id, Strength::Sum)
    }

    /// An expression as a factor or the operand of a prefix.
    pub(super) fn factor(&self, id: ExprId) -> String {
        self.operand(id, Strength::Unary)
    }

    pub(super) fn operand(&self, id: ExprId, least: Strength) -> String {
        let (strength, text) = self.strength_and_text(id);
        if strength < least { format!("({text})") } else { text }
    }

    fn strength_and_text(&self, id: ExprId) -> (Strength, String) {
        let expr = &self.kernel.exprs[id];
        let dtype = expr.ty.storage();
        match &expr.kind {
            ExprKind::Literal(value) => {
                let text = literal(*value, expr.ty);
                let is_prefixed = text.starts_with('-') || text.starts_with("(");
                (if is_prefixed { Strength::Unary } else { Strength::Atom }, text)
            }
            ExprKind::Var(var) => (Strength::Atom, self.var(*var)),
            ExprKind::Arg(arg) => (Strength::Atom, self.names.arg(*arg).to_owned()),
            ExprKind::Coord { domain, axis } => self.coord(*domain, *axis as usize),
            ExprKind::Fragment(fragment) => (Strength::Atom, self.fragment_place(*fragment)),
            ExprKind::Load(access) => match self.vector_lane(id) {
                Some(lane) => (Strength::Atom, lane),
                None => self.loaded(access),
            },
            ExprKind::Unary { op, operand } => self.unary(*op, *operand, expr.ty),
            ExprKind::Binary { op, lhs, rhs } => self.binary(*op, *lhs, *rhs, expr.ty),
            ExprKind::Fma { a, b, c } => {
                let func = if dtype == DType::F64 { "__fma_rn" } else { "__fmaf_rn" };
                let [a, b, c] = [a, b, c].map(|part| self.whole(*part));
                (Strength::Atom, format!("{func}({a}, {b}, {c})"))
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let side = |id| self.computable(id, Strength::Sum);
                (Strength::Compare, format!("{} {} {}", side(*lhs), op.symbol(), side(*rhs)))
            }
            ExprKind::Logic { op, lhs, rhs } => {
                let of_same = matches!(
                    &self.kernel.exprs[*lhs].kind,
                    ExprKind::Logic { op: other, .. } if other == op
                );
                let lhs =
                    self.operand(*lhs, if of_same { Strength::Logic } else { Strength::Compare });
                let rhs = self.operand(*rhs, Strength::Compare);
                (Strength::Logic, format!("{lhs} {} {rhs}", op.symbol()))
            }
            ExprKind::Select { cond, then, otherwise } => {
                let [cond, then, otherwise] =
                    [cond, then, otherwise].map(|part| self.operand(*part, Strength::Compare));
                (Strength::Loose, format!("{cond} ? {then} : {otherwise}"))
            }
            ExprKind::Cast(operand) => self.cast(*operand, expr.ty),
            ExprKind::Math { func, arg } => (Strength::Atom, self.math(*func, *arg, expr.ty)),
            ExprKind::CeilDiv { n, d } => {
                (Strength::Atom, format!("tk_ceil_div({}, {})", self.whole(*n), self.whole(*d)))
            }
            ExprKind::InBounds { buffer, indices } => {
                let buffer = &self.kernel.buffers[*buffer];
                let tests: Vec<String> = indices
                    .iter()
                    .zip(&buffer.extents)
                    .map(|(index, extent)| {
                        let index = self.operand(*index, Strength::Sum);
                        format!(
                            "0 <= {index} && {index} < {}",
                            self.operand(*extent, Strength::Sum)
                        )
                    })
                    .collect();
                (Strength::Logic, tests.join(" && "))
            }
        }
    }

    /// An operand that C++ can compute with: a 16-bit float as `float`.
    pub(super) fn computable(&self, id: ExprId, least: Strength) -> String {
        if is_half(self.kernel.exprs[id].ty.storage()) {
            format!("tk_float({})", self.whole(id))
        } else {
            self.operand(id, least)
        }
    }

    fn unary(&self, op: UnaryOp, operand: ExprId, ty: Ty) -> (Strength, String) {
        let text = self.factor(operand);
        let dtype = ty.storage();
        let name = type_name(dtype);
        let text = match op {
            UnaryOp::Not if dtype == DType::Bool => format!("!{text}"),
            UnaryOp::Not => format!("({name})~{text}"),
            UnaryOp::Neg if is_half(dtype) => {
                let bits = self.operand(operand, Strength::Atom);
                let negated = format!("{name}{{(unsigned short)({bits}.bits ^ 0x8000)}}");
                return (Strength::Atom, negated);
            }
            UnaryOp::Neg if ty.is_index() || dtype.is_float() => match text.starts_with('-') {
                true => format!("-({text})"),
                false => format!("-{text}"),
            },
            UnaryOp::Neg => {
                let wrap = wrapping_type(dtype);
                format!("({name})(({wrap})0 - ({wrap}){text})")
            }
        };
        (Strength::Unary, text)
    }

    fn binary(&self, op: BinaryOp, lhs: ExprId, rhs: ExprId, ty: Ty) -> (Strength, String) {
        let dtype = ty.storage();
        if is_half(dtype) {
            return (Strength::Atom, self.half_binary(op, lhs, rhs, type_name(dtype)));
        }
        // C++ computes in the operands' own type, and without overflow.
        let is_plain = ty.is_index() || dtype.is_float() || is_wide_unsigned(dtype);
        let strength = match op {
            BinaryOp::Add | BinaryOp::Sub => Strength::Sum,
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => Strength::Product,
            BinaryOp::Min | BinaryOp::Max => {
                return (
                    Strength::Atom,
                    format!("tk_{op}({}, {})", self.whole(lhs), self.whole(rhs)),
                );
            }
            BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot | BinaryOp::Copysign => {
                return (Strength::Atom, self.math_of_two(op, lhs, rhs, dtype));
            }
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => {
                return self.bits(op, lhs, rhs, dtype);
            }
        };
        let right = match op {
            // Indices are exact: in what order they are added says nothing.
            BinaryOp::Add if ty.is_index() => Strength::Sum,
            BinaryOp::Add | BinaryOp::Sub => Strength::Product,
            _ => Strength::Unary,
        };
        let (a, b) = (self.operand(lhs, strength), self.operand(rhs, right));
        match op {
            BinaryOp::Rem if dtype.is_float() => {
                let func = if dtype == DType::F64 { "fmod" } else { "fmodf" };
                (Strength::Atom, format!("{func}({}, {})", self.whole(lhs), self.whole(rhs)))
            }
            BinaryOp::Div | BinaryOp::Rem if !dtype.is_float() => {
                let is_positive = matches!(
                    self.kernel.exprs[rhs].kind,
                    ExprKind::Literal(Literal::Int(value)) if value > 0
                );
                if is_positive {
                    return self.narrowed(dtype, (strength, format!("{a} {op} {b}")));
                }
                let func = if op == BinaryOp::Div { "tk_div" } else { "tk_rem" };
                (Strength::Atom, format!("{func}({}, {})", self.whole(lhs), self.whole(rhs)))
            }
            _ if is_plain => (strength, format!("{a} {op} {b}")),
            _ => {
                let (name, wrap) = (type_name(dtype), wrapping_type(dtype));
                let (a, b) = (self.factor(lhs), self.factor(rhs));
                (Strength::Unary, format!("({name})(({wrap}){a} {op} ({wrap}){b})"))
            }
        }
    }

    /// 16-bit floats: computed in `float` and rounded once.
    fn half_binary(&self, op: BinaryOp, lhs: ExprId, rhs: ExprId, name: &str) -> String {
        let (a, b) = (self.computable(lhs, Strength::Atom), self.computable(rhs, Strength::Atom));
        let value = match op {
            BinaryOp::Rem => format!("fmodf({a}, {b})"),
            BinaryOp::Min | BinaryOp::Max => format!("tk_{op}({a}, {b})"),
            BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot => format!("{op}f({a}, {b})"),
            BinaryOp::Copysign => {
                let [a, b] = [lhs, rhs].map(|id| self.operand(id, Strength::Atom));
                return format!(
                    "{name}{{(unsigned short)(({a}.bits & 0x7fff) | ({b}.bits & 0x8000))}}"
                );
            }
            _ => format!("{a} {op} {b}"),
        };
        format!("{name}_of({value})")
    }

    fn bits(&self, op: BinaryOp, lhs: ExprId, rhs: ExprId, dtype: DType) -> (Strength, String) {
        let (a, b) = (self.factor(lhs), self.factor(rhs));
        let mask = i128::from(dtype.size_bytes() * 8 - 1);
        let count = match self.kernel.exprs[rhs].kind {
            ExprKind::Literal(Literal::Int(value)) => (value & mask).to_string(),
            _ => format!("((int){b} & {mask})"),
        };
        match op {
            BinaryOp::Shl if is_wide_unsigned(dtype) => {
                (Strength::Loose, format!("{a} << {count}"))
            }
            BinaryOp::Shl => {
                let (name, wrap) = (type_name(dtype), wrapping_type(dtype));
                (Strength::Unary, format!("({name})(({wrap}){a} << {count})"))
            }
            BinaryOp::Shr => self.narrowed(dtype, (Strength::Loose, format!("{a} >> {count}"))),
            _ => self.narrowed(dtype, (Strength::Loose, format!("{a} {op} {b}"))),
        }
    }

    /// A value that C++ computes in `int` where its type is narrower.
    fn narrowed(&self, dtype: DType, (strength, text): (Strength, String)) -> (Strength, String) {
        match dtype.size_bytes() {
            4 | 8 => (strength, text),
            _ => (Strength::Unary, format!("({})({text})", type_name(dtype))),
        }
    }

    fn cast(&self, operand: ExprId, to: Ty) -> (Strength, String) {
        let from = self.kernel.exprs[operand].ty.storage();
        let to = to.storage();
        let name = type_name(to);
        let value = self.computable(operand, Strength::Unary);
        if is_half(to) {
            let carried = match from {
                DType::I64 | DType::U64 => format!("tk_odd_double({value})"),
                DType::I32 | DType::U32 => format!("(double){value}"),
                DType::F16 | DType::BF16 | DType::F32 | DType::F64 => value,
                DType::Bool | DType::I8 | DType::U8 | DType::I16 | DType::U16 => {
                    format!("(float){value}")
                }
            };
            return (Strength::Atom, format!("{name}_of({carried})"));
        }
        if let (true, Some((min, max))) = (from.is_float(), to.integer_range()) {
            let (carrier, suffix) =
                if from == DType::F64 { ("double", "") } else { ("float", "f") };
            // Powers of two (or 0), exact on the carrier's grid.
            let (below, above) = (min as f64, max as f64 + 1.0);
            let above = if max > i128::from(i64::MAX / 2) { max as f64 } else { above };
            let least = literal(Literal::Int(min), Ty::Scalar(to));
            let most = literal(Literal::Int(max), Ty::Scalar(to));
            let text = format!(
                "tk_saturate(({carrier}){value}, {below:?}{suffix}, {above:?}{suffix}, \
                 ({name}){least}, ({name}){most})"
            );
            return (Strength::Atom, text);
        }
        // `tk_float` has made a `float` of a 16-bit one.
        if is_half(from) && to == DType::F32 {
            return (Strength::Atom, value);
        }
        (Strength::Unary, format!("({name}){value}"))
    }
}

/// Unsigned types in which C++ computes as they are.
fn is_wide_unsigned(dtype: DType) -> bool {
    matches!(dtype, DType::U32 | DType::U64)
}
