//! The state of a launch while it is counted, and its statements: those of the
//! block once, those of items a warp and a register at a time.

use std::collections::{BTreeMap, BTreeSet};

use super::domain::DomainTable;
use super::pattern::Patterns;
use super::plan::{Plan, Role};
use super::repeat::is_worth_it;
use super::tally::{BRANCH_COLUMNS, BranchColumn, Tally};
use super::value::{Mask, Value};
use super::{Detail, Limits};
use crate::arena::EntityId as _;
use crate::program::{DomainId, FragmentId, Stmt, StmtKind, VarId, assigned_vars};

/// The items that run in step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Present {
    pub(super) domain: DomainId,
    pub(super) warp: u32,
    pub(super) register: u32,
}

pub(super) struct Machine<'k> {
    pub(super) plan: &'k Plan<'k>,
    /// The launch arguments, as far as they are known.
    pub(super) args: Vec<Option<i64>>,
    /// Extents and strides of each buffer.
    pub(super) shapes: Vec<(Vec<i64>, Vec<i64>)>,
    pub(super) vars: Vec<Value>,
    fragments: BTreeMap<(FragmentId, u32, u32), Value>,
    pub(super) domains: Vec<DomainTable>,
    pub(super) present: Option<Present>,
    pub(super) active: Mask,
    /// Warps that do the same at once.
    pub(super) weight: u64,
    /// Items for which a statement is counted at once.
    crowd: Option<u64>,
    pub(super) tally: Tally,
    /// Of each site, how far apart neighbouring lanes were.
    pub(super) lane_strides: Vec<Option<i64>>,
    /// In which lanes an expression was counted, and in which statement.
    pub(super) seen: Vec<(u64, Mask)>,
    pub(super) stamp: u64,
    pub(super) steps_left: u64,
    is_full: bool,
    pub(super) detail: Detail,
    /// Of each site, what its requests took.
    pub(super) patterns: Vec<Patterns>,
    /// Of each site, whether it has been made once.
    pub(super) is_looked_at: Vec<bool>,
}

impl<'k> Machine<'k> {
    pub(super) fn new(
        plan: &'k Plan<'k>,
        args: Vec<Option<i64>>,
        shapes: Vec<(Vec<i64>, Vec<i64>)>,
        limits: Limits,
        detail: Detail,
    ) -> Self {
        let kernel = plan.kernel;
        Self {
            plan,
            args,
            shapes,
            vars: vec![Value::Unknown; kernel.vars.len()],
            fragments: BTreeMap::new(),
            domains: kernel.domains.values().map(DomainTable::new).collect(),
            present: None,
            active: Mask::MAX,
            weight: u64::from(kernel.threads.div_ceil(super::value::LANES as u32)),
            crowd: None,
            tally: Tally::new(plan.n_cells()),
            lane_strides: vec![None; plan.sites.len()],
            seen: vec![(0, 0); kernel.exprs.len()],
            stamp: 0,
            steps_left: limits.max_steps,
            is_full: limits.is_full,
            detail,
            patterns: vec![Patterns::default(); plan.sites.len()],
            is_looked_at: vec![false; plan.sites.len()],
        }
    }

    /// Whether there is any work left to be spent; if not, what follows is sampled.
    pub(super) fn step(&mut self) -> bool {
        self.steps_left = self.steps_left.saturating_sub(1);
        self.steps_left > 0
    }

    /// Whether some of `n` iterations in so many groups may stand for the others.
    pub(super) fn may_group(&self, n: u64, n_groups: u64) -> bool {
        !self.is_full && is_worth_it(n, n_groups)
    }

    pub(super) fn register(&self) -> u32 {
        self.present.map_or(0, |present| present.register)
    }

    /// Threads, or items, for which the present statement runs.
    pub(super) fn n_active(&self) -> u64 {
        match (self.crowd, self.present) {
            (Some(crowd), _) => crowd,
            (None, Some(_)) => u64::from(self.active.count_ones()),
            (None, None) => u64::from(self.plan.kernel.threads),
        }
    }

    pub(super) fn coord(&self, axis: usize) -> Value {
        let Some(present) = self.present else { return Value::Unknown };
        self.domains[present.domain.index()].coord(axis, present.warp, present.register)
    }

    pub(super) fn fragment(&self, id: FragmentId) -> Value {
        let value = self.fragment_place(id).and_then(|place| self.fragments.get(&place));
        value.cloned().unwrap_or_default()
    }

