//! Cells of tiles that are read and raised, written as atomic updates for the proof.
//!
//! ```text
//! out[c[d, t]] = v;
//! c[d, t] += 1;
//! ```
//!
//! does the same as
//!
//! ```text
//! let old = atomic c[d, t] += 1;
//! out[old] = v;
//! ```
//!
//! if no two work-items touch one cell of `c` between two barriers, at least one of them writing:
//! nobody comes between the read and the write. That is proved of the kernel as it stands, whose
//! accesses of `c` are asked about. So what is proved of the other arrays, of the kernel that is
//! written so, holds of both. Counters in own cells that are raised once, summed up, and raised
//! again are then what those are that all of a block raise.
//!
//! # What it rests on
//!
//! - Between the first read of the cell and the write stand no barrier and nothing that decides
//!   which cell it is, and whatever reads the tile there reads that cell. What decides it is read
//!   in arrays of which all pairs of accesses are proved.
//! - What is added is a small number, and the tile holds counts alone ([`sums`]), of which no loop
//!   makes sums of sums: so its counters leave the range of their type no more than those of atomic
//!   updates do.

mod sums;

use std::collections::BTreeSet;

use self::sums::{arrays_of_counts, is_step};
use super::Exact;
use super::agreed::turns::like;
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, TileId, Type, Var, VarId,
    VarKind, any_stmt, any_subexpr, copy_expr,
};
use crate::op::{AtomicOp, BinaryOp};
use crate::solve::symbolic::Unproved;

/// The kernel with such updates made atomic of tiles of which no pair of accesses is `unproved`,
/// if it reads one of them.
pub(super) fn made_atomic(kernel: &Kernel, unproved: &[Unproved]) -> Option<Kernel> {
    let open: BTreeSet<ArrayRef> = unproved.iter().map(|pair| pair.array).collect();
    let is_shared = |tile: &TileId| {
        let array = ArrayRef::Tile(*tile);
        !kernel.is_local(array)
            && !open.contains(&array)
            && !sums_again(kernel, &kernel.body, array)
    };
    let tiles: BTreeSet<TileId> = arrays_of_counts(kernel).into_iter().filter(is_shared).collect();
    if tiles.is_empty() {
        return None;
    }
    let mut out = kernel.clone();
    let mut body = std::mem::take(&mut out.body);
    let mut writing = Writing { kernel: &mut out, tiles, open, reads: false };
    writing.list(&mut body);
    let reads = writing.reads;
    out.body = body;
    let asks_alike = || Exact::of(&out).is_asked_of(&out, &Exact::of(kernel), kernel);
    (reads && asks_alike()).then_some(out)
}

/// Whether a loop goes on in each round from the sums that the one before has left in an array: it
/// raises them, and stores others, and none of its stores begins anew with a number.
fn sums_again(kernel: &Kernel, stmts: &[Stmt], array: ArrayRef) -> bool {
    let is_in = |stmt: &Stmt, wanted: Written| {
        let is_it = &mut |kind: &StmtKind| Written::of(kernel, kind, array) == Some(wanted);
        any_stmt(std::slice::from_ref(stmt), is_it)
    };
    stmts.iter().any(|stmt| {
        let goes_on = stmt.kind.is_loop()
            && is_in(stmt, Written::Raised)
            && is_in(stmt, Written::Other)
            && !is_in(stmt, Written::Number);
        let mut bodies = stmt.kind.bodies().into_iter();
        goes_on || bodies.any(|body| sums_again(kernel, body, array))
    })
}

/// What a statement writes in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    Number,
    /// Something, and a number more.
    Raised,
    Other,
}

impl Written {
    fn of(kernel: &Kernel, kind: &StmtKind, array: ArrayRef) -> Option<Self> {
        if kind.written() != Some(array) {
            return None;
        }
        let StmtKind::Store { value, .. } = kind else { return Some(Self::Raised) };
        let is_raised = match kernel.exprs[*value].kind {
            ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => {
                is_step(kernel, lhs) || is_step(kernel, rhs)
            }
            _ => false,
        };
        Some(match () {
            () if is_step(kernel, *value) => Self::Number,
            () if is_raised => Self::Raised,
            () => Self::Other,
        })
    }
}

/// An update of a tile's cell.
struct Update {
    tile: TileId,
    access: Access,
    /// What is added.
    by: ExprId,
    /// Where the variable is declared that holds what was there, if one does.
    held_from: Option<usize>,
}

