//! What a kernel's header says of its unknowns: tile parameters with their
//! domains, dimensions, the axes of grid and block.

use super::formula::Formula;
use super::poly::{Poly, Unknown, gcd};
use super::symbol::{Obstacle, Sharing, Symbol};
use super::walk::{Value, Walk};
use crate::check::{MAX_NARROW_ITEMS, narrows};
use crate::kernel::{Axis, TileDomain, VarId, VarKind};

impl Walk<'_> {
    /// Gives every variable of the header its value, and notes the constraints.
    pub(super) fn enter_header(&mut self) {
        let kernel = self.kernel;
        for (id, var) in kernel.vars.iter() {
            if var.kind == VarKind::Dim {
                let dim = self.launch_symbol(0, Formula::True);
                self.env.insert(id, Value::Int(Poly::unknown(dim)));
            }
        }
        for scalar in kernel.scalars.values() {
            let declared = &kernel.vars[scalar.var];
            let value = self.any_of_type(declared.ty, true, (declared.span, Obstacle::Other));
            if let Value::Int(poly) = &value {
                poly.unknowns().for_each(|unknown| self.symbols.set_launch(unknown));
            }
            self.env.insert(scalar.var, value);
        }
        let mut positive = Vec::new();
        for param in kernel.tile_params.values() {
            let value = self.tile_param(&param.domain);
            positive.push(Formula::lt(&Poly::default(), &value));
            self.env.insert(param.var, Value::Int(value));
        }
        // Only of a derived size does this say anything new.
        positive.retain(
            |fact| !matches!(fact, Formula::AtLeast(poly) if self.symbols.low(poly).is_some()),
        );
        let stated = kernel.constraints.iter().map(|constraint| self.condition(*constraint).yes);
        self.constraints = positive.into_iter().chain(stated).collect();
        self.grid = self.axes(&kernel.grid, Sharing::Block);
        self.block = kernel.block.as_ref().map(|axes| self.axes(axes, Sharing::Private));
        self.is_narrow = narrows(kernel);
        if self.is_narrow {
            self.limit_items();
        }
    }

    /// The launch has at most [`MAX_NARROW_ITEMS`] work-items; said of all axes of
    /// the grid, and of the last ones, since the others have a block at least.
    fn limit_items(&mut self) {
        let kernel = self.kernel;
        let most = Poly::constant(MAX_NARROW_ITEMS.into());
        let mut items = Poly::constant(1);
        for axis in kernel.block.iter().flatten() {
            items = items.mul(&self.index(axis.extent));
        }
        let extents: Vec<Poly> = kernel.grid.iter().map(|axis| self.index(axis.extent)).collect();
        // A block that is there is one along every axis.
        let some = extents.iter().map(|extent| Formula::lt(&Poly::default(), extent));
        let some = Formula::All(some.collect());
        for ((_, block), extent) in self.grid.clone().into_iter().zip(&extents).rev() {
            let last = extent.plus(-1).sub(&Poly::unknown(block));
            let within = Formula::AtLeast(last.mul(&items));
            items = items.mul(extent);
            self.symbols.add_facts(block, within.and(some.clone()));
            self.constraints.push(Formula::le(&items, &most));
        }
    }

    fn launch_symbol(&mut self, low: i128, facts: Formula) -> Unknown {
        let unknown = self.symbols.next();
        let least = Formula::AtLeast(Poly::unknown(unknown).plus(-low));
        self.symbols.push(Symbol {
            sharing: Sharing::Launch,
            loops: Vec::new(),
            low: Some(low),
            facts: least.and(facts),
            obstacle: None,
        })
    }

    /// A tile parameter's value. All are at least 1.
    fn tile_param(&mut self, domain: &TileDomain) -> Poly {
        match domain {
            TileDomain::Any => self.stepped(1, i128::from(TileDomain::MAX), 1),
            TileDomain::Range { min, max, step } => {
                self.stepped(i128::from(*min), i128::from(*max), i128::from(*step))
            }
            // From one power of two on, all are its multiples.
            TileDomain::Pow2 { min, max } => {
                let value = self.stepped(i128::from(*min), i128::from(*max), i128::from(*min));
                self.powers.extend(value.unknowns());
                value
            }
            TileDomain::List(values) => {
                let (first, last) = match (values.first(), values.last()) {
                    (Some(first), Some(last)) => (i128::from(*first), i128::from(*last)),
                    _ => return Poly::lost(),
                };
                let step = values.iter().fold(0, |g, value| gcd(g, i128::from(*value) - first));
                if step == 0 {
                    return Poly::constant(first);
                }
                let value = self.stepped(first, last, step);
                if values.iter().all(|value| value.is_power_of_two()) {
                    self.powers.extend(value.unknowns());
                }
                value
            }
            TileDomain::Equal(value) => self.index(*value),
        }
    }

    /// `min`, `min + step`, … up to `max`, and at least 1.
    fn stepped(&mut self, min: i128, max: i128, step: i128) -> Poly {
        if min == max {
            return Poly::constant(min);
        }
        let value = Poly::unknown(self.launch_symbol(min.max(1), Formula::True));
        let mut facts = Formula::AtLeast(value.negated().plus(max));
        if step > 1 {
            // In steps of `min` the value is a multiple, which multiplies better
            // than a sum.
            let (count, low) = if min % step == 0 { (0, min / step) } else { (min, 0) };
            let steps = Poly::unknown(self.launch_symbol(low, Formula::True));
            facts = facts.and(Formula::eq(&value, &steps.scaled(step).plus(count)));
        }
        for unknown in value.unknowns() {
            self.symbols.add_facts(unknown, facts.clone());
        }
        value
    }

    /// Axes come into force: each runs from 0 to its extent.
    pub(super) fn axes(&mut self, axes: &[Axis], sharing: Sharing) -> Vec<(VarId, Unknown)> {
        let mut enter = |axis: &Axis| {
            let extent = self.index(axis.extent);
            let unknown = self.symbols.next();
            self.symbols.push(Symbol {
                sharing: sharing.clone(),
                loops: self.loops.clone(),
                low: Some(0),
                facts: Formula::within(&Poly::unknown(unknown), &extent),
                obstacle: None,
            });
            self.env.insert(axis.var, Value::Int(Poly::unknown(unknown)));
            (axis.var, unknown)
        };
        axes.iter().map(&mut enter).collect()
    }
}
