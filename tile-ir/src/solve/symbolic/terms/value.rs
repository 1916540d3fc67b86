//! Index expressions as polynomials, conditions as formulas.
//!
//! What is not a polynomial becomes a symbol with facts. Where the facts say all
//! there is to say (`/` and `%` by what is positive, `tiles`, `min`, `max`, a
//! choice between two values, integers that wrap) the symbol is a function of
//! its operands; otherwise it is opaque: equal only to itself.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{Obstacle, Sharing, Symbol};
use super::super::walk::{Value, Walk};
use super::bits::most_of;
use super::integers::{is_integer, range_of};
use super::larger;
use crate::kernel::{
    Access, AccessKind, ArrayRef, ExprId, ExprKind, Literal, Source, Type, VarId, VarKind,
};
use crate::op::{BinaryOp, LogicOp, MathFn, NamedConst, UnaryOp};
use crate::span::SpanId;

/// The functions of two operands that have facts instead of a polynomial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Function {
    /// Truncated division.
    Quotient,
    /// Division by a positive number, rounded down.
    Floor,
    /// What it leaves, where the divisor may be 0.
    Remainder,
    /// `^`.
    ExclusiveOr,
    /// `&`.
    And,
    /// `|`.
    Or,
    /// Two to the power of the first operand; the second is 0.
    Power,
    /// Division rounded up, of what is not negative.
    Tiles,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// How often a range that starts at 0 and has this size is left.
    UnsignedTurns,
    /// The same of a range with 0 in its middle.
    SignedTurns,
    /// What is left of the launch's own number in a range that ends at the second operand.
    Narrowed,
}

