//! Expressions, and the elements that they read.

use super::axes::Axes;
use super::cell::Mark;
use super::finding::Fact;
use super::machine::{Machine, Stop};
use super::memory::{self, Address};
use crate::arena::EntityId as _;
use crate::dtype::DType;
use crate::kernel::{AccessKind, ceil_div};
use crate::op::LogicOp;
use crate::program::{Access, BufferId, ExprId, ExprKind, Literal, Target, TileId, TileSpace, Ty};
use crate::semantics;
use crate::value::ScalarValue;

/// An index as a value.
pub(super) fn index(value: i64) -> ScalarValue {
    ScalarValue { dtype: DType::I64, bits: value.cast_unsigned() }
}

/// A condition as a value.
fn flag(value: bool) -> ScalarValue {
    ScalarValue { dtype: DType::Bool, bits: u64::from(value) }
}

/// The type in which a value is held: indices in 64 bits.
pub(super) fn held(ty: Ty) -> DType {
    if ty.is_index() { DType::I64 } else { ty.storage() }
}

/// An element that an access names.
#[derive(Clone, Copy, Debug)]
pub(super) enum Element {
    /// Of memory that others can reach.
    Shared(Address),
    /// Of an array of the item's own: its first byte.
    Own(TileId, usize),
}

impl Machine<'_> {
    /// The value of an expression for a lane, or for the block.
    pub(super) fn eval(&mut self, id: ExprId, lane: Option<usize>) -> Result<ScalarValue, Stop> {
        self.step()?;
        let kernel = self.kernel;
        let Some(expr) = kernel.exprs.get(id) else {
            return Err(Stop::broken(format!("{id} is nothing")));
        };
        let undefined = || Stop::broken(format!("{id} has no value"));
        let value = match &expr.kind {
            ExprKind::Literal(value) => literal(*value, held(expr.ty)),
            ExprKind::Var(var) => self.var(var.index(), lane),
            ExprKind::Arg(arg) => self.args.get(arg.index()).copied(),
            ExprKind::Coord { axis, .. } => {
                let lane = lane.and_then(|lane| self.group.lanes.get(lane));
                let coord = lane.and_then(|lane| lane.coords.get(*axis as usize));
                coord.map(|&coord| index(coord.into()))
            }
            ExprKind::Fragment(fragment) => {
                let slot = lane.and_then(|lane| self.fragment_slot(*fragment, lane));
                slot.and_then(|slot| self.fragments[fragment.index()].get(slot).copied().flatten())
            }
            ExprKind::Load(access) => Some(self.load(access, held(expr.ty), lane)?),
            ExprKind::Unary { op, operand } => semantics::unary(*op, self.eval(*operand, lane)?),
            ExprKind::Binary { op, lhs, rhs } => {
                let (lhs, rhs) = (self.eval(*lhs, lane)?, self.eval(*rhs, lane)?);
                semantics::binary(*op, lhs, rhs)
            }
            ExprKind::Fma { a, b, c } => {
                let [a, b, c] = [self.eval(*a, lane)?, self.eval(*b, lane)?, self.eval(*c, lane)?];
                semantics::fma(a, b, c)
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let (lhs, rhs) = (self.eval(*lhs, lane)?, self.eval(*rhs, lane)?);
                semantics::compare(*op, lhs, rhs).map(flag)
            }
            ExprKind::Logic { op, lhs, rhs } => {
                let decides = match op {
                    LogicOp::And => false,
                    LogicOp::Or => true,
                };
                if self.holds(*lhs, lane)? == decides {
                    Some(flag(decides))
                } else {
                    Some(self.eval(*rhs, lane)?)
                }
            }
            ExprKind::Select { cond, then, otherwise } => {
                let chosen = if self.holds(*cond, lane)? { *then } else { *otherwise };
                Some(self.eval(chosen, lane)?)
            }
            ExprKind::Cast(operand) => {
                let value = self.eval(*operand, lane)?;
                let to = held(expr.ty);
                if value.dtype == to { Some(value) } else { semantics::cast(value, to) }
            }
            ExprKind::Math { func, arg } => semantics::math(*func, self.eval(*arg, lane)?),
            ExprKind::CeilDiv { n, d } => {
                let (n, d) = (self.index(*n, lane)?, self.index(*d, lane)?);
                i64::try_from(ceil_div(n.into(), d.into())).ok().map(index)
            }
            ExprKind::InBounds { buffer, indices } => {
                let mut inside = true;
                for (axis, &at) in indices.iter().enumerate() {
                    let at = self.index(at, lane)?;
                    let extent = self.shapes[buffer.index()].0.get(axis);
                    inside &= extent.is_none_or(|extent| (0..*extent).contains(&at));
                }
                Some(flag(inside))
            }
        };
        value.ok_or_else(undefined)
    }

    fn var(&self, var: usize, lane: Option<usize>) -> Option<ScalarValue> {
        let own = lane.map(|lane| lane * self.kernel.vars.len() + var);
        let own = own.and_then(|at| self.group.vars.get(at).copied().flatten());
        own.or_else(|| self.vars.get(var).copied().flatten())
    }

    /// The value of an index.
    pub(super) fn index(&mut self, id: ExprId, lane: Option<usize>) -> Result<i64, Stop> {
        Ok(self.eval(id, lane)?.bits.cast_signed())
    }

    /// The value of a condition.
    pub(super) fn holds(&mut self, id: ExprId, lane: Option<usize>) -> Result<bool, Stop> {
        Ok(self.eval(id, lane)?.bits & 1 == 1)
    }

    /// What a read gives.
    pub(super) fn load(
        &mut self,
        access: &Access,
        dtype: DType,
        lane: Option<usize>,
    ) -> Result<ScalarValue, Stop> {
        let element = self.element(access, lane, AccessKind::Read)?;
        match element {
            None => self.outside(access, dtype, lane),
            Some(element) => {
                let mark = self.mark(lane);
                Ok(self.read(access.target, element, dtype, mark, AccessKind::Read))
            }
        }
    }

    /// What a read gives where its guards fail.
    pub(super) fn outside(
        &mut self,
        access: &Access,
        dtype: DType,
        lane: Option<usize>,
    ) -> Result<ScalarValue, Stop> {
        let zero = ScalarValue { dtype, bits: 0 };
        access.pad.map_or(Ok(zero), |pad| self.eval(pad, lane))
    }

    /// Reads an element and enters the access, of this kind.
    pub(super) fn read(
        &mut self,
        target: Target,
        element: Element,
        dtype: DType,
        mark: Mark,
        kind: AccessKind,
    ) -> ScalarValue {
        match element {
            Element::Shared(at) => {
                self.enter(target, at, mark, kind);
                self.memories[at.memory].read(at, dtype)
            }
            Element::Own(tile, byte) => {
                let (bytes, is_set) = &self.locals[tile.index()];
                let value = memory::read(bytes, byte, dtype);
                if is_set.get(byte) != Some(&true) {
                    self.report(mark, Fact::Uninitialised { target, mark });
                }
                value
            }
        }
    }

    /// Sets an element; the access is not entered.
    pub(super) fn put(&mut self, element: Element, value: ScalarValue) {
        match element {
            Element::Shared(at) => self.memories[at.memory].write(at, value),
            Element::Own(tile, byte) => {
                let (bytes, is_set) = &mut self.locals[tile.index()];
                memory::write(bytes, byte, value);
                if let Some(is_set) = is_set.get_mut(byte) {
                    *is_set = true;
                }
            }
        }
    }

    /// The element that an access names for a lane; `None` where a guard fails,
    /// or the index leaves the array without one.
    pub(super) fn element(
        &mut self,
        access: &Access,
        lane: Option<usize>,
        kind: AccessKind,
    ) -> Result<Option<Element>, Stop> {
        let mut indices = Axes::default();
        for &id in &access.indices {
            indices.push(self.index(id, lane)?);
        }
        let slot = match access.slot {
            Some(slot) => self.index(slot, lane)?,
            None => 0,
        };
        let extents: Axes<i64> = match access.target {
            Target::Buffer(id) => self.shapes[id.index()].0.iter().copied().collect(),
            Target::Tile(id) => {
                self.kernel.tiles[id].extents.iter().map(|&n| i64::from(n)).collect()
            }
        };
        for ((&at, &extent), guard) in indices.iter().zip(&*extents).zip(&access.guards) {
            if (guard.lower && at < 0) || (guard.upper && at >= extent) {
                return Ok(None);
            }
        }
        for (axis, (&at, &extent)) in indices.iter().zip(&*extents).enumerate() {
            if !(0..extent).contains(&at) {
                let (target, mark) = (access.target, self.mark(lane));
                let index = at;
                self.report(mark, Fact::Outside { target, mark, kind, axis, index, extent });
                return Ok(None);
            }
        }
        let (element, offset) = match access.target {
            Target::Buffer(id) => self.buffer_element(id, &indices),
            Target::Tile(id) => self.tile_element(id, slot, &indices, lane)?,
        };
        self.check_vector(access, offset, lane, kind);
        Ok(Some(element))
    }

    /// The element and its offset in elements.
    fn buffer_element(&self, id: BufferId, indices: &[i64]) -> (Element, i64) {
        let strides = &self.shapes[id.index()].1;
        let offset: i64 = indices.iter().zip(strides).map(|(index, stride)| index * stride).sum();
        let n_bytes = self.kernel.buffers[id].dtype.size_bytes() as usize;
        let byte = offset.max(0).unsigned_abs() as usize * n_bytes;
        (Element::Shared(Address { memory: id.index(), byte, n_bytes }), offset)
    }

    fn tile_element(
        &mut self,
        id: TileId,
        slot: i64,
        indices: &[i64],
        lane: Option<usize>,
    ) -> Result<(Element, i64), Stop> {
        let tile = &self.kernel.tiles[id];
        if !(0..i64::from(tile.buffers)).contains(&slot) {
            return Err(Stop::broken(format!("`{}` has no buffer {slot}", tile.name)));
        }
        let narrow: Axes<u32> = indices.iter().map(|&index| index as u32).collect();
        let offset = tile.layout.offset(&narrow) as usize
            + slot.unsigned_abs() as usize * tile.layout.size_elems as usize;
        let n_bytes = tile.dtype.size_bytes() as usize;
        let element = match tile.space {
            TileSpace::Shared => {
                let (memory, first) = self.tile_base(id);
                Element::Shared(Address { memory, byte: first + offset * n_bytes, n_bytes })
            }
            TileSpace::Local(_) => {
                let item = lane.and_then(|lane| self.group.lanes.get(lane));
                let item = item.map_or(0, |lane| lane.item as usize);
                let first = item * tile.layout.size_elems as usize;
                Element::Own(id, (first + offset) * n_bytes)
            }
        };
        Ok((element, offset as i64))
    }

    /// Of a vector access every register's element is at its place.
    fn check_vector(
        &mut self,
        access: &Access,
        offset: i64,
        lane: Option<usize>,
        kind: AccessKind,
    ) {
        let width = i64::from(access.width.max(1));
        let Some(register) = lane.and_then(|lane| self.group.lanes.get(lane)) else { return };
        let place = i64::from(register.register) % width;
        if offset.rem_euclid(width) != place {
            let (target, mark, width) = (access.target, self.mark(lane), access.width);
            self.report(mark, Fact::Misaligned { target, mark, kind, width, offset });
        }
    }
}

/// A literal in the type in which it is held.
fn literal(value: Literal, dtype: DType) -> Option<ScalarValue> {
    let bits_of = |value: i128| {
        let n_bits = 8 * dtype.size_bytes();
        (value as u64) & (u64::MAX >> (64 - n_bits.min(64)))
    };
    match value {
        Literal::Int(value) => Some(ScalarValue { dtype, bits: bits_of(value) }),
        Literal::Bool(value) => Some(flag(value)),
        Literal::Float(value) => {
            let exact = ScalarValue { dtype: DType::F64, bits: value.to_bits() };
            semantics::cast(exact, dtype)
        }
    }
}
