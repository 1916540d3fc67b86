//! What has to come together: the conditions around a read, and those that keep writes away.

use std::collections::BTreeSet;

use super::super::hash::Hash;
use super::sites::{Around, Path, Site, Sites};
use super::text::Text;
use crate::check::Origins;
use crate::kernel::{ExprId, ExprKind, Literal, LoopRange, TileId, Type, VarId, VarKind};
use crate::op::{CompareOp, LogicOp, UnaryOp};
use crate::span::SpanId;

/// Most ways in which one condition comes out so.
const MAX_WAYS: usize = 8;

/// Most choices of what comes together, of one read and of all.
const OF_ONE: usize = 24;
const OF_ALL: usize = 96;

/// The same of one side of a tile that an access may leave.
const OF_SIDE: usize = 6;

/// How deep conditions are looked into.
const MAX_DEPTH: u32 = 12;

/// A side of what is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Side {
    Expr(ExprId),
    Var(VarId),
    Number(i128),
}

/// Whose coordinates and variables are meant: the reading work-item's, or those of the one that
/// a write of this number would have to be made by.
pub(super) type Who = u8;

/// The one that reads.
pub(super) const READER: Who = 0;

/// From this number on: those that have stored what is read of tiles.
pub(super) const STORING: Who = 64;

/// From this number on: the one that reads, in other rounds of loops, in which it has set a flag.
pub(super) const EARLIER: Who = 128;

/// How a comparison has to come out: of what is no number none but `!=` holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Goal {
    pub(super) op: CompareOp,
    pub(super) holds: bool,
    pub(super) lhs: (Side, Who),
    pub(super) rhs: (Side, Who),
}

impl From<ExprId> for Side {
    fn from(expr: ExprId) -> Self {
        Self::Expr(expr)
    }
}

impl Goal {
    /// Of sides of one work-item.
    pub(super) fn of(op: CompareOp, lhs: Side, rhs: Side, who: Who) -> Self {
        Self { op, holds: true, lhs: (lhs, who), rhs: (rhs, who) }
    }

    pub(super) fn as_of(self, who: Who) -> Self {
        let own = |(side, of)| (side, if of == READER { who } else { of });
        Self { lhs: own(self.lhs), rhs: own(self.rhs), ..self }
    }
}

/// What has to hold together.
pub(in super::super) type Goals = Vec<Goal>;

/// All that may have to come together so that one of these tiles is read unwritten.
pub(in super::super) fn together(text: &Text<'_>, tiles: &BTreeSet<TileId>) -> Vec<Goals> {
    let collected = Collected::of(text, false);
    let reads = collected.sites.reads.iter().filter(|read| tiles.contains(&read.tile));
    once_each(reads.flat_map(|read| collected.of_read(read)))
}

/// All that may have to come together so that one of these accesses leaves its tile.
pub(in super::super) fn outside(text: &Text<'_>, accesses: &BTreeSet<SpanId>) -> Vec<Goals> {
    let collected = Collected::of(text, true);
    let all = collected.sites.reads.iter().chain(&collected.sites.writes);
    let asked = all.filter(|site| accesses.contains(&site.span));
    once_each(asked.flat_map(|site| collected.of_leaving(site)))
}

pub(super) fn once_each(found: impl Iterator<Item = Goals>) -> Vec<Goals> {
    let mut all: Vec<Goals> = Vec::new();
    for goals in found {
        if all.len() < OF_ALL && !all.contains(&goals) {
            all.push(goals);
        }
    }
    all
}

pub(super) struct Collected<'a> {
    pub(super) text: &'a Text<'a>,
    pub(super) sites: Sites<'a>,
    /// What the author vouches for.
    assumed: Vec<ExprId>,
    /// Whether a flag is to keep the value that it has come to, so that what changes it later is
    /// not made.
    keeps_values: bool,
}

impl<'a> Collected<'a> {
    pub(super) fn of(text: &'a Text<'a>, keeps_values: bool) -> Self {
        let kernel = text.plain.kernel;
        let assumed = Origins::of(kernel).assumed.to_vec();
        Self { text, sites: Sites::of(kernel), assumed, keeps_values }
    }

