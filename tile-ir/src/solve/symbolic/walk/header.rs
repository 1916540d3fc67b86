//! What a kernel's header says of its unknowns: tile parameters with their
//! domains, dimensions, the axes of grid and block.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown, gcd};
use super::super::algebra::symbol::{Obstacle, Sharing, Symbol};
use super::super::pairs::cases::Sign;
use super::super::pairs::valued::Given;
use super::super::terms::integers::range_of;
use super::{Value, Walk};
use crate::check::{MAX_NARROW_ITEMS, narrows, piece};
use crate::kernel::{Axis, TileDomain, Type, VarId, VarKind};

impl Walk<'_> {
    /// Gives every variable of the header its value, and notes the constraints.
    pub(in super::super) fn enter_header(&mut self) {
        let kernel = self.kernel;
        for (id, var) in kernel.vars.iter() {
            if var.kind == VarKind::Dim {
                let value = match self.case.signs.get(&id) {
                    Some(Sign::Zero) => Poly::default(),
                    Some(Sign::Above) => Poly::unknown(self.launch_symbol(1, Formula::True)),
                    Some(Sign::Below) | None => Poly::unknown(self.launch_symbol(0, Formula::True)),
                };
                self.env.insert(id, Value::Int(value));
            }
        }
        for scalar in kernel.scalars.values() {
            let value = self.scalar(scalar.var);
            self.env.insert(scalar.var, value);
        }
        self.unite_equal();
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
        self.note_extents(&kernel.grid);
        self.note_extents(kernel.block.as_deref().unwrap_or_default());
        self.is_narrow = narrows(kernel);
        if self.is_narrow {
            self.limit_items();
        }
    }

    /// The launch has at most [`MAX_NARROW_ITEMS`] work-items, and the pieces of its grid
    /// as many places at most.
    fn limit_items(&mut self) {
        let kernel = self.kernel;
        let one = Poly::constant(1);
        let items = self.items_of_block();
        self.constraints.push(Formula::le(&items, &Poly::constant(MAX_NARROW_ITEMS.into())));
        let mut pieces = Vec::new();
        for axis in &kernel.grid {
            pieces.push(piece(kernel, axis).map_or_else(|| one.clone(), |len| self.index(len)));
        }
        let places = pieces.iter().fold(one.clone(), |places, piece| places.mul(piece));
        // Of pieces of a work-item for each place it is said once.
        let is_said = places == items;
        self.limit(items, &vec![one.clone(); pieces.len()]);
        if !is_said {
            self.limit(one, &pieces);
        }
    }

    /// Work-items of a block. Where three extents are unknown, it is said of the axes before
    /// others that the number of a row's first work-item is one of the block's.
    fn items_of_block(&mut self) -> Poly {
        let kernel = self.kernel;
        let extents: Vec<Poly> =
            kernel.block.iter().flatten().map(|axis| self.index(axis.extent)).collect();
        let axes: Vec<_> = self.block.iter().flatten().map(|(_, axis)| *axis).collect();
        let mut items = Poly::constant(1);
        let whole = extents.iter().fold(items.clone(), |whole, extent| whole.mul(extent));
        let is_long = whole.terms().iter().any(|(product, _)| product.len() > 2);
        for (axis, extent) in axes.into_iter().zip(&extents).rev() {
            if is_long && items.as_constant().is_none() {
                let last = extent.plus(-1).sub(&Poly::unknown(axis));
                self.symbols.add_facts(axis, Formula::AtLeast(last.mul(&items)));
            }
            items = items.mul(extent);
        }
        items
    }

    /// So many for each block, and a piece of so many along each axis, are limited; said of
    /// all axes of the grid, and of the last ones, since the others have a block at least.
    fn limit(&mut self, mut items: Poly, pieces: &[Poly]) {
        let kernel = self.kernel;
        let most = Poly::constant(MAX_NARROW_ITEMS.into());
        let extents: Vec<Poly> = kernel.grid.iter().map(|axis| self.index(axis.extent)).collect();
        // A block that is there is one along every axis.
        let some = extents.iter().map(|extent| Formula::lt(&Poly::default(), extent));
        let some = Formula::All(some.collect());
        let axes: Vec<_> = self.grid.iter().map(|(_, block)| *block).zip(&extents).collect();
        for ((block, extent), piece) in axes.into_iter().zip(pieces).rev() {
            items = items.mul(piece);
            let last = extent.plus(-1).sub(&Poly::unknown(block));
            let within = Formula::AtLeast(last.mul(&items));
            items = items.mul(extent);
            self.symbols.add_facts(block, within.and(some.clone()));
            self.constraints.push(Formula::le(&items, &most));
        }
    }

    /// A scalar parameter: one number for the whole launch, of the sign or value of the
    /// case.
    fn scalar(&mut self, var: VarId) -> Value {
        let declared = &self.kernel.vars[var];
        if declared.ty == Type::BOOL {
            return Value::Cond(self.flag(var));
        }
        if let Some(Given::Is(value)) = self.case.values.get(&var) {
            return Value::Int(Poly::constant(*value));
        }
        if let (Some(Given::NotAbove), Some((0, _))) =
            (self.case.values.get(&var), range_of(declared.ty))
        {
            return Value::Int(Poly::default());
        }
        let sign = self.case.signs.get(&var).copied().zip(range_of(declared.ty));
        if let Some((Sign::Zero, _)) = sign {
            return Value::Int(Poly::default());
        }
        if let Some((Sign::Below, (min, _))) = sign {
            let size = self.launch_symbol(1, Formula::True);
            let most = Poly::unknown(size).negated().plus(-min);
            self.symbols.add_facts(size, Formula::AtLeast(most));
            return Value::Int(Poly::unknown(size).negated());
        }
        let value = self.any_of_type(declared.ty, true, (declared.span, Obstacle::Other));
        if let Value::Int(poly) = &value {
            for unknown in poly.unknowns() {
                self.symbols.set_launch(unknown);
                if sign.is_some() {
                    self.symbols.set_positive(unknown);
                }
            }
            if let Some(given) = self.case.values.get(&var).cloned() {
                self.note_power_case(&given, poly);
                let fact = given.holds_of(poly);
                poly.unknowns().for_each(|unknown| self.symbols.add_facts(unknown, fact.clone()));
            }
        }
        value
    }

    /// A scalar parameter that is true or false: a number of the launch, 1 or 0.
    fn flag(&mut self, var: VarId) -> Cond {
        match self.case.values.get(&var) {
            Some(Given::Is(1)) => return Cond { yes: Formula::True, no: Formula::False },
            Some(Given::Is(_)) => return Cond { yes: Formula::False, no: Formula::True },
            _ => {}
        }
        let flag = Poly::unknown(self.symbols.next());
        self.launch_symbol(0, Formula::le(&flag, &Poly::constant(1)));
        Cond { yes: Formula::Zero(flag.plus(-1)), no: Formula::Zero(flag) }
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
    pub(in super::super) fn axes(
        &mut self,
        axes: &[Axis],
        sharing: Sharing,
    ) -> Vec<(VarId, Unknown)> {
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

    /// Who runs is on every axis: an extent that is a product has no factor that is 0.
    fn note_extents(&mut self, axes: &[Axis]) {
        for axis in axes {
            let extent = self.index(axis.extent);
            let [(product, 1..)] = extent.terms() else { continue };
            let low = |unknown: &Unknown| self.symbols.low(&Poly::unknown(*unknown));
            if product.iter().all(|unknown| low(unknown).is_some_and(|low| low >= 0)) {
                let open = product.iter().filter(|unknown| low(unknown) == Some(0));
                let open: Vec<Unknown> = open.copied().collect();
                open.into_iter().for_each(|unknown| self.symbols.set_positive(unknown));
            }
        }
    }
}
