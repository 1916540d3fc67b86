//! Numbers that loops and exchanges make, of which a search takes any.
//!
//! `for k in 0..4 { x = x * 10 + a[k]; } if x != 1234 { … }`: what the loop makes of data is not
//! looked for, but some data may make it any number that its range has, so that it is taken for
//! the number that is asked for, wherever it is compared after the loop. Such a launch does not
//! show that the number is made: what is read unwritten there *may* be.

use std::collections::{BTreeMap, BTreeSet};

use super::super::data::Number;
use super::super::doubts::{Doubts, Resting, Side, Wish};
use super::super::reals::Reals;
use super::super::spans::Spans;
use super::goals::READER;
use super::guess::Guess;
use super::text::Text;
use crate::arena::EntityId as _;
use crate::exchange::{ExchangeOp, Reduction};
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, TileId, Type, VarId,
    VarKind, any_stmt,
};
use crate::op::AtomicOp;

/// What loops, exchanges and updates make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Maker {
    Var(VarId),
    /// Elements of an array, by updates.
    Tile(ArrayRef),
}

/// The variables and tiles of which loops, exchanges and updates make the values, each with the
/// expressions in the loops that do.
#[derive(Default)]
pub(super) struct Made(BTreeMap<Maker, BTreeSet<ExprId>>);

/// What a guess takes these for: variables, and elements at numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken {
    pub(super) vars: BTreeMap<VarId, Number>,
    pub(super) elements: BTreeMap<(ArrayRef, Vec<i64>), Number>,
}

impl Made {
    /// Those that rest on data; what a loop makes that stores in one of these `tiles` is not
    /// any: it says what was stored.
    pub(super) fn of(kernel: &Kernel, tiles: &BTreeSet<TileId>) -> Self {
        let mut made = Self::default();
        made.visit(kernel, &kernel.body, false);
        let resting = Resting::of(kernel);
        let is_counted = |array: ArrayRef| {
            any_stmt(&kernel.body, &mut |kind| match kind {
                StmtKind::Atomic { access, .. }
                | StmtKind::Update { place: Place::Element(access), .. }
                    if access.array == array =>
                {
                    access.indices.iter().any(|index| resting.has(kernel, *index))
                }
                _ => false,
            })
        };
        made.0.retain(|maker, _| match maker {
            Maker::Var(var) => resting.has_var(*var),
            Maker::Tile(array) => resting.has_tile(*array) || is_counted(*array),
        });
        made.leave_out(&kernel.body, tiles);
        made
    }

