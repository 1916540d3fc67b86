//! Local arrays of few elements: each element is followed as a variable is.
//!
//! A subscript that is a number names one element. So that a counter is a number,
//! a short loop over such an array is walked once for each of its iterations
//! (`for k in 0..4 { idx[k] = …; }`). What is stored at another subscript may be
//! in any of the elements; of what is counted there more is known ([`super::subscripts`]).

use std::collections::BTreeMap;
use std::iter::successors;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::loops::last::updates;
use super::super::walk::asked::Asked;
use super::super::walk::{Value, Walk};
use super::own_cells::read_at_distances;
use crate::arena::EntityId as _;
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, LoopRange, Place, Stmt, StmtKind, TileId, Type,
    VarId, any_stmt, any_subexpr, reads_memory,
};
use crate::op::BinaryOp;
use crate::span::SpanId;

/// What a type of own cells holds at least: sums are made in them.
const WIDE: i128 = i32::MAX as i128;

/// Most elements of an array that is followed.
const MAX_ELEMENTS: i128 = 16;

/// Most iterations that are walked one by one, those of loops inside each other
/// multiplied.
const MAX_WALKED: i128 = 64;

/// The same where it is conditions that iterations leave behind.
const MAX_WALKED_FOR_CONDITIONS: i128 = 4;

/// The same, where they put bits together: as many as a number has of them.
const MAX_WALKED_FOR_BITS: i128 = 64;

/// The same, where conditions say which.
const MAX_WALKED_FOR_CHOSEN_BITS: i128 = 16;

/// The same of loops that go on by numbers, where no other proof was found.
pub(in super::super) const MAX_WALKED_IN_CASE: i128 = 16;

/// Most work-items of a launch of which it is left to runs.
const MAX_RUN: i128 = 4096;

/// The elements that are followed, each by a variable that no text names.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Elements {
    /// By array: its first element, and its extents.
    first: BTreeMap<TileId, (VarId, Vec<i128>)>,
    /// By tile that the block shares: the work-item's own cell ([`super::own_cells`]).
    own: BTreeMap<TileId, VarId>,
    /// Types of these variables, which are numbered from the kernel's own on.
    types: Vec<Type>,
}

impl Elements {
    /// Those of the local arrays of `kernel` whose extents are numbers, if they are followed.
    pub(in super::super) fn of(kernel: &Kernel, asked: &Asked, follows: bool) -> Self {
        let mut elements = Self::default();
        for (id, tile) in kernel.tiles.iter() {
            let extents: Option<Vec<i128>> = tile
                .extents
                .iter()
                .map(|extent| crate::kernel::eval_index(kernel, *extent, &|_| None))
                .collect();
            let ty = Type::Scalar(tile.elem);
            let array = ArrayRef::Tile(id);
            let is_followed = follows
                && kernel.is_local(array)
                && asked.is_array(array)
                && super::super::terms::integers::is_integer(ty);
            let Some(extents) = extents.filter(|_| is_followed) else { continue };
            let count = extents.iter().try_fold(1_i128, |count, n| count.checked_mul(*n));
            let Some(count @ 1..=MAX_ELEMENTS) = count else { continue };
            let first = VarId::from_index(kernel.vars.len() + elements.types.len());
            elements.first.insert(id, (first, extents));
            elements.types.extend((0..count).map(|_| ty));
        }
        for tile in read_at_distances(kernel) {
            let ty = Type::Scalar(kernel.tiles[tile].elem);
            let is_wide =
                super::super::terms::integers::range_of(ty).is_some_and(|(_, max)| max >= WIDE);
            let is_shared = !kernel.is_local(ArrayRef::Tile(tile));
            if is_wide && is_shared && kernel.tiles[tile].extents.len() == 1 {
                let cell = VarId::from_index(kernel.vars.len() + elements.types.len());
                elements.own.insert(tile, cell);
                elements.types.push(ty);
            }
        }
        elements
    }

    /// The work-item's own cell of a tile that the block shares.
    pub(in super::super) fn own_cell(&self, array: ArrayRef) -> Option<VarId> {
        match array {
            ArrayRef::Tile(tile) => self.own.get(&tile).copied(),
            ArrayRef::Tensor(_) => None,
        }
    }

    /// The tile of which this is the work-item's own cell.
    pub(in super::super) fn tile_of(&self, cell: VarId) -> Option<TileId> {
        self.own.iter().find(|(_, own)| **own == cell).map(|(tile, _)| *tile)
    }