/// A kernel of which updates are made atomic.
struct Writing<'k> {
    kernel: &'k mut Kernel,
    /// The tiles whose updates are.
    tiles: BTreeSet<TileId>,
    /// The arrays of which some pair of accesses has no proof.
    open: BTreeSet<ArrayRef>,
    /// Whether the old value of one is read.
    reads: bool,
}

impl Writing<'_> {
    fn list(&mut self, stmts: &mut Vec<Stmt>) {
        for stmt in stmts.iter_mut() {
            stmt.kind.bodies_mut().into_iter().for_each(|body| self.list(body));
        }
        // From the last one on: what stands between two belongs to the later one.
        for at in (0..stmts.len()).rev() {
            if let Some(update) = self.update(stmts, at) {
                self.write(stmts, at, update);
            }
        }
    }

    /// The update that a statement makes.
    fn update(&self, stmts: &[Stmt], at: usize) -> Option<Update> {
        let of_tile = |access: &Access| match access.array {
            ArrayRef::Tile(tile) => self.tiles.contains(&tile).then_some(tile),
            ArrayRef::Tensor(_) => None,
        };
        let (access, by, held_from) = match &stmts[at].kind {
            StmtKind::Update { place: Place::Element(access), op: BinaryOp::Add, value } => {
                (access, *value, None)
            }
            StmtKind::Store { access, value } => {
                let ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } =
                    self.kernel.exprs[*value].kind
                else {
                    return None;
                };
                let sides = [(lhs, rhs), (rhs, lhs)].into_iter();
                let mut ways =
                    sides.filter_map(|(old, by)| Some((by, self.held(&stmts[..at], old, access)?)));
                let (by, held_from) = ways.find(|(by, _)| is_step(self.kernel, *by))?;
                (access, by, held_from)
            }
            _ => return None,
        };
        let tile = of_tile(access).filter(|_| is_step(self.kernel, by))?;
        Some(Update { tile, access: access.clone(), by, held_from })
    }

    /// Whether an expression is what a cell held before it was written: read there, or where a
    /// variable is declared that nothing changes.
    fn held(&self, before: &[Stmt], old: ExprId, access: &Access) -> Option<Option<usize>> {
        match &self.kernel.exprs[old].kind {
            ExprKind::Load(read) => self.is_one_cell(read, access).then_some(None),
            ExprKind::Var(var) => {
                let is_fixed = self.kernel.vars[*var].kind == VarKind::Let { mutable: false };
                let at = before.iter().rposition(|stmt| match stmt.kind {
                    StmtKind::Let { var: declared, init: Some(init) } if declared == *var => {
                        matches!(&self.kernel.exprs[init].kind,
                            ExprKind::Load(read) if self.is_one_cell(read, access))
                    }
                    _ => false,
                });
                at.filter(|_| is_fixed).map(Some)
            }
            _ => None,
        }
    }

    fn is_one_cell(&self, one: &Access, other: &Access) -> bool {
        let mut axes = one.indices.iter().zip(&other.indices);
        one.array == other.array && axes.all(|(one, other)| self.kernel.is_same(*one, *other))
    }

    /// Puts an atomic update where the cell is first read, in place of the one that stands `at`.
    fn write(&mut self, stmts: &mut Vec<Stmt>, at: usize, update: Update) {
        let asked = Asked::of(self.kernel, &update);
        // What says which cell it is stands once in the place of several times, so that accesses
        // are left out.
        let is_proved = asked.arrays.is_disjoint(&self.open);
        if !is_proved || asked.arrays.contains(&asked.tile) {
            return;
        }
        let (mut from, mut before) = (at, Vec::new());
        for (number, stmt) in stmts[..at].iter().enumerate().rev() {
            let reads = self.reads_of(stmt, update.tile);
            if !asked.are_kept_by(stmt) || !self.are_of_cell(&reads, &update.access) {
                break;
            }
            if !reads.is_empty() {
                from = number;
                before.extend(reads);
            }
        }
        if update.held_from.is_some_and(|held| held < from) {
            return;
        }
        let mut after = Vec::new();
        for stmt in stmts[at + 1..].iter().take_while(|stmt| asked.are_kept_by(stmt)) {
            let reads = self.reads_of(stmt, update.tile).into_iter();
            after.extend(reads.filter(|read| self.are_of_cell(&[*read], &update.access)));
        }
        let old = (!before.is_empty() || !after.is_empty()).then(|| self.declare(&update));
        if let Some(old) = old {
            before.iter().for_each(|read| self.kernel.exprs[*read].kind = ExprKind::Var(old));
            after.iter().for_each(|read| self.put_raised(*read, old, update.by));
            self.reads = true;
        }
        let Update { access, by: value, .. } = update;
        let kind = StmtKind::Atomic { access, op: AtomicOp::Add, expected: None, value, old };
        let stmt = Stmt { kind, ..stmts.remove(at) };
        stmts.insert(from, stmt);
    }

    /// Puts in the place of a read what an update has left.
    fn put_raised(&mut self, read: ExprId, old: VarId, by: ExprId) {
        let lhs = like(self.kernel, read, ExprKind::Var(old));
        let rhs = copy_expr(self.kernel, by, &mut |_, _| None);
        self.kernel.exprs[read].kind = ExprKind::Binary { op: BinaryOp::Add, lhs, rhs };
    }

    fn declare(&mut self, update: &Update) -> VarId {
        let tile = &self.kernel.tiles[update.tile];
        self.kernel.vars.push(Var {
            name: format!("{}_old", tile.name),
            ty: Type::Scalar(tile.elem),
            kind: VarKind::Let { mutable: false },
            accumulator: false,
            span: update.access.span,
        })
    }

    /// The reads of a tile in a statement, and in those inside of it.
    fn reads_of(&self, stmt: &Stmt, tile: TileId) -> Vec<ExprId> {
        let mut open = stmt.kind.exprs();
        any_stmt(&stmt.kind.bodies().concat(), &mut |kind| {
            open.extend(kind.exprs());
            false
        });
        let mut reads = Vec::new();
        while let Some(expr) = open.pop() {
            let kind = &self.kernel.exprs[expr].kind;
            if matches!(kind, ExprKind::Load(access) if access.array == ArrayRef::Tile(tile)) {
                reads.push(expr);
            }
            open.extend(kind.operands());
        }
        reads
    }

    fn are_of_cell(&self, reads: &[ExprId], cell: &Access) -> bool {
        reads.iter().all(|read| {
            matches!(&self.kernel.exprs[*read].kind,
                ExprKind::Load(access) if self.is_one_cell(access, cell))
        })
    }
}

