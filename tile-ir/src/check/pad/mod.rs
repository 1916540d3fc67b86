//! TK0202: a default pad that changes a stored result.
//!
//! A read outside a tensor's shape gives 0 where the author names no pad. That
//! 0 is followed to the tensors it could be stored in: through variables, tiles,
//! conditions and indices. It is accepted where one of these shows that no
//! stored result depends on it:
//!
//! 1. the read cannot be outside: by the ranges of what its index is made of, by
//!    a condition around it (`i < N`, `in_bounds(a[i])`), or by the proof that the
//!    race rules use ([`crate::solve::symbolic`]);
//! 2. whenever the read is outside, the store is outside too, and dropped;
//! 3. it enters `x += e` (also `-=`, `|=`, `^=`) and makes `e` 0: `e` is the
//!    element itself, or a product in which another factor is padded under the
//!    same condition. A factor that is not could be infinite, and 0 times that
//!    is no 0; integers and numbers in the text are not.
//!
//! Anything else is an error: the author writes the pad, or asks `in_bounds`.
//! Loops are followed until nothing changes; what an earlier iteration left
//! behind never agrees with a store of this one.

mod value;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use self::value::{Effect, Outside, Value};
use super::poly::{Atom, Bounds, Poly, assigned_in};
use super::uniform::Uniformity;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::dtype::{Bound, DType};
use crate::exchange::ExchangeOp;
use crate::kernel::{
    Access, ArrayRef, Axis, Edge, ElemType, ExprId, ExprKind, Kernel, Literal, LoopRange, Place,
    Source, Stmt, StmtKind, TensorId, TileId, Type, VarId, print_access, print_expr,
};
use crate::op::{AtomicOp, BinaryOp, CompareOp, LogicOp, MathFn, UnaryOp};
use crate::solve::symbolic::Reads;
use crate::span::SpanId;

/// The most often a loop's body is followed before its state is taken as it is;
/// a state grows with each iteration, so that no dependence is missed that a
/// chain of fewer variables carries.
const MAX_ROUNDS: usize = 8;

/// Most groups of cells that are told apart, of one tile.
const MAX_CELLS: usize = 24;

/// Reports each read whose default pad can change a stored result.
pub(super) fn check_pads(kernel: &Kernel, uniformity: &Uniformity, diags: &mut Diagnostics) {
    let mut cx = Flow {
        kernel,
        loops: Vec::new(),
        bounds: Bounds::new(kernel),
        facts: Vec::new(),
        control: Value::default(),
        conditional: false,
        points: None,
        reported: BTreeSet::new(),
        uniformity,
        reads: OnceCell::new(),
        diags,
    };
    cx.walk(&kernel.body, &mut State::default());
}

/// What variables and tiles hold.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    vars: BTreeMap<VarId, Value>,
    tiles: BTreeMap<TileId, Vec<Cells>>,
}

/// Cells of a tile that one statement wrote.
#[derive(Clone, Debug, PartialEq)]
struct Cells {
    /// Their indices, over `owners` and what is fixed.
    index: Vec<Poly>,
    /// The block axes or point indices that they are written by.
    owners: Vec<VarId>,
    value: Value,
}

/// Adds cells to those of a tile. Too many of them become one: any of the tile.
fn add_cells(cells: &mut Vec<Cells>, new: Cells) {
    let is_like = |own: &&mut Cells| {
        own.index == new.index && own.owners == new.owners && own.value.is_like(&new.value)
    };
    if let Some(own) = cells.iter_mut().find(is_like) {
        own.value.learn_way(&new.value);
        return;
    }
    if cells.len() < MAX_CELLS {
        cells.push(new);
        return;
    }
    let values = cells.iter().map(|cells| &cells.value).chain([&new.value]);
    let value = values.fold(Value::default(), |all, value| all.join(&value.spoil()));
    let owners: BTreeSet<VarId> =
        cells.iter().chain([&new]).flat_map(|cells| cells.owners.iter().copied()).collect();
    let index = new.index.iter().map(|_| Poly::atom(Atom::Any)).collect();
    *cells = vec![Cells { index, owners: owners.into_iter().collect(), value }];
}

