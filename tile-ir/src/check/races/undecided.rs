//! TK0304: pairs of accesses that are neither proved apart nor seen to collide.
//!
//! First the proof for all sizes is asked ([`crate::solve::symbolic`]). What it
//! leaves open is decided by running all sizes, where their number is finite
//! ([`crate::solve::skeleton::exhaust`]); else by a proof for each of the listed tile
//! sizes, where they are few.

use std::collections::{BTreeMap, BTreeSet};

use super::places::{Asked, settling_places};
use super::search::look_once_more;
use super::wrapping::Met;
use crate::check::{Uniformity, Verdict, uniformity};
use crate::diag::{Code, Diagnostic};
use crate::kernel::{ArrayRef, Kernel, StmtKind, VarId, VarKind, any_stmt, print_expr};
use crate::solve::skeleton::{BUDGET, Exhaustion, Findings, Pair, Scope, exhaust};
use crate::solve::symbolic::{
    EachSize, Obstacle, Reason, Relation, Sizes, Unproved, prove_among, unproved_by_cases,
};
use crate::span::SpanId;

/// An access: its place, and whether it writes.
type Spot = (SpanId, bool);

/// What is left to say after the conflicts that small sizes show.
#[derive(Debug, Default)]
pub(super) struct Rest {
    /// Pairs that no proof covers, with what keeps runs from deciding them.
    pub(super) undecided: Vec<(Unproved, Exhaustion)>,
    /// Whether some pair was decided by running all listed sizes.
    pub(super) listed: bool,
}

/// Drops from `findings` what a proof excludes, of all that data decides: the
/// values that a run makes up are not any values (two slots of one counter).
pub(super) fn drop_proved(unproved: &[Unproved], findings: &mut Findings) {
    let is_open = |pair: &Pair| unproved.iter().any(|found| holds_of(found, pair));
    findings.conflicts.retain(|found| found.cause.is_none() || is_open(&found.pair));
    findings.open.retain(|(pair, _)| is_open(pair));
    let conflicts = findings.conflicts.iter().map(|found| found.pair);
    findings.known = conflicts.chain(findings.open.iter().map(|(pair, _)| *pair)).collect();
}

/// Whether what is unproved is what a run found of `pair`.
pub(super) fn holds_of(unproved: &Unproved, pair: &Pair) -> bool {
    scope_of(unproved) == pair.scope && spots_of(unproved) == spots(pair)
}

/// Between whom it is unproved.
pub(super) fn scope_of(unproved: &Unproved) -> Scope {
    match unproved.relation {
        Relation::SameInterval | Relation::Carried { .. } => Scope::Block,
        Relation::BetweenBlocks => Scope::Grid,
    }
}

/// Decides what is `unproved` and not `told`, as far as can be, and looks for examples of the
/// rest; what collides is added to `findings`.
pub(super) fn settle(
    of: (&Kernel, &Uniformity),
    unproved: Vec<Unproved>,
    told: &BTreeSet<(Spot, Spot)>,
    findings: &mut Findings,
) -> Rest {
    let rest = decide(of, (unproved, told), BUDGET, findings);
    look_once_more(of, &rest.undecided, findings);
    rest
}

/// Decides what is `unproved`, as far as can be, and looks for no examples of the rest.
pub(super) fn decide_all(
    of: (&Kernel, &Uniformity),
    unproved: Vec<Unproved>,
    findings: &mut Findings,
) -> Rest {
    decide(of, (unproved, &BTreeSet::new()), BUDGET, findings)
}

/// Whether something of what is `unproved` is open, or collides, for all that proofs show and
/// runs that take no more than a part of those that decide about a kernel.
pub(super) fn stays_open(of: (&Kernel, &Uniformity), unproved: Vec<Unproved>) -> bool {
    let mut found = Findings::default();
    let rest = decide(of, (unproved, &BTreeSet::new()), BUDGET / 8, &mut found);
    !rest.undecided.is_empty() || !found.conflicts.is_empty()
}

