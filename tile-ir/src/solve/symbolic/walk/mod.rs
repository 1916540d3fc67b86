//! One walk over a kernel's body: the accesses with their indices and guards as
//! polynomials and formulas, and which of them meet in a barrier interval.
//!
//! A variable's value is what the text says, `let`s and assignments put in
//! ([`Walk::env`]); where branches or iterations differ it is a symbol
//! ([`super::terms::value`], [`super::loops`]).

mod aside;
pub(super) mod asked;
pub(super) mod begin;
mod changed;
mod header;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use self::asked::Asked;
use super::algebra::formula::{Cond, Formula};
use super::algebra::poly::{Poly, Unknown};
use super::algebra::symbol::{LoopId, Obstacle, Symbols};
use super::exchange::ballots::Ballots;
use super::exchange::warps::{Common, Place};
use super::loops::Loop;
use super::loops::exit::Exits;
use super::loops::levels::Level;
use super::loops::running::Running;
use super::loops::stay::{ArmEnd, Stayed, joined};
use super::loops::strides::Stride;
use super::pairs::beside::Beside;
use super::pairs::by_spans::BySpans;
use super::pairs::cases::Sign;
use super::pairs::decided::Decided;
use super::pairs::differing::Differing;
use super::pairs::flow::{Distance, Flow, Pairs, Path, SiteId};
use super::pairs::known::Known;
use super::pairs::reads::Beyond;
use super::pairs::valued::Given;
use super::pairs::weighed::Weighed;
use super::scans::Sum;
use super::scans::prefix::Prefixes;
use super::scans::together::Together;
use super::scans::windows::Windows;
use super::search::linear::Effort;
use super::search::ranges::Ranges;
use super::slots::brought::Brought;
use super::slots::claim::Claims;
use super::slots::counters::Counters;
use super::slots::in_parts::InParts;
use super::slots::marks::Marks;
use super::slots::recounted::Recount;
use super::slots::slot::Slot;
use super::slots::tallied::Tallies;
use super::terms::agreed_load::AgreedLoads;
use super::terms::flattened::Alive;
use super::terms::kept_below::KeptBelow;
use super::terms::late::Lates;
use super::terms::loaded::Element;
use super::terms::named::Named;
use super::terms::scattered::Scattered;
use super::terms::unwrapped::Unwrapped;
use super::terms::value::Function;
use super::terms::wholes::Wholes;
use super::tiles::arrays::Elements;
use super::tiles::cells::{Cells, Dealt};
use super::tiles::floors::Floors;
use super::tiles::held::Holdings;
use super::tiles::own_arrays::OwnArrays;
use super::tiles::own_cells::OwnCells;
use super::tiles::relayed::Relayed;
use super::tiles::reread::Reread;
use crate::check::{Exact, Uniformity};
use crate::exchange::Group;
use crate::kernel::{
    self, Access, AccessKind, ArrayRef, Axis, ExprId, Kernel, Source, Stmt, StmtKind, Type, VarId,
};
use crate::op::{BinaryOp, MathFn};
use crate::span::SpanId;

/// What is known of a variable or expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// An index or integer.
    Int(Poly),
    /// A condition.
    Cond(Cond),
    /// Nothing.
    Other,
}

/// Who makes an access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Worker {
    /// A work-item of the block domain.
    Item,
    /// The one run of a body without block domain.
    Body,
    /// Any thread of a block without block domain.
    Thread,
    /// A point of a cooperative loop.
    Point {
        /// Which loop.
        each: usize,
        /// Its axes.
        axes: Vec<Unknown>,
        /// How many loops are around it.
        depth: usize,
    },
}

/// An access to an array that the kernel writes.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) array: ArrayRef,
    pub(super) span: SpanId,
    pub(super) kind: AccessKind,
    pub(super) indices: Vec<Poly>,
    /// Hold where the access is made.
    pub(super) guards: Vec<Formula>,
    /// The old values of updates that were made before it, where some pass them by.
    pub(super) made: Vec<Unknown>,
    /// The loops around it, outermost first.
    pub(super) loops: Vec<LoopId>,
    pub(super) worker: Worker,
    /// What has been said to differ where it is made: by its place in [`Walk::differing`].
    pub(super) differing: Vec<usize>,
}