/// What an update asks for: which cell it is of, and what it adds.
struct Asked {
    tile: ArrayRef,
    vars: BTreeSet<VarId>,
    arrays: BTreeSet<ArrayRef>,
}

impl Asked {
    fn of(kernel: &Kernel, update: &Update) -> Self {
        let (mut vars, mut arrays) = (BTreeSet::new(), BTreeSet::new());
        for expr in update.access.indices.iter().chain([&update.by]) {
            any_subexpr(kernel, *expr, &mut |kind| {
                match kind {
                    ExprKind::Var(var) => drop(vars.insert(*var)),
                    ExprKind::Load(access) => drop(arrays.insert(access.array)),
                    _ => {}
                }
                false
            });
        }
        Self { tile: ArrayRef::Tile(update.tile), vars, arrays }
    }

    /// Whether a statement leaves all of that as it is, and the tile, and nobody meets there.
    fn are_kept_by(&self, stmt: &Stmt) -> bool {
        let changes = |kind: &StmtKind| match kind {
            StmtKind::Let { var, .. }
            | StmtKind::Assign { var, .. }
            | StmtKind::Update { place: Place::Var(var), .. }
            | StmtKind::For { var, .. } => self.vars.contains(var),
            StmtKind::Store { access, .. }
            | StmtKind::Update { place: Place::Element(access), .. } => self.is_asked(access.array),
            StmtKind::Atomic { access, old, .. } => {
                self.is_asked(access.array) || old.is_some_and(|old| self.vars.contains(&old))
            }
            StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Distinct { .. } => false,
            StmtKind::LetArray { .. }
            | StmtKind::Exchange { .. }
            | StmtKind::Each { .. }
            | StmtKind::Phase { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => true,
        };
        !any_stmt(std::slice::from_ref(stmt), &mut { changes })
    }

    fn is_asked(&self, array: ArrayRef) -> bool {
        array == self.tile || self.arrays.contains(&array)
    }
}
