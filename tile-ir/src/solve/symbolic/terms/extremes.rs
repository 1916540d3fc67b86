//! Divisions rounded up, and the smaller and the larger of two values: functions with facts
//! that say all there is to say.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::Poly;
use super::super::algebra::symbol::Obstacle;
use super::super::walk::{Value, Walk};
use super::larger;
use super::value::Function;
use crate::op::BinaryOp;
use crate::span::SpanId;

impl Walk<'_> {
    /// `tiles(extent, tile)`.
    pub(in super::super) fn tiles(
        &mut self,
        extent: Poly,
        tile: Poly,
        span: SpanId,
    ) -> Option<Value> {
        if tile.as_constant() == Some(1) && self.is_natural(&extent) {
            return Some(Value::Int(extent));
        }
        let none = Formula::le(&tile, &Poly::default());
        let is_positive = self.symbols.low(&tile).is_some_and(|low| low >= 1);
        if extent.is_lost() || !is_positive && !self.is_never_here(&tile, none.clone()) {
            return None;
        }
        let natural = self.is_natural(&extent);
        let at = (span, BinaryOp::Div);
        let quotient = self.function(Function::Tiles, &extent, &tile, Some(0), at, |q| {
            // extent <= q * tile < extent + tile
            let whole = q.mul(&tile);
            let rounded_up = Formula::within(&whole.sub(&extent), &tile);
            let known = if natural {
                rounded_up
            } else {
                let none = Formula::All(vec![
                    Formula::le(&extent, &Poly::default()),
                    Formula::Zero(q.clone()),
                ]);
                let some = Formula::All(vec![Formula::lt(&Poly::default(), &extent), rounded_up]);
                Formula::Any(vec![none, some])
            };
            // By the guards alone it is positive: elsewhere nothing is said.
            if is_positive { known } else { none.or(known) }
        });
        Some(Value::Int(quotient))
    }

    /// `(extent + tile - 1) / tile`, where `tiles(extent, tile)` has been asked for: as a grid's
    /// extent it bounds the blocks' numbers.
    pub(in super::super) fn known_tiles(&self, lhs: &Poly, tile: &Poly) -> Option<Poly> {
        let extent = lhs.sub(tile).plus(1);
        let key = (Function::Tiles, extent, tile.clone());
        let tiles = self.functions.get(&key)?;
        self.is_natural(&key.1).then(|| Poly::unknown(*tiles))
    }

    /// The smaller or the larger of two values.
    pub(in super::super) fn extremum(
        &mut self,
        (span, op): (SpanId, BinaryOp),
        lhs: Poly,
        rhs: Poly,
    ) -> Option<Value> {
        let obstacle = Some((span, Obstacle::Operator(op)));
        self.extremum_with(op == BinaryOp::Min, [lhs, rhs], obstacle).map(Value::Int)
    }

    /// What a choice gives that takes the smaller of two values, or the larger: `if a < b { a }
    /// else { b }` is `min(a, b)`.
    pub(in super::super) fn chosen_extremum(
        &mut self,
        cond: &Cond,
        then: &Poly,
        otherwise: &Poly,
    ) -> Option<Poly> {
        let is_min = larger::is_larger(cond, otherwise, then);
        (is_min || larger::is_larger(cond, then, otherwise))
            .then(|| self.extremum_with(is_min, [then.clone(), otherwise.clone()], None))
            .flatten()
    }

    fn extremum_with(
        &mut self,
        is_min: bool,
        [lhs, rhs]: [Poly; 2],
        obstacle: Option<(SpanId, Obstacle)>,
    ) -> Option<Poly> {
        if lhs.is_lost() || rhs.is_lost() {
            return None;
        }
        for (one, other) in [(&lhs, &rhs), (&rhs, &lhs)] {
            if self.symbols.low(&one.sub(other)).is_some_and(|low| low >= 0) {
                return Some(if is_min { other.clone() } else { one.clone() });
            }
        }
        let lows = (self.symbols.low(&lhs), self.symbols.low(&rhs));
        let low = match lows {
            (Some(a), Some(b)) => Some(if is_min { a.min(b) } else { a.max(b) }),
            (Some(low), None) | (None, Some(low)) if !is_min => Some(low),
            (Some(_), None) | (None, Some(_)) | (None, None) => None,
        };
        let function = if is_min { Function::Min } else { Function::Max };
        Some(self.function_with((function, &lhs, &rhs), low, obstacle, |m| {
            let bound = |side: &Poly| {
                if is_min { Formula::le(m, side) } else { Formula::le(side, m) }
            };
            let one = Formula::eq(m, &lhs).or(Formula::eq(m, &rhs));
            Formula::All(vec![bound(&lhs), bound(&rhs), one])
        }))
    }
}