    /// In which ways what stands around an access, and what says where it is, comes to it.
    fn around(&self, site: &Site<'_>) -> Vec<Vec<Goals>> {
        let assumed = self.assumed.iter().map(|cond| Around::Cond(*cond, true));
        let around = assumed.chain(site.path.iter().copied());
        let of_path = around.map(|around| self.possible(self.ways_of(around, true)));
        of_path.filter(|ways| !ways.is_empty()).chain(self.of_index(site)).collect()
    }

    /// What may have to come together for an access to leave its tile, along each axis behind
    /// its end and before its begin.
    fn of_leaving(&self, site: &Site<'_>) -> Vec<Goals> {
        let mut of_path = self.around(site);
        of_path.extend(self.of_choices(site));
        let extents = &self.text.plain.kernel.tiles[site.tile].extents;
        let sides = site.indices.iter().zip(extents).flat_map(|(index, extent)| {
            let [index, extent] = [*index, *extent].map(Side::Expr);
            [(CompareOp::Ge, extent), (CompareOp::Lt, Side::Number(0))]
                .map(|(op, end)| Goal::of(op, index, end, READER))
        });
        let leaving = |goal: Goal| {
            let ways = of_path.iter().cloned().chain([vec![vec![goal]]]);
            combined(&ways.collect::<Vec<_>>()).into_iter().take(OF_SIDE)
        };
        sides.flat_map(leaving).collect()
    }

    /// What may have to come together at a read.
    fn of_read(&self, read: &Site<'_>) -> Vec<Goals> {
        let writes = self.sites.writes.iter().filter(|write| write.tile == read.tile);
        let of_writes =
            (READER + 1..).zip(writes).map(|(who, write)| self.misses((write, who), read));
        let of_path = self.around(read);
        // What nothing keeps away is written.
        let of_writes = of_writes.map(|ways| self.possible(ways)).filter(|ways| !ways.is_empty());
        let mut found = combined(&of_path.iter().cloned().chain(of_writes).collect::<Vec<_>>());
        // It may be sizes alone that leave cells out.
        found.extend(combined(&of_path).into_iter().take(1));
        found
    }

    /// By variable that says what is read: how it comes to each of the values it is set to under
    /// a condition.
    fn of_index(&self, read: &Site<'_>) -> Vec<Vec<Goals>> {
        let kernel = self.text.plain.kernel;
        let parts = self.parts_of_index(read);
        let named: BTreeSet<VarId> = parts
            .iter()
            .filter_map(|part| match kernel.exprs[*part].kind {
                ExprKind::Var(var) => Some(var),
                _ => None,
            })
            .collect();
        let set = named.iter().filter_map(|var| self.sites.sets.get(var));
        let ways = set.map(|set| {
            let under = set.iter().map(|(_, path)| {
                let around = path.iter().filter(|around| !read.path.contains(around));
                around.fold(vec![Vec::new()], |all, own| both(&all, &self.ways_of(*own, true)))
            });
            let ways: Vec<Goals> = under.flatten().filter(|goals| !goals.is_empty()).collect();
            self.possible(ways)
        });
        ways.filter(|ways| !ways.is_empty()).collect()
    }

    /// By condition that chooses what an index is made of: how it comes out.
    fn of_choices(&self, site: &Site<'_>) -> Vec<Vec<Goals>> {
        let kernel = self.text.plain.kernel;
        let conds = self.parts_of_index(site).into_iter().filter_map(|part| {
            match kernel.exprs[part].kind {
                ExprKind::Select { cond, .. } => Some(cond),
                _ => None,
            }
        });
        let ways = conds.map(|cond| {
            let ways = [true, false].map(|holds| self.ways(cond, holds, MAX_DEPTH));
            self.possible(ways.concat().into_iter().filter(|goals| !goals.is_empty()).collect())
        });
        ways.filter(|ways| !ways.is_empty()).collect()
    }

