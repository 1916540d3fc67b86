//! Keys that work-items have stored, and that others look at.
//!
//! ```text
//! s[t] = k; … let d = (k >> bit) & 15; … if (s[i] >> bit) & 15 == d { … }
//! ```
//!
//! Where one statement stores each work-item's number in its own cell, and no other one stores in
//! the tile, what is read of another one behind a barrier is its number. So the condition says that
//! `(k >> bit) & 15` is the same of both, if `bit` is one number for the block. All this is
//! compared as it is written, with what names stand for in their place: so names are followed that
//! are given once, and stand for what is the same wherever it is computed.
//!
//! Two keys are alike where their cells are, if both, the key that is compared and the number of
//! the cell, are made of one number without making two numbers one: by conversions to types that
//! are no narrower, and by adding what the block has in common.

use std::collections::BTreeMap;

use super::counting::Counting;
use super::{bits_of, declared, is_barrier, named};
use crate::check::{Uniformity, WrittenTensors};
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, Stmt, StmtKind, TileSpace, VarId, VarKind,
    any_stmt, any_subexpr, immutable_lets,
};
use crate::op::BinaryOp;

/// The keys that the work-items of a block have stored in a tile.
pub(super) struct Keys<'a> {
    kernel: &'a Kernel,
    uniform: &'a Uniformity,
    written: WrittenTensors,
    /// The tile.
    array: ArrayRef,
    /// What each stores, and where in the list.
    key: ExprId,
    stored_at: usize,
    /// The work-item's number.
    own: VarId,
    /// What names stand for that are declared behind the store, and all that are.
    behind: BTreeMap<VarId, ExprId>,
    lets: BTreeMap<VarId, ExprId>,
}

impl<'a> Keys<'a> {
    /// The keys in an array, if a list stores them before both statements, and before a barrier
    /// behind which the first of them is.
    pub(super) fn of(
        (kernel, uniform): (&'a Kernel, &'a Uniformity),
        stmts: &[Stmt],
        [read_at, named_at]: [usize; 2],
        array: ArrayRef,
    ) -> Option<Self> {
        let [axis] = kernel.block.as_deref()? else { return None };
        let ArrayRef::Tile(tile) = array else { return None };
        let stored = stmts.iter().enumerate().find_map(|(at, stmt)| match &stmt.kind {
            StmtKind::Store { access, value } if access.array == array => match *access.indices {
                [index] if kernel.exprs[index].kind == ExprKind::Var(axis.var) => {
                    Some((at, *value))
                }
                _ => None,
            },
            _ => None,
        });
        let (stored_at, key) = stored?;
        let mut stores = 0;
        any_stmt(&kernel.body, &mut |kind| {
            stores += usize::from(kind.written() == Some(array));
            false
        });
        let is_there = stored_at < named_at
            && stored_at < read_at
            && stmts[stored_at..read_at].iter().any(is_barrier)
            && stores == 1
            && kernel.tiles[tile].space == TileSpace::Shared;
        let keys = Self {
            kernel,
            uniform,
            written: WrittenTensors::of(kernel),
            array,
            key,
            stored_at,
            own: axis.var,
            behind: immutable_lets(&stmts[stored_at + 1..], kernel),
            lets: immutable_lets(&kernel.body, kernel),
        };
        (is_there && keys.is_lasting(key, false)).then_some(keys)
    }

    /// Whether a loop counts those whose cell is the one that a work-item raises.
    pub(super) fn are_those_of(&self, counting: &Counting, raised: &Access) -> bool {
        let (one, other) = counting.sides;
        [(one, other), (other, one)].into_iter().any(|(read, own)| {
            let names_round =
                |kind: &ExprKind| matches!(kind, ExprKind::Var(var) if *var == counting.of);
            self.is_of_key(read, counting.of)
                && self.is_lasting(own, true)
                && !self.any(own, &mut |kind| names_round(kind))
                && self.is_same(read, own, Some(counting.of))
                && self.decides(own, raised)
        })
    }

    /// Whether the cell that an access names is one's own key, in one row.
    fn decides(&self, key: ExprId, cell: &Access) -> bool {
        let is_common =
            |index: &ExprId| self.uniform.is_uniform_value(*index) && self.is_lasting(*index, true);
        let mut others = cell.indices.iter().filter(|index| !is_common(index));
        let (Some(index), None) = (others.next(), others.next()) else { return false };
        self.is_lasting(*index, true) && self.is_same(self.core(key), self.core(*index), None)
    }