impl State {
    fn join(&mut self, other: &Self) {
        for (var, value) in &other.vars {
            let joined = self.vars.get(var).map_or_else(|| value.clone(), |own| own.join(value));
            self.vars.insert(*var, joined);
        }
        for (tile, cells) in &other.tiles {
            let own = self.tiles.entry(*tile).or_default();
            cells.iter().for_each(|cell| add_cells(own, cell.clone()));
        }
    }

    /// Another iteration of a loop begins.
    fn pass(&mut self, head: SpanId) {
        self.vars.values_mut().for_each(|value| value.pass(head));
        self.tiles.values_mut().flatten().for_each(|cells| cells.value.pass(head));
    }

    /// The state when `var` has moved on.
    fn outlive(&mut self, var: VarId) {
        for value in self.vars.values_mut() {
            *value = value.outlive(var);
        }
        let moved = |other: VarId| (other == var).then(|| Poly::atom(Atom::Other(var)));
        for cell in self.tiles.values_mut().flatten() {
            cell.value = cell.value.outlive(var);
            cell.index = cell.index.iter().map(|index| index.replace(&moved)).collect();
        }
    }
}

struct Flow<'a> {
    kernel: &'a Kernel,
    /// The keywords of the loops around.
    loops: Vec<SpanId>,
    bounds: Bounds<'a>,
    /// What is at least 0 here, by the conditions around.
    facts: Vec<Poly>,
    /// What decides whether this point is reached.
    control: Value,
    /// Whether a condition stands around that may part the block, inside the innermost
    /// `each` or not.
    conditional: bool,
    /// Inside an `each`: its indices.
    points: Option<Vec<VarId>>,
    reported: BTreeSet<Source>,
    uniformity: &'a Uniformity,
    /// Where reads can be, by proof for all sizes; asked only before a report.
    reads: OnceCell<Reads<'a>>,
    diags: &'a mut Diagnostics,
}

