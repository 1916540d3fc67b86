//! What of its reads a thread has in registers already: its items' reads overlap, and the
//! compiler makes one of what is alike.

use super::count::{Domain, Walk};
use crate::kernel::{Access, ArrayRef, ExprId, VarId};

/// A loop that is gone through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    /// Its counter.
    pub(super) var: VarId,
    /// Its iterations, at least one.
    pub(super) trips: f64,
    /// From one value of the counter to the next.
    pub(super) step: f64,
    /// Whether its iterations are written out one after the other.
    pub(super) is_written_out: bool,
}

/// What was read since the items of the block last met.
#[derive(Default)]
pub(super) struct Kept(Vec<(ArrayRef, Vec<ExprId>)>);

impl Walk<'_, '_> {
    /// Forgets what threads have read: what follows is another text, or others have written.
    pub(super) fn forget(&mut self) {
        self.kept.0.clear();
    }

    /// The part of an access's elements that a thread does not have yet, and remembers the
    /// access: of the present layout, and the least that it is of any.
    pub(super) fn fresh_part(&mut self, access: &Access, domain: Domain<'_>) -> [f64; 2] {
        if !matches!(domain, Domain::Block) {
            return [1.0; 2];
        }
        let of_thread = |index| self.in_a_row(index);
        let of_any = |_| f64::INFINITY;
        let parts = [
            self.unseen(access, &of_thread) / self.overlapping(access, &of_thread),
            self.unseen(access, &of_any) / self.overlapping(access, &of_any),
        ];
        self.kept.0.push((access.array, access.indices.clone()));
        parts
    }

    /// Consecutive items of a thread along an index.
    fn in_a_row(&self, index: ExprId) -> f64 {
        let axes = self.sizes.block.iter().zip(&self.sizes.config.block);
        let along = axes.filter(|((var, _), _)| self.sizes.is_unit_stride(index, *var));
        along.map(|(_, items)| f64::from(items.run)).product()
    }

    /// The part of an access's elements that none before it has read.
    fn unseen(&self, access: &Access, in_a_row: &dyn Fn(ExprId) -> f64) -> f64 {
        let of_known = |(array, known): &(ArrayRef, Vec<ExprId>)| {
            let pairs = || known.iter().zip(&access.indices);
            let in_common = |(one, other): (&ExprId, &ExprId)| {
                let apart = self.sizes.distance_of_alike(*one, *other);
                apart.map_or(0.0, |apart| (1.0 - apart / in_a_row(*other)).max(0.0))
            };
            if *array == access.array { pairs().map(in_common).product() } else { 0.0 }
        };
        1.0 - self.kept.0.iter().map(of_known).fold(0.0, f64::max)
    }

    /// How often a thread uses an element in the iterations that are written out.
    fn overlapping(&self, access: &Access, in_a_row: &dyn Fn(ExprId) -> f64) -> f64 {
        let of_index = |&index: &ExprId| {
            let shifting =
                |it: &&Loop| it.is_written_out && self.sizes.is_unit_stride(index, it.var);
            overlap(in_a_row(index), self.loops.iter().filter(shifting))
        };
        access.indices.iter().map(of_index).product()
    }
}

/// How often each of so many neighbours is met by loops that shift them.
pub(super) fn overlap<'a>(points: f64, loops: impl Iterator<Item = &'a Loop>) -> f64 {
    let (mut span, mut met, mut most) = (points, points, 1.0);
    for it in loops {
        span += (it.trips - 1.0) * it.step.min(span);
        met *= it.trips;
        most *= it.trips;
    }
    if points.is_finite() { met / span } else { most }
}