    /// Those of all tiles.
    pub(in super::super) fn own_cells(&self) -> Vec<VarId> {
        self.own.values().copied().collect()
    }

    /// The type of an element.
    pub(in super::super) fn ty(&self, kernel: &Kernel, element: VarId) -> Option<Type> {
        self.types.get(element.index().checked_sub(kernel.vars.len())?).copied()
    }

    /// The elements of an array, or the work-item's own cell; none where it is not followed.
    pub(in super::super) fn all(&self, array: ArrayRef) -> impl Iterator<Item = VarId> + use<> {
        let found = match array {
            ArrayRef::Tile(tile) => self.first.get(&tile),
            ArrayRef::Tensor(_) => None,
        };
        let range = found.map_or(0..0, |(first, extents)| {
            let count = extents.iter().product::<i128>() as usize;
            first.index()..first.index() + count
        });
        range.map(VarId::from_index).chain(self.own_cell(array))
    }

    /// The first element of an array that is followed, and its extents.
    pub(super) fn elements_of(&self, tile: TileId) -> Option<(VarId, &[i128])> {
        self.first.get(&tile).map(|(first, extents)| (*first, extents.as_slice()))
    }

    fn is_followed(&self, access: &Access) -> bool {
        matches!(access.array, ArrayRef::Tile(tile) if self.first.contains_key(&tile))
    }
}