/// Of what is `unproved` and not `told`: looks for proofs in cases, and runs all sizes of the
/// arrays concerned, which may take so much `fuel`; what collides is added to `findings`.
fn decide(
    (kernel, uniformity): (&Kernel, &Uniformity),
    (mut unproved, told): (Vec<Unproved>, &BTreeSet<(Spot, Spot)>),
    fuel: u32,
    findings: &mut Findings,
) -> Rest {
    // Of an array that collides for certain, more is told when that is mended.
    let collided: BTreeSet<ArrayRef> =
        findings.conflicts.iter().map(|conflict| conflict.pair.array()).collect();
    let open: Vec<Pair> = findings.open.iter().map(|(pair, _)| *pair).collect();
    // What data was seen to decide may yet be apart whatever the data.
    let is_open = |found: &Unproved| open.iter().any(|pair| holds_of(found, pair));
    unproved.retain(|found| {
        (is_open(found) || !told.contains(&spots_of(found))) && !collided.contains(&found.array)
    });
    let left = unproved_by_cases(kernel, uniformity, &unproved);
    unproved.retain(|found| {
        let is_left = left.contains(found);
        findings.open.retain(|(pair, _)| is_left || !holds_of(found, pair));
        is_left
    });
    let runs = run_whole(kernel, &unproved, fuel, findings);
    let mut rest = Rest::default();
    for found in unproved {
        let exhaustion = &runs[&(found.array, scope_of(&found))];
        if exhaustion.is_settled() {
            rest.listed = true;
            findings.open.retain(|(pair, _)| !holds_of(&found, pair));
        } else {
            rest.undecided.push((found, exhaustion.clone()));
        }
    }
    let decided_by_data: Vec<Unproved> =
        rest.undecided.iter().map(|(found, _)| *found).filter(is_open).collect();
    // What would settle it within a block does not where blocks may meet too.
    for (found, why) in &mut rest.undecided {
        if let Some(between) = runs.get(&(found.array, Scope::Grid))
            && !between.is_settled()
        {
            *why = between.clone();
        }
    }
    rest.prove_at_each_size(kernel, uniformity, &runs, fuel);
    let is_left = |pair: &Pair| rest.undecided.iter().any(|(found, _)| holds_of(found, pair));
    findings.open.retain(|(pair, _)| {
        is_left(pair) || !decided_by_data.iter().any(|found| holds_of(found, pair))
    });
    // Of what is left data decides, which is told as that.
    rest.undecided.retain(|(found, _)| !decided_by_data.contains(found));
    rest
}

/// How the runs at all sizes ended, of each array and scope.
type Runs = BTreeMap<(ArrayRef, Scope), Exhaustion>;

/// Runs all sizes of what is `unproved`. Where blocks may meet too, they are run first:
/// the runs show what meets within a block as well.
fn run_whole(
    kernel: &Kernel,
    unproved: &[Unproved],
    mut fuel: u32,
    findings: &mut Findings,
) -> Runs {
    let asked = unproved.iter().map(|found| (found.array, scope_of(found)));
    let asked: BTreeSet<(ArrayRef, Scope)> = asked.collect();
    let mut runs = Runs::new();
    for (array, scope) in asked.iter().copied() {
        if runs.contains_key(&(array, scope)) {
            continue;
        }
        if scope == Scope::Block && asked.contains(&(array, Scope::Grid)) {
            // The block alone is run with what this leaves.
            let kept = fuel / 4;
            fuel -= kept;
            let whole = exhaust((kernel, None), (array, Scope::Grid), findings, &mut fuel);
            fuel += kept;
            let is_complete = whole == Exhaustion::Complete;
            runs.insert((array, Scope::Grid), whole);
            if is_complete {
                runs.insert((array, scope), Exhaustion::Complete);
                continue;
            }
        }
        runs.insert((array, scope), exhaust((kernel, None), (array, scope), findings, &mut fuel));
    }
    runs
}