    fn fragment_place(&self, id: FragmentId) -> Option<(FragmentId, u32, u32)> {
        let kernel = self.plan.kernel;
        let present = self.present?;
        let home = kernel.fragments[id].domain;
        let register = match &kernel.domains[home].projection {
            Some(projection) if home != present.domain => {
                let layout = &kernel.domains[present.domain].layout;
                super::domain::projected_register(layout, &projection.axes, present.register)
            }
            Some(_) | None => present.register,
        };
        Some((id, present.warp, register))
    }

    /// Runs statements; the first has this number.
    pub(super) fn list(&mut self, stmts: &'k [Stmt], mut number: usize) {
        for stmt in stmts {
            self.stmt(stmt, number);
            number += self.plan.places[number].n_stmts;
        }
    }

    fn stmt(&mut self, stmt: &'k Stmt, number: usize) {
        self.step();
        self.stamp += 1;
        match &stmt.kind {
            StmtKind::Let { var, value } => {
                if let Some(value) = value {
                    self.count(*value, number);
                }
                if self.plan.is_needed(*var) {
                    let value = value.map(|value| self.eval(value));
                    self.vars[var.index()] = value.unwrap_or_default();
                }
            }
            StmtKind::Assign { var, value } => {
                self.count(*value, number);
                if self.plan.is_needed(*var) {
                    let value = self.eval(*value);
                    let old = std::mem::take(&mut self.vars[var.index()]);
                    self.vars[var.index()] = value.merged(self.lanes_to_set(), &old);
                }
            }
            StmtKind::SetFragment { fragment, value } => {
                self.count(*value, number);
                if self.plan.is_needed_fragment(*fragment) {
                    let value = self.eval(*value);
                    if let Some(place) = self.fragment_place(*fragment) {
                        let old = self.fragments.remove(&place).unwrap_or_default();
                        let merged = match self.is_whole() {
                            true => value,
                            false => value.merged(self.active, &old),
                        };
                        self.fragments.insert(place, merged);
                    }
                }
            }
            StmtKind::Store { access, value } => {
                self.count(*value, number);
                self.count_indices(access.indices.as_slice(), number);
                self.touch_role(number, Role::Dst, access);
            }
            StmtKind::Atomic { access, expected, value, old, .. } => {
                expected.iter().chain([value]).for_each(|expr| self.count(*expr, number));
                self.count_indices(access.indices.as_slice(), number);
                self.touch_role(number, Role::Dst, access);
                if let Some(old) = old {
                    self.vars[old.index()] = Value::Unknown;
                }
            }
            StmtKind::Copy { dst, src, .. } => {
                self.count_indices(src.indices.as_slice(), number);
                self.count_indices(dst.indices.as_slice(), number);
                self.touch_role(number, Role::Src, src);
                self.touch_role(number, Role::Dst, dst);
            }
            StmtKind::Items { domain, body } => self.items(*domain, body, number),
            StmtKind::For { var, range, body, .. } => self.run_for(*var, range, body, number),
            StmtKind::While { cond, body } => self.run_while(*cond, body, number),
            StmtKind::If { cond, then, otherwise } => {
                self.count(*cond, number);
                let cond = self.eval(*cond);
                self.choose(&cond, then, otherwise, number);
            }
            StmtKind::Barrier(_) => self.tally.cells[self.plan.first_total()] += 1,
            StmtKind::Shuffle { var, value, lane } => {
                self.count(*value, number);
                self.count(*lane, number);
                self.tally.cells[self.plan.first_total() + 1] += self.weight;
                if self.plan.is_needed(*var) {
                    let (value, lane) = (self.eval(*value), self.eval(*lane));
                    self.vars[var.index()] = self.shuffled(&value, &lane);
                }
            }
            StmtKind::Ballot { var, cond } => {
                self.count(*cond, number);
                self.tally.cells[self.plan.first_total() + 1] += self.weight;
                if self.plan.is_needed(*var) {
                    let bits = self.eval(*cond).mask(self.active);
                    self.vars[var.index()] =
                        bits.map_or(Value::Unknown, |bits| Value::Same(bits.into()));
                }
            }
            StmtKind::Assume(_)
            | StmtKind::Commit(_)
            | StmtKind::Wait { .. }
            | StmtKind::WarpBarrier => {}
        }
    }

    /// Whether all lanes that have the present item run.
    fn is_whole(&self) -> bool {
        self.present.is_none_or(|present| {
            let table = &self.domains[present.domain.index()];
            table.valid(present.warp, present.register) == self.active
        })
    }

