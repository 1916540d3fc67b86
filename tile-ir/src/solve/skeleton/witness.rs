//! From marks to a conflict that can be told.

use super::machine::Machine;
use super::olds;
use super::shadow::{Mark, Scope};
use super::value::Value;
use super::wild::{Met, Undecided};
use super::{Conflict, Pair, Party, Worker};
use crate::kernel::{ArrayRef, Axis, Source, VarId};
use crate::span::SpanId;

/// An iteration of a loop; the default one stands for no loop.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context {
    /// The iteration around.
    pub(super) parent: u32,
    /// The counter; a `while` has none.
    pub(super) counter: Option<(VarId, i64)>,
    /// The loop.
    pub(super) head: Option<SpanId>,
    /// Iterations before it.
    pub(super) trip: u32,
    /// Whether the block runs the loop in step.
    pub(super) together: bool,
}

/// A run of a cooperative loop: its workers are numbered from `first`.
#[derive(Clone, Debug)]
pub(super) struct Points<'a> {
    pub(super) block: u32,
    pub(super) first: u32,
    pub(super) extents: Vec<i64>,
    pub(super) axes: &'a [Axis],
    pub(super) head: SpanId,
}

impl Machine<'_> {
    /// Keeps a conflict, unless one of the same pair of accesses is known.
    pub(super) fn collide(&mut self, scope: Scope, indices: &[Value], one: Mark, other: Mark) {
        let (pair, [first, second]) = self.pair(scope, one, other);
        if !self.findings.known.insert(pair) {
            return;
        }
        let cause = one.cause.or(other.cause);
        // What updates find is made up here: two of them may never find it.
        let old = cause.filter(|_| self.counting.is_none());
        if let Some(source) = old.and_then(|source| olds::behind(self.kernel, source)) {
            self.findings.open.push((pair, source));
            return;
        }
        // So they are in a run that counts, of arrays that it does not follow.
        if self.counting.is_some() && self.is_guessed && cause.is_some() {
            return;
        }
        let conflict = Conflict {
            pair,
            element: indices.iter().map(|index| index.as_index()).collect(),
            first: self.party(first),
            second: self.party(second),
            cause: cause.or(self.counting),
            sizes: self.plan.project(self.sizes),
        };
        self.findings.conflicts.push(conflict);
    }

    /// Keeps, of a pair that loaded data decides about, data with which it collides.
    pub(super) fn keep_example(&mut self, met: Met) {
        let (pair, parties) = self.pair(Scope::Block, met.one, met.other);
        let is_known = self.findings.examples.contains_key(&pair);
        let is_data = matches!(met.source, Source::Load(_));
        if is_known || !is_data || olds::behind(self.kernel, met.source).is_some() {
            return;
        }
        let conflict = self.possible(pair, parties, (met.element, met.source));
        self.findings.examples.insert(pair, conflict);
    }

    /// Two accesses, in program order.
    fn pair(&self, scope: Scope, one: Mark, other: Mark) -> (Pair, [Mark; 2]) {
        let (first, second, carried) = self.in_program_order(one, other);
        let [first_site, second_site] =
            [first, second].map(|mark| self.plan.sites[mark.site as usize]);
        (Pair { scope, first: first_site, second: second_site, carried }, [first, second])
    }

    /// Keeps a pair of accesses that loaded data decides about. Where it only says which
    /// element both are to, they collide for what was made up.
    pub(super) fn leave_open(&mut self, scope: Scope, found: Undecided) {
        let (pair, parties) = self.pair(scope, found.one, found.other);
        let is_new = self.findings.known.insert(pair);
        let inside = found.element.filter(|element| self.is_inside(pair.array(), element));
        let Some(element) = inside else {
            if is_new {
                self.findings.open.push((pair, found.source));
            }
            return;
        };
        let before = self.findings.open.len();
        self.findings.open.retain(|(open, _)| *open != pair);
        if is_new || self.findings.open.len() < before {
            let conflict = self.possible(pair, parties, (element, found.source));
            self.findings.conflicts.push(conflict);
        }
    }

    fn is_inside(&self, array: ArrayRef, element: &[i64]) -> bool {
        let mut axes = self.extents[self.slot(array)].iter().zip(element);
        axes.all(|(extent, at)| (0..*extent).contains(at))
    }

    fn possible(
        &self,
        pair: Pair,
        [first, second]: [Mark; 2],
        (element, source): (Vec<i64>, Source),
    ) -> Conflict {
        Conflict {
            pair,
            element,
            first: self.party(first),
            second: self.party(second),
            cause: Some(source),
            sizes: self.plan.project(self.sizes),
        }
    }

    /// The iterations around `context`, outermost first.
    fn path(&self, mut context: u32) -> Vec<Context> {
        let mut path = Vec::new();
        while context != 0 {
            let here = self.contexts[context as usize];
            path.push(here);
            context = here.parent;
        }
        path.reverse();
        path
    }

    /// The two in program order, and the loop whose iterations part them.
    fn in_program_order(&self, one: Mark, other: Mark) -> (Mark, Mark, Option<SpanId>) {
        let (mine, theirs) = (self.path(one.context), self.path(other.context));
        for (a, b) in mine.iter().zip(&theirs) {
            if a.head != b.head || !a.together {
                break;
            }
            if a.trip != b.trip {
                let forward = a.trip < b.trip;
                let (first, second) = if forward { (one, other) } else { (other, one) };
                return (first, second, a.head);
            }
        }
        if one.site <= other.site { (one, other, None) } else { (other, one, None) }
    }

    /// Whether one context is in an earlier iteration than another of a loop around both.
    pub(super) fn is_earlier(&self, one: u32, other: u32) -> bool {
        let (mine, theirs) = (self.path(one), self.path(other));
        let parted = mine.iter().zip(&theirs).find(|(a, b)| a.head != b.head || a.trip != b.trip);
        parted.is_some_and(|(a, b)| a.head == b.head && a.trip < b.trip)
    }

    pub(super) fn party(&self, mark: Mark) -> Party {
        let grid = self.kernel.grid.iter().map(|axis| axis.var);
        let block = grid.zip(self.blocks[mark.block as usize].iter().copied()).collect();
        let counters = self.path(mark.context).into_iter().filter_map(|step| step.counter);
        Party { worker: self.worker(mark), block, counters: counters.collect() }
    }

    fn worker(&self, mark: Mark) -> Worker {
        let in_loop = self.points.iter().rev().find(|points| {
            let len = points.extents.iter().product::<i64>() as u32;
            points.block == mark.block && (points.first..points.first + len).contains(&mark.worker)
        });
        if let Some(points) = in_loop {
            let number = mark.worker - points.first;
            return Worker::Point(points.head, coordinates(points.axes, &points.extents, number));
        }
        match &self.kernel.block {
            Some(axes) => Worker::Item(coordinates(axes, &self.block_extents, mark.worker)),
            None => Worker::Body,
        }
    }
}

fn coordinates(axes: &[Axis], extents: &[i64], number: u32) -> Vec<(VarId, i64)> {
    let mut number = i64::from(number);
    let mut coordinates: Vec<(VarId, i64)> = axes
        .iter()
        .zip(extents)
        .rev()
        .map(|(axis, extent)| {
            let extent = (*extent).max(1);
            let at = number % extent;
            number /= extent;
            (axis.var, at)
        })
        .collect();
    coordinates.reverse();
    coordinates
}