impl Walk<'_> {
    /// The element at these subscripts, if they are numbers that name one.
    fn element_at(&self, access: &Access, at: &[Poly]) -> Option<VarId> {
        let ArrayRef::Tile(tile) = access.array else { return None };
        if self.local_elements.own.contains_key(&tile) {
            return self.own_cell_at(access, at);
        }
        let (first, extents) = self.local_elements.first.get(&tile)?;
        let flat = at.iter().zip(extents).try_fold(0, |flat, (index, extent)| {
            let index = index.as_constant().filter(|index| (0..*extent).contains(index))?;
            Some(flat * extent + index)
        })?;
        Some(VarId::from_index(first.index() + usize::try_from(flat).ok()?))
    }

    /// What an element of a local array holds, where that is followed.
    pub(in super::super) fn element(&self, access: &Access, at: &[Poly]) -> Option<Value> {
        if self.local_elements.own_cell(access.array).is_some() {
            return self.own_sum(access, at);
        }
        let value = self.env.get(&self.element_at(access, at)?)?;
        (*value != Value::Other).then(|| value.clone())
    }

    /// An element of a local array is set.
    pub(in super::super) fn set_element(&mut self, access: &Access, at: &[Poly], value: Value) {
        if self.is_pad(access, at) {
            return;
        }
        self.unsettle(access.array);
        match self.element_at(access, at) {
            Some(element) => {
                let is_own_cell = self.local_elements.own_cell(access.array).is_some();
                if is_own_cell {
                    self.note_own_stored(element, &value);
                }
                self.env.insert(element, value);
            }
            None => {
                for element in self.local_elements.all(access.array) {
                    let any = self.changed(element);
                    self.env.insert(element, any);
                }
                self.disturb_own_cell(access.array, at);
            }
        }
    }

    /// An element of a local array is changed by an operator.
    pub(in super::super) fn update_element(
        &mut self,
        access: &Access,
        (at, value): (Vec<Poly>, Value),
        (op, span): (BinaryOp, SpanId),
    ) {
        if !self.local_elements.is_followed(access)
            && self.local_elements.own_cell(access.array).is_none()
        {
            return;
        }
        if self.count_chosen((access, &at), &value, (op, span)) {
            return;
        }
        let known = self.element(access, &at).zip(self.element_at(access, &at));
        let value = known.and_then(|(held, element)| {
            let ty = self.type_of(element);
            self.operated((op, span), (held, value), (ty, ty))
        });
        self.set_element(access, &at, value.unwrap_or(Value::Other));
    }

    /// A local array is declared, with one value for all of its elements.
    pub(in super::super) fn declare_elements(&mut self, tile: TileId, value: &Value) {
        for element in self.local_elements.all(ArrayRef::Tile(tile)) {
            self.env.insert(element, value.clone());
        }
    }

    /// The counter values of a loop that is walked iteration by iteration.
    pub(in super::super) fn walked_values(
        &self,
        range: &LoopRange,
        bounds: &[Poly],
        body: &[Stmt],
    ) -> Option<Vec<Poly>> {
        let reversed = match range {
            LoopRange::Between { reversed, .. } => reversed,
            LoopRange::Halving(_) | LoopRange::Doubling(_) => {
                return self.walked_powers(range, bounds, body);
            }
        };
        let numbers: Option<Vec<i128>> = bounds.iter().map(Poly::as_constant).collect();
        let Some(numbers) = numbers else { return self.walked_steps(range, bounds, body) };
        let (start, end, step) = match numbers.as_slice() {
            [start, end] => (*start, *end, 1),
            [start, end, step] => (*start, *end, *step),
            _ => return None,
        };
        let most = if self.uses_elements(body) {
            MAX_WALKED
        } else if self.keeps_conditions(body) && !self.asks_memory(body) {
            MAX_WALKED_FOR_CONDITIONS
        } else if (self.outside.is_some() || !self.is_small()) && self.moves_bits(body) {
            let chooses = any_stmt(body, &mut |stmt| matches!(stmt, StmtKind::If { .. }));
            if chooses { MAX_WALKED_FOR_CHOSEN_BITS } else { MAX_WALKED_FOR_BITS }
        } else if self.case.walks_rounds && (self.carries_numbers(body) || self.shifts(body))
            || (self.case.walks_rounds || self.case.walks_updates) && updates_tile(body)
        {
            MAX_WALKED_IN_CASE
        } else {
            return None;
        };
        let room = most / self.walked.max(1);
        if step < 1 || end.checked_sub(start)? > room.checked_mul(step)? {
            return None;
        }
        let mut values: Vec<i128> = (start..end).step_by(usize::try_from(step).ok()?).collect();
        if *reversed {
            values.reverse();
        }
        Some(values.into_iter().map(Poly::constant).collect())
    }

    /// The same of one that halves or doubles a number.
    fn walked_powers(
        &self,
        range: &LoopRange,
        bounds: &[Poly],
        body: &[Stmt],
    ) -> Option<Vec<Poly>> {
        let [of] = bounds else { return None };
        let of = of.as_constant()?;
        let values: Vec<i128> = match range {
            LoopRange::Halving(_) => successors(Some(of / 2), |half| Some(half / 2))
                .take_while(|half| *half > 0)
                .collect(),
            LoopRange::Doubling(_) | LoopRange::Between { .. } => {
                let double = |power: &i128| power.checked_mul(2);
                successors(Some(1), double).take_while(|power| *power < of).collect()
            }
        };
        let room = MAX_WALKED_IN_CASE / self.walked.max(1);
        let is_walked = self.case.walks_rounds && self.carries_numbers(body);
        if !is_walked || i128::try_from(values.len()).ok()? > room {
            return None;
        }
        Some(values.into_iter().map(Poly::constant).collect())
    }

    /// The same of one that begins where each work-item says, in steps of one number, and has as
    /// many rounds for each: `for i in (t..1024).step_by(256)` of 256 work-items has four.
    fn walked_steps(&self, range: &LoopRange, bounds: &[Poly], body: &[Stmt]) -> Option<Vec<Poly>> {
        let LoopRange::Between { reversed: false, .. } = range else { return None };
        let [start, end, step] = bounds else { return None };
        let step = step.as_constant().filter(|step| *step > 0)?;
        if !self.case.walks_updates || !updates_tile(body) || self.leaves(body) {
            return None;
        }
        let room = MAX_WALKED_IN_CASE / self.walked.max(1);
        let at = |round: i128| start.add(&Poly::constant(round * step));
        let first = |round: &i128| self.is_never(&Formula::lt(&at(*round), end));
        let count = (0..=room).find(first)?;
        // Nobody has ended before.
        let are_made = count == 0 || self.is_never(&Formula::le(end, &at(count - 1)));
        are_made.then(|| (0..count).map(at).collect())
    }

    /// Whether a launch has so few work-items that runs of all of them decide about races,
    /// sooner than a proof.
    fn is_small(&self) -> bool {
        let axes = self.grid.iter().chain(self.block.iter().flatten());
        let count = axes.into_iter().try_fold(1_i128, |count, (_, axis)| {
            count.checked_mul(self.high(&Poly::unknown(*axis))?.checked_add(1)?)
        });
        count.is_some_and(|count| count <= MAX_RUN)
    }

    /// Whether statements use elements that are followed, and none of them leaves
    /// the loop.
    fn uses_elements(&self, stmts: &[Stmt]) -> bool {
        !self.leaves(stmts) && self.has_elements(stmts)
    }

    /// Whether statements leave conditions in variables of outside, and none of them
    /// leaves the loop. What tells that a slot has been claimed is known of any number of rounds.
    fn keeps_conditions(&self, stmts: &[Stmt]) -> bool {
        self.sets_outside(stmts, |var| self.type_of(var) == Type::BOOL)
            && !self.leaves(stmts)
            && !updates(stmts)
    }

    /// Whether statements leave numbers in variables of outside, and none of them leaves the
    /// loop.
    pub(in super::super) fn carries_numbers(&self, stmts: &[Stmt]) -> bool {
        self.sets_outside(stmts, |var| self.is_followed(var)) && !self.leaves(stmts)
    }

    /// Whether statements shift, and none of them leaves the loop: by how many places is then one
    /// number in each round.
    fn shifts(&self, stmts: &[Stmt]) -> bool {
        let is_shift = |kind: &ExprKind| {
            matches!(kind, ExprKind::Binary { op: BinaryOp::Shl | BinaryOp::Shr, rhs, .. }
                if !matches!(self.kernel.exprs[*rhs].kind, ExprKind::Literal(_)))
        };
        let in_stmt = |stmt: &Stmt| {
            let mut exprs = stmt.kind.exprs().into_iter();
            exprs.any(|expr| any_subexpr(self.kernel, expr, &mut |kind| is_shift(kind)))
                || stmt.kind.bodies().into_iter().any(|body| self.shifts(body))
        };
        !self.leaves(stmts) && stmts.iter().any(in_stmt)
    }

    /// Whether statements set some such variable of outside.
    fn sets_outside(&self, stmts: &[Stmt], is_such: impl Fn(VarId) -> bool) -> bool {
        let mut assigned = Vec::new();
        self.collect_assigned(stmts, &mut assigned);
        assigned.into_iter().any(|var| self.env.contains_key(&var) && is_such(var))
    }

    /// Whether statements do no more than to compute, and leave numbers in variables of
    /// outside that are made of bits.
    fn moves_bits(&self, stmts: &[Stmt]) -> bool {
        let mut makes_bits = false;
        self.sets_outside(stmts, |var| self.is_followed(var))
            && self.only_computes(stmts, &mut makes_bits)
            && makes_bits
            && !self.only_counts(stmts)
    }

    /// Whether all that statements leave in variables is that one of them is a literal more, where a
    /// condition holds that reads nothing: how often it held is known of any number of rounds.
    fn only_counts(&self, stmts: &[Stmt]) -> bool {
        let (mut counts, mut others) = (0, 0);
        any_stmt(stmts, &mut |kind| {
            match kind {
                StmtKind::Update { place: Place::Var(_), op: BinaryOp::Add, value }
                    if matches!(self.kernel.exprs[*value].kind, ExprKind::Literal(_)) =>
                {
                    counts += 1;
                }
                StmtKind::Assign { .. } | StmtKind::Update { .. } => others += 1,
                _ => {}
            }
            false
        });
        counts == 1 && others == 0 && !self.asks_memory(stmts)
    }

    /// Whether statements do no more than to compute; notes where by bits.
    fn only_computes(&self, stmts: &[Stmt], makes_bits: &mut bool) -> bool {
        stmts.iter().all(|stmt| {
            let computes = match &stmt.kind {
                StmtKind::Let { .. } | StmtKind::If { .. } => true,
                StmtKind::Assign { var, .. } | StmtKind::Update { place: Place::Var(var), .. } => {
                    self.exits.jump(*var).is_none()
                }
                StmtKind::Store { .. }
                | StmtKind::LetArray { .. }
                | StmtKind::Update { place: Place::Element(_), .. }
                | StmtKind::Atomic { .. }
                | StmtKind::Exchange { .. }
                | StmtKind::Each { .. }
                | StmtKind::Phase { .. }
                | StmtKind::For { .. }
                | StmtKind::While { .. }
                | StmtKind::Assume { .. }
                | StmtKind::Distinct { .. }
                | StmtKind::Barrier
                | StmtKind::WarpBarrier => false,
            };
            let is_plain = stmt_exprs(stmt).into_iter().all(|expr| self.is_plain(expr, makes_bits));
            let mut bodies = stmt.kind.bodies().into_iter();
            computes && is_plain && bodies.all(|body| self.only_computes(body, makes_bits))
        })
    }

    /// Whether statements read memory: of a condition that several loads decide little is known
    /// but that it is one.
    fn asks_memory(&self, stmts: &[Stmt]) -> bool {
        let is_read = |expr: ExprId| reads_memory(self.kernel, expr);
        stmts.iter().any(|stmt| {
            stmt_exprs(stmt).into_iter().any(is_read)
                || stmt.kind.bodies().into_iter().any(|body| self.asks_memory(body))
        })
    }

    /// Whether an expression reads no memory; notes where it is made of bits.
    fn is_plain(&self, expr: ExprId, makes_bits: &mut bool) -> bool {
        let kind = &self.kernel.exprs[expr].kind;
        *makes_bits |= matches!(
            kind,
            ExprKind::Binary {
                op: BinaryOp::Or | BinaryOp::And | BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Rem,
                ..
            }
        );
        !matches!(kind, ExprKind::Load(_))
            && kind.operands().into_iter().all(|operand| self.is_plain(operand, makes_bits))
    }

    pub(in super::super) fn leaves(&self, stmts: &[Stmt]) -> bool {
        stmts.iter().any(|stmt| {
            matches!(&stmt.kind, StmtKind::Assign { var, .. } if self.exits.jump(*var).is_some())
                || stmt.kind.bodies().into_iter().any(|body| self.leaves(body))
        })
    }

    fn has_elements(&self, stmts: &[Stmt]) -> bool {
        stmts.iter().any(|stmt| {
            let written = match &stmt.kind {
                StmtKind::Store { access, .. }
                | StmtKind::Update { place: Place::Element(access), .. } => Some(access),
                StmtKind::Let { .. }
                | StmtKind::LetArray { .. }
                | StmtKind::Assign { .. }
                | StmtKind::Update { place: Place::Var(_), .. }
                | StmtKind::Atomic { .. }
                | StmtKind::Exchange { .. }
                | StmtKind::Each { .. }
                | StmtKind::Phase { .. }
                | StmtKind::For { .. }
                | StmtKind::While { .. }
                | StmtKind::If { .. }
                | StmtKind::Assume { .. }
                | StmtKind::Distinct { .. }
                | StmtKind::Barrier
                | StmtKind::WarpBarrier => None,
            };
            written.is_some_and(|access| self.local_elements.is_followed(access))
                || stmt_exprs(stmt).into_iter().any(|expr| self.reads_elements(expr))
                || stmt.kind.bodies().into_iter().any(|body| self.has_elements(body))
        })
    }

    fn reads_elements(&self, expr: ExprId) -> bool {
        let kind = &self.kernel.exprs[expr].kind;
        matches!(kind, ExprKind::Load(access) if self.local_elements.is_followed(access))
            || kind.operands().into_iter().any(|operand| self.reads_elements(operand))
    }
}