/// The sizes that were run of an array, before the budget ended.
fn sizes_run(runs: &Runs, (array, scope): (ArrayRef, Scope)) -> Vec<Vec<(VarId, i64)>> {
    let whole = [scope, Scope::Grid].into_iter().filter_map(|scope| runs.get(&(array, scope)));
    whole
        .filter_map(|exhaustion| match exhaustion {
            Exhaustion::Budget { run, .. } => Some(run.iter().cloned()),
            Exhaustion::Complete
            | Exhaustion::Apart
            | Exhaustion::OpenEnded(_)
            | Exhaustion::Data => None,
        })
        .flatten()
        .collect()
}

/// Whether runs at these sizes show that nothing meets.
fn run_at(kernel: &Kernel, of: (ArrayRef, Scope), sizes: &[Sizes], fuel: &mut u32) -> bool {
    let mut found = Findings::default();
    exhaust((kernel, Some(sizes)), of, &mut found, fuel).is_settled() && found.conflicts.is_empty()
}

impl Rest {
    /// How what is not undecided is known.
    pub(super) fn verdict(&self) -> Verdict {
        if self.listed { Verdict::ListedSizes } else { Verdict::AllSizes }
    }

    /// Drops what is proved at each of the listed sizes that were not run.
    fn prove_at_each_size(
        &mut self,
        kernel: &Kernel,
        uniformity: &Uniformity,
        runs: &Runs,
        mut fuel: u32,
    ) {
        if self.undecided.is_empty() {
            return;
        }
        let each = EachSize::of(kernel, uniformity);
        let mut by_array: BTreeMap<(ArrayRef, Scope), Vec<Unproved>> = BTreeMap::new();
        for (found, _) in &self.undecided {
            by_array.entry((found.array, scope_of(found))).or_default().push(*found);
        }
        let mut unproved = |(of, open): (&(ArrayRef, Scope), &Vec<Unproved>)| {
            let Some(left) = each.unproved(open, &sizes_run(runs, *of)) else {
                return open.clone();
            };
            let (sizes, failed): (Vec<_>, Vec<_>) = left.into_iter().unzip();
            // Runs that stopped for want of fuel may do for the few that no proof covers.
            let may_run = matches!(runs.get(of), Some(Exhaustion::Budget { .. }));
            let is_run = !sizes.is_empty() && may_run && run_at(kernel, *of, &sizes, &mut fuel);
            if is_run { Vec::new() } else { failed.concat() }
        };
        let open: Vec<Unproved> = by_array.iter().flat_map(&mut unproved).collect();
        self.listed |= self.undecided.iter().any(|(found, _)| !open.contains(found));
        self.undecided.retain(|(found, _)| open.contains(found));
    }

    /// Keeps what is undecided between blocks of the kernel with the barrier that it is
    /// told to have: within a block runs show nothing more of that one, and the next check
    /// speaks of it.
    pub(super) fn keep_beside(&mut self, mended: &Kernel) {
        self.undecided.retain(|(found, _)| scope_of(found) == Scope::Grid);
        if self.undecided.is_empty() {
            return;
        }
        let uniformity = uniformity(mended);
        let is_grid = |_: ArrayRef, _: [SpanId; 2], is_between: bool| is_between;
        let mut unproved = prove_among(mended, &uniformity, &is_grid);
        let is_asked = |found: &Unproved, asked: &Unproved| {
            scope_of(found) == Scope::Grid && spots_of(found) == spots_of(asked)
        };
        unproved.retain(|found| self.undecided.iter().any(|(asked, _)| is_asked(found, asked)));
        let (of, open) = ((mended, &uniformity), (unproved, &BTreeSet::new()));
        let left = decide(of, open, BUDGET, &mut Findings::default());
        self.undecided
            .retain(|(asked, _)| left.undecided.iter().any(|(found, _)| is_asked(found, asked)));
    }
}