    /// What indices are made of.
    fn parts_of_index(&self, site: &Site<'_>) -> BTreeSet<ExprId> {
        let mut parts = BTreeSet::new();
        let mut open: Vec<ExprId> = site.indices.to_vec();
        while let Some(expr) = open.pop() {
            let expr = self.text.plain.resolved(expr);
            if parts.insert(expr) {
                open.extend(self.text.plain.kernel.exprs[expr].kind.operands());
            }
        }
        parts
    }

    /// The ways that literals do not exclude.
    pub(super) fn possible(&self, ways: Vec<Goals>) -> Vec<Goals> {
        let number = |side: (Side, Who)| match side.0 {
            Side::Number(number) => Some(number),
            Side::Expr(expr) => match self.text.plain.kernel.exprs[expr].kind {
                ExprKind::Literal(Literal::Int(value)) => Some(value),
                _ => None,
            },
            Side::Var(_) => None,
        };
        let may_hold = |goal: &Goal| {
            let sides = number(goal.lhs).zip(number(goal.rhs));
            sides.is_none_or(|(lhs, rhs)| goal.op.holds(lhs, rhs) == goal.holds)
        };
        ways.into_iter().filter(|goals| goals.iter().all(may_hold)).collect()
    }

    /// How a write does not come to the element that is read: it is kept away, be it of the
    /// work-item whose element it is, or what is read lies behind all that it writes.
    fn misses(&self, (write, who): (&Site<'_>, Who), read: &Site<'_>) -> Vec<Goals> {
        let own = write.path.iter().filter(|around| !read.path.contains(around));
        let fails: Vec<Goals> = own.flat_map(|around| self.ways_of(*around, false)).collect();
        let pairs = || read.indices.iter().copied().zip(write.indices.iter().copied());
        let is_open = |goals: &&Goals| goals.iter().any(|goal| self.is_open(goal));
        let mut all: Vec<Goals> = fails.iter().filter(is_open).cloned().collect();
        let of_one = pairs().map(|(read, write)| Goal {
            op: CompareOp::Eq,
            holds: true,
            lhs: (read.into(), READER),
            rhs: (write.into(), who),
        });
        let of_one: Goals = of_one.collect();
        all.extend(fails.into_iter().map(|goals| {
            goals.into_iter().map(|goal| goal.as_of(who)).chain(of_one.iter().copied()).collect()
        }));
        all.extend(pairs().flat_map(|(read, write)| self.beyond(read, write)));
        all
    }

    /// How an index leaves all that a coordinate, or a literal, may be.
    fn beyond(&self, index: ExprId, of: ExprId) -> Vec<Goals> {
        let plain = self.text.plain;
        let var = match plain.kernel.exprs[plain.resolved(of)].kind {
            ExprKind::Var(var) => var,
            ExprKind::Literal(_) => {
                return vec![vec![Goal::of(CompareOp::Ne, index.into(), of.into(), READER)]];
            }
            _ => return Vec::new(),
        };
        let below =
            |start: ExprId| vec![Goal::of(CompareOp::Lt, index.into(), start.into(), READER)];
        let above = |end: ExprId| vec![Goal::of(CompareOp::Ge, index.into(), end.into(), READER)];
        match (self.text.extents.get(&var), self.text.rounds.get(&var)) {
            (Some(extent), _) => vec![above(*extent)],
            (_, Some(LoopRange::Between { start, end, .. })) => vec![above(*end), below(*start)],
            (_, Some(LoopRange::Halving(end) | LoopRange::Doubling(end))) => vec![above(*end)],
            (None, None) => Vec::new(),
        }
    }

    /// Whether more than coordinates of work-items and numbers is compared.
    fn is_open(&self, goal: &Goal) -> bool {
        [goal.lhs, goal.rhs].into_iter().any(|(side, _)| match side {
            Side::Expr(expr) => self.names_launch(expr, MAX_DEPTH),
            Side::Var(_) | Side::Number(_) => false,
        })
    }

    pub(super) fn names_launch(&self, expr: ExprId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return true };
        let kernel = self.text.plain.kernel;
        let kind = &kernel.exprs[self.text.plain.resolved(expr)].kind;
        match kind {
            ExprKind::Load(_) => true,
            ExprKind::Var(var) => match kernel.vars[*var].kind {
                VarKind::Block | VarKind::Each | VarKind::Loop => false,
                VarKind::Let { .. } => {
                    let set = self.sites.sets.get(var).into_iter().flatten();
                    set.into_iter().any(|(value, _)| self.names_launch(*value, depth))
                }
                VarKind::Scalar(_) | VarKind::Dim | VarKind::TileParam(_) | VarKind::Grid => true,
            },
            _ => kind.operands().into_iter().any(|operand| self.names_launch(operand, depth)),
        }
    }