/// The expressions of a statement, those of statements inside left out.
pub(in super::super) fn stmt_exprs(stmt: &Stmt) -> Vec<ExprId> {
    match &stmt.kind {
        StmtKind::Let { init, .. } | StmtKind::LetArray { init, .. } => {
            init.iter().copied().collect()
        }
        StmtKind::Assign { value, .. } | StmtKind::Update { place: Place::Var(_), value, .. } => {
            vec![*value]
        }
        StmtKind::Store { access, value }
        | StmtKind::Update { place: Place::Element(access), value, .. }
        | StmtKind::Atomic { access, value, .. } => {
            access.indices.iter().copied().chain([*value]).collect()
        }
        StmtKind::Exchange { value, .. } => vec![*value],
        StmtKind::Phase { range, .. } | StmtKind::For { range, .. } => range.exprs(),
        StmtKind::While { cond, .. } | StmtKind::If { cond, .. } | StmtKind::Assume { cond } => {
            vec![*cond]
        }
        StmtKind::Distinct { values, .. } => values.clone(),
        StmtKind::Each { .. } | StmtKind::Barrier | StmtKind::WarpBarrier => Vec::new(),
    }
}

/// Whether a kernel has loops that update tiles, of which rounds may be walked one by one.
pub(crate) fn has_loops_of_updates(kernel: &Kernel) -> bool {
    any_stmt(&kernel.body, &mut |kind| {
        kind.is_loop() && kind.bodies().into_iter().any(updates_tile)
    })
}

/// Whether statements update a cell of a tile that others update too: each round by itself
/// takes a place, or counts who takes one.
fn updates_tile(stmts: &[Stmt]) -> bool {
    any_stmt(stmts, &mut |kind| match kind {
        StmtKind::Atomic { access, .. } => matches!(access.array, ArrayRef::Tile(_)),
        _ => false,
    })
}
