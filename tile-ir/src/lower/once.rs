//! Once: marks accesses to global memory whose elements nothing else in the launch
//! touches ([`Access::once`]), if the configuration streams such.
//!
//! A buffer with a single access in the text is touched once where the access's
//! indices tell apart everything that it runs for: the blocks of the grid, the
//! iterations of the loops around it, the items. They do where, axis by axis, an
//! index is a sum of those coordinates with factors that leave each room for the
//! smaller ones, as in a number of several digits.

use std::collections::{BTreeMap, BTreeSet};

use super::divisor::Divisors;
use crate::config::Config;
use crate::op::{BinaryOp, UnaryOp};
use crate::program::{
    Access, BufferId, BufferSpace, DomainId, ExprId, ExprKind, LoopRange, ProgramKernel, Stmt,
    StmtKind, Target, VarId,
};

/// Marks what `config` streams. Assumes that no access has been copied yet and that
/// every item is on exactly one thread.
pub(super) fn mark_single_use(kernel: &mut ProgramKernel, config: &Config) {
    if !config.stream_loads && !config.stream_stores {
        return;
    }
    let mut body = std::mem::take(&mut kernel.body);
    let divisors = Divisors::of(&body, &[]);
    let grid = kernel.grid.iter().map(|axis| (Coordinate::Var(axis.var), None)).collect();
    let mut sites = Sites { kernel, divisors: &divisors, around: grid, found: BTreeMap::new() };
    sites.list(&body, None, true);
    let found = sites.found;
    let once: BTreeSet<BufferId> =
        found.into_iter().filter(|(_, site)| *site == Site::Once).map(|(id, _)| id).collect();
    let is_once =
        |access: &Access| matches!(access.target, Target::Buffer(id) if once.contains(&id));
    if config.stream_loads {
        for (_, expr) in kernel.exprs.iter_mut() {
            if let ExprKind::Load(access) = &mut expr.kind {
                access.once = is_once(access);
            }
        }
    }
    if config.stream_stores {
        mark_stores(&mut body, &is_once);
    }
    kernel.body = body;
}

fn mark_stores(stmts: &mut [Stmt], is_once: &dyn Fn(&Access) -> bool) {
    for stmt in stmts {
        if let StmtKind::Store { access, .. } = &mut stmt.kind {
            access.once = is_once(access);
        }
        stmt.kind.bodies_mut().into_iter().for_each(|body| mark_stores(body, is_once));
    }
}

/// What runs through several values around an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Coordinate {
    /// A block's coordinate, or a loop's counter.
    Var(VarId),
    /// An item's, along an axis.
    Item(DomainId, u32),
}

/// What is known of a buffer's accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Site {
    /// There is one, and it touches no element twice.
    Once,
    /// There are several, or one that may.
    Again,
}

/// Coordinates, and one more than the values of each lie apart at the most, where that
/// is known.
type Extents = Vec<(Coordinate, Option<i128>)>;

struct Sites<'a> {
    kernel: &'a ProgramKernel,
    divisors: &'a Divisors<'a>,
    /// Of the grid and of the loops around the present statement.
    around: Extents,
    found: BTreeMap<BufferId, Site>,
}