/// The accesses of a pair, in an order of their own.
pub(super) fn spots(pair: &Pair) -> (Spot, Spot) {
    let [first, second] = [pair.first, pair.second].map(|site| (site.span, site.kind.writes()));
    (first.min(second), first.max(second))
}

/// The accesses of an unproved pair, in an order of their own.
pub(super) fn spots_of(found: &Unproved) -> (Spot, Spot) {
    let [first, second] = [found.first, found.second].map(|(span, kind)| (span, kind.writes()));
    (first.min(second), first.max(second))
}

/// Whether one part of the text keeps both pairs from being proved, or no part is to
/// blame for either.
pub(super) fn have_one_cause(one: &Unproved, other: &Unproved) -> bool {
    let is_one = match (one.reason, other.reason) {
        (Reason::NotLinear(first, _), Reason::NotLinear(second, _)) => first == second,
        (Reason::NotDisjoint, Reason::NotDisjoint) => true,
        (Reason::NotLinear(..), Reason::NotDisjoint)
        | (Reason::NotDisjoint, Reason::NotLinear(..)) => false,
    };
    one.array == other.array && is_one
}

/// Accesses of which nothing shows that they are apart.
pub(super) fn unshown(kernel: &Kernel, met: &Met) -> Diagnostic {
    let name = kernel.array_name(met.array);
    let who = match met.scope {
        Scope::Block => "work-items",
        Scope::Grid => "blocks",
    };
    let message = format!("cannot show that different {who} use different elements of `{name}`");
    let [first, second] = met.accesses;
    let diagnostic = Diagnostic::error(Code::UndecidedRace, second.0, message);
    if first == second {
        return diagnostic;
    }
    diagnostic.label(first.0, format!("the other access {} `{name}`", first.1.verb()))
}

/// What is said of a pair that stays open, and for `more` of the same cause.
pub(super) fn report(
    kernel: &Kernel,
    found: &Unproved,
    (why, settled_by): (&Exhaustion, Option<String>),
    more: usize,
) -> Diagnostic {
    let name = kernel.array_name(found.array);
    let mut diagnostic = unshown(kernel, &Met::of_unproved(found));
    if let Some(note) = obstacle(kernel, found.reason) {
        diagnostic = diagnostic.note(note);
    }
    if more > 0 {
        let pairs = if more == 1 { "pair" } else { "pairs" };
        diagnostic = diagnostic.note(match found.reason {
            Reason::NotLinear(..) => {
                format!("the same keeps {more} more {pairs} of accesses to `{name}` undecided")
            }
            Reason::NotDisjoint => {
                format!("so it is with {more} more {pairs} of accesses to `{name}`")
            }
        });
    }
    let known = settled_by.map(|assumption| format!("; {assumption}")).unwrap_or_default();
    diagnostic.help(remedy(kernel, found, why) + &known)
}

/// What the author could say of places that data decides.
pub(super) fn settling(
    kernel: &Kernel,
    uniformity: &Uniformity,
    found: &Unproved,
) -> Option<String> {
    let Reason::NotLinear(_, obstacle) = found.reason else { return None };
    match obstacle {
        Obstacle::Load | Obstacle::Changed(_) | Obstacle::Exchange(_) => {}
        Obstacle::Wraps
        | Obstacle::Old(_)
        | Obstacle::Operator(_)
        | Obstacle::Conversion
        | Obstacle::Other => return None,
    }
    let places = [found.first.0, found.second.0];
    let asked = Asked { array: found.array, places, scope: scope_of(found) };
    let is_of =
        |other: &Unproved| scope_of(other) == scope_of(found) && spots_of(other) == spots_of(found);
    settling_places(kernel, uniformity, &asked, &is_of)
}

