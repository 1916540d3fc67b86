//! Expressions in C++.

use super::Writer;
use super::types::{is_half, literal, type_name, wrapping_type};
use crate::dtype::DType;
use crate::op::{BinaryOp, MathFn, UnaryOp};
use crate::program::{Access, AxisGuard, ExprId, ExprKind, Literal, Target, Ty};

/// How tightly a text binds: an operand of lower strength is put in parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Loose,
    Sum,
    Product,
    Atom,
}

impl Writer<'_> {
    /// An expression that may stand anywhere.
    pub(super) fn expr(&self, id: ExprId) -> String {
        self.operand(id, Strength::Atom)
    }

    /// An expression where nothing binds to it.
    pub(super) fn whole(&self, id: ExprId) -> String {
        self.strength_and_text(id).1
    }

    fn operand(&self, id: ExprId, least: Strength) -> String {
        let (strength, text) = self.strength_and_text(id);
        if strength < least { format!("({text})") } else { text }
    }

    fn strength_and_text(&self, id: ExprId) -> (Strength, String) {
        let expr = &self.kernel.exprs[id];
        let dtype = expr.ty.storage();
        match &expr.kind {
            ExprKind::Literal(value) => {
                let text = literal(*value, expr.ty);
                let strength = if text.starts_with('-') { Strength::Loose } else { Strength::Atom };
                (strength, text)
            }
            ExprKind::Var(var) => (Strength::Atom, self.names.var(*var).to_owned()),
            ExprKind::Arg(arg) => (Strength::Atom, self.names.arg(*arg).to_owned()),
            ExprKind::Coord { domain, axis } => {
                (Strength::Atom, self.names.coord(*domain, *axis as usize).to_owned())
            }
            ExprKind::Fragment(fragment) => (Strength::Atom, self.fragment_place(*fragment)),
            ExprKind::Load(access) => self.load(access),
            ExprKind::Unary { op, operand } => self.unary(*op, *operand, expr.ty),
            ExprKind::Binary { op, lhs, rhs } => self.binary(*op, *lhs, *rhs, expr.ty),
            ExprKind::Fma { a, b, c } => {
                let func = if dtype == DType::F64 { "__fma_rn" } else { "__fmaf_rn" };
                let [a, b, c] = [a, b, c].map(|part| self.whole(*part));
                (Strength::Atom, format!("{func}({a}, {b}, {c})"))
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let side = |id| self.computable(id, Strength::Sum);
                (Strength::Loose, format!("{} {} {}", side(*lhs), op.symbol(), side(*rhs)))
            }
            ExprKind::Logic { op, lhs, rhs } => (
                Strength::Loose,
                format!("{} {} {}", self.expr(*lhs), op.symbol(), self.expr(*rhs)),
            ),
            ExprKind::Select { cond, then, otherwise } => {
                let [cond, then, otherwise] = [cond, then, otherwise].map(|part| self.expr(*part));
                (Strength::Loose, format!("{cond} ? {then} : {otherwise}"))
            }
            ExprKind::Cast(operand) => (Strength::Atom, self.cast(*operand, expr.ty)),
            ExprKind::Math { func, arg } => (Strength::Atom, self.math(*func, *arg, expr.ty)),
            ExprKind::CeilDiv { n, d } => (
                Strength::Atom,
                format!(
                    "tk_ceil_div<{}>({}, {})",
                    type_name(dtype),
                    self.whole(*n),
                    self.whole(*d)
                ),
            ),
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
                (Strength::Loose, tests.join(" && "))
            }
        }
    }

    /// An operand that C++ can compute with: a 16-bit float as `float`.
    fn computable(&self, id: ExprId, least: Strength) -> String {
        if is_half(self.kernel.exprs[id].ty.storage()) {
            format!("tk_float({})", self.whole(id))
        } else {
            self.operand(id, least)
        }
    }

    fn unary(&self, op: UnaryOp, operand: ExprId, ty: Ty) -> (Strength, String) {
        let text = self.expr(operand);
        let dtype = ty.storage();
        let name = type_name(dtype);
        match op {
            UnaryOp::Not if dtype == DType::Bool => (Strength::Loose, format!("!{text}")),
            UnaryOp::Not => (Strength::Atom, format!("({name})(~{text})")),
            UnaryOp::Neg if is_half(dtype) => {
                let whole = self.whole(operand);
                (Strength::Atom, format!("{name}{{(unsigned short)(({whole}).bits ^ 0x8000)}}"))
            }
            UnaryOp::Neg if ty.is_index() || dtype.is_float() => {
                (Strength::Loose, format!("-{text}"))
            }
            UnaryOp::Neg => {
                let wrap = wrapping_type(dtype);
                (Strength::Atom, format!("({name})(({wrap})0 - ({wrap}){text})"))
            }
        }
    }

    fn binary(&self, op: BinaryOp, lhs: ExprId, rhs: ExprId, ty: Ty) -> (Strength, String) {
        let dtype = ty.storage();
        let name = type_name(dtype);
        if is_half(dtype) {
            let (a, b) =
                (self.computable(lhs, Strength::Atom), self.computable(rhs, Strength::Atom));
            let value = match op {
                BinaryOp::Rem => format!("fmodf({a}, {b})"),
                BinaryOp::Min | BinaryOp::Max => format!("tk_{op}({a}, {b})"),
                _ => format!("{a} {op} {b}"),
            };
            return (Strength::Atom, format!("{name}_of({value})"));
        }
        match op {
            BinaryOp::Min | BinaryOp::Max => {
                let (a, b) = (self.whole(lhs), self.whole(rhs));
                (Strength::Atom, format!("tk_{op}(({name})({a}), ({name})({b}))"))
            }
            BinaryOp::Rem if dtype.is_float() => {
                let func = if dtype == DType::F64 { "fmod" } else { "fmodf" };
                (Strength::Atom, format!("{func}({}, {})", self.whole(lhs), self.whole(rhs)))
            }
            BinaryOp::Add | BinaryOp::Sub if ty.is_index() || dtype.is_float() => {
                let (a, b) =
                    (self.operand(lhs, Strength::Sum), self.operand(rhs, Strength::Product));
                (Strength::Sum, format!("{a} {op} {b}"))
            }
            BinaryOp::Mul if ty.is_index() || dtype.is_float() => {
                let (a, b) = (self.operand(lhs, Strength::Product), self.expr(rhs));
                (Strength::Product, format!("{a} * {b}"))
            }
            BinaryOp::Div if dtype.is_float() => {
                let (a, b) = (self.operand(lhs, Strength::Product), self.expr(rhs));
                (Strength::Product, format!("{a} / {b}"))
            }
            BinaryOp::Div | BinaryOp::Rem => {
                let (a, b) = (self.operand(lhs, Strength::Product), self.expr(rhs));
                let text = match self.kernel.exprs[rhs].kind {
                    ExprKind::Literal(Literal::Int(value)) if value > 0 => {
                        format!("({name})({a} {op} {b})")
                    }
                    _ => {
                        let func = if op == BinaryOp::Div { "tk_div" } else { "tk_rem" };
                        format!("{func}(({name}){a}, ({name}){b})")
                    }
                };
                (Strength::Atom, text)
            }
            BinaryOp::Shl | BinaryOp::Shr => {
                let (a, b) = (self.expr(lhs), self.expr(rhs));
                let mask = dtype.size_bytes() * 8 - 1;
                let value = match op {
                    BinaryOp::Shl => {
                        format!("({}){a} << ((int){b} & {mask})", wrapping_type(dtype))
                    }
                    _ => format!("{a} >> ((int){b} & {mask})"),
                };
                (Strength::Atom, format!("({name})({value})"))
            }
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                (Strength::Atom, format!("({name})({} {op} {})", self.expr(lhs), self.expr(rhs)))
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
                let wrap = wrapping_type(dtype);
                let (a, b) = (self.expr(lhs), self.expr(rhs));
                (Strength::Atom, format!("({name})(({wrap}){a} {op} ({wrap}){b})"))
            }
        }
    }

    fn cast(&self, operand: ExprId, to: Ty) -> String {
        let from = self.kernel.exprs[operand].ty.storage();
        let to = to.storage();
        let name = type_name(to);
        let value = self.computable(operand, Strength::Atom);
        if is_half(to) {
            return match from {
                DType::I64 | DType::U64 => format!("{name}_of(tk_odd_double({value}))"),
                DType::I32 | DType::U32 | DType::F64 => format!("{name}_of((double){value})"),
                _ => format!("{name}_of((float){value})"),
            };
        }
        if let (true, Some((min, max))) = (from.is_float(), to.integer_range()) {
            let (carrier, suffix) =
                if from == DType::F64 { ("double", "") } else { ("float", "f") };
            // Powers of two (or 0), exact on the carrier's grid.
            let (below, above) = (min as f64, max as f64 + 1.0);
            let above = if max > i128::from(i64::MAX / 2) { max as f64 } else { above };
            let least = literal(Literal::Int(min), Ty::Scalar(to));
            let most = literal(Literal::Int(max), Ty::Scalar(to));
            return format!(
                "tk_saturate(({carrier}){value}, {below:?}{suffix}, {above:?}{suffix}, \
                 ({name}){least}, ({name}){most})"
            );
        }
        format!("({name}){value}")
    }

    fn math(&self, func: MathFn, arg: ExprId, ty: Ty) -> String {
        let dtype = ty.storage();
        let name = type_name(dtype);
        if !dtype.is_float() {
            // Absolute value of an integer or index; the smallest wraps.
            let text = self.expr(arg);
            let wrap = wrapping_type(dtype);
            return if dtype.is_signed_integer() {
                format!("({text} < 0 ? ({name})(({wrap})0 - ({wrap}){text}) : {text})")
            } else {
                text
            };
        }
        let double = dtype == DType::F64;
        let x = if is_half(dtype) { self.computable(arg, Strength::Atom) } else { self.whole(arg) };
        let (sqrt, divide) =
            if double { ("__dsqrt_rn", "1.0 / ") } else { ("__fsqrt_rn", "1.0f / ") };
        let suffix = if double { "" } else { "f" };
        let value = match func {
            MathFn::Abs => format!("fabs{suffix}({x})"),
            MathFn::Sqrt => format!("{sqrt}({x})"),
            MathFn::Rsqrt => format!("({divide}{sqrt}({x}))"),
            MathFn::Exp
            | MathFn::Log
            | MathFn::Sin
            | MathFn::Cos
            | MathFn::Tanh
            | MathFn::Floor
            | MathFn::Ceil => format!("{}{suffix}({x})", func.name()),
        };
        if is_half(dtype) { format!("{name}_of({value})") } else { value }
    }

    fn load(&self, access: &Access) -> (Strength, String) {
        let place = self.place(access);
        match (self.guard(access), access.pad) {
            (Some(guard), Some(pad)) => {
                (Strength::Loose, format!("{guard} ? {place} : {}", self.expr(pad)))
            }
            _ => (Strength::Atom, place),
        }
    }

    /// The comparisons of an access, `None` where there are none.
    pub(super) fn guard(&self, access: &Access) -> Option<String> {
        let mut tests = Vec::new();
        for (axis, guard) in access.guards.iter().enumerate() {
            let AxisGuard { lower, upper } = *guard;
            let index = self.operand(access.indices[axis], Strength::Sum);
            if lower {
                tests.push(format!("0 <= {index}"));
            }
            if upper {
                let extent = match access.target {
                    Target::Buffer(id) => {
                        let extent = self.kernel.buffers[id].extents[axis];
                        self.operand(extent, Strength::Sum)
                    }
                    Target::Tile(id) => self.kernel.tiles[id].extents[axis].to_string(),
                };
                tests.push(format!("{index} < {extent}"));
            }
        }
        (!tests.is_empty()).then(|| format!("({})", tests.join(" && ")))
    }

    /// `a[offset]`
    pub(super) fn place(&self, access: &Access) -> String {
        match access.target {
            Target::Buffer(id) => {
                let strides = &self.kernel.buffers[id].strides;
                let terms = access.indices.iter().zip(strides).map(|(index, stride)| {
                    match self.kernel.exprs[*stride].kind {
                        ExprKind::Literal(Literal::Int(1)) => self.operand(*index, Strength::Sum),
                        _ => format!(
                            "{} * {}",
                            self.operand(*index, Strength::Product),
                            self.operand(*stride, Strength::Atom)
                        ),
                    }
                });
                let terms: Vec<String> = terms.collect();
                format!("{}[{}]", self.names.buffer(id), terms.join(" + "))
            }
            Target::Tile(id) => {
                let tile = &self.kernel.tiles[id];
                let terms = access.indices.iter().zip(&tile.layout.strides);
                let terms: Vec<String> = terms
                    .map(|(index, stride)| match stride {
                        1 => self.operand(*index, Strength::Sum),
                        _ => format!("{} * {stride}", self.operand(*index, Strength::Product)),
                    })
                    .collect();
                let mut offset = terms.join(" + ");
                if let Some(swizzle) = tile.layout.swizzle {
                    let mask = (1u32 << swizzle.bits) - 1;
                    offset = format!(
                        "(({offset}) ^ (((({offset}) >> {}) & {mask}) << {}))",
                        swizzle.source, swizzle.shift
                    );
                }
                if let Some(slot) = access.slot {
                    let slot = self.operand(slot, Strength::Atom);
                    offset = format!("{slot} * {} + {offset}", tile.layout.size_elems);
                }
                format!("{}[{offset}]", self.names.tile(id))
            }
        }
    }
}