impl Sites<'_> {
    /// The accesses of a list, within the items of `domain`. `counts` where all that
    /// repeats it is among the coordinates.
    fn list(&mut self, stmts: &[Stmt], domain: Option<DomainId>, counts: bool) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Store { access, .. } => self.access(access, domain, counts),
                StmtKind::Atomic { access, .. } => self.access(access, domain, false),
                StmtKind::Copy { dst, src, .. } => {
                    self.access(dst, domain, false);
                    self.access(src, domain, false);
                }
                _ => {}
            }
            stmt.kind.for_each_expr(&mut |expr| self.expr(expr, domain, counts));
            match &stmt.kind {
                StmtKind::For {
                    var,
                    range: LoopRange::Between { start, end, step, .. },
                    body,
                    ..
                } => {
                    let value = |id: ExprId| self.kernel.constant(id);
                    let span = value(*start).zip(value(*end)).zip(value(*step));
                    let span = span.map(
                        |((start, end), step)| {
                            if start + step >= end { 1 } else { end - start }
                        },
                    );
                    self.around.push((Coordinate::Var(*var), span));
                    self.list(body, domain, counts);
                    self.around.pop();
                }
                StmtKind::For { body, .. } | StmtKind::While { body, .. } => {
                    self.list(body, domain, false);
                }
                StmtKind::Items { domain, body } => self.list(body, Some(*domain), counts),
                kind => {
                    for body in kind.bodies() {
                        self.list(body, domain, counts);
                    }
                }
            }
        }
    }

    fn expr(&mut self, expr: ExprId, domain: Option<DomainId>, counts: bool) {
        let kind = &self.kernel.exprs[expr].kind;
        if let ExprKind::Load(access) = kind {
            self.access(access, domain, counts);
        }
        kind.for_each_operand(&mut |operand| self.expr(operand, domain, counts));
    }

    fn access(&mut self, access: &Access, domain: Option<DomainId>, counts: bool) {
        let Target::Buffer(id) = access.target else { return };
        if self.kernel.buffers[id].space != BufferSpace::Global {
            return;
        }
        let is_once = !self.found.contains_key(&id)
            && counts
            && domain.is_some_and(|domain| self.tells_apart(access, domain));
        self.found.insert(id, if is_once { Site::Once } else { Site::Again });
    }

    /// Whether no two of all that runs the access touch one element.
    fn tells_apart(&self, access: &Access, domain: DomainId) -> bool {
        let axes = self.kernel.domains[domain].axes.iter().zip(0..);
        let items =
            axes.map(|(axis, number)| (Coordinate::Item(domain, number), Some(axis.extent.into())));
        let mut open: BTreeMap<Coordinate, Option<i128>> =
            self.around.iter().copied().chain(items).collect();
        open.retain(|_, extent| *extent != Some(1));
        let sums = access.indices.iter().map(|&index| {
            let mut sum = BTreeMap::new();
            self.collect(index, 1, &mut sum).map(|()| sum)
        });
        let mut sums: Vec<BTreeMap<Coordinate, i128>> = sums.flatten().collect();
        // An axis whose other coordinates are known tells the rest of them.
        while !open.is_empty() {
            let known = sums.iter().position(|sum| has_digits(sum, &open));
            let Some(known) = known else { return false };
            let sum = sums.swap_remove(known);
            open.retain(|coordinate, _| !sum.contains_key(coordinate));
        }
        true
    }

    /// Adds an index's coordinates with their factors; `None` where it is no sum of
    /// such.
    fn collect(
        &self,
        id: ExprId,
        factor: i128,
        sum: &mut BTreeMap<Coordinate, i128>,
    ) -> Option<()> {
        let mut add = |coordinate| {
            let value = sum.entry(coordinate).or_insert(0i128);
            *value = value.checked_add(factor)?;
            Some(())
        };
        match &self.kernel.exprs[id].kind {
            ExprKind::Literal(_) | ExprKind::Arg(_) => Some(()),
            ExprKind::Coord { domain, axis } => add(Coordinate::Item(*domain, *axis)),
            ExprKind::Var(var) => match self.divisors.definition(*var) {
                Some(value) => self.collect(value, factor, sum),
                // A counter grows by its loop's steps, which are at least 1.
                None if self.around.iter().any(|(known, _)| *known == Coordinate::Var(*var)) => {
                    add(Coordinate::Var(*var))
                }
                None => None,
            },
            ExprKind::Cast(operand) => self.collect(*operand, factor, sum),
            ExprKind::Unary { op: UnaryOp::Neg, operand } => {
                self.collect(*operand, factor.checked_neg()?, sum)
            }
            ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => {
                self.collect(*lhs, factor, sum)?;
                self.collect(*rhs, factor, sum)
            }
            ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } => {
                self.collect(*lhs, factor, sum)?;
                self.collect(*rhs, factor.checked_neg()?, sum)
            }
            ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => {
                let constant = |id: ExprId| self.kernel.constant(id);
                match (constant(*lhs), constant(*rhs)) {
                    (Some(by), _) => self.collect(*rhs, factor.checked_mul(by)?, sum),
                    (None, Some(by)) => self.collect(*lhs, factor.checked_mul(by)?, sum),
                    (None, None) => None,
                }
            }
            _ => None,
        }
    }
}

/// Whether a sum tells all of its coordinates that are still open: sorted by their
/// factors, each is larger than all that the ones before reach.
fn has_digits(sum: &BTreeMap<Coordinate, i128>, open: &BTreeMap<Coordinate, Option<i128>>) -> bool {
    let mut digits: Vec<(i128, Option<i128>)> = sum
        .iter()
        .filter_map(|(coordinate, factor)| Some((factor.checked_abs()?, *open.get(coordinate)?)))
        .collect();
    digits.sort_by_key(|(factor, _)| *factor);
    let mut reach = Some(0i128);
    for (factor, extent) in &digits {
        match reach {
            Some(reached) if *factor > reached => {
                let more = extent.and_then(|extent| factor.checked_mul(extent - 1));
                reach = more.and_then(|more| reached.checked_add(more));
            }
            Some(_) | None => return false,
        }
    }
    !digits.is_empty()
}