impl Walk<'_> {
    /// The value of an index or integer.
    pub(in super::super) fn index(&mut self, expr: ExprId) -> Poly {
        match self.value(expr) {
            Value::Int(poly) => poly,
            Value::Cond(_) | Value::Other => Poly::lost(),
        }
    }

    /// A condition.
    pub(in super::super) fn condition(&mut self, expr: ExprId) -> Cond {
        let cond = self.undecided(expr);
        self.decided(expr, cond)
    }

    /// The same, whatever a case knows of it.
    pub(in super::super) fn undecided(&mut self, expr: ExprId) -> Cond {
        match self.value(expr) {
            Value::Cond(cond) => cond,
            Value::Int(_) | Value::Other => Cond::unknown(),
        }
    }

    /// Any expression; notes what it reads.
    pub(in super::super) fn value(&mut self, expr: ExprId) -> Value {
        if !self.asked.is_expr(expr) {
            self.visit(expr);
            return Value::Other;
        }
        let kernel = self.kernel;
        let known = self.known(expr, &kernel.exprs[expr].kind);
        match (known, kernel.exprs[expr].ty) {
            (Some(value), _) => value,
            (None, ty) => self.opaque(expr, ty),
        }
    }

    /// Notes what an expression reads whose value nobody asks for.
    fn visit(&mut self, expr: ExprId) {
        match &self.kernel.exprs[expr].kind {
            ExprKind::Load(access) => {
                let indices = self.read(access);
                self.note_outside(Source::Load(expr), access, &indices);
            }
            // Of their parts some are evaluated under conditions.
            kind @ (ExprKind::Select { .. } | ExprKind::Logic { .. }) => {
                self.known(expr, kind);
            }
            ExprKind::Uniform(operand) => {
                self.by_all(|walk| walk.value(*operand));
            }
            kind => kind.operands().into_iter().for_each(|operand| {
                self.value(operand);
            }),
        }
    }

    /// A value of which no more is known than its type.
    pub(in super::super) fn opaque(&mut self, expr: ExprId, ty: Type) -> Value {
        if ty == Type::BOOL
            && !self.is_in_point()
            && let Some(named) = self.named(expr)
        {
            return named;
        }
        let obstacle = match &self.kernel.exprs[expr].kind {
            ExprKind::Load(_) | ExprKind::Uniform(_) => Obstacle::Load,
            ExprKind::Var(var) => Obstacle::Changed(*var),
            ExprKind::Binary { op, .. } => Obstacle::Operator(*op),
            ExprKind::Cast(_) => Obstacle::Conversion,
            ExprKind::Literal(_)
            | ExprKind::Unary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => Obstacle::Other,
        };
        let uniform = self.uniformity.is_uniform_expr(expr);
        self.any_of_type(ty, uniform, (self.kernel.exprs[expr].span, obstacle))
    }

    /// Any value of a type, the same for the whole block where `uniform`.
    pub(in super::super) fn any_of_type(
        &mut self,
        ty: Type,
        uniform: bool,
        obstacle: (SpanId, Obstacle),
    ) -> Value {
        if !is_integer(ty) {
            return Value::Other;
        }
        let sharing = if uniform { Sharing::Block } else { Sharing::Private };
        let low = range_of(ty).map(|(min, _)| min);
        let unknown = self.symbol(sharing, low, Some(obstacle));
        let value = Poly::unknown(unknown);
        if let Some((min, max)) = range_of(ty) {
            let range = Formula::le(&Poly::constant(min), &value)
                .and(Formula::le(&value, &Poly::constant(max)));
            self.symbols.add_facts(unknown, range);
        }
        Value::Int(value)
    }

    pub(in super::super) fn symbol(
        &mut self,
        sharing: Sharing,
        low: Option<i128>,
        obstacle: Option<(SpanId, Obstacle)>,
    ) -> Unknown {
        let unknown = self.symbols.next();
        let facts = low.map_or(Formula::True, |low| {
            Formula::le(&Poly::constant(low), &Poly::unknown(unknown))
        });
        self.symbols.push(Symbol { sharing, loops: self.loops.clone(), low, facts, obstacle })
    }

    fn known(&mut self, expr: ExprId, kind: &ExprKind) -> Option<Value> {
        let ty = self.kernel.exprs[expr].ty;
        match kind {
            ExprKind::Literal(Literal::Int(value)) if is_integer(ty) => {
                Some(Value::Int(Poly::constant(*value)))
            }
            ExprKind::Literal(Literal::Bool(value)) => {
                let (yes, no) = (Formula::True, Formula::False);
                Some(Value::Cond(if *value { Cond { yes, no } } else { Cond { yes: no, no: yes } }))
            }
            ExprKind::Literal(Literal::Named(NamedConst::Min)) => {
                range_of(ty).map(|(min, _)| Value::Int(Poly::constant(min)))
            }
            ExprKind::Literal(Literal::Named(NamedConst::Max)) => {
                range_of(ty).map(|(_, max)| Value::Int(Poly::constant(max)))
            }
            ExprKind::Literal(_) => None,
            ExprKind::Var(var) => self.variable(*var),
            ExprKind::Load(access) => {
                let since = self.symbols.next();
                let value = self.known_load(expr, access, ty)?;
                self.note_found_below_in(access.array, since, &value);
                Some(value)
            }
            ExprKind::Unary { op, operand } => match (op, self.value(*operand)) {
                (UnaryOp::Neg, Value::Int(poly)) => {
                    let ty = if self.is_exact(expr) { Type::Index } else { ty };
                    self.wrapped(poly.negated(), ty, self.kernel.exprs[expr].span)
                }
                (UnaryOp::Not, Value::Cond(cond)) => Some(Value::Cond(cond.negated())),
                (UnaryOp::Not, Value::Int(poly)) => {
                    // All bits are flipped: of the type's range the other end is as far.
                    let (min, max) = range_of(ty).unwrap_or((-1, 0));
                    Some(Value::Int(poly.negated().plus(min + max)))
                }
                (UnaryOp::Neg | UnaryOp::Not, _) => None,
            },
            ExprKind::Binary { op, lhs, rhs } => {
                let is_less = *op == BinaryOp::Sub && self.is_exact(*lhs);
                let (lhs, rhs) = (self.value(*lhs), self.value(*rhs));
                if self.exact.loses(expr) {
                    return None;
                }
                let span = self.kernel.exprs[expr].span;
                // What no launch wraps is added as an index is.
                let is_exact = self.is_exact(expr) || self.is_exact_beside(expr, [&lhs, &rhs]);
                let own = if is_exact { Type::Index } else { ty };
                let parts = (lhs.clone(), rhs.clone());
                let known = self.operated((*op, span), (lhs, rhs), (ty, own));
                let less = || self.less_than_exact(&parts, known.as_ref(), ty);
                let known = is_less.then(less).flatten().map(Value::Int).or(known);
                if *op == BinaryOp::Sub {
                    let exact = match &parts {
                        (Value::Int(lhs), Value::Int(rhs)) => Value::Int(lhs.sub(rhs)),
                        _ => Value::Other,
                    };
                    self.note_natural(expr, &exact, known.as_ref());
                }
                if let (true, Some(Value::Int(value))) = (is_exact, &known) {
                    self.note_bounded(value, ty);
                    self.note_unwrapped(value, ty);
                }
                known
            }
            ExprKind::Compare { op, lhs, rhs } => self.compared(*op, *lhs, *rhs).map(Value::Cond),
            ExprKind::Logic { op, lhs, rhs } => {
                let lhs = self.condition(*lhs);
                let guard = match op {
                    LogicOp::And => lhs.yes.clone(),
                    LogicOp::Or => lhs.no.clone(),
                };
                let rhs = self.under(guard, |walk| walk.condition(*rhs));
                Some(Value::Cond(match op {
                    LogicOp::And => lhs.and(rhs),
                    LogicOp::Or => lhs.or(rhs),
                }))
            }
            ExprKind::Select { cond, then, otherwise } => {
                let cond = self.condition(*cond);
                let then = self.under(cond.yes.clone(), |walk| walk.value(*then));
                let otherwise = self.under(cond.no.clone(), |walk| walk.value(*otherwise));
                let uniform = self.uniformity.is_uniform_expr(expr);
                self.either(&cond, then, otherwise, uniform)
            }
            ExprKind::Uniform(operand) => {
                // What is known of the operand may be one work-item's view of it.
                let known =
                    self.by_all(|walk| walk.known(*operand, &walk.kernel.exprs[*operand].kind));
                known.or_else(|| Some(self.opaque(expr, ty)))
            }
            ExprKind::Cast(operand) => {
                let from = self.kernel.exprs[*operand].ty;
                let value = self.value(*operand);
                if let Some(number) = self.whole_of_float(expr, *operand) {
                    return Some(number);
                }
                if (self.is_exact(expr) || self.is_exact_beside(expr, [&value]))
                    && let Value::Int(number) = &value
                {
                    self.note_bounded(number, ty);
                    return Some(value);
                }
                let known = self.converted(value.clone(), (from, ty), self.kernel.exprs[expr].span);
                self.note_natural(expr, &value, known.as_ref());
                known
            }
            ExprKind::Math { func, arg } => match (func, self.value(*arg)) {
                (MathFn::Abs, Value::Int(poly)) if self.is_natural_here(&poly) => {
                    Some(Value::Int(poly))
                }
                (MathFn::Abs, Value::Int(poly)) if ty == Type::Index => {
                    let negated = poly.negated();
                    self.extremum((self.kernel.exprs[expr].span, BinaryOp::Max), poly, negated)
                }
                (
                    MathFn::CountOnes | MathFn::TrailingZeros | MathFn::LeadingZeros,
                    Value::Int(poly),
                ) => {
                    let ty = self.kernel.exprs[*arg].ty;
                    self.counted_bits(*func, &poly, (self.kernel.exprs[expr].span, ty))
                }
                (MathFn::ReverseBits, Value::Int(poly)) => {
                    self.reversed_bits(&poly, ty, self.kernel.exprs[expr].span)
                }
                _ => None,
            },
            ExprKind::Tiles { extent, tile } => {
                let (extent, tile) = (self.index(*extent), self.index(*tile));
                self.tiles(extent, tile, self.kernel.exprs[expr].span)
            }
            ExprKind::InBounds { tensor, indices } => {
                let indices: Vec<Poly> = indices.iter().map(|index| self.index(*index)).collect();
                let extents = self.extents(ArrayRef::Tensor(*tensor));
                let inside = |(index, extent): (&Poly, &Poly)| Formula::within(index, extent);
                let outside = |(index, extent): (&Poly, &Poly)| {
                    Formula::lt(index, &Poly::default()).or(Formula::le(extent, index))
                };
                Some(Value::Cond(Cond {
                    yes: Formula::All(indices.iter().zip(&extents).map(inside).collect()),
                    no: Formula::Any(indices.iter().zip(&extents).map(outside).collect()),
                }))
            }
        }
    }

    /// What is known of an element that is read.
    fn known_load(&mut self, expr: ExprId, access: &Access, ty: Type) -> Option<Value> {
        let indices = self.read(access);
        if let Some(held) = self.element(access, &indices) {
            return Some(held);
        }
        if let Some(held) = self.chosen_element(access, &indices) {
            return Some(held);
        }
        if let Some(found) = self.found_in_own_array(expr, access, &indices) {
            return Some(found);
        }
        self.note_outside(Source::Load(expr), access, &indices);
        let loaded = self.loaded(expr, access, &indices);
        let value = loaded.or_else(|| self.held_in(expr, access, &indices));
        let value = value.or_else(|| self.agreed_load(expr, access, &indices));
        let Some(value) = value else {
            // What all evaluate all find.
            let is_one = self.by_all || self.uniformity.is_uniform_expr(expr);
            let place = (self.kernel.exprs[expr].span, Obstacle::Load);
            let is_asked = ty != Type::BOOL && self.is_counter_read(access);
            let value = is_asked.then(|| self.any_of_type(ty, is_one, place))?;
            self.note_brought(access, &indices, &value);
            return Some(value);
        };
        self.note_brought(access, &indices, &value);
        self.note_read_before(expr, access, &indices, &value);
        Some(self.padded(access, &indices, value))
    }

    fn variable(&mut self, var: VarId) -> Option<Value> {
        if let Some(value) = self.computed_here(var) {
            return Some(value);
        }
        match self.env.get(&var) {
            Some(Value::Other) | None => {}
            Some(value) => return Some(self.as_settled(value.clone())),
        }
        let declared = &self.kernel.vars[var];
        let VarKind::Scalar(_) = declared.kind else { return None };
        // A scalar parameter is one number for the whole launch.
        let value = self.any_of_type(declared.ty, true, (declared.span, Obstacle::Other));
        if let Value::Int(poly) = &value {
            poly.unknowns().for_each(|unknown| self.symbols.set_launch(unknown));
            self.env.insert(var, value.clone());
        }
        Some(value)
    }

    /// An array's extents.
    pub(in super::super) fn extents(&mut self, array: ArrayRef) -> Vec<Poly> {
        self.kernel.extents(array).iter().map(|extent| self.index(*extent)).collect()
    }

    fn read(&mut self, access: &Access) -> Vec<Poly> {
        let indices: Vec<Poly> = access.indices.iter().map(|index| self.index(*index)).collect();
        self.site(access, indices.clone(), AccessKind::Read);
        indices
    }

    /// The value of an operator's application, where it is exact.
    pub(in super::super) fn binary(
        &mut self,
        op: BinaryOp,
        lhs: Value,
        rhs: Value,
        ty: Type,
        span: SpanId,
    ) -> Option<Value> {
        let (lhs, rhs) = match (lhs, rhs) {
            (Value::Int(lhs), Value::Int(rhs)) => (lhs, rhs),
            (Value::Cond(lhs), Value::Cond(rhs)) => {
                return match op {
                    BinaryOp::And => Some(Value::Cond(lhs.and(rhs))),
                    BinaryOp::Or => Some(Value::Cond(lhs.or(rhs))),
                    BinaryOp::Add
                    | BinaryOp::Sub
                    | BinaryOp::Mul
                    | BinaryOp::Div
                    | BinaryOp::Rem
                    | BinaryOp::Xor
                    | BinaryOp::Shl
                    | BinaryOp::Shr
                    | BinaryOp::Min
                    | BinaryOp::Max
                    | BinaryOp::Pow
                    | BinaryOp::Atan2
                    | BinaryOp::Hypot
                    | BinaryOp::Copysign => None,
                };
            }
            _ => return None,
        };
        if let Some(value) = self.masked_by_sign(op, &lhs, &rhs) {
            return Some(value);
        }
        match op {
            BinaryOp::Add => {
                if let Some(sum) = self.widened_by_sum(&lhs, &rhs) {
                    return Some(Value::Int(sum));
                }
                self.note_sum_of_bits(&lhs, &rhs);
                self.note_offset(&lhs, &rhs);
                self.wrapped(lhs.add(&rhs), ty, span)
            }
            BinaryOp::Sub => self.subtracted(&lhs, &rhs, ty, span),
            BinaryOp::Mul => {
                self.note_square(&lhs, &rhs);
                self.note_weight(&lhs, &rhs);
                self.wrapped(lhs.mul(&rhs), ty, span)
            }
            BinaryOp::Div => {
                self.note_last_multiple(&lhs, &rhs, (span, op));
                if let Some(quotient) = self.rounded_by_choice(&lhs, &rhs, (span, op)) {
                    return Some(Value::Int(quotient));
                }
                self.note_single_turn(&lhs, &rhs, (span, op));
                self.quotient(&lhs, &rhs, (span, op)).map(Value::Int)
            }
            BinaryOp::Rem => {
                self.note_last_multiple(&lhs, &rhs, (span, op));
                self.note_single_turn(&lhs, &rhs, (span, op));
                self.remainder(&lhs, &rhs, (span, op)).map(Value::Int)
            }
            BinaryOp::Min | BinaryOp::Max => self.extremum((span, op), lhs, rhs),
            BinaryOp::Shr | BinaryOp::Shl => {
                let ones = if op == BinaryOp::Shl { low_end(&lhs, ty) } else { None };
                let shifted = self.shifted(ones.as_ref().unwrap_or(&lhs), &rhs, ty, (span, op))?;
                let value = match (op, ones, range_of(ty)) {
                    // The ones above stay where they are.
                    (_, Some(_), Some((_, max))) => {
                        Some(Value::Int(shifted.negated().plus(max + 1)))
                    }
                    (BinaryOp::Shl, ..) => self.wrapped(shifted, ty, span),
                    _ => Some(Value::Int(shifted)),
                };
                if let Some(Value::Int(value)) = &value {
                    self.note_shifted_bits(op, (&lhs, &rhs), value);
                }
                value
            }
            BinaryOp::And => {
                let both = self.bit_and(&lhs, &rhs, (span, op))?;
                self.note_masked(&lhs, &rhs, &both);
                Some(Value::Int(both))
            }
            BinaryOp::Or => self.bit_or(&lhs, &rhs, (span, op)).map(Value::Int),
            BinaryOp::Xor => {
                let value = self.exclusive_or(&lhs, &rhs, (span, op));
                if let Some((min, max)) = range_of(ty) {
                    let range = Formula::le(&Poly::constant(min), &value)
                        .and(Formula::le(&value, &Poly::constant(max)));
                    value
                        .unknowns()
                        .for_each(|unknown| self.symbols.add_facts(unknown, range.clone()));
                }
                Some(Value::Int(value))
            }
            // Of floats alone.
            BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot | BinaryOp::Copysign => None,
        }
    }

    /// The result of an operator on values of a type, with what is known of its bits; it is
    /// reckoned as one of type `own`, or as an index where no bit leaves the type.
    pub(in super::super) fn operated(
        &mut self,
        (op, span): (BinaryOp, SpanId),
        (lhs, rhs): (Value, Value),
        (ty, own): (Type, Type),
    ) -> Option<Value> {
        let bits = self.scattered(op, (&lhs, &rhs), ty);
        let own = if matches!(bits, Some((_, true))) { Type::Index } else { own };
        let known = self.binary(op, lhs, rhs, own, span);
        match bits {
            Some((of, _)) => self.with_bits(known, of, (span, op)),
            None => known,
        }
    }

    /// The symbol that is a function of two operands; the same for the same ones.
    pub(in super::super) fn function(
        &mut self,
        function: Function,
        lhs: &Poly,
        rhs: &Poly,
        low: Option<i128>,
        (span, shown): (SpanId, BinaryOp),
        facts: impl FnOnce(&Poly) -> Formula,
    ) -> Poly {
        let what = match function {
            Function::UnsignedTurns | Function::SignedTurns | Function::Narrowed => Obstacle::Wraps,
            Function::Quotient
            | Function::Floor
            | Function::Remainder
            | Function::ExclusiveOr
            | Function::And
            | Function::Or
            | Function::Power
            | Function::Tiles
            | Function::Min
            | Function::Max => Obstacle::Operator(shown),
        };
        self.function_with((function, lhs, rhs), low, Some((span, what)), facts)
    }

    /// The same, where this is in the way of a proof.
    pub(in super::super) fn function_with(
        &mut self,
        (function, lhs, rhs): (Function, &Poly, &Poly),
        low: Option<i128>,
        obstacle: Option<(SpanId, Obstacle)>,
        facts: impl FnOnce(&Poly) -> Formula,
    ) -> Poly {
        let key = (function, lhs.clone(), rhs.clone());
        if let Some(unknown) = self.functions.get(&key) {
            return Poly::unknown(*unknown);
        }
        let of = lhs.unknowns().chain(rhs.unknowns()).collect();
        let unknown = self.symbol(Sharing::Function(of), low, obstacle);
        let facts = facts(&Poly::unknown(unknown));
        self.symbols.add_facts(unknown, facts);
        self.functions.insert(key, unknown);
        Poly::unknown(unknown)
    }

    /// The function that an unknown is, and of what.
    pub(in super::super) fn function_of(
        &self,
        unknown: Unknown,
    ) -> Option<&(Function, Poly, Poly)> {
        let found = self.functions.iter().find(|(_, symbol)| **symbol == unknown);
        found.map(|(function, _)| function)
    }

    /// What a choice is made of, be its condition known or not: two conditions of which a part is
    /// not known are not one, however alike they look.
    pub(in super::super) fn choice_of(&self, unknown: Unknown) -> Option<&(Cond, Poly, Poly)> {
        self.choices.get(&unknown).or_else(|| self.open_choices.get(&unknown))
    }

    /// One of two values, by a condition; the same for the whole block where
    /// `uniform`.
    pub(in super::super) fn either(
        &mut self,
        cond: &Cond,
        then: Value,
        otherwise: Value,
        uniform: bool,
    ) -> Option<Value> {
        if cond.yes == Formula::True {
            return Some(then);
        }
        if cond.no == Formula::True {
            return Some(otherwise);
        }
        match (then, otherwise) {
            (Value::Int(then), Value::Int(otherwise)) => {
                if then == otherwise {
                    return Some(Value::Int(then));
                }
                if let Some(element) = self.same_element(cond, &then, &otherwise) {
                    return Some(Value::Int(element));
                }
                if let Some(sum) = self.widened(cond, &then, &otherwise) {
                    return Some(Value::Int(sum));
                }
                if let Some(rest) = self.floored_choice(cond, &then, &otherwise) {
                    return Some(Value::Int(rest));
                }
                if let Some(quotient) = self.rounded_by_sign(cond, &then, &otherwise) {
                    return Some(Value::Int(quotient));
                }
                if let Some(sum) = self.counted_by_flag(cond, (&then, &otherwise), uniform) {
                    return Some(Value::Int(sum));
                }
                if let Some(extremum) = self.chosen_extremum(cond, &then, &otherwise) {
                    return Some(Value::Int(extremum));
                }
                let cases = |m: &Poly| {
                    let case =
                        |cond: &Formula, value: &Poly| cond.clone().and(Formula::eq(m, value));
                    case(&cond.yes, &then).or(case(&cond.no, &otherwise))
                };
                let probe = cases(&Poly::default());
                // What the same cases decide is the same value.
                if let Some(known) = self.chosen.get(&probe) {
                    return Some(Value::Int(Poly::unknown(*known)));
                }
                if let Some(alive) = self.flattened(cond, (&then, &otherwise)) {
                    let unknown = self.one_of(alive, (cond, &then, &otherwise));
                    self.chosen.insert(probe, unknown);
                    return Some(Value::Int(Poly::unknown(unknown)));
                }
                let mut of = Vec::new();
                probe.collect_unknowns(&mut of);
                let sharing = match (probe.is_exact(), uniform) {
                    (true, _) => Sharing::Function(of),
                    (false, true) => Sharing::Block,
                    (false, false) => Sharing::Private,
                };
                let lows = self.symbols.low(&then).zip(self.symbols.low(&otherwise));
                let unknown = self.symbol(sharing, lows.map(|(a, b)| a.min(b)), None);
                let parts = (cond.clone(), then.clone(), otherwise.clone());
                if probe.is_exact() {
                    self.chosen.insert(probe, unknown);
                    self.choices.insert(unknown, parts);
                } else {
                    self.open_choices.insert(unknown, parts);
                }
                self.note_before_own(unknown, cond, (&then, &otherwise));
                self.note_chosen_ballot(unknown, cond, (&then, &otherwise));
                let value = Poly::unknown(unknown);
                let bounds = larger::bounds(cond, (&then, &otherwise), &value);
                self.symbols.add_facts(unknown, cases(&value).and(bounds));
                if [&then, &otherwise].iter().any(|of| self.bits.contains_key(of)) {
                    let bits = self.joined_bits(&then, &otherwise);
                    self.note_bits(&value, bits);
                    self.symbols.add_facts(unknown, most_of(&value, bits));
                }
                Some(Value::Int(value))
            }
            (Value::Cond(then), Value::Cond(otherwise)) => {
                let case = |a: &Formula, b: &Formula| {
                    let then = cond.yes.clone().and(a.clone());
                    then.or(cond.no.clone().and(b.clone()))
                };
                Some(Value::Cond(Cond {
                    yes: case(&then.yes, &otherwise.yes),
                    no: case(&then.no, &otherwise.no),
                }))
            }
            _ => None,
        }
    }
}

/// Of an unsigned number with ones from a bit on, the lowest bit or the one after it: that bit.
/// Shifted to the left, the ones begin as much later, or are all gone.
fn low_end(ones: &Poly, ty: Type) -> Option<Poly> {
    let (0, max) = range_of(ty)? else { return None };
    let low = max + 1 - ones.as_constant()?;
    matches!(low, 1 | 2).then(|| Poly::constant(low))
}