    fn ways_of(&self, around: Around, holds: bool) -> Vec<Goals> {
        self.ways_within(around, holds, MAX_DEPTH)
    }

    /// The same, where conditions are looked into no deeper.
    pub(super) fn ways_within(&self, around: Around, holds: bool, depth: u32) -> Vec<Goals> {
        match around {
            Around::Cond(cond, comes) => self.ways(cond, comes == holds, depth),
            Around::Loop(range) => {
                let op = if holds { CompareOp::Lt } else { CompareOp::Ge };
                let (start, end) = match range {
                    LoopRange::Between { start, end, .. } => (Side::Expr(start), end),
                    LoopRange::Halving(end) | LoopRange::Doubling(end) => (Side::Number(1), end),
                };
                vec![vec![Goal::of(op, start, Side::Expr(end), READER)]]
            }
        }
    }

    /// In which ways a place in the text is passed by that this stands around; nothing has to
    /// hold where nobody knows.
    fn unmade(&self, path: &Path, depth: u32) -> Vec<Goals> {
        let fails = path.iter().flat_map(|around| self.ways_within(*around, false, depth));
        let fails: Vec<Goals> = fails.filter(|goals| !goals.is_empty()).collect();
        if fails.is_empty() { vec![Vec::new()] } else { fails }
    }

    /// Whether an expression is this literal.
    fn is(&self, expr: ExprId, value: bool) -> bool {
        self.text.plain.kernel.exprs[expr].kind == ExprKind::Literal(Literal::Bool(value))
    }