    /// What a number is made of that is another one where that is.
    fn core(&self, expr: ExprId) -> ExprId {
        let expr = self.meant(expr, None);
        let node = &self.kernel.exprs[expr];
        let is_common = |part: ExprId| self.uniform.is_uniform_value(part);
        match node.kind {
            ExprKind::Cast(of) => {
                let bits = bits_of(self.kernel.exprs[of].ty).zip(bits_of(node.ty));
                if bits.is_some_and(|(from, to)| from <= to) { self.core(of) } else { expr }
            }
            ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } if is_common(rhs) => self.core(lhs),
            ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } if is_common(lhs) => self.core(rhs),
            _ => expr,
        }
    }

    /// Whether a number is made of the key of a loop's round and of what the block has in common.
    fn is_of_key(&self, expr: ExprId, round: VarId) -> bool {
        let meant = self.meant(expr, None);
        if self.is_key_of(meant, round) {
            return true;
        }
        let parts = self.kernel.exprs[meant].kind.operands();
        if self.any(meant, &mut |kind| self.reads_keys(kind)) {
            return !parts.is_empty() && parts.into_iter().all(|part| self.is_of_key(part, round));
        }
        self.uniform.is_uniform_value(expr) && self.is_lasting(expr, false)
    }

    fn reads_keys(&self, kind: &ExprKind) -> bool {
        matches!(kind, ExprKind::Load(access) if access.array == self.array)
    }

    /// Whether an expression reads the key of a work-item with a number.
    fn is_key_of(&self, expr: ExprId, number: VarId) -> bool {
        let ExprKind::Load(access) = &self.kernel.exprs[expr].kind else { return false };
        let is_number = |index: &ExprId| self.kernel.exprs[*index].kind == ExprKind::Var(number);
        access.array == self.array && access.indices.iter().all(is_number)
    }

    /// Whether some part of a number is of a kind, what names in it stand for included.
    fn any(&self, expr: ExprId, is_wanted: &mut dyn FnMut(&ExprKind) -> bool) -> bool {
        let kind = &self.kernel.exprs[self.meant(expr, None)].kind;
        is_wanted(kind) || kind.operands().into_iter().any(|part| self.any(part, is_wanted))
    }

    /// What an expression stands for: a name for what it is given, and the own key, or that of a
    /// round, for what is stored.
    fn meant(&self, expr: ExprId, round: Option<VarId>) -> ExprId {
        if let ExprKind::Var(var) = self.kernel.exprs[expr].kind {
            let init = self.lets.get(&var);
            let is_behind = self.behind.contains_key(&var);
            return match init.filter(|init| self.is_lasting(**init, is_behind)) {
                Some(init) => self.meant(*init, round),
                None => expr,
            };
        }
        let is_stored = self.is_key_of(expr, self.own)
            || round.is_some_and(|round| self.is_key_of(expr, round));
        if is_stored {
            return self.meant(self.key, None);
        }
        match self.converted(expr) {
            Some(of) => self.meant(of, round),
            None => expr,
        }
    }

    /// What an expression converts to a type that is no narrower, and back.
    fn converted(&self, expr: ExprId) -> Option<ExprId> {
        let ExprKind::Cast(wide) = self.kernel.exprs[expr].kind else { return None };
        let wide = self.meant(wide, None);
        let ExprKind::Cast(of) = self.kernel.exprs[wide].kind else { return None };
        let [from, over, to] = [of, wide, expr].map(|part| self.kernel.exprs[part].ty);
        (from == to && bits_of(from)? <= bits_of(over)?).then_some(of)
    }

    fn is_same(&self, one: ExprId, other: ExprId, round: Option<VarId>) -> bool {
        self.kernel.is_same_by(one, other, &|part| self.meant(part, round))
    }

    /// Whether an expression has one value wherever it stands while its names last: it names no
    /// variable that changes, and reads nothing that is written, but for keys where these may be.
    fn is_lasting(&self, expr: ExprId, with_keys: bool) -> bool {
        !any_subexpr(self.kernel, expr, &mut |kind| match kind {
            ExprKind::Var(var) => self.kernel.vars[*var].kind == VarKind::Let { mutable: true },
            ExprKind::Load(access) => match access.array {
                ArrayRef::Tensor(tensor) => self.written.contains(tensor),
                array @ ArrayRef::Tile(_) => array != self.array || !with_keys,
            },
            _ => false,
        })
    }

    /// The statements between a barrier and an update that declare what the update names, and may
    /// as well stand directly behind the barrier; `None` where others declare it.
    pub(super) fn early(
        &self,
        stmts: &[Stmt],
        (barrier_at, updated_at): (usize, usize),
        raised: &Access,
    ) -> Option<Vec<usize>> {
        let (mut early, mut late) = (Vec::new(), Vec::new());
        let is_early = |exprs: &[ExprId], late: &[VarId]| {
            named(self.kernel, exprs).iter().all(|var| !late.contains(var))
        };
        let between = stmts.iter().enumerate().take(updated_at).skip(barrier_at + 1);
        for (at, stmt) in between {
            match stmt.kind {
                StmtKind::Let { var, init: Some(init) }
                    if self.kernel.vars[var].kind == (VarKind::Let { mutable: false })
                        && self.is_lasting(init, false)
                        && is_early(&[init], &late) =>
                {
                    early.push(at);
                }
                _ => late.extend(declared(stmt)),
            }
        }
        let reads_keys =
            |index: &ExprId| any_subexpr(self.kernel, *index, &mut |kind| self.reads_keys(kind));
        let has_keys = self.stored_at < barrier_at || !raised.indices.iter().any(reads_keys);
        let stands = is_early(&raised.indices, &late) && has_keys;
        stands.then_some(early)
    }
}