/// Statements.
impl Flow<'_> {
    fn walk(&mut self, stmts: &[Stmt], state: &mut State) {
        for stmt in stmts {
            self.walk_stmt(stmt, state);
        }
    }

    fn walk_stmt(&mut self, stmt: &Stmt, state: &mut State) {
        match &stmt.kind {
            StmtKind::Let { var, init } => {
                let value = init.map(|init| self.value(init, state)).unwrap_or_default();
                state.vars.insert(*var, value);
                self.set_index(*var, *init);
            }
            StmtKind::LetArray { tile, init } => {
                // An array of this work-item, or point: nobody else writes it.
                let (index, owners) = (Vec::new(), Vec::new());
                let all = init.map(|init| Cells { index, owners, value: self.value(init, state) });
                state.tiles.insert(*tile, all.into_iter().collect());
            }
            StmtKind::Assign { var, value } => {
                let new = self.assigned(*var, *value, state).with_control(&self.control);
                state.vars.insert(*var, new);
                self.set_index(*var, Some(*value));
            }
            StmtKind::Update { place: Place::Var(var), op, value } => {
                let new = self.updated(*var, *op, *value, state).with_control(&self.control);
                state.vars.insert(*var, new);
                self.bounds.forget(*var);
            }
            StmtKind::Store { access, value } => {
                let new = self.value(*value, state);
                self.write(access, new, true, state);
            }
            StmtKind::Update { place: Place::Element(access), op, value } => {
                self.update_element(access, *op, *value, state);
            }
            StmtKind::Atomic { access, op, expected, value, old } => {
                self.update_atomically(access, (*op, *expected, *value), *old, state);
            }
            StmtKind::Exchange { var, op, value, lane } => {
                let new = self.exchanged(*op, *value, *lane, state);
                state.vars.insert(*var, new);
                self.bounds.forget(*var);
            }
            StmtKind::Each { axes, body, .. } => self.walk_each(axes, body, state),
            StmtKind::Phase { var, range, body } | StmtKind::For { var, range, body } => {
                self.walk_for(*var, range, (stmt.head, body), state);
            }
            StmtKind::While { cond, body } => {
                let head = (None, stmt.head);
                self.walk_rounds(head, body, state, |cx, state| cx.value(*cond, state));
            }
            StmtKind::If { cond, then, otherwise } => {
                let decides = self.value(*cond, state);
                let mut other = state.clone();
                self.walk_under(*cond, true, &decides, then, state);
                self.walk_under(*cond, false, &decides, otherwise, &mut other);
                self.forget_assigned(then);
                self.forget_assigned(otherwise);
                state.join(&other);
            }
            StmtKind::Assume { .. } | StmtKind::Barrier | StmtKind::WarpBarrier => {}
        }
    }

    fn update_element(&mut self, access: &Access, op: BinaryOp, value: ExprId, state: &mut State) {
        let exact = is_exact(self.kernel, self.kernel.exprs[value].ty);
        let value = self.value(value, state);
        let old = match access.array {
            ArrayRef::Tensor(_) => Value::default(),
            ArrayRef::Tile(_) => self.element(access, state),
        };
        self.write(access, old.update(op, &value, exact), false, state);
    }

    /// What the values of several work-items make together: a 0 leaves their sum
    /// as it is. Reads of others are outside under conditions of their own.
    fn exchanged(
        &mut self,
        op: ExchangeOp,
        value: ExprId,
        lane: Option<ExprId>,
        state: &State,
    ) -> Value {
        let exact = is_exact(self.kernel, self.kernel.exprs[value].ty);
        let own = self.value(value, state).within(&self.bounds, &self.facts);
        let all = match (op.binary(), lane) {
            (Some(binary), _) => Value::default().update(binary, &own, exact),
            (None, Some(lane)) => own.with_control(&self.value(lane, state)),
            (None, None) => own.spoil(),
        };
        let all = all.handed_on();
        let items = self.kernel.block.iter().flatten();
        items.fold(all, |all, axis| all.outlive(axis.var)).with_control(&self.control)
    }

    fn update_atomically(
        &mut self,
        access: &Access,
        (op, expected, value): (AtomicOp, Option<ExprId>, ExprId),
        old: Option<VarId>,
        state: &mut State,
    ) {
        if let Some(old) = old {
            let was = match access.array {
                ArrayRef::Tensor(tensor) => self.padded(Source::Old(old), tensor, access),
                ArrayRef::Tile(_) => self.element(access, state),
            };
            let was = was.with_control(&self.control);
            state.vars.insert(old, was);
            self.bounds.forget(old);
        }
        let Some(op) = op.binary() else {
            let mut new = self.value(value, state);
            if let Some(expected) = expected {
                let decides = self.value(expected, state);
                new = new.with_control(&decides);
            }
            return self.write(access, new, false, state);
        };
        self.update_element(access, op, value, state);
    }

    fn set_index(&mut self, var: VarId, value: Option<ExprId>) {
        match value.filter(|value| self.bounds.is_index(*value)) {
            Some(value) => {
                let value = self.bounds.poly(value);
                self.bounds.set(var, value);
            }
            None => self.bounds.forget(var),
        }
    }

    fn forget_assigned(&mut self, stmts: &[Stmt]) {
        for var in assigned_in(stmts) {
            self.bounds.forget(var);
        }
    }

    /// `x = x + e` is `x += e` too.
    fn assigned(&mut self, var: VarId, value: ExprId, state: &State) -> Value {
        if let ExprKind::Binary { op, lhs, rhs } = self.kernel.exprs[value].kind {
            let is_var = |id: ExprId| self.kernel.exprs[id].kind == ExprKind::Var(var);
            let commutes = matches!(op, BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor);
            if is_var(lhs) {
                return self.updated(var, op, rhs, state);
            }
            if commutes && is_var(rhs) {
                return self.updated(var, op, lhs, state);
            }
        }
        self.value(value, state)
    }

    fn updated(&mut self, var: VarId, op: BinaryOp, value: ExprId, state: &State) -> Value {
        let exact = is_exact(self.kernel, self.kernel.exprs[value].ty);
        let value = self.value(value, state);
        let old = state.vars.get(&var).cloned().unwrap_or_default();
        old.update(op, &value, exact)
    }

    fn walk_under(
        &mut self,
        cond: ExprId,
        holds: bool,
        decides: &Value,
        stmts: &[Stmt],
        state: &mut State,
    ) {
        let outer = self.control.clone();
        let known = self.facts.len();
        // What the whole block decides together, it also writes together.
        let conditional = self.conditional;
        self.conditional |= !self.uniformity.is_uniform_value(cond);
        self.learn(cond, holds);
        self.control = outer.clone().with_control(decides);
        self.walk(stmts, state);
        self.facts.truncate(known);
        self.conditional = conditional;
        self.control = outer;
    }

    fn walk_each(&mut self, axes: &[Axis], body: &[Stmt], state: &mut State) {
        self.bounds.enter(axes);
        let points: Vec<VarId> = axes.iter().map(|axis| axis.var).collect();
        let outer = self.points.replace(points.clone());
        self.walk(body, state);
        self.points = outer;
        for var in points {
            // The cells keep their own indices as owners; variables do not.
            for value in state.vars.values_mut() {
                *value = value.outlive(var).handed_on();
            }
        }
    }

    fn walk_for(
        &mut self,
        var: VarId,
        range: &LoopRange,
        (head, body): (SpanId, &[Stmt]),
        state: &mut State,
    ) {
        if let LoopRange::Between { start, end, .. } = *range {
            // A step that is not positive runs nothing.
            let (start, end) = (self.bounds.poly(start), self.bounds.poly(end));
            self.bounds.enter_counter_from(var, &start, end);
        }
        if let LoopRange::Between { start, end, step: None, .. } = *range
            && self.kernel.exprs[start].kind == ExprKind::Literal(Literal::Int(0))
        {
            let end = self.bounds.poly(end);
            self.bounds.enter_counter(var, end);
        }
        let bounds = range.exprs();
        self.walk_rounds((Some(var), head), body, state, |cx, state| {
            let values: Vec<Value> = bounds.iter().map(|bound| cx.value(*bound, state)).collect();
            values.iter().fold(Value::default(), |all, value| all.with_control(value))
        });
    }

    /// Follows a loop's body until nothing changes; `decides` is what its
    /// running depends on.
    fn walk_rounds(
        &mut self,
        (var, head): (Option<VarId>, SpanId),
        body: &[Stmt],
        state: &mut State,
        decides: impl Fn(&mut Self, &State) -> Value,
    ) {
        self.loops.push(head);
        for _ in 0..MAX_ROUNDS {
            self.forget_assigned(body);
            let outer = self.control.clone();
            let decided = decides(self, state);
            self.control = outer.clone().with_control(&decided);
            let mut inside = state.clone();
            self.walk(body, &mut inside);
            self.control = outer;
            if let Some(var) = var {
                inside.outlive(var);
            }
            inside.pass(head);
            let before = state.clone();
            state.join(&inside);
            if *state == before {
                break;
            }
        }
        self.loops.pop();
        self.forget_assigned(body);
    }

    /// Writes an element; `replaces` where its old value is lost.
    fn write(&mut self, access: &Access, value: Value, replaces: bool, state: &mut State) {
        let mut value = value.with_control(&self.control);
        for index in &access.indices {
            let of_index = self.value(*index, state);
            value = value.with_control(&of_index);
        }
        let value = value.within(&self.bounds, &self.facts);
        let index: Vec<Poly> = access.indices.iter().map(|id| self.bounds.poly(*id)).collect();
        match access.array {
            ArrayRef::Tensor(tensor) => self.check_store(tensor, &index, &value, access),
            ArrayRef::Tile(tile) => {
                let owners = match &self.points {
                    _ if self.kernel.is_local(access.array) => Vec::new(),
                    Some(points) => points.clone(),
                    None => self.kernel.block.iter().flatten().map(|axis| axis.var).collect(),
                };
                let everywhere = replaces && !self.conditional && self.fills(tile, &index, &owners);
                let cells = state.tiles.entry(tile).or_default();
                if everywhere {
                    cells.clear();
                }
                add_cells(cells, Cells { index, owners, value });
            }
        }
    }

    /// Whether the owners, running over their extents, write each cell.
    fn fills(&mut self, tile: TileId, index: &[Poly], owners: &[VarId]) -> bool {
        let extents = &self.kernel.tiles[tile].extents;
        let mut left = owners.to_vec();
        index.iter().zip(extents).all(|(index, extent)| {
            let extent = self.bounds.poly(*extent);
            let own = left.iter().position(|var| {
                *index == Poly::var(*var) && self.bounds.extent(*var) == Some(&extent)
            });
            own.map(|position| left.remove(position)).is_some()
        })
    }

    fn reads(&self) -> &Reads<'_> {
        self.reads.get_or_init(|| Reads::of(self.kernel, self.uniformity))
    }

    /// Whether a read is proved to be inside along an axis, at all sizes: ever, or where the
    /// store is to which its work-item brings it in the same iterations.
    fn is_inside(&self, read: (Source, usize), effect: &Effect, store: SpanId) -> bool {
        let is_now = !self.loops.iter().any(|head| effect.passed.contains(head));
        let is_own = !effect.handed && is_now;
        self.reads().are_inside(read.0, read.1)
            || is_own && self.reads().are_inside_with(read, store)
    }

    fn check_store(&mut self, tensor: TensorId, index: &[Poly], value: &Value, access: &Access) {
        let extents = self.kernel.tensors[tensor].extents.iter();
        let extents: Vec<Poly> = extents.map(|extent| self.bounds.poly(*extent)).collect();
        for (outside, effect) in &value.under {
            let dropped = index
                .iter()
                .zip(&extents)
                .any(|(index, extent)| outside.implies(&self.bounds, index, extent));
            if dropped {
                continue;
            }
            for read in &effect.loads {
                let is_new = !self.reported.contains(&read.0);
                if is_new && !self.is_inside(*read, effect, access.span) {
                    self.reported.insert(read.0);
                    self.report(outside, *read, effect, access.span);
                }
            }
        }
    }
}