/// The state of the walk, and what it has found.
pub(super) struct Walk<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) uniformity: &'a Uniformity,
    pub(super) asked: Asked,
    pub(super) symbols: Symbols,
    pub(super) functions: BTreeMap<(Function, Poly, Poly), Unknown>,
    /// What is said to differ between work-items, and of that what is in force.
    pub(super) differing: Vec<Differing>,
    pub(super) differing_here: Vec<usize>,
    /// The bits that values can have, of those made by `&` and `|`.
    pub(super) bits: BTreeMap<Poly, i128>,
    /// Where the bits of values come from.
    pub(super) scattered: BTreeMap<Poly, Scattered>,
    /// The values that only say that.
    pub(super) by_bits: BTreeMap<Scattered, Unknown>,
    /// The symbols that are powers of two.
    pub(super) powers: BTreeSet<Unknown>,
    /// By symbol that says which power of two a value is: the value, and the largest number.
    pub(super) exponents: BTreeMap<Unknown, (Poly, i128)>,
    /// Counts of bits of numbers of so many bits of which nothing is known.
    pub(super) bit_counts: BTreeMap<(MathFn, Poly, i128), Unknown>,
    /// Numbers of the launch that are at least 3 and no powers of two, in this case.
    pub(super) no_powers: BTreeSet<Unknown>,
    /// Choices between two values, by the cases that make them.
    pub(super) chosen: BTreeMap<Formula, Unknown>,
    /// By symbol of those, the condition, and the two values.
    pub(super) choices: BTreeMap<Unknown, (Cond, Poly, Poly)>,
    /// Of those at the end of a chain, the cases that may be.
    pub(super) chains: BTreeMap<Unknown, Vec<Alive>>,
    /// The same of choices by conditions of which not all is known.
    pub(super) open_choices: BTreeMap<Unknown, (Cond, Poly, Poly)>,
    /// What a loop has turned over or left, by its symbol after the loop: what it was
    /// before, and what both values are together.
    pub(super) turned: BTreeMap<Unknown, (Poly, Poly)>,
    pub(super) tallies: Tallies,
    pub(super) in_parts: InParts,
    pub(super) kept_below: KeptBelow,
    /// Numbers that no launch wraps.
    pub(super) unwrapped: Vec<Unwrapped>,
    /// The differences and conversions that did not wrap when they were evaluated last.
    pub(super) natural: BTreeSet<ExprId>,
    /// What loops have counted to their ends.
    pub(super) recounts: Vec<Recount>,
    /// Products that are not negative, whatever the numbers are of which they are made.
    pub(super) naturals: BTreeSet<Poly>,
    /// The values that are multiplied with themselves.
    pub(super) squares: BTreeSet<Poly>,
    /// The loaded values of tensors that are never written.
    pub(super) elements: BTreeMap<Unknown, Element>,
    /// By read of a tensor: each time that it is made, where it is outside.
    /// Where this is asked for, nothing is assumed.
    pub(super) outside: Option<BTreeMap<Source, Vec<Beyond>>>,
    /// Where this is asked for, of each access: of its guards, what holds of who passes it
    /// by.
    pub(super) opposites: Option<Vec<Vec<Formula>>>,
    /// Assumptions that never hold where somebody comes by.
    pub(super) impossible: Vec<ExprId>,
    /// By expression, the extents of arrays that are accessed.
    pub(super) extents_of_arrays: BTreeMap<ExprId, Poly>,
    /// Whether work-items are numbered in 32 bits, so that there are not more.
    pub(super) is_narrow: bool,
    /// The numbers of 32 and 64 bits that no launch wraps.
    pub(super) exact: Rc<Exact>,
    /// The assumptions that each launch is asked.
    pub(super) preconditions: Vec<ExprId>,
    /// Conditions on tile sizes, and what else every launch fulfils.
    pub(super) constraints: Vec<Formula>,
    /// Whether some of these are preconditions that the text states.
    pub(super) is_vouched: bool,
    pub(super) grid: Vec<(VarId, Unknown)>,
    pub(super) block: Option<Vec<(VarId, Unknown)>>,
    pub(super) env: BTreeMap<VarId, Value>,
    pub(super) wholes: Wholes,
    pub(super) guards: Vec<Formula>,
    /// Of each, what holds of who passes the current place by.
    pub(super) passed_by: Vec<Formula>,
    /// Loops around the current place.
    pub(super) loops: Vec<LoopId>,
    pub(super) all_loops: Vec<Loop>,
    pub(super) sites: Vec<Site>,
    /// By symbol, of those that are old values of counters.
    pub(super) slots: BTreeMap<Unknown, Slot>,
    /// By symbol, of those that were read in tiles of slots.
    pub(super) dealt: BTreeMap<Unknown, Dealt>,
    pub(super) relayed: Relayed,
    pub(super) counters: Counters,
    /// The arrays in which counters may lie.
    pub(super) counting: BTreeSet<ArrayRef>,
    /// Where counters are read.
    pub(super) brought: Vec<Brought>,
    pub(super) claims: Claims,
    /// The old values of updates that who comes by has made, where some pass them by.
    pub(super) made: Vec<Unknown>,
    pub(super) marks: Marks,
    /// By symbol, of those that are sums over a block's work-items.
    pub(super) sums: BTreeMap<Unknown, Sum>,
    /// Those of them that are sums of one flag together.
    pub(super) together: Vec<Together>,
    /// A work-item's number in its block, where a scan asks for it.
    pub(super) item_number: Option<Poly>,
    /// How many work-items a block has, where a scan asks for it.
    pub(super) item_count: Option<Poly>,
    /// A work-item's warp and lane, where an exchange asks for it.
    pub(super) warp_place: Option<Place>,
    /// By symbol, of those that the work-items of a warp agree on.
    pub(super) common: BTreeMap<Unknown, Common>,
    pub(super) ballots: Ballots,
    pub(super) windows: Windows,
    pub(super) own_cells: OwnCells,
    pub(super) own_arrays: OwnArrays,
    pub(super) named: Named,
    pub(super) running: Vec<Running>,
    /// What is only halved or doubled.
    pub(super) levels: Vec<Level>,
    /// What variables are in the rounds of loops that go on by the same each time.
    pub(super) strides: Vec<Stride>,
    /// Of a block of several axes, the number of a work-item, and how many there are.
    pub(super) flat: Option<(Poly, Poly)>,
    /// Of a grid of several axes, the number of a block, and how many there are.
    pub(super) number_of_block: Option<(Poly, Poly)>,
    /// By variable, whether it is one number for the launch, where nobody is in a loop.
    pub(super) launched: OnceCell<Vec<bool>>,
    pub(super) lates: Lates,
    pub(super) cells: Cells,
    pub(super) agreed_loads: AgreedLoads,
    pub(super) floors: Floors,
    pub(super) held: Holdings,
    pub(super) reread: Reread,
    pub(super) prefixes: Prefixes,
    /// The elements of local arrays that are followed as variables are.
    pub(super) local_elements: Elements,
    /// How many iterations of loops around are walked one by one.
    pub(super) walked: i128,
    /// What proofs may still take.
    pub(super) effort: Effort,
    /// What has been proved, or not, of pairs of accesses.
    pub(super) proofs: Known,
    /// Proofs under the guards of indices alone, and those by bounds.
    pub(super) by_indices: Beside,
    pub(super) by_spans: BySpans,
    pub(super) bracketed: Beside,
    pub(super) weighed: Weighed,
    pub(super) pairs: Pairs,
    /// Of the statements so far of the current list.
    pub(super) flow: Flow,
    /// How many lists are around that one.
    pub(super) depth: usize,
    pub(super) exits: Exits,
    /// The variables that say that a work-item has left a loop or the kernel.
    pub(super) leaving: BTreeSet<VarId>,
    /// Where the last statement was an `if` by which some have left, who goes on.
    pub(super) stayed: Option<Stayed>,
    /// Whether accesses are noted; not where a loop's body is walked only to
    /// see what it does to variables.
    pub(super) recording: bool,
    /// Whether a loop's last iteration is walked ([`super::loops::last`]).
    pub(super) is_at_last: bool,
    /// Whether an iteration is walked to see between which values it keeps variables.
    pub(super) is_trying: bool,
    /// How many work-items a block has, where that is asked for.
    pub(super) items: Option<Poly>,
    /// Whether nothing is left to walk.
    pub(super) is_walked: bool,
    pub(super) written: BTreeSet<ArrayRef>,
    pub(super) point: Option<Worker>,
    pub(super) eaches: usize,
    /// Whether every thread of the block evaluates the present expression.
    pub(super) by_all: bool,
    /// The case that is walked.
    pub(super) case: Case,
}