fn obstacle(kernel: &Kernel, reason: Reason) -> Option<String> {
    let Reason::NotLinear(span, obstacle) = reason else { return None };
    let expr = kernel.exprs.iter().rev().find(|(_, expr)| expr.span == span);
    let text = match (obstacle, expr) {
        (Obstacle::Old(var), _) => format!("`{}`", kernel.vars[var].name),
        (_, Some((id, _))) => format!("`{}`", print_expr(kernel, id)),
        (_, None) => "a value".to_owned(),
    };
    let line = kernel.spans.range(span).line;
    let what = match obstacle {
        Obstacle::Load => "is loaded".to_owned(),
        Obstacle::Wraps => "may wrap in its type (an `index` does not)".to_owned(),
        Obstacle::Old(_) => "is the old value of an atomic update".to_owned(),
        Obstacle::Changed(var) => {
            format!("depends on how often `{}` is changed", kernel.vars[var].name)
        }
        Obstacle::Operator(op) => format!("is not linear, by its `{op}`"),
        Obstacle::Exchange(_) => "is made of the values of several work-items".to_owned(),
        Obstacle::Conversion => "is converted".to_owned(),
        Obstacle::Other => "is not linear".to_owned(),
    };
    Some(format!("{text} on line {line} {what}, so no proof for all sizes was found"))
}

/// What would leave less of a kernel to be run.
fn smaller(kernel: &Kernel) -> String {
    let has_loops = any_stmt(&kernel.body, &mut StmtKind::is_loop);
    let has_block = kernel.block.as_ref().is_some_and(|axes| !axes.is_empty());
    let parts = [
        (!kernel.grid.is_empty()).then_some("a smaller grid"),
        (has_block && !has_loops).then_some("a smaller block"),
        has_loops.then_some("shorter loops"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", or ")
}

fn remedy(kernel: &Kernel, found: &Unproved, why: &Exhaustion) -> String {
    let is_tile = matches!(found.array, ArrayRef::Tile(_));
    let apart = match found.relation {
        Relation::BetweenBlocks => "or do it in two kernels: barriers do not order blocks",
        Relation::SameInterval | Relation::Carried { .. } if found.first.0 == found.second.0 => {
            "or update the element with `atomic`"
        }
        Relation::SameInterval | Relation::Carried { .. } if is_tile => {
            "or put a `barrier;` between the accesses, where the whole block comes by"
        }
        Relation::SameInterval | Relation::Carried { .. } => {
            "or put a `barrier;` between the accesses, where the whole block comes by: it orders those \
             of one block"
        }
    };
    let name = |var: VarId| &kernel.vars[var].name;
    match why {
        Exhaustion::Complete | Exhaustion::Apart => "nothing is left to do".to_owned(),
        Exhaustion::OpenEnded(var) => match kernel.vars[*var].kind {
            VarKind::TileParam(_) => format!(
                "list the sizes of `{0}`, as in `{0} in [64, 128, 256]`: each is then tried",
                name(*var)
            ),
            VarKind::Dim
            | VarKind::Scalar(_)
            | VarKind::Grid
            | VarKind::Block
            | VarKind::Each
            | VarKind::Loop
            | VarKind::Let { .. } => format!(
                "it depends on `{}`, of which not every value can be tried: simplify the indices, \
                 {apart}",
                name(*var)
            ),
        },
        Exhaustion::Data => {
            "compute the index from the coordinates of the work-item, so that each element has one \
             writer, or state what is known of the data: `assume(…);`"
                .to_owned()
        }
        Exhaustion::Budget { from, .. } if from.is_empty() => {
            format!("there is too much to run: {} could be tried whole", smaller(kernel))
        }
        Exhaustion::Budget { from, .. } => {
            let values = from.iter().map(|(var, value)| format!("{} = {value}", name(*var)));
            let values: Vec<String> = values.collect();
            format!(
                "list fewer or smaller sizes: those from {} on were not tried",
                values.join(", ")
            )
        }
    }
}