    fn leave_out(&mut self, stmts: &[Stmt], tiles: &BTreeSet<TileId>) {
        for stmt in stmts {
            let is_watched = |access: &Access| match access.array {
                ArrayRef::Tile(tile) => tiles.contains(&tile),
                ArrayRef::Tensor(_) => false,
            };
            let mut stores = |kind: &StmtKind| kind.set_element().is_some_and(is_watched);
            if stmt.kind.is_loop() && any_stmt(std::slice::from_ref(stmt), &mut stores) {
                let (mut made, mut exprs) = (BTreeSet::new(), BTreeSet::new());
                collect(std::slice::from_ref(stmt), &mut made, &mut exprs);
                self.0.retain(|maker, _| !made.contains(maker));
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.leave_out(body, tiles));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, var: VarId) -> bool {
        self.0.contains_key(&Maker::Var(var))
    }

    pub(super) fn has_tile(&self, array: ArrayRef) -> bool {
        self.0.contains_key(&Maker::Tile(array))
    }

    fn visit(&mut self, kernel: &Kernel, stmts: &[Stmt], in_loop: bool) {
        for stmt in stmts {
            // Of conditions it is said what they are set to.
            let is_number = |maker: &Maker| match maker {
                Maker::Var(var) => kernel.vars[*var].ty != Type::BOOL,
                Maker::Tile(_) => true,
            };
            let made = maker(&stmt.kind).or_else(|| set(&stmt.kind).filter(|_| in_loop));
            if let Some(maker) = made.filter(is_number) {
                self.0.entry(maker).or_default();
            }
            for body in stmt.kind.bodies() {
                self.visit(kernel, body, in_loop || stmt.kind.is_loop());
            }
            if stmt.kind.is_loop() {
                self.leave_alone(stmt);
            }
        }
    }

    /// What a loop makes it compares as it is.
    fn leave_alone(&mut self, stmt: &Stmt) {
        let (mut made, mut exprs) = (BTreeSet::new(), BTreeSet::new());
        collect(std::slice::from_ref(stmt), &mut made, &mut exprs);
        for maker in made {
            if let Some(own) = self.0.get_mut(&maker) {
                own.extend(&exprs);
            }
        }
    }
}

/// What a statement makes that may be any number for all work-items alike: the least of values is
/// one of these, old values and scans are others for each.
fn maker(stmt: &StmtKind) -> Option<Maker> {
    match stmt {
        StmtKind::Update { place: Place::Var(var), .. }
        | StmtKind::Exchange {
            var,
            op: ExchangeOp::Reduce(Reduction::Sum) | ExchangeOp::WarpReduce(Reduction::Sum),
            ..
        } => Some(Maker::Var(*var)),
        StmtKind::Update { place: Place::Element(access), .. }
        | StmtKind::Atomic { access, op: AtomicOp::Add | AtomicOp::Sub, .. } => {
            Some(Maker::Tile(access.array))
        }
        _ => None,
    }
}

/// The variable that a statement sets again.
fn set(stmt: &StmtKind) -> Option<Maker> {
    match stmt {
        StmtKind::Assign { var, .. } => Some(Maker::Var(*var)),
        _ => None,
    }
}

/// Adds what statements make, and the expressions in them.
fn collect(stmts: &[Stmt], made: &mut BTreeSet<Maker>, exprs: &mut BTreeSet<ExprId>) {
    for stmt in stmts {
        made.extend(maker(&stmt.kind).or_else(|| set(&stmt.kind)));
        exprs.extend(stmt.kind.exprs());
        stmt.kind.bodies().into_iter().for_each(|body| collect(body, made, exprs));
    }
}

/// What sides of comparisons are taken for where numbers that loops make are these; `None` where
/// some side cannot be that, or is another one for each work-item. Where none need be taken for
/// another number there are no doubts.
pub(super) fn doubts(guess: &Guess<'_, '_>, spans: &Spans<'_>) -> Option<Option<Doubts>> {
    let text = guess.text;
    let kernel = guess.kernel();
    let mut sides: BTreeMap<ExprId, [Option<Side>; 2]> = BTreeMap::new();
    for (expr, node) in kernel.exprs.iter() {
        let ExprKind::Compare { lhs, rhs, .. } = node.kind else { continue };
        let mut own = [None, None];
        for (at, side) in [lhs, rhs].into_iter().enumerate() {
            let mut named = Named::default();
            named.add(text, guess, side);
            let is_inside =
                |maker: &Maker| text.made.0[maker].iter().any(|of| is_in(kernel, *of, expr));
            if named.made.is_empty() || named.made.iter().any(is_inside) {
                continue;
            }
            if named.has_others {
                return None;
            }
            let number = guess.value(side, READER)?;
            let (range, reals) = (spans.range(side, &guess.sizes), Reals::of(spans.plain(), side));
            let may_be = match number.whole() {
                Some(number) => range.0 <= number && number <= range.1,
                None => reals.has(number.real()),
            };
            if !may_be {
                return None;
            }
            let wish = Some(Wish::Number(number));
            own[at] = Some(Side { numbers: Vec::new(), range, reals, wish });
        }
        if own.iter().any(Option::is_some) {
            sides.insert(expr, own);
        }
    }
    Some((!sides.is_empty()).then(|| Doubts::from_sides(sides, BTreeMap::new(), spans.plain())))
}

/// Whether an expression is part of another one.
fn is_in(kernel: &Kernel, whole: ExprId, part: ExprId) -> bool {
    // Operands have smaller ids than their users.
    whole == part
        || whole.index() > part.index()
            && kernel.exprs[whole].kind.operands().into_iter().any(|of| is_in(kernel, of, part))
}

/// What an expression is made of.
#[derive(Default)]
struct Named {
    /// Numbers that loops make, and that are taken for some.
    made: BTreeSet<Maker>,
    /// Whether there is something that is not the same for all work-items, or that is not known.
    has_others: bool,
}

impl Named {
    fn add(&mut self, text: &Text<'_>, guess: &Guess<'_, '_>, expr: ExprId) {
        let kind = &guess.kernel().exprs[expr].kind;
        match kind {
            ExprKind::Load(access) if text.made.has_tile(access.array) => {
                self.made.insert(Maker::Tile(access.array));
                access.indices.iter().for_each(|index| self.add(text, guess, *index));
            }
            ExprKind::Load(_) | ExprKind::InBounds { .. } => self.has_others = true,
            ExprKind::Var(var) => {
                match (text.plain.lets.get(var), guess.kernel().vars[*var].kind) {
                    (Some(init), _) => self.add(text, guess, *init),
                    (None, VarKind::Let { .. }) if guess.is_taken(*var) => {
                        self.made.insert(Maker::Var(*var));
                    }
                    (None, VarKind::Scalar(_) | VarKind::Dim | VarKind::TileParam(_)) => {}
                    (None, _) => self.has_others = true,
                }
            }
            _ => kind.operands().into_iter().for_each(|of| self.add(text, guess, of)),
        }
    }
}