/// A case of a kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct Case {
    /// Which signs numbers of the launch have.
    pub(super) signs: BTreeMap<VarId, Sign>,
    /// Which values scalar parameters have.
    pub(super) values: BTreeMap<VarId, Given>,
    /// How conditions of the launch come out.
    pub(super) decided: Decided,
    /// Whether the limits of variables are asked for that loops set by data.
    pub(super) is_limited: bool,
    /// Whether loops of few rounds are walked round by round.
    pub(super) walks_rounds: bool,
    /// The same of loops alone that update tiles.
    pub(super) walks_updates: bool,
    /// Whether elements of local arrays are not followed, nor rounds walked one by one that use
    /// them: what they hold is known by the round.
    pub(super) keeps_arrays: bool,
    /// Whether numbers of 32 and 64 bits are taken not to wrap: that proves nothing, but tells
    /// what is missing.
    pub(super) never_wraps: bool,
}

impl Walk<'_> {
    pub(super) fn stmts(&mut self, stmts: &[Stmt]) {
        let (outer, made) = (self.guards.len(), self.made.len());
        let differing = self.differing_here.len();
        self.stayed = None;
        for stmt in stmts {
            self.stmt(stmt);
            if !matches!(stmt.kind, StmtKind::If { .. }) {
                self.stayed = None;
            }
        }
        // What is assumed holds to the end of the list.
        self.guards.truncate(outer);
        self.passed_by.truncate(outer);
        self.made.truncate(made);
        self.differing_here.truncate(differing);
    }

    fn assume(&mut self, cond: ExprId) {
        let value = self.condition(cond);
        let is_of_launch = self.preconditions.contains(&cond);
        if self.outside.is_some() && !is_of_launch {
            return;
        }
        let (comes_by, n_known) = (Formula::All(self.guards.clone()), self.constraints.len());
        if is_of_launch {
            self.symbols.set_least_by(&value.yes);
        }
        if is_of_launch && value.yes.is_plain() {
            self.vouch(&value.yes);
        } else {
            self.guards.push(value.yes);
            // Who comes by goes on.
            self.passed_by.push(Formula::False);
        }
        if self.recording && self.is_never(&Formula::All(self.guards.clone())) {
            let vouched = self.constraints.split_off(n_known);
            if !self.is_never(&comes_by) {
                self.impossible.push(cond);
            }
            self.constraints.extend(vouched);
        }
    }

    /// What a launch is asked for holds everywhere: it is no condition of who comes by.
    fn vouch(&mut self, fact: &Formula) {
        if !self.constraints.contains(fact) {
            self.constraints.push(fact.clone());
        }
        self.is_vouched = true;
    }

    pub(super) fn is_written(&self, array: ArrayRef) -> bool {
        self.written.contains(&array)
    }

    /// The flow of what `inner` walks, apart from that of what is around it.
    pub(super) fn nested(&mut self, inner: impl FnOnce(&mut Self)) -> Flow {
        let (outer, made) = (std::mem::take(&mut self.flow), self.made.len());
        self.depth += 1;
        inner(self);
        self.depth -= 1;
        self.made.truncate(made);
        std::mem::replace(&mut self.flow, outer)
    }

    /// Whether anything can come from before the current place to what follows it.
    pub(super) fn comes_from_before(&self) -> bool {
        self.depth > 0 || self.flow.has_tails()
    }

    /// Walks on under a condition.
    pub(super) fn under<T>(&mut self, guard: Formula, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.under_one_of((guard, Formula::Unknown), inner)
    }

    /// Walks on under a condition, of which the opposite is known too.
    pub(super) fn under_one_of<T>(
        &mut self,
        (guard, opposite): (Formula, Formula),
        inner: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.guards.push(guard);
        self.passed_by.push(opposite);
        let made = self.made.len();
        let out = inner(self);
        self.made.truncate(made);
        self.guards.pop();
        self.passed_by.pop();
        out
    }

    /// Evaluates what every thread of the block evaluates.
    pub(super) fn by_all<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.by_all, true);
        let out = inner(self);
        self.by_all = outer;
        out
    }

    /// Goes on with a piece of code: what of it can meet what came before?
    pub(super) fn follow(&mut self, next: Flow) {
        self.follow_unless(next, &BTreeSet::new());
    }

    /// Goes on with a piece of code that is run where none of `skipping` is set.
    pub(super) fn follow_unless(&mut self, next: Flow, skipping: &BTreeSet<VarId>) {
        let here = Distance::Same(self.loops.clone());
        self.pairs.cross(&self.flow.before(skipping), &next.heads, &here);
        self.flow.append(next, skipping);
    }

    /// Notes an access.
    pub(super) fn site(&mut self, access: &Access, indices: Vec<Poly>, kind: AccessKind) {
        let spot = (kind != AccessKind::Read).then(|| self.spot(access.array, &indices));
        if let Some(spot) = &spot {
            self.cells.note_write(access.array, spot);
            self.agreed_loads.note_write(access.array);
            self.forget_held(access.array, kind == AccessKind::Write);
            self.note_own_write(access.array, &indices);
        }
        if !self.recording || !self.written.contains(&access.array) {
            return;
        }
        let body = match (&self.block, self.by_all) {
            (Some(_), _) => Worker::Item,
            (None, false) => Worker::Body,
            (None, true) => Worker::Thread,
        };
        for extent in self.kernel.extents(access.array) {
            let value = self.index(*extent);
            self.extents_of_arrays.insert(*extent, value);
        }
        if let Some(spot) = spot.filter(|_| kind == AccessKind::Write) {
            self.lower_cell(access.array, &spot);
            self.counters.note_set(access.array, spot, &self.loops);
        }
        let id: SiteId = self.sites.len();
        let mut site = Site {
            array: access.array,
            span: access.span,
            kind,
            indices,
            guards: self.guards.clone(),
            made: self.made.clone(),
            loops: self.loops.clone(),
            worker: self.point.clone().unwrap_or(body),
            differing: self.differing_here.clone(),
        };
        self.exact_inside(&mut site);
        self.sites.push(site);
        let passed_by = &self.passed_by;
        self.opposites.iter_mut().for_each(|opposites| opposites.push(passed_by.clone()));
        if kind != AccessKind::Read {
            let here = vec![(id, Path::default())];
            self.pairs.cross(&here, &here, &Distance::Same(self.loops.clone()));
        }
        self.follow(Flow::access(id));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let { var, init } => {
                self.named.declare(*var);
                let value = init.map_or(Value::Other, |init| self.value(init));
                if let Some(init) = *init {
                    self.note_late(*var, init, &value);
                    self.note_text(*var, init, &value);
                }
                let value = self.kept(*var, value);
                self.env.insert(*var, value);
                self.exits.declare(*var);
            }
            StmtKind::LetArray { tile, init } => {
                let value = init.map_or(Value::Other, |init| self.value(init));
                self.declare_elements(*tile, &value);
                self.declare_own_array(*tile);
            }
            StmtKind::Assign { var, value } => {
                let value = self.value(*value);
                let value = self.kept(*var, value);
                self.note_below_in_var(*var, &value);
                self.env.insert(*var, value);
                if self.exits.jump(*var).is_some() {
                    self.follow(Flow::exit(*var));
                }
            }
            StmtKind::Update { place: kernel::Place::Var(var), op, value } => {
                let declared = &self.kernel.vars[*var];
                let rhs = self.value(*value);
                if !self.asked.is_var(*var) {
                    return;
                }
                let lhs = self.env.get(var).cloned().unwrap_or(Value::Other);
                let lhs = self.as_settled(lhs);
                let own = if self.keeps(*var) { Type::Index } else { declared.ty };
                let value = self.operated((*op, stmt.span), (lhs, rhs), (declared.ty, own));
                let value = value.unwrap_or_else(|| self.changed(*var));
                self.note_below_in_var(*var, &value);
                self.env.insert(*var, value);
            }
            StmtKind::Store { access, value } => {
                let before = self.content_of(access.array);
                let (at, value) = self.store(access, *value, &[AccessKind::Write]);
                self.note_stored(access, &at, &value);
                self.note_slot_in_tensor(access, &at, &value);
                self.note_held(access, &at, &value, Some(before));
                self.note_floor(access, &at, &value);
                self.note_setting(access, &at, &value);
                self.note_lowering(access, &at, &value);
                self.note_stored_in_own_array(access, &at, &value);
                self.set_element(access, &at, value);
            }
            StmtKind::Update { place: kernel::Place::Element(access), op, value } => {
                let made = self.store(access, *value, &[AccessKind::Read, AccessKind::Write]);
                if *op == BinaryOp::Add {
                    self.note_held(access, &made.0, &made.1, None);
                }
                self.update_element(access, made, (*op, stmt.span));
            }
            StmtKind::Atomic { access, op, expected, value, old } => {
                self.atomic(access, (*op, *expected), *value, *old);
            }
            StmtKind::Each { axes, body, .. } => self.each(axes, body),
            StmtKind::Phase { var, range, body } | StmtKind::For { var, range, body } => {
                self.counted(*var, range, body, stmt.head);
            }
            StmtKind::While { cond, body } => self.conditional(*cond, body, stmt.head),
            StmtKind::If { cond, then, otherwise } => self.branch(*cond, then, otherwise),
            StmtKind::Exchange { var, op, value, lane } => {
                let operand = self.value(*value);
                let lane = lane.map(|lane| self.value(lane));
                match op.group() {
                    Group::Block => {
                        self.follow(Flow::barrier());
                        self.settle_own_cells();
                    }
                    Group::Warp => {}
                }
                let ty = self.kernel.vars[*var].ty;
                let since = self.symbols.next();
                let why = (stmt.span, Obstacle::Exchange(*op));
                let value = self.any_of_type(ty, op.is_uniform(Group::Block), why);
                self.named.declare(*var);
                let value = self.reduced((*var, *op), &operand, value);
                self.note_below_in_var(*var, &operand);
                let known = self.note_exchange(*op, (operand, lane), &value, (ty, stmt.span));
                let value = known.map_or(value, Value::Int);
                self.note_found_below_in_var(*var, since, &value);
                self.env.insert(*var, value);
            }
            StmtKind::Assume { cond } => self.assume(*cond),
            StmtKind::Distinct { values, within } => self.note_differing(values, *within),
            StmtKind::Barrier => {
                if self.recording && self.depth == 0 {
                    self.counters.note_barrier();
                }
                self.follow(Flow::barrier());
                self.settle_own_cells();
            }
            StmtKind::WarpBarrier => {
                // Which warp it is decides whom it orders.
                if self.place(stmt.span).is_some() {
                    self.follow(Flow::warp_barrier());
                }
            }
        }
    }

    /// An access that writes; gives its indices, and the value.
    fn store(
        &mut self,
        access: &Access,
        value: ExprId,
        kinds: &[AccessKind],
    ) -> (Vec<Poly>, Value) {
        let indices: Vec<Poly> = access.indices.iter().map(|index| self.index(*index)).collect();
        let value = self.value(value);
        self.note_below_in(access.array, &value);
        let is_set = kinds == [AccessKind::Write];
        let is_0 = is_set && matches!(&value, Value::Int(value) if *value == Poly::default());
        if self.recording && !is_0 {
            self.counters.note_other_than_0(access.array);
        }
        for kind in kinds {
            self.site(access, indices.clone(), *kind);
        }
        (indices, value)
    }

    /// Whether a variable has one value for the whole block.
    pub(super) fn is_uniform_var(&self, var: VarId) -> bool {
        let is_named = self.kernel.vars.get(var).is_some();
        self.point.is_none() && is_named && self.uniformity.is_uniform_var(var)
    }

    /// Whether this is the body of a cooperative loop.
    pub(super) fn is_in_point(&self) -> bool {
        self.point.is_some()
    }

    fn each(&mut self, axes: &[Axis], body: &[Stmt]) {
        let axes = self.axes_of_point(axes);
        let outer = self.point.replace(Worker::Point {
            each: self.eaches,
            axes: axes.iter().map(|(_, unknown)| *unknown).collect(),
            depth: self.loops.len(),
        });
        self.eaches += 1;
        let flow = self.nested(|walk| walk.stmts(body));
        self.point = outer;
        self.follow(flow);
    }

    fn branch(&mut self, cond: ExprId, then: &[Stmt], otherwise: &[Stmt]) {
        if let Some(holds) = self.case.decided.get(&cond).copied() {
            return self.one_way((cond, holds), if holds { then } else { otherwise });
        }
        let value = self.condition(cond);
        let before = self.env.clone();
        let settled = self.settled();
        let [yes, no] = [value.yes.clone(), value.no.clone()];
        let first = self
            .under_one_of((yes.clone(), no.clone()), |walk| walk.nested(|walk| walk.stmts(then)));
        let first_end = self.arm_end(then);
        let after_first = std::mem::replace(&mut self.env, before);
        let settled = std::mem::replace(&mut self.own_cells.settled, settled);
        let second = self.under_one_of((no, yes), |walk| walk.nested(|walk| walk.stmts(otherwise)));
        self.join_settled(&settled);
        let second_end = match otherwise.is_empty() && self.asks_who_stays(cond) {
            true => ArmEnd::Nobody,
            false => self.arm_end(otherwise),
        };
        let stayed = joined((first_end, &after_first), (second_end, &self.env));
        let (first, second) = if self.uniformity.is_uniform_value(cond) {
            (first.under(&value.yes), second.under(&value.no))
        } else {
            let here = Distance::Same(self.loops.clone());
            self.pairs.cross(&first.heads, &second.heads, &here);
            (first, second)
        };
        self.merge(&value, after_first);
        match self.exits.skipping(self.kernel, cond) {
            (flags, _) if !otherwise.is_empty() || flags.is_empty() => {
                self.follow(first.join(second));
            }
            (flags, true) => self.follow_unless(first, &flags),
            (flags, false) => self.follow_unless(first.join(second), &flags),
        }
        self.stayed = stayed;
    }

    /// Variables after an `if`, of which `first` are the values after its first
    /// arm, the present ones those after its second.
    fn merge(&mut self, cond: &Cond, first: BTreeMap<VarId, Value>) {
        for (var, then) in first {
            // What only one arm declares ends with it.
            let Some(otherwise) = self.env.get(&var).cloned() else { continue };
            if then == otherwise {
                continue;
            }
            let uniform = self.is_uniform_var(var);
            let value = self.either(cond, then, otherwise, uniform);
            let value = value.unwrap_or_else(|| self.changed(var));
            let value = self.shortened(var, value);
            self.env.insert(var, value);
        }
    }

    /// Whether an index is never negative, at all sizes and for all work-items.
    pub(super) fn is_natural(&self, poly: &Poly) -> bool {
        self.symbols.low(poly).is_some_and(|low| low >= 0)
            || self.naturals.contains(poly)
            || self.sum_of_bits(poly).is_some()
            || !poly.is_lost() && self.is_never(&Formula::AtLeast(poly.negated().plus(-1)))
    }

    /// What a value is at most, by bounds that are numbers.
    pub(super) fn high(&self, poly: &Poly) -> Option<i128> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<Unknown> = poly.unknowns().collect();
        let mut rows = Vec::new();
        self.constraints.iter().for_each(|formula| formula.collect_bounds(&mut rows));
        while let Some(unknown) = open.pop() {
            if !seen.insert(unknown) {
                continue;
            }
            let from = rows.len();
            self.symbols.get(unknown)?.facts.collect_bounds(&mut rows);
            open.extend(rows[from..].iter().flat_map(Poly::unknowns));
        }
        Ranges::of(rows.iter()).of_poly(poly).high
    }

    /// Whether a variable's values are integers that are followed.
    pub(super) fn is_followed(&self, var: VarId) -> bool {
        super::terms::integers::is_integer(self.type_of(var))
    }

    /// The type of a variable, or of an element that is followed as one.
    pub(super) fn type_of(&self, var: VarId) -> Type {
        match self.kernel.vars.get(var) {
            Some(declared) => declared.ty,
            None => self.local_elements.ty(self.kernel, var).unwrap_or(Type::Index),
        }
    }
}