    fn lanes_to_set(&self) -> Mask {
        if self.is_whole() { Mask::MAX } else { self.active }
    }

    fn shuffled(&self, value: &Value, lane: &Value) -> Value {
        let (active, known) = (self.active, value.is_known() && lane.is_known());
        if !known {
            return Value::Unknown;
        }
        Value::each(|own| {
            let source = lane.lane(own).and_then(|source| usize::try_from(source).ok());
            let there = source.filter(|source| *source < 32 && active >> source & 1 == 1);
            value.lane(there.unwrap_or(own)).unwrap_or_default()
        })
    }

    /// Runs the arms of a condition for the lanes that take them; both for all
    /// where the condition depends on data.
    fn choose(&mut self, cond: &Value, then: &'k [Stmt], otherwise: &'k [Stmt], number: usize) {
        let all = self.active;
        let first = number + 1;
        let n_then: usize = self.n_stmts(then, first);
        let taken = cond.mask(all);
        self.branch(number, taken);
        let (holds, fails) = taken.map_or((all, all), |taken| (taken, all & !taken));
        if holds != 0 {
            self.active = holds;
            self.list(then, first);
        }
        if fails != 0 {
            self.active = fails;
            self.list(otherwise, first + n_then);
        }
        self.active = all;
        if taken.is_none() {
            self.forget(then);
            self.forget(otherwise);
        }
    }

    /// Enters the outcome of a condition.
    pub(super) fn branch(&mut self, number: usize, taken: Option<Mask>) {
        let Some(branch) = self.plan.places[number].branch else { return };
        let first = self.plan.first_branch() + branch * BRANCH_COLUMNS;
        let mut add = |column: BranchColumn, n: u64| self.tally.cells[first + column as usize] += n;
        add(BranchColumn::Warps, self.weight);
        match taken {
            Some(taken) if taken != 0 && taken != self.active => {
                add(BranchColumn::Split, self.weight);
            }
            Some(_) => {}
            None => add(BranchColumn::Unknown, self.weight),
        }
        self.tally.note(taken.map_or(u64::MAX, u64::from));
    }

    /// What statements may have assigned is unknown from now on.
    pub(super) fn forget(&mut self, stmts: &[Stmt]) {
        for var in assigned_vars(stmts) {
            self.vars[var.index()] = Value::Unknown;
        }
        let set = set_fragments(stmts);
        self.fragments.retain(|(id, ..), _| !set.contains(id));
    }

    pub(super) fn n_stmts(&self, stmts: &[Stmt], first: usize) -> usize {
        let mut number = first;
        stmts.iter().for_each(|_| number += self.plan.places[number].n_stmts);
        number - first
    }

    fn items(&mut self, domain: DomainId, body: &'k [Stmt], number: usize) {
        let outer = (self.present, self.active, self.weight);
        let table = &self.domains[domain.index()];
        let (n_warps, n_registers) = match self.detail {
            Detail::Strides => (1, 1),
            Detail::All | Detail::Elems | Detail::Of(_) | Detail::In(_) | Detail::NoAccesses => {
                (table.n_warps, table.n_registers)
            }
        };
        if self.is_plain(body, number + 1) {
            // Whatever lanes run it, only operations are counted.
            self.crowd = Some(table.n_valid);
            self.list(body, number + 1);
            self.crowd = None;
            return;
        }
        self.weight = 1;
        for register in 0..n_registers {
            for warp in 0..n_warps {
                self.active = self.domains[domain.index()].valid(warp, register);
                if self.active != 0 {
                    self.present = Some(Present { domain, warp, register });
                    self.list(body, number + 1);
                }
            }
        }
        (self.present, self.active, self.weight) = outer;
    }

    /// Whether a variable is one of the block's.
    pub(super) fn is_of_block(&self, var: VarId) -> bool {
        self.plan.kernel.vars[var].scope == crate::program::Scope::Block
    }
}

/// The fragments that statements set.
pub(super) fn set_fragments(stmts: &[Stmt]) -> BTreeSet<FragmentId> {
    let mut set = BTreeSet::new();
    for stmt in stmts {
        if let StmtKind::SetFragment { fragment, .. } = stmt.kind {
            set.insert(fragment);
        }
        stmt.kind.bodies().into_iter().for_each(|body| set.extend(set_fragments(body)));
    }
    set
}