    /// In which ways a condition comes out so; nothing has to hold where nobody knows.
    pub(super) fn ways(&self, cond: ExprId, holds: bool, depth: u32) -> Vec<Goals> {
        let Some(depth) = depth.checked_sub(1) else { return vec![Vec::new()] };
        let kernel = self.text.plain.kernel;
        let cond = self.text.plain.resolved(cond);
        match &kernel.exprs[cond].kind {
            ExprKind::Literal(Literal::Bool(value)) if *value != holds => Vec::new(),
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.ways(*operand, !holds, depth),
            ExprKind::Logic { op, lhs, rhs } => {
                let [one, other] = [lhs, rhs].map(|side| self.ways(*side, holds, depth));
                match holds == (*op == LogicOp::And) {
                    true => both(&one, &other),
                    false => one.into_iter().chain(other).take(MAX_WAYS).collect(),
                }
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let goal = Goal::of(*op, Side::Expr(*lhs), Side::Expr(*rhs), READER);
                let goal = Goal { holds, ..goal };
                let mirrored = Goal { op: op.mirrored(), lhs: goal.rhs, rhs: goal.lhs, ..goal };
                self.ways_of_flag(goal, depth)
                    .or_else(|| self.ways_of_flag(mirrored, depth))
                    .unwrap_or_else(|| vec![vec![goal]])
            }
            ExprKind::InBounds { tensor, indices } => {
                let ends = indices.iter().zip(&kernel.tensors[*tensor].extents);
                let sides = ends.flat_map(|(index, extent)| {
                    let goal = |op, end| Goal::of(op, Side::Expr(*index), end, READER);
                    match holds {
                        true => [
                            goal(CompareOp::Lt, Side::Expr(*extent)),
                            goal(CompareOp::Ge, Side::Number(0)),
                        ],
                        false => [
                            goal(CompareOp::Ge, Side::Expr(*extent)),
                            goal(CompareOp::Lt, Side::Number(0)),
                        ],
                    }
                });
                match holds {
                    true => vec![sides.collect()],
                    false => sides.map(|goal| vec![goal]).collect(),
                }
            }
            ExprKind::Var(var) if matches!(kernel.vars[*var].kind, VarKind::Let { .. }) => {
                let set = self.sites.sets.get(var).map(Vec::as_slice).unwrap_or_default();
                let who = EARLIER + depth as Who;
                let in_round = move |goals: Goals| -> Goals {
                    goals.into_iter().map(|goal| goal.as_of(who)).collect()
                };
                let ways = set.iter().enumerate().flat_map(|(n, (value, path))| {
                    let of_path = path.iter().map(|around| self.ways_within(*around, true, depth));
                    let ways =
                        of_path.fold(self.ways(*value, holds, depth), |all, own| both(&all, &own));
                    let kept = set[n + 1..]
                        .iter()
                        .filter(|(later, _)| self.keeps_values && self.is(*later, !holds));
                    let kept = kept.map(|(_, path)| self.unmade(path, depth));
                    kept.fold(ways, |all, own| both(&all, &own)).into_iter().map(in_round)
                });
                ways.take(MAX_WAYS).collect()
            }
            ExprKind::Load(_) if kernel.exprs[cond].ty == Type::BOOL => {
                let is = Side::Number(i128::from(holds));
                vec![vec![Goal::of(CompareOp::Eq, Side::Expr(cond), is, READER)]]
            }
            ExprKind::Uniform(operand) => self.ways(*operand, holds, depth),
            _ => vec![Vec::new()],
        }
    }
}

/// One way of each, in some of all combinations.
fn combined(all: &[Vec<Goals>]) -> Vec<Goals> {
    let n_all = all.iter().fold(1_usize, |product, ways| product.saturating_mul(ways.len()));
    let mut found: Vec<Goals> = Vec::new();
    for number in 0..n_all.min(OF_ONE) {
        let ways = all.iter().enumerate();
        let chosen = ways.map(|(at, ways)| &ways[choice((number, n_all), (at, all))]);
        let mut goals: Goals = Vec::new();
        chosen.flatten().for_each(|goal| {
            if !goals.contains(goal) {
                goals.push(*goal);
            }
        });
        if !goals.is_empty() && !found.contains(&goals) {
            found.push(goals);
        }
    }
    found
}

/// Each of one with each of another.
pub(super) fn both(one: &[Goals], other: &[Goals]) -> Vec<Goals> {
    let all = one
        .iter()
        .flat_map(|one| other.iter().map(|other| one.iter().chain(other).copied().collect()));
    all.filter(|goals: &Goals| !is_contradictory(goals)).take(MAX_WAYS).collect()
}

/// Whether a comparison is to hold and to fail.
fn is_contradictory(goals: &Goals) -> bool {
    goals.iter().enumerate().any(|(at, goal)| {
        let negated = Goal { holds: !goal.holds, ..*goal };
        let failing = Goal { op: goal.op.negated(), ..*goal };
        goals[..at].iter().any(|other| *other == negated || *other == failing)
    })
}

/// Which way is taken: each with each where there are few, and else some at random.
fn choice((number, n_all): (usize, usize), (at, all): (usize, &[Vec<Goals>])) -> usize {
    let n_own = all[at].len();
    if n_all <= OF_ONE {
        let before = all[..at].iter().map(Vec::len).product::<usize>();
        return number / before.max(1) % n_own;
    }
    let mut hash = Hash::default();
    [number as i64, at as i64].into_iter().for_each(|word| hash.add(word));
    // All conditions that stand next to the writes come first.
    if number == 0 { n_own - 1 } else { hash.finish() as usize % n_own }
}