/// Values.
impl Flow<'_> {
    fn value(&mut self, id: ExprId, state: &State) -> Value {
        let expr = &self.kernel.exprs[id];
        let exact = is_exact(self.kernel, expr.ty);
        match &expr.kind {
            ExprKind::Literal(literal) => {
                let is_zero = matches!(literal, Literal::Int(0) | Literal::Bool(false))
                    || *literal == Literal::Float(0.0);
                let is_number = matches!(literal, Literal::Int(_) | Literal::Float(_)) && !is_zero;
                Value { under: BTreeMap::new(), is_zero, is_number }
            }
            ExprKind::Var(var) => {
                let value = state.vars.get(var).cloned().unwrap_or_default();
                value.within(&self.bounds, &self.facts)
            }
            ExprKind::Load(access) => {
                let mut value = match access.array {
                    ArrayRef::Tensor(tensor) => self.padded(Source::Load(id), tensor, access),
                    ArrayRef::Tile(_) => self.element(access, state),
                };
                for index in &access.indices {
                    let of_index = self.value(*index, state);
                    value = value.with_control(&of_index);
                }
                value
            }
            ExprKind::Unary { op, operand } => {
                self.value(*operand, state).map_value(*op == UnaryOp::Neg)
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let (left, right) = (self.value(*lhs, state), self.value(*rhs, state));
                let mut value = left.binary(*op, &right, exact);
                if *op == BinaryOp::Mul {
                    value.note_factor(&left, *rhs);
                    value.note_factor(&right, *lhs);
                }
                value
            }
            ExprKind::Select { cond, then, otherwise } => {
                let decides = self.value(*cond, state);
                let then = self.value_under(*cond, true, *then, state);
                let otherwise = self.value_under(*cond, false, *otherwise, state);
                then.join(&otherwise).with_control(&decides)
            }
            ExprKind::Cast(operand) | ExprKind::Uniform(operand) => self.value(*operand, state),
            ExprKind::Math { func, arg } => self.value(*arg, state).map_value(keeps_zero(*func)),
            ExprKind::Logic { op, lhs, rhs } => {
                let decides = self.value(*lhs, state);
                let rhs = self.value_under(*lhs, *op == LogicOp::And, *rhs, state);
                Value::default().with_control(&decides).with_control(&rhs)
            }
            ExprKind::Compare { .. } | ExprKind::Tiles { .. } | ExprKind::InBounds { .. } => {
                let operands = expr.kind.operands().into_iter();
                operands.fold(Value::default(), |all, operand| {
                    let value = self.value(operand, state);
                    all.with_control(&value)
                })
            }
        }
    }

    fn value_under(&mut self, cond: ExprId, holds: bool, id: ExprId, state: &State) -> Value {
        let known = self.facts.len();
        self.learn(cond, holds);
        let value = self.value(id, state);
        self.facts.truncate(known);
        value
    }

    /// A read of a tensor: 0 where it may be outside.
    fn padded(&mut self, source: Source, tensor: TensorId, access: &Access) -> Value {
        let mut value = Value::default();
        let tensor = &self.kernel.tensors[tensor];
        if tensor.edge != Edge::DefaultPad {
            return value;
        }
        for (axis, (index, extent)) in access.indices.iter().zip(&tensor.extents).enumerate() {
            let (index, extent) = (self.bounds.poly(*index), self.bounds.poly(*extent));
            for outside in [Outside::Below(index.clone()), Outside::Above(index, extent)] {
                value.insert(outside, Effect::of_read((source, axis)));
            }
        }
        value.within(&self.bounds, &self.facts)
    }

    /// What a tile's element may hold.
    fn element(&mut self, access: &Access, state: &State) -> Value {
        let ArrayRef::Tile(tile) = access.array else { return Value::default() };
        let read: Vec<Poly> = access.indices.iter().map(|id| self.bounds.poly(*id)).collect();
        let cells = state.tiles.get(&tile).map(Vec::as_slice).unwrap_or_default();
        let values = cells.iter().map(|cells| cells.value_at(&read));
        let value = values.reduce(|all, value| all.join(&value)).unwrap_or_default();
        let is_own = self.kernel.is_local(access.array);
        let value = if is_own { value } else { value.handed_on() };
        value.within(&self.bounds, &self.facts)
    }

    /// Notes what follows from a condition that holds, or does not.
    fn learn(&mut self, cond: ExprId, holds: bool) {
        match self.kernel.exprs[cond].kind.clone() {
            ExprKind::Logic { op, lhs, rhs } if (op == LogicOp::And) == holds => {
                self.learn(lhs, holds);
                self.learn(rhs, holds);
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.learn(operand, !holds),
            ExprKind::Compare { op, lhs, rhs } if self.bounds.is_index(lhs) => {
                let (lhs, rhs) = (self.bounds.poly(lhs), self.bounds.poly(rhs));
                let up = rhs.clone().sub(&lhs);
                let down = lhs.sub(&rhs);
                let one = Poly::constant(1);
                match (op, holds) {
                    (CompareOp::Lt, true) | (CompareOp::Ge, false) => self.facts.push(up.sub(&one)),
                    (CompareOp::Le, true) | (CompareOp::Gt, false) => self.facts.push(up),
                    (CompareOp::Gt, true) | (CompareOp::Le, false) => {
                        self.facts.push(down.sub(&one));
                    }
                    (CompareOp::Ge, true) | (CompareOp::Lt, false) => self.facts.push(down),
                    (CompareOp::Eq, true) | (CompareOp::Ne, false) => {
                        self.facts.extend([up, down]);
                    }
                    // Of what has one sign, what is not 0 is beyond it.
                    (CompareOp::Eq, false) | (CompareOp::Ne, true) => {
                        let signs = [up, down].into_iter();
                        let natural = signs.filter(|side| self.bounds.is_never_negative(side));
                        let beyond: Vec<Poly> = natural.map(|side| side.sub(&one)).collect();
                        self.facts.extend(beyond);
                    }
                }
            }
            ExprKind::InBounds { tensor, indices } if holds => {
                for (index, extent) in indices.iter().zip(&self.kernel.tensors[tensor].extents) {
                    let (index, extent) = (self.bounds.poly(*index), self.bounds.poly(*extent));
                    self.facts.push(extent.sub(&Poly::constant(1)).sub(&index));
                    self.facts.push(index);
                }
            }
            ExprKind::Literal(_)
            | ExprKind::Var(_)
            | ExprKind::Load(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Cast(_)
            | ExprKind::Uniform(_)
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => {}
        }
    }

    /// Says that a read outside along `axis` reaches `store`.
    fn report(
        &mut self,
        outside: &Outside,
        (source, axis): (Source, usize),
        effect: &Effect,
        store: SpanId,
    ) {
        let Some(access) = source.access(self.kernel) else { return };
        let ArrayRef::Tensor(tensor) = access.array else { return };
        let tensor = &self.kernel.tensors[tensor];
        let index = access.indices.get(axis).map(|id| print_expr(self.kernel, *id));
        let extent = tensor.extents.get(axis).map(|id| print_expr(self.kernel, *id));
        let (index, extent) = (index.unwrap_or_default(), extent.unwrap_or_default());
        let range = match outside {
            Outside::Below(_) if !self.reads().are_natural(source, axis) => {
                format!("`{index}` may be negative")
            }
            Outside::Below(_) | Outside::Above(..) => {
                format!("`{index}` may be `{extent}` or more")
            }
        };
        let text = print_access(self.kernel, access);
        let message =
            format!("`{text}` is 0 outside of `{}`, which can change a result", tensor.name);
        let mut diagnostic = Diagnostic::error(Code::PadChangesResult, access.span, message)
            .label(store, "the result is stored here")
            .note(range);
        if let Some(factor) = effect.factor {
            let factor = print_expr(self.kernel, factor);
            diagnostic = diagnostic
                .note(format!("0 times `{factor}` is NaN where `{factor}` is infinite or NaN"));
        }
        self.diags.push(diagnostic.help(
            match suggested_pad(self.kernel, tensor.elem, effect.extremum) {
                Some(pad) => format!(
                    "say what is outside: `#[pad = {pad}] {}: …`, or ask `in_bounds({text})`",
                    tensor.name
                ),
                None => format!("leave it out where `in_bounds({text})` does not hold"),
            },
        ));
    }
}

impl Cells {
    /// What the cell at `read` holds, if it is one of these.
    fn value_at(&self, read: &[Poly]) -> Value {
        let mut found: BTreeMap<VarId, Poly> = BTreeMap::new();
        for (index, read) in self.index.iter().zip(read) {
            let owner = self.owners.iter().find(|var| {
                let rest = index.clone().sub(&Poly::var(**var));
                !found.contains_key(*var) && !self.owners.iter().any(|other| rest.mentions(*other))
            });
            if let Some(owner) = owner {
                let rest = index.clone().sub(&Poly::var(*owner));
                found.insert(*owner, read.clone().sub(&rest));
            }
        }
        // Whoever wrote it otherwise is another work-item or point.
        self.value.replace(&|var| {
            let own = self.owners.contains(&var);
            own.then(|| found.get(&var).cloned().unwrap_or_else(|| Poly::atom(Atom::Other(var))))
        })
    }
}

/// Whether no value of the type is infinite or NaN.
fn is_exact(kernel: &Kernel, ty: Type) -> bool {
    match ty {
        Type::Index => true,
        Type::Scalar(ElemType::Concrete(dtype)) => !dtype.is_float(),
        Type::Scalar(ElemType::Param(id) | ElemType::Acc(id)) => {
            kernel.type_params[id].bound == Bound::Integer
        }
    }
}

/// Whether a function of 0 is 0.
const fn keeps_zero(func: MathFn) -> bool {
    match func {
        MathFn::Abs
        | MathFn::Sqrt
        | MathFn::Sin
        | MathFn::Tanh
        | MathFn::Floor
        | MathFn::Ceil
        | MathFn::ExpM1
        | MathFn::Ln1p
        | MathFn::Tan
        | MathFn::Asin
        | MathFn::Atan
        | MathFn::Sinh
        | MathFn::Cbrt
        | MathFn::Round
        | MathFn::RoundTiesEven
        | MathFn::Trunc
        | MathFn::Fract
        | MathFn::Erf
        | MathFn::CountOnes => true,
        // The sign of a float's zero is 1.
        MathFn::Signum
        | MathFn::Rsqrt
        | MathFn::Exp
        | MathFn::Log
        | MathFn::Cos
        | MathFn::Exp2
        | MathFn::Log2
        | MathFn::Log10
        | MathFn::Acos
        | MathFn::Cosh
        | MathFn::LeadingZeros
        | MathFn::TrailingZeros => false,
    }
}

/// The pad that leaves a `min` or `max` as it is, which only floats have for
/// certain (`MAX` may have been added to before); else 0, written out.
fn suggested_pad(kernel: &Kernel, elem: ElemType, extremum: Option<BinaryOp>) -> Option<String> {
    let is_float = match elem {
        ElemType::Concrete(dtype) => dtype.is_float(),
        ElemType::Param(id) | ElemType::Acc(id) => kernel.type_params[id].bound == Bound::Float,
    };
    let has_numbers = match elem {
        ElemType::Concrete(_) => true,
        ElemType::Param(id) | ElemType::Acc(id) => kernel.type_params[id].bound != Bound::Element,
    };
    let ty = kernel.elem_name(elem);
    match extremum {
        // Of elements of any type no value is known.
        Some(_) | None if !has_numbers => None,
        Some(_) if !is_float => None,
        Some(BinaryOp::Min) => Some(format!("{ty}::INFINITY")),
        Some(BinaryOp::Max) => Some(format!("{ty}::NEG_INFINITY")),
        Some(_) | None if elem == ElemType::Concrete(DType::Bool) => Some("false".to_owned()),
        Some(_) | None => Some("0".to_owned()),
    }
}
